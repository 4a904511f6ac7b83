//! Phantom queues (HULL): simulated queues of a link slightly slower than the real one, in which no packet waits.

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Packet, flag};
use crate::spec::Phantom;
use incast_cc::Time;

/// Phantom queues of the ports of a node.
#[derive(Clone, Debug)]
pub struct Queues {
    rule: Phantom,
    ports: Vec<Queue>,
}

/// Queue at the end of the latest transmission.
#[derive(Clone, Copy, Default, Debug)]
struct Queue {
    bytes: f64,
    at: Time,
}

impl Queue {
    /// Queue after a packet of `size` bytes whose transmission ends at `at`, with a drain rate of `drain` bits per
    /// second.
    fn after(self, at: Time, size: u64, drain: f64) -> Queue {
        let drained = drain * (at - self.at).0 as f64 / 8e12;
        Queue { bytes: (self.bytes - drained).max(0.0) + size as f64, at }
    }
}

impl Queues {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Phantom, ports: usize) -> Queues {
        Queues { rule: rule.clone(), ports: vec![Queue::default(); ports] }
    }

    /// Queue of a port after a packet whose transmission ends at `end`.
    fn after(&self, at: &At, port: usize, packet: &Packet, end: Time) -> Queue {
        let drain = self.rule.drain * at.rate(port).as_f64();
        self.ports[port].after(end, at.bytes(port, packet), drain)
    }
}

impl SwitchProgram for Queues {
    fn ingress(&mut self, at: &At, packet: &mut Packet, _effects: &mut SideEffects) -> Verdict {
        if let Some(port) = at.egress
            && packet.has(flag::ECT)
            && self.after(at, port, packet, at.departure(port, packet)).bytes > self.rule.mark as f64
        {
            packet.flags |= flag::CE;
        }
        Verdict::Pass
    }

    fn asks_queue(&self) -> bool {
        true
    }

    /// Counts only packets that the real queue accepts: a later program may have held the packet, or sent it by another
    /// port.
    fn queued(&mut self, at: &At, packet: &Packet, accepted: bool) {
        if let Some(port) = at.egress
            && accepted
        {
            self.ports[port] = self.after(at, port, packet, at.ports[port].free_at().max(at.now));
        }
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("phantom_bytes", self.ports[port].bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_cc::Rate;

    /// Number of the first of 400 full packets, sent at this share of 10 Gb/s, with which the queue exceeds 15 kB.
    fn first_beyond(share: f64) -> Option<usize> {
        let rate = Rate::gbps(10);
        let gap = Time((rate.serialize(1500).0 as f64 / share) as u64);
        let mut queue = Queue::default();
        (1..=400).find(|n| {
            queue = queue.after(gap * *n as u64, 1500, 0.95 * rate.as_f64());
            queue.bytes > 15_000.0
        })
    }

    #[test]
    fn a_phantom_queue_grows_by_what_its_link_is_slower() {
        // at line rate each packet of 1500 bytes leaves 75 bytes behind
        assert_eq!(first_beyond(1.0), Some(182));
        assert_eq!(first_beyond(0.94), None);
    }
}
