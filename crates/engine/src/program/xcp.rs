//! Explicit windows (XCP): each port distributes the spare bandwidth of its link, and takes back its backlog, packet by
//! packet, without per-flow state.

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::metadata::WindowGrant;
use crate::event::packet::{Ext, Packet};
use crate::spec::Xcp;
use incast_cc::{Rate, Time};

/// Feedback that the ports of a node distribute.
#[derive(Clone, Debug)]
pub struct Shares {
    rule: Xcp,
    ports: Vec<Port>,
    /// Earliest end of a control interval of any port.
    due: Time,
}

/// Port. Rates are in bytes per second on the link, its mean round-trip time in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Port {
    /// Mean round-trip time; 0 if unknown.
    rtt: f64,
    /// Start and end of the current control interval; the end is never while nothing arrives.
    began: Time,
    ends: Time,
    /// Bytes that arrived in the interval.
    arrived_bytes: u64,
    /// Over packets that report window and round-trip time: bytes; the sum of bytes divided by the flow's rate; and the
    /// sum of that times its round-trip time.
    reported_bytes: u64,
    paces: f64,
    paces_rtt: f64,
    /// Remaining positive and negative feedback in this interval.
    gives: f64,
    takes: f64,
    /// Positive feedback per bytes divided by the flow's rate, and negative feedback per byte.
    per_pace: f64,
    per_byte: f64,
    /// Minimum queue that packets met in the previous queue interval, and in the current one, which ends at `until`; in
    /// bytes.
    queue: u64,
    shortest: u64,
    until: Time,
}

impl Port {
    /// Port before the first packet.
    fn new(rule: &Xcp) -> Port {
        Port {
            rtt: rule.rtt.map_or(0.0, |rtt| rtt.as_secs_f64()),
            began: Time::ZERO,
            ends: Time::NEVER,
            arrived_bytes: 0,
            reported_bytes: 0,
            paces: 0.0,
            paces_rtt: 0.0,
            gives: 0.0,
            takes: 0.0,
            per_pace: 0.0,
            per_byte: 0.0,
            queue: 0,
            shortest: 0,
            until: Time::ZERO,
        }
    }

    /// Handles the arrival of a packet of `size` bytes at a queue of `queue` bytes and a link of `link` bytes per
    /// second.
    fn arrive(&mut self, rule: &Xcp, now: Time, size: u64, demand: Option<&WindowGrant>, (queue, link): (u64, f64)) {
        let demand = demand.filter(|demand| demand.rtt > Time::ZERO && demand.cwnd > 0.0);
        if self.ends == Time::NEVER {
            self.resume(rule, now, demand);
        }
        self.update_min_queue(rule, now, queue, link);
        self.arrived_bytes += size;
        if let Some(demand) = demand {
            let rtt = demand.rtt.as_secs_f64();
            let pace = size as f64 * rtt / demand.cwnd;
            self.reported_bytes += size;
            self.paces += pace;
            self.paces_rtt += pace * rtt;
        }
    }

    /// Starts or restarts intervals.
    #[cold]
    fn resume(&mut self, rule: &Xcp, now: Time, demand: Option<&WindowGrant>) {
        if self.rtt == 0.0 {
            let Some(demand) = demand else { return };
            self.rtt = demand.rtt.as_secs_f64();
        }
        self.begin(rule, now);
        self.until = now;
    }

    /// Starts the next interval.
    fn begin(&mut self, rule: &Xcp, now: Time) {
        (self.arrived_bytes, self.reported_bytes, self.paces, self.paces_rtt) = (0, 0, 0.0, 0.0);
        self.began = now;
        self.ends = now.saturating_add(Time::from_secs_f64(self.rtt).max(rule.interval).max(Time::ps(1)));
    }

    /// Updates the minimum queue with the current queue length.
    fn update_min_queue(&mut self, rule: &Xcp, now: Time, queue: u64, link: f64) {
        self.shortest = self.shortest.min(queue);
        if now >= self.until {
            (self.queue, self.shortest) = (self.shortest, queue);
            let idle = (self.rtt - queue as f64 / link).max(0.0);
            self.until = now + Time::from_secs_f64(rule.queue_share * idle).max(rule.queue_interval);
        }
    }

    /// Limits the requested change of a packet of `size` bytes to its share.
    fn allow(&mut self, size: u64, demand: &mut WindowGrant) {
        if demand.rtt == Time::ZERO || demand.cwnd <= 0.0 {
            demand.change = demand.change.min(0.0);
            return;
        }
        let pace = size as f64 * demand.rtt.as_secs_f64() / demand.cwnd;
        let mut gets = self.gives.min(self.per_pace * pace);
        let mut loses = self.takes.min(self.per_byte * size as f64);
        let change = gets - loses;
        if demand.change >= change {
            demand.change = change;
        } else {
            // another port, or the sender, has lowered it further: other packets may get the rest
            loses = self.takes.min(loses + (change - demand.change));
            gets = (demand.change + loses).max(0.0);
        }
        self.gives = (self.gives - gets).max(0.0);
        self.takes = (self.takes - loses).max(0.0);
    }

