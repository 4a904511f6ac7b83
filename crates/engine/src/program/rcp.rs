//! Explicit rates (RCP): each port grants one rate to all its flows, without per-flow state.

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::metadata::RateGrant;
use crate::event::packet::{Ext, Packet};
use crate::spec::Rcp;
use incast_cc::{Rate, Time};

/// Rates that the ports of a node grant.
#[derive(Clone, Debug)]
pub struct Rates {
    rule: Rcp,
    ports: Vec<Port>,
    /// Earliest end of a period of any port.
    due: Time,
}

/// Port. Rates are in bits per second on the link, times in picoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Port {
    /// Granted rate per flow; 0 before the first packet.
    rate: f64,
    /// Mean round-trip time of requesting packets; 0 if unknown.
    rtt: f64,
    /// Length and start of the current period.
    period: Time,
    began: Time,
    /// End of the period; never while further periods would change nothing.
    ends: Time,
    /// Bytes that arrived in the period.
    arrived_bytes: u64,
    /// Bytes of packets that report their round-trip time, and the sum of bytes times round-trip time.
    reported_bytes: u64,
    reported_rtt: f64,
}

impl Port {
    /// Port before the first packet.
    fn new(rule: &Rcp) -> Port {
        Port {
            rate: 0.0,
            rtt: rule.rtt.map_or(0.0, |rtt| rtt.0 as f64),
            period: Time::ZERO,
            began: Time::ZERO,
            ends: Time::NEVER,
            arrived_bytes: 0,
            reported_bytes: 0,
            reported_rtt: 0.0,
        }
    }

    /// Handles the arrival of a packet of `size` bytes; `rtt` is the sender's smoothed round-trip time, if reported.
    fn arrive(&mut self, rule: &Rcp, now: Time, size: u64, rtt: Option<Time>) {
        if self.ends == Time::NEVER {
            self.resume(rule, now, rtt);
        }
        self.arrived_bytes += size;
        if let Some(rtt) = rtt {
            self.reported_bytes += size;
            self.reported_rtt += size as f64 * rtt.0 as f64;
        }
    }

    /// Limits the requested rate of a packet to the rate of the port.
    fn grant(&self, granted: &mut RateGrant) {
        // a port to which no packet has been routed has no rate yet
        if self.rate > 0.0 {
            granted.rate = granted.rate.min(self.rate);
        }
    }

    /// Starts periods, or continues them as if they had never stopped.
    #[cold]
    fn resume(&mut self, rule: &Rcp, now: Time, rtt: Option<Time>) {
        if self.period == Time::ZERO {
            if self.rtt == 0.0 {
                self.rtt = rtt.map_or(0.0, |rtt| rtt.0 as f64);
            }
            if self.rtt == 0.0 {
                return;
            }
            (self.period, self.began) = (self.length(rule), now);
            // bytes before the first period belong to none
            self.arrived_bytes = 0;
        } else {
            let over = (now - self.began).0.div_ceil(self.period.0).max(1) - 1;
            self.began += self.period * over;
        }
        self.ends = self.began.saturating_add(self.period);
    }

    /// Length of a period.
    fn length(&self, rule: &Rcp) -> Time {
        Time(self.rtt as u64).min(rule.period).max(Time::ps(1))
    }

    /// Ends the period, with `queue` waiting bytes and a link of rate `link`.
    fn end(&mut self, rule: &Rcp, queue: u64, link: f64) {
        let period = self.period.0 as f64;
        if self.reported_bytes > 0 {
            let mean = self.reported_rtt / self.reported_bytes as f64;
            self.rtt += (period / self.rtt).min(1.0) * (mean - self.rtt);
        }
        let most = rule.utilisation * link;
        let arrived_bytes = self.arrived_bytes as f64 * 8e12 / period;
        let waits = queue as f64 * 8e12 / self.rtt;
        let factor = 1.0 + period / self.rtt * (rule.alpha * (most - arrived_bytes) - rule.beta * waits) / most;
        let least = rule.least as f64 * 8e12 / self.rtt;
        let idle = self.arrived_bytes == 0 && queue == 0 && self.rate == most;
        self.rate = (self.rate * factor).max(least).min(most);
        self.began = self.ends;
        (self.arrived_bytes, self.reported_bytes, self.reported_rtt) = (0, 0, 0.0);
        if idle {
            self.ends = Time::NEVER;
        } else {
            self.period = self.length(rule);
            self.ends = self.began.saturating_add(self.period);
        }
    }
}

impl Rates {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Rcp, ports: usize) -> Rates {
        Rates { rule: rule.clone(), ports: vec![Port::new(rule); ports], due: Time::NEVER }
    }
}

