//! Deadline-driven rates (D3): a port grants flows, first come, first served, the rate that meets their deadline, and a
//! fair share of the spare rate. The port stores a flow's previous demand and allocation, which packets carry in the
//! paper.

use super::rule::{At, Direction, SideEffects, SwitchProgram, Verdict};
use crate::event::metadata::RateGrant;
use crate::event::packet::{Ext, Packet, flag};
use crate::spec::D3;
use incast_cc::{Rate, Time};
use std::collections::BTreeMap;

/// Allocations of the ports of a node.
#[derive(Clone, Debug)]
pub struct Allocations {
    rule: D3,
    ports: Vec<Port>,
}

/// Port. Rates are in bits per second on the link.
#[derive(Clone, Debug, Default)]
struct Port {
    flows: BTreeMap<Direction, Flow>,
    /// Rate to allocate: C in the paper; 0 before the first packet.
    capacity: f64,
    /// Sums over the flows: A and D in the paper.
    allocated: f64,
    demand: f64,
    /// Bytes that arrived in the period until `ends`.
    arrived_bytes: u64,
    ends: Time,
}

/// Flow at a port.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Flow {
    wants: f64,
    gets: f64,
    asked: Time,
}

impl Port {
    /// Section 4.2: request of a flow with minimum rate `least`.
    fn allocate(&mut self, of: Direction, wants: f64, least: f64, now: Time) -> f64 {
        let before = self.flows.get(&of).copied().unwrap_or_default();
        self.allocated -= before.gets;
        self.demand += wants - before.wants;
        let count = self.flows.len() + usize::from(!self.flows.contains_key(&of));
        let left = self.capacity - self.allocated;
        let share = ((self.capacity - self.demand) / count as f64).max(0.0);
        let gets = if left > wants { (wants + share).min(left) } else { left }.max(least);
        self.allocated += gets;
        self.flows.insert(of, Flow { wants, gets, asked: now });
        gets
    }

    /// Releases the allocation of a flow that ends.
    fn release(&mut self, of: &Direction) {
        if let Some(flow) = self.flows.remove(of) {
            self.allocated -= flow.gets;
            self.demand -= flow.wants;
        }
        if self.flows.is_empty() {
            (self.allocated, self.demand) = (0.0, 0.0);
        }
    }

    /// Section 4.2: updates the capacity at the end of periods, with `queue` waiting bytes and a link of rate `link`.
    fn advance(&mut self, rule: &D3, now: Time, queue: u64, link: f64) {
        if self.capacity == 0.0 {
            (self.capacity, self.ends) = (link, now.saturating_add(rule.period));
        }
        if now < self.ends {
            return;
        }
        let period = rule.period.as_secs_f64();
        let bits = |bytes: u64| bytes as f64 * 8.0 / period;
        let over = ((now - self.ends) / rule.period) as f64;
        let first = self.capacity + rule.alpha * (link - bits(self.arrived_bytes)) - rule.beta * bits(queue);
        // nothing arrives in the periods after the first
        self.capacity = (first.max(0.0) + over * rule.alpha * link).min(link).max(link * 1e-3);
        self.arrived_bytes = 0;
        self.ends += rule.period * (over as u64 + 1);
        let gone = |flow: &Flow| now - flow.asked >= rule.forget;
        if self.flows.values().any(gone) {
            self.flows.retain(|_, flow| !gone(flow));
            self.allocated = self.flows.values().map(|flow| flow.gets).sum();
            self.demand = self.flows.values().map(|flow| flow.wants).sum();
        }
    }

    /// Handles the request of a packet; a new allocation is made once per round trip. A retransmission (`again`) may
    /// follow the flow's FIN, and creates no lasting allocation.
    fn answer(&mut self, rule: &D3, of: Direction, again: bool, now: Time, granted: &mut RateGrant) {
        let rtt = if granted.rtt > Time::ZERO { granted.rtt } else { rule.period };
        let gets = match self.flows.get(&of) {
            Some(flow) if now - flow.asked < rtt => flow.gets,
            known => {
                let passing = again && known.is_none();
                let wants = if granted.wants.is_finite() { granted.wants } else { 0.0 };
                let gets = self.allocate(of, wants, rule.least as f64 * 8.0 / rtt.as_secs_f64(), now);
                if passing {
                    self.release(&of);
                }
                gets
            }
        };
        granted.rate = granted.rate.min(gets);
    }

    /// Handles a packet of a flow: retransmitted (`again`), or its last (`ends`). Data with FIN is answered like any
    /// other.
    fn on_packet(
        &mut self,
        rule: &D3,
        of: Direction,
        (again, ends): (bool, bool),
        now: Time,
        granted: Option<&mut RateGrant>,
    ) {
        if let Some(granted) = granted {
            self.answer(rule, of, again, now, granted);
        }
        if ends {
            self.release(&of);
        }
    }
}

impl Allocations {
    /// Program of a node with this number of ports.
    pub fn new(rule: &D3, ports: usize) -> Allocations {
        Allocations { rule: rule.clone(), ports: vec![Port::default(); ports] }
    }
}

