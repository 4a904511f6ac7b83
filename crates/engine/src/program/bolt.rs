//! Sub-RTT control (Bolt): a port notifies senders of its queue at once, by packets of its own, and decides which
//! packets may increase the window of their flow by one.

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::metadata::BoltSignal;
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use crate::spec::{Bolt, Spec};
use incast_cc::{Rate, Time};

/// Supply and PRU tokens of the ports of a node.
#[derive(Clone, Debug)]
pub struct BoltPorts {
    rule: Bolt,
    /// Largest packet of the run, in IP bytes.
    packet: u64,
    /// Link that leads to the node, if it is a host.
    home: Option<LinkId>,
    ports: Vec<PruTokens>,
}

/// Supply and PRU tokens of a port.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct PruTokens {
    /// Supply tokens in bytes: capacity of the link minus arrivals, up to the bound; negative if more arrived.
    supply: f64,
    /// Time of the last update.
    at: Time,
    /// PRU tokens: packets that flows about to end will not send.
    tokens: u32,
}

/// Sizes in bytes on a port's link.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// A full packet.
    full: u64,
    threshold: u64,
    supply: u64,
}

impl PruTokens {
    /// Handles the arrival of `size` bytes at a link of `link` bytes per second.
    fn come(&mut self, now: Time, size: u64, link: f64, max: u64) {
        let sent = link * (now - self.at).0 as f64 / 1e12;
        self.supply = (self.supply - size as f64 + sent).min(max as f64);
        self.at = now;
    }

    /// Returns whether a packet keeps its request for an increment at an uncongested port, and updates the tokens.
    fn grants(&mut self, rule: &Bolt, full: u64, bolt: &BoltSignal) -> bool {
        if rule.pru && bolt.last {
            if !bolt.first {
                self.tokens = (self.tokens + 1).min(rule.tokens);
            }
            return true;
        }
        if bolt.increase == 0 {
            return true;
        }
        if rule.pru && self.tokens > 0 {
            self.tokens -= 1;
            return true;
        }
        let has = rule.sm && self.supply >= full as f64;
        if has {
            self.supply -= full as f64;
        }
        has
    }
}

impl BoltPorts {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Bolt, ports: usize) -> BoltPorts {
        BoltPorts { rule: rule.clone(), packet: 0, home: None, ports: vec![PruTokens::default(); ports] }
    }

    /// Sizes at a port with this overhead per packet.
    fn sizes(&self, framing: u32) -> Sizes {
        let full = self.packet + framing as u64;
        let or_two = |bytes: Option<u64>| bytes.unwrap_or(2 * full);
        Sizes { full, threshold: or_two(self.rule.threshold), supply: or_two(self.rule.supply) }
    }

    /// Notifies the sender of a packet of a queue, if there is a reverse path. Returns whether it does.
    #[cold]
    fn notify(&self, at: &At, packet: &Packet, (queue, rate): (u32, Rate), effects: &mut SideEffects) -> bool {
        let notification = Packet::backlog(packet, NodeId(at.connections.flow(packet.flow).src), queue, rate);
        match (at.ingress, self.home) {
            (Some(ingress), _) => effects.send(notification, ingress),
            (None, Some(home)) => effects.deliver_to_stack(notification, home),
            (None, None) => return false,
        }
        true
    }
}

