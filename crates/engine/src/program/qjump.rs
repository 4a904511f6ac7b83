//! Levels (QJUMP): rate limits of hosts per traffic class and epoch. Packets of a limited class leave their host while
//! the class has bytes left, and otherwise wait for the host's next epoch.

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Ext, Packet};
use crate::hash::{self, purpose};
use crate::ids::LinkId;
use crate::spec::{Qjump, Spec};
use incast_cc::{Rate, Time};
use std::collections::VecDeque;

/// Limited levels of a host.
#[derive(Clone, Debug)]
pub struct Levels {
    rule: Qjump,
    seed: u64,
    /// Length of an epoch; zero without limits.
    epoch: Time,
    /// End of the current epoch; zero before the first packet.
    ends: Time,
    levels: Vec<Level>,
    due: Time,
}

/// Traffic class. Sizes are in bytes on the host's link.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Bytes that may leave per epoch, and remaining bytes of the current one.
    max: u64,
    left: u64,
    waiting: VecDeque<Waiting>,
    backlog: u64,
}

/// Waiting packet.
#[derive(Clone, Debug)]
struct Waiting {
    packet: Packet,
    ext: Option<Ext>,
    egress: usize,
    bytes: u64,
}

impl Level {
    /// Takes the bytes of a packet and returns true, if it may leave in this epoch. A packet larger than the limit
    /// takes all of it.
    fn lets(&mut self, bytes: u64) -> bool {
        let takes = bytes.min(self.max);
        let lets = self.left >= takes;
        if lets {
            self.left -= takes;
        }
        lets
    }
}

/// Equation (2) of the paper: twice the time in which one packet of each host passes one link.
fn epoch(rule: &Qjump, hosts: u32, packet: u64, link: Rate) -> Time {
    let (hosts, rate) = (rule.hosts.unwrap_or(hosts) as u64, rule.rate.unwrap_or(link));
    rate.serialize(hosts.saturating_mul(packet)).saturating_mul(2).saturating_add(rule.processing)
}

impl Levels {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Qjump, _ports: usize) -> Levels {
        let rule = rule.clone();
        Levels { rule, seed: 0, epoch: Time::ZERO, ends: Time::ZERO, levels: Vec::new(), due: Time::NEVER }
    }

    /// Advances to the current epoch.
    fn advance(&mut self, at: &At) {
        if self.ends == Time::ZERO {
            // hosts are not synchronised
            let part = hash::uniform(self.seed, purpose::EPOCH, at.node.0 as u64, 0);
            self.ends = Time((part * self.epoch.0 as f64) as u64).saturating_add(Time(1));
        }
        if self.ends <= at.now {
            let over = (at.now - self.ends) / self.epoch + 1;
            self.ends = self.ends.saturating_add(self.epoch.saturating_mul(over));
            self.levels.iter_mut().for_each(|level| level.left = level.max);
        }
    }

    /// Sets the timer for waiting packets to the end of the epoch.
    fn plan(&mut self) {
        let waits = self.levels.iter().any(|level| !level.waiting.is_empty());
        self.due = if waits { self.ends } else { Time::NEVER };
    }
}

impl SwitchProgram for Levels {
    fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
        self.seed = spec.seed;
        let Some(link) = links.first().map(|link| &spec.links[*link]) else { return };
        if link.rate == Rate::INFINITE {
            return;
        }
        let full = || spec.transports.iter().map(|t| (t.sizes.mss + t.sizes.header + link.overhead) as u64).max();
        let packet = self.rule.packet.or_else(full).unwrap_or(1);
        self.epoch = self.rule.epoch.unwrap_or_else(|| epoch(&self.rule, spec.hosts, packet, link.rate));
        let max = |factor: &f64| ((factor * packet as f64) as u64).max(1);
        self.levels =
            { self.rule.factors.iter().map(max) }.map(|max| Level { max, left: max, ..Level::default() }).collect();
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(egress) = at.egress.filter(|_| at.ingress.is_none() && self.epoch > Time::ZERO) else {
            return Verdict::Pass;
        };
        let class = packet.own_class().unwrap_or_else(|| {
            let flow = at.connections.flow(packet.flow);
            if packet.is_reverse() { flow.ack_class } else { flow.class }
        });
        if class as usize >= self.levels.len() {
            return Verdict::Pass;
        }
        self.advance(at);
        let bytes = at.bytes(egress, packet);
        let level = &mut self.levels[class as usize];
        if level.waiting.is_empty() && level.lets(bytes) {
            return Verdict::Pass;
        }
        level.backlog += bytes;
        level.waiting.push_back(Waiting { packet: *packet, ext: effects.take_ext(), egress, bytes });
        self.plan();
        Verdict::Keep
    }

    fn has_timer(&self) -> bool {
        true
    }

    fn due(&self) -> Time {
        self.due
    }

    fn timer(&mut self, at: &At, effects: &mut SideEffects) {
        self.advance(at);
        for level in &mut self.levels {
            while let Some(bytes) = level.waiting.front().map(|first| first.bytes)
                && level.lets(bytes)
                && let Some(Waiting { packet, ext, egress, .. }) = level.waiting.pop_front()
            {
                level.backlog -= bytes;
                effects.release((packet, ext), None, Some(egress));
            }
        }
        self.plan();
    }

    fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.levels.iter().flat_map(|level| &level.waiting).for_each(|waiting| visit(&waiting.packet));
    }

    fn observe(&self, _at: &At, _port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("qjump_bytes", self.levels.iter().map(|level| level.backlog).sum::<u64>() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Qjump {
        Qjump { factors: vec![1.0], hosts: None, packet: None, processing: Time::ZERO, rate: None, epoch: None }
    }

    #[test]
    fn an_epoch_is_twice_what_a_packet_of_each_host_takes() {
        // 144 hosts of 1500 B at 10 Gb/s: f = 1 is 34.7 Mb/s; 1000 of 256 B: 5 Mb/s
        for (hosts, packet, us, mbps) in [(144, 1500, 345.6, 34.7), (1000, 256, 409.6, 5.0)] {
            let epoch = epoch(&rule(), hosts, packet, Rate::gbps(10));
            assert_eq!(epoch, Time::from_secs_f64(us * 1e-6));
            assert!((packet as f64 * 8.0 / epoch.as_secs_f64() / 1e6 - mbps).abs() < 0.05);
        }
        let given = Qjump { hosts: Some(10), processing: Time::us(4), ..rule() };
        assert_eq!(epoch(&given, 144, 1250, Rate::gbps(10)), Time::us(24));
        // the slowest link counts, not the host's own
        let slow = Qjump { rate: Some(Rate::gbps(1)), ..given };
        assert_eq!(epoch(&slow, 144, 1250, Rate::gbps(10)), Time::us(204));
        let vast = Qjump { hosts: Some(u32::MAX), rate: Some(Rate(1)), ..rule() };
        assert_eq!(epoch(&vast, 1, u64::MAX, Rate::gbps(10)), Time::NEVER);
    }

    #[test]
    fn a_level_lets_its_bytes_pass_and_no_more() {
        let mut level = Level { max: 3000, left: 3000, ..Level::default() };
        let lets: Vec<bool> = [1500, 1000, 600, 500, 1].iter().map(|bytes| level.lets(*bytes)).collect();
        assert_eq!(lets, [true, true, false, true, false]);
        // a packet larger than an epoch's bytes waits for all of them
        let mut level = Level { max: 100, left: 100, ..Level::default() };
        assert!(level.lets(1500) && !level.lets(1));
    }
}