impl SwitchProgram for Rates {
    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(local) = at.egress else { return Verdict::Pass };
        let link = at.rate(local);
        if link == Rate::INFINITE {
            return Verdict::Pass;
        }
        let port = &mut self.ports[local];
        if port.rate == 0.0 {
            port.rate = self.rule.initial.min(self.rule.utilisation) * link.as_f64();
        }
        let granted = effects.ext.as_deref_mut().and_then(Ext::rate);
        let rtt = granted.as_ref().map(|granted| granted.rtt).filter(|rtt| *rtt > Time::ZERO);
        port.arrive(&self.rule, at.now, at.bytes(local, packet), rtt);
        if let Some(granted) = granted.filter(|_| !at.ports[local].is_explicit()) {
            port.grant(granted);
        }
        self.due = self.due.min(port.ends);
        Verdict::Pass
    }

    fn asks_egress(&self) -> bool {
        true
    }

    /// Grants packets in an explicit queue the rate at their departure.
    fn egress(&mut self, at: &At, _packet: &mut Packet, ext: Option<&mut Ext>) {
        if let (Some(local), Some(granted)) = (at.egress, ext.and_then(Ext::rate))
            && at.rate(local) != Rate::INFINITE
        {
            self.ports[local].grant(granted);
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
            port.end(&self.rule, at.queue(local), at.rate(local).as_f64());
        }
        self.due = self.ports.iter().map(|port| port.ends).min().unwrap_or(Time::NEVER);
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        let port = &self.ports[port];
        if port.rate > 0.0 {
            visit("rcp_rate_bps", port.rate);
        }
        if port.rtt > 0.0 {
            visit("rcp_rtt_s", port.rtt / 1e12);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: f64 = 1e10;

    fn rule() -> Rcp {
        Rcp {
            alpha: 0.4,
            beta: 0.4,
            utilisation: 1.0,
            period: Time::NEVER,
            rtt: Some(Time::us(100)),
            initial: 0.5,
            least: 1500,
        }
    }

    /// Port of 10 Gb/s with this rate and periods of 100 us from time 0 on.
    fn port(rule: &Rcp, rate: f64) -> Port {
        let mut port = Port { rate, ..Port::new(rule) };
        port.arrive(rule, Time::ZERO, 0, None);
        port
    }

    /// Rate after a period with `arrived_bytes` arriving bytes, as a share of the link's rate.
    fn after(rule: &Rcp, rate: f64, arrived_bytes: u64, queue: u64) -> f64 {
        let mut port = port(rule, rate * C);
        port.arrive(rule, Time::us(50), arrived_bytes, Some(Time::us(100)));
        port.end(rule, queue, C);
        port.rate / C
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn a_rate_follows_what_is_left_over_and_what_waits() {
        // 9 of 10 Gb/s in 100 us are 112,500 bytes
        close(after(&rule(), 0.1, 112_500, 0), 0.1 * 1.04);
        // 62,500 bytes wait as long as half a round trip takes: 0.4 * 0.1 - 0.4 * 0.5
        close(after(&rule(), 0.1, 112_500, 62_500), 0.1 * 0.84);
        // the thesis' gains
        let thesis = Rcp { alpha: 0.1, beta: 1.0, ..rule() };
        close(after(&thesis, 0.1, 112_500, 62_500), 0.1 * (1.0 + 0.01 - 0.5));
        // only a share of the link is granted: 9 of 9 Gb/s leave nothing
        let most = Rcp { utilisation: 0.9, ..rule() };
        close(after(&most, 0.1, 112_500, 0), 0.1);
        close(after(&most, 0.9, 0, 0), 0.9);
    }

    #[test]
    fn a_rate_is_between_a_packet_a_round_trip_and_the_links() {
        close(after(&rule(), 1.0, 0, 0), 1.0);
        close(after(&rule(), 0.8, 0, 0), 1.0);
        // 1500 bytes in 100 us
        close(after(&rule(), 0.1, 125_000, 10_000_000), 0.012);
    }

    #[test]
    fn a_shorter_period_changes_the_rate_by_its_share_of_the_round_trip() {
        let rule = Rcp { period: Time::us(10), ..rule() };
        // 9 Gb/s in 10 us
        close(after(&rule, 0.1, 11_250, 0), 0.1 * 1.004);
        let mut port = port(&rule, 0.1 * C);
        // the mean moves a tenth of the way to the reported times, weighted by bytes: 100 us and 300 us equally
        port.arrive(&rule, Time::us(1), 1000, Some(Time::us(100)));
        port.arrive(&rule, Time::us(2), 1000, Some(Time::us(300)));
        port.arrive(&rule, Time::us(3), 50_000, None);
        port.end(&rule, 0, C);
        close(port.rtt / 1e6, 110.0);
    }

    #[test]
    fn the_first_packet_that_tells_its_round_trip_begins_the_first_period() {
        let rule = Rcp { rtt: None, ..rule() };
        let mut port = Port { rate: C, ..Port::new(&rule) };
        port.arrive(&rule, Time::us(7), 64, None);
        assert_eq!(port.ends, Time::NEVER);
        port.arrive(&rule, Time::us(9), 1500, Some(Time::us(40)));
        assert_eq!((port.rtt, port.ends), (4e7, Time::us(49)));
    }

    #[test]
    fn a_port_that_stopped_is_as_if_it_had_gone_on() {
        let rule = rule();
        for gap in [1, 99, 100, 101, 250, 300, 1000] {
            let mut stops = port(&rule, 0.9 * C);
            stops.arrive(&rule, Time::us(10), 1500, Some(Time::us(100)));
            let mut goes_on = stops;
            let mut ended = 0;
            // to the full rate, and one period without arrivals
            while stops.ends != Time::NEVER {
                stops.end(&rule, 0, C);
                ended += 1;
            }
            assert_eq!(ended, 2);
            let again = Time::us(100 * ended + gap);
            while goes_on.ends < again {
                goes_on.end(&rule, 0, C);
                // undo the stop
                goes_on.ends = goes_on.began + goes_on.period;
            }
            for port in [&mut stops, &mut goes_on] {
                port.arrive(&rule, again, 140_000, Some(Time::us(120)));
            }
            assert_eq!(stops, goes_on, "{gap} us");
            assert_eq!(stops.ends, Time::us(100 * (ended + gap.div_ceil(100))));
        }
    }
}