impl SwitchProgram for BoltPorts {
    fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
        self.packet = spec.transports.iter().map(|t| (t.sizes.mss + t.sizes.header) as u64).max().unwrap_or(0);
        let Some(own) = links.first().map(|link| spec.links[*link].from).filter(|node| *node < spec.hosts) else {
            return;
        };
        // usually the next or the previous link
        let near = links[0].0.saturating_sub(1)..links[0].0 + 2;
        let mut all = near.chain(0..spec.links.len() as u32).map(LinkId);
        self.home = all.find(|link| spec.links.get(link.ix()).is_some_and(|l| l.to == own));
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(local) = at.egress else { return Verdict::Pass };
        let rate = at.rate(local);
        if rate == Rate::INFINITE {
            return Verdict::Pass;
        }
        let sizes = self.sizes(at.ports[local].framing());
        self.ports[local].come(at.now, at.bytes(local, packet), rate.as_f64() / 8.0, sizes.supply);
        let Some(bolt) = effects.ext.as_deref_mut().and_then(Ext::bolt_signal) else { return Verdict::Pass };
        let queue = at.queue(local);
        if queue < sizes.threshold {
            // at the sender's own port a request is kept if supply matching is off: then only ports on the path decide
            let decides = self.rule.sm || at.ingress.is_some();
            if !self.ports[local].grants(&self.rule, sizes.full, bolt) && decides {
                bolt.increase = 0;
            }
            return Verdict::Pass;
        }
        let (queue, first) = (queue.min(u32::MAX as u64) as u32, !bolt.congested);
        bolt.note_congested(queue, rate);
        if first && self.rule.src {
            let notified = self.notify(at, packet, (queue, rate), effects);
            if let Some(bolt) = effects.ext.as_deref_mut().and_then(Ext::bolt_signal) {
                bolt.notified = notified;
            }
        }
        Verdict::Pass
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        let pru = &self.ports[port];
        visit("bolt_supply_bytes", pru.supply);
        visit("bolt_tokens", pru.tokens as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Gb/s in bytes per second.
    const C: f64 = 12.5e9;

    fn rule() -> Bolt {
        Bolt { threshold: None, supply: None, tokens: 256, src: true, pru: true, sm: true }
    }

    fn signal() -> BoltSignal {
        BoltSignal::new(false, false)
    }

    #[test]
    fn a_link_has_room_for_what_it_could_have_sent_up_to_a_bound() {
        // packets of 5000 bytes: one takes 0.4 us
        let at = |ns: u64, pru: &mut PruTokens| {
            pru.come(Time::ns(1_000 + ns), 5_000, C, 5_000);
            (pru.supply, pru.grants(&rule(), 5_000, &signal()), pru.supply)
        };
        let begun = PruTokens { supply: 0.0, at: Time::us(1), tokens: 0 };
        assert_eq!(at(400, &mut begun.clone()), (0.0, false, 0.0));
        assert_eq!(at(800, &mut begun.clone()), (5_000.0, true, 0.0));
        // 20,000 bytes are cut to the bound
        assert_eq!(at(2_000, &mut begun.clone()), (5_000.0, true, 0.0));
        // faster arrivals must be paid back first
        let mut owes = begun;
        assert_eq!(at(0, &mut owes), (-5_000.0, false, -5_000.0));
        assert_eq!(at(800, &mut owes), (0.0, false, 0.0));
        let none = Bolt { sm: false, ..rule() };
        assert!(!PruTokens { supply: 5_000.0, ..begun }.grants(&none, 5_000, &signal()));
    }

    #[test]
    fn packets_of_last_windows_leave_room_for_as_many_others() {
        let mut pru = PruTokens { supply: -1.0, ..PruTokens::default() };
        let last = BoltSignal { last: true, increase: 0, ..signal() };
        (0..3).for_each(|_| assert!(pru.grants(&rule(), 5_000, &last)));
        assert_eq!(pru.tokens, 3);
        let granted: Vec<bool> = (0..5).map(|_| pru.grants(&rule(), 5_000, &signal())).collect();
        assert_eq!(granted, [true, true, true, false, false]);
        // a flow of one window leaves none: no window would have followed
        pru.grants(&rule(), 5_000, &BoltSignal { first: true, ..last });
        assert_eq!(pru.tokens, 0);
        (0..300).for_each(|_| assert!(pru.grants(&rule(), 5_000, &last)));
        assert_eq!(pru.tokens, 256);
        let none = Bolt { pru: false, ..rule() };
        assert!(!pru.grants(&none, 5_000, &signal()));
        assert_eq!(pru.tokens, 256);
    }

    #[test]
    fn of_two_queues_the_one_that_takes_longer_is_told_and_room_is_lost() {
        let mut bolt = signal();
        bolt.note_congested(10_000, Rate::gbps(100));
        assert_eq!((bolt.congested, bolt.increase, bolt.queue), (true, 0, 10_000));
        bolt.note_congested(30_000, Rate::gbps(400));
        assert_eq!((bolt.queue, bolt.rate), (10_000, Rate::gbps(100)), "0.6 us after 0.8");
        bolt.note_congested(50_000, Rate::gbps(400));
        assert_eq!((bolt.queue, bolt.rate), (50_000, Rate::gbps(400)));
    }
}