    /// Ends the interval, with `queue` waiting bytes and a link of `link` bytes per second.
    fn end(&mut self, rule: &Xcp, now: Time, queue: u64, link: f64) {
        self.update_min_queue(rule, now, queue, link);
        let arrived_bytes = self.arrived_bytes as f64 / (self.ends - self.began).as_secs_f64();
        let change = rule.alpha * (rule.utilisation * link - arrived_bytes) - rule.beta * self.queue as f64 / self.rtt;
        let shuffled = (rule.shuffle * arrived_bytes - change.abs()).max(0.0);
        self.gives = change.max(0.0) + shuffled;
        self.takes = (-change).max(0.0) + shuffled;
        (self.per_pace, self.per_byte) = (0.0, 0.0);
        if self.reported_bytes > 0 {
            self.per_pace = self.gives / self.paces;
            self.per_byte = self.takes / self.reported_bytes as f64;
            self.rtt = self.paces_rtt / self.paces;
        }
        let idle = self.arrived_bytes == 0 && queue == 0;
        self.begin(rule, now);
        if idle {
            (self.ends, self.queue, self.shortest) = (Time::NEVER, 0, 0);
        }
    }
}

impl Shares {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Xcp, ports: usize) -> Shares {
        Shares { rule: rule.clone(), ports: vec![Port::new(rule); ports], due: Time::NEVER }
    }
}

/// Link rate of a port, in bytes per second.
fn bytes_per_second(at: &At, port: usize) -> f64 {
    at.rate(port).as_f64() / 8.0
}