impl SwitchProgram for Allocations {
    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(local) = at.egress else { return Verdict::Pass };
        let link = at.rate(local);
        if link == Rate::INFINITE {
            return Verdict::Pass;
        }
        let port = &mut self.ports[local];
        port.advance(&self.rule, at.now, at.queue(local), link.as_f64());
        port.arrived_bytes += at.bytes(local, packet);
        let granted = effects.ext.as_deref_mut().and_then(Ext::rate);
        let ends = packet.has(flag::FIN) && !packet.is_reverse();
        if ends || granted.is_some() {
            port.on_packet(&self.rule, at.direction(packet), (packet.has(flag::RETX), ends), at.now, granted);
        }
        Verdict::Pass
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        let port = &self.ports[port];
        if port.capacity > 0.0 {
            visit("d3_allocated_bps", port.allocated);
            visit("d3_capacity_bps", port.capacity);
            visit("d3_flows", port.flows.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    fn rule() -> D3 {
        D3 { alpha: 0.1, beta: 1.0, period: Time::us(100), least: 125, forget: Time::ms(10) }
    }

    fn of(flow: u32) -> Direction {
        Direction { flow: FlowId(flow), back: false, number: 0 }
    }

    /// Request at a port of 10 Gb/s with a minimum rate of 0.01 Gb/s, in Gb/s.
    fn asks(port: &mut Port, flow: u32, wants: f64) -> f64 {
        port.allocate(of(flow), wants * 1e9, 0.01 * 1e9, Time::us(1)) / 1e9
    }

    fn port() -> Port {
        Port { capacity: 1e10, ..Port::default() }
    }

    #[test]
    fn flows_get_what_they_want_and_a_share_of_the_rest() {
        let mut port = port();
        assert_eq!(asks(&mut port, 0, 4.0), 10.0, "alone: 4 and 6");
        assert_eq!(asks(&mut port, 1, 4.0), 0.01, "nothing is left before the first asks again");
        assert!((asks(&mut port, 0, 4.0) - 5.0).abs() < 1e-9);
        assert!((asks(&mut port, 1, 4.0) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn who_comes_first_is_served_first() {
        let mut port = port();
        for _ in 0..2 {
            asks(&mut port, 0, 4.0);
            asks(&mut port, 1, 4.0);
        }
        assert_eq!(asks(&mut port, 2, 4.0), 0.01);
        // 12 are wanted: no share, and the third has what the others leave
        assert!((asks(&mut port, 0, 4.0) - 4.0).abs() < 1e-9);
        assert!((asks(&mut port, 1, 4.0) - 4.0).abs() < 1e-9);
        assert!((asks(&mut port, 2, 4.0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn without_deadlines_shares_are_equal() {
        let mut port = port();
        for _ in 0..4 {
            for flow in 0..5 {
                asks(&mut port, flow, 0.0);
            }
        }
        (0..5).for_each(|flow| assert!((asks(&mut port, flow, 0.0) - 2.0).abs() < 1e-9));
        port.release(&of(4));
        (0..4).for_each(|flow| assert!((asks(&mut port, flow, 0.0) - 2.5).abs() < 1e-9));
        (0..4).for_each(|flow| port.release(&of(flow)));
        assert_eq!((port.allocated, port.demand), (0.0, 0.0));
    }

    #[test]
    fn the_capacity_follows_what_came_and_what_waits() {
        let after = |arrived_bytes: u64, queue: u64, us: u64| {
            let mut port = Port { arrived_bytes, ends: Time::us(100), ..port() };
            port.capacity = 0.8e10;
            port.advance(&rule(), Time::us(us), queue, 1e10);
            port.capacity / 1e9
        };
        // 8 Gb/s in 100 us are 100 kB: a tenth of 2 more; 12.5 kB are 1 Gb/s
        assert!((after(100_000, 0, 100) - 8.2).abs() < 1e-9);
        assert!((after(100_000, 12_500, 100) - 7.2).abs() < 1e-9);
        // a second period without arrivals: 1 more
        assert!((after(100_000, 12_500, 200) - 8.2).abs() < 1e-9);
        assert_eq!(after(0, 0, 10_000), 10.0);
    }

    #[test]
    fn a_flows_last_packet_is_answered_and_repairs_after_it_leave_no_allocation() {
        let mut port = port();
        let mut hear = |flow: u32, again: bool, ends: bool| {
            let mut granted = RateGrant { rate: f64::INFINITY, rtt: Time::us(50), wants: 2e9 };
            port.on_packet(&rule(), of(flow), (again, ends), Time::us(1), Some(&mut granted));
            (granted.rate / 1e9, port.flows.len(), port.demand)
        };
        assert_eq!(hear(0, false, true), (10.0, 0, 0.0), "all of it in one packet");
        assert_eq!(hear(0, true, false), (10.0, 0, 0.0), "a hole before it");
        hear(1, false, false);
        assert_eq!(hear(0, true, false), (0.02, 1, 2e9), "beside another: the least rate, 125 B in 50 us");
        assert_eq!(hear(0, true, true), (0.02, 1, 2e9), "the last itself");
        assert_eq!(hear(1, true, false).1, 1, "a flow that is known stays so");
    }

    #[test]
    fn a_flow_asks_once_a_round_trip_and_is_forgotten_in_the_end() {
        let mut port = Port { ends: Time::us(100), ..port() };
        let ask = |port: &mut Port, us: u64, wants: f64| {
            let mut granted = RateGrant { rate: f64::INFINITY, rtt: Time::us(50), wants };
            port.on_packet(&rule(), of(0), (false, false), Time::us(us), Some(&mut granted));
            granted.rate / 1e9
        };
        assert_eq!(ask(&mut port, 1, 2e9), 10.0);
        assert_eq!(port.demand, 2e9);
        assert_eq!(ask(&mut port, 50, 1e9), 10.0);
        assert_eq!(port.demand, 2e9, "not yet");
        ask(&mut port, 51, f64::INFINITY);
        assert_eq!(port.demand, 0.0);
        port.advance(&rule(), Time::us(10_051), 0, 1e10);
        assert!(port.flows.is_empty() && port.allocated == 0.0);
    }
}