impl SwitchProgram for Shares {
    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(local) = at.egress else { return Verdict::Pass };
        if at.rate(local) == Rate::INFINITE {
            return Verdict::Pass;
        }
        let demand = effects.ext.as_deref_mut().and_then(Ext::demand);
        let port = &mut self.ports[local];
        let (size, met) = (at.bytes(local, packet), (at.queue(local), bytes_per_second(at, local)));
        port.arrive(&self.rule, at.now, size, demand.as_deref(), met);
        if let Some(demand) = demand.filter(|_| !at.ports[local].is_explicit()) {
            port.allow(size, demand);
        }
        self.due = self.due.min(port.ends);
        Verdict::Pass
    }

    fn asks_egress(&self) -> bool {
        true
    }

    /// Grants packets in an explicit queue their share at departure.
    fn egress(&mut self, at: &At, packet: &mut Packet, ext: Option<&mut Ext>) {
        if let (Some(local), Some(demand)) = (at.egress, ext.and_then(Ext::demand))
            && at.rate(local) != Rate::INFINITE
        {
            self.ports[local].allow(at.bytes(local, packet), demand);
        }
    }

    fn has_timer(&self) -> bool {
        true
    }

    fn due(&self) -> Time {
        self.due
    }

    fn timer(&mut self, at: &At, _effects: &mut SideEffects) {
        for (local, port) in self.ports.iter_mut().enumerate().filter(|(_, port)| port.ends <= at.now) {
            port.end(&self.rule, at.now, at.queue(local), bytes_per_second(at, local));
        }
        self.due = self.ports.iter().map(|port| port.ends).min().unwrap_or(Time::NEVER);
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        let port = &self.ports[port];
        if port.rtt > 0.0 {
            visit("xcp_gives_bps", port.gives * 8.0);
            visit("xcp_takes_bps", port.takes * 8.0);
            visit("xcp_rtt_s", port.rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gb/s in bytes per second.
    const C: f64 = 1.25e9;
    const RTT: Time = Time::us(100);

    fn rule() -> Xcp {
        Xcp {
            alpha: 0.4,
            beta: 0.226,
            shuffle: 0.1,
            utilisation: 1.0,
            interval: Time::ZERO,
            queue_share: 1.0,
            queue_interval: Time::ZERO,
            rtt: Some(RTT),
        }
    }

    fn demand(rtt: Time, cwnd: f64) -> WindowGrant {
        WindowGrant { rtt, cwnd, change: f64::INFINITY }
    }

    /// Port after an interval of 100 us in which `arrived_bytes` bytes arrived in packets of 1000 bytes, with these
    /// demands in turn, at a queue of `queue` bytes.
    fn after(arrived_bytes: u64, queue: u64, demands: &[WindowGrant]) -> Port {
        let rule = rule();
        let mut port = Port { queue, shortest: queue, ..Port::new(&rule) };
        for (i, demand) in (0..arrived_bytes / 1000).zip(demands.iter().cycle()) {
            port.arrive(&rule, Time(1 + i), 1000, Some(demand), (queue, C));
        }
        let now = port.ends;
        port.end(&rule, now, queue, C);
        port
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn pools_are_what_is_left_over_less_what_waits_and_a_tenth_that_is_shuffled() {
        // 100,000 bytes in 100 us are 8 of 10 Gb/s
        let port = after(100_000, 0, &[demand(RTT, 50_000.0)]);
        close(port.gives, 1e8);
        // a tenth of 1e9 is as much as phi, up to rounding
        assert!(port.takes < 1e-6, "{}", port.takes);
        let port = after(100_000, 50_000, &[demand(RTT, 50_000.0)]);
        close(port.gives, 8.7e7);
        close(port.takes, 1.0e8);
    }

    #[test]
    fn flows_get_equal_shares_and_lose_in_proportion_to_what_they_send() {
        // a flow of 20,000 a round trip beside one of 80,000, each sending its window in the interval
        let (small, large) = (demand(RTT, 20_000.0), demand(RTT, 80_000.0));
        let mix = [small, large, large, large, large];
        let growth = |queue: u64| {
            let mut port = after(100_000, queue, &mix);
            let mut sums = [0.0; 2];
            for i in 0..100 {
                let mut own = mix[i % 5];
                port.allow(1000, &mut own);
                sums[usize::from(i % 5 > 0)] += own.change * RTT.as_secs_f64();
            }
            sums
        };
        // 1e8 B/s are 10,000 bytes a round trip
        let [a, b] = growth(0);
        close(a, 5_000.0);
        close(b, 5_000.0);
        // 8,700 are given in equal parts, and 10,000 taken by shares of the rate
        let [a, b] = growth(50_000);
        close(a, 4_350.0 - 2_000.0);
        close(b, 4_350.0 - 8_000.0);
    }

    #[test]
    fn the_mean_round_trip_is_that_of_flows_not_of_bytes() {
        // windows proportional to round trips: equal rates, and packets of both count equally
        let port = after(100_000, 0, &[demand(RTT, 50_000.0), demand(RTT * 3, 150_000.0)]);
        close(port.rtt, 200e-6);
        // three times the rate at the same round trip: three packets of a third of the weight
        let quick = demand(RTT * 3, 450_000.0);
        let port = after(100_000, 0, &[demand(RTT, 50_000.0), quick, quick, quick]);
        close(port.rtt, 200e-6);
        assert_eq!(port.ends - port.began, Time::us(200));
    }

    #[test]
    fn what_one_packet_may_not_have_is_left_to_others() {
        let mut port = after(100_000, 0, &[demand(RTT, 50_000.0)]);
        let mut less = WindowGrant { change: 2e5, ..demand(RTT, 50_000.0) };
        port.allow(1000, &mut less);
        // a hundredth of 1e8 would have been its share
        close(less.change, 2e5);
        close(port.gives, 1e8 - 2e5);
        let mut unknown = WindowGrant { rtt: Time::ZERO, ..less };
        port.allow(1000, &mut unknown);
        assert_eq!(unknown.change, 0.0);
    }

    #[test]
    fn no_more_is_given_than_there_is() {
        let mut port = after(100_000, 0, &[demand(RTT, 50_000.0)]);
        let mut sum = 0.0;
        for _ in 0..300 {
            let mut own = demand(RTT, 50_000.0);
            port.allow(1000, &mut own);
            sum += own.change;
        }
        close(sum, 1e8);
    }

    #[test]
    fn the_queue_that_counts_is_the_shortest_of_a_round_trip() {
        let rule = rule();
        let mut port = Port::new(&rule);
        let own = demand(RTT, 50_000.0);
        let mut met = |us: u64, queue: u64| {
            port.arrive(&rule, Time::us(us), 1000, Some(&own), (queue, C));
            port.queue
        };
        assert_eq!(met(0, 25_000), 0);
        // 25,000 bytes wait 20 us: 80 are left of the round trip
        assert_eq!(met(30, 40_000), 0);
        assert_eq!(met(60, 30_000), 0);
        assert_eq!(met(80, 50_000), 25_000);
    }

    #[test]
    fn a_port_at_which_nothing_comes_stops() {
        let rule = rule();
        let mut port = after(100_000, 0, &[demand(RTT, 50_000.0)]);
        let now = port.ends;
        port.end(&rule, now, 0, C);
        assert_eq!(port.ends, Time::NEVER);
        let mut first = demand(RTT, 50_000.0);
        port.allow(1000, &mut first);
        assert_eq!(first.change, 0.0, "nobody asked");
    }
}
