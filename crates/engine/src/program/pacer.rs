//! Pacer below a host's stack (HULL): packets of flows that receive congestion marks leave at a rate that follows the
//! rate of these flows, instead of in bursts.

use super::rule::{At, Direction, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::hash::{self, purpose};
use crate::ids::LinkId;
use crate::spec::{Pacer, Spec};
use incast_cc::{Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// Pacer of a host.
#[derive(Clone, Debug)]
pub struct Pace {
    rule: Pacer,
    seed: u64,
    /// Paced directions of connections.
    flows: BTreeMap<Direction, Paced>,
    /// Number of random draws, one per echo of a mark.
    draws: u64,
    waiting: VecDeque<Waiting>,
    bucket: Bucket,
    /// Timer: next time at which a packet may leave or an interval ends.
    due: Time,
}

/// Paced direction of a connection.
#[derive(Clone, Copy, Debug)]
struct Paced {
    /// Arrival time of the latest echo of a mark.
    echoed: Time,
    /// Number of its waiting packets.
    waiting: u32,
}

/// Waiting packet.
#[derive(Clone, Debug)]
struct Waiting {
    packet: Packet,
    ext: Option<Ext>,
    of: Direction,
    egress: usize,
    /// Bytes on the port's link.
    bytes: u64,
}

/// Token bucket and its rate.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Bucket {
    /// Rate, in bits per second.
    rate: f64,
    /// Bucket size, in bytes.
    burst: u64,
    /// Tokens in bytes at time `at`; negative after a packet larger than the bucket.
    tokens: f64,
    at: Time,
    /// Bytes that arrived in the interval until `ends`, and waiting bytes.
    arrived_bytes: u64,
    ends: Time,
    backlog: u64,
}

impl Bucket {
    /// Full bucket with the rate of the link.
    fn new(rule: &Pacer, burst: u64, link: Rate) -> Bucket {
        let (at, ends) = (Time::ZERO, rule.period);
        Bucket { rate: link.as_f64(), burst, tokens: burst as f64, at, arrived_bytes: 0, ends, backlog: 0 }
    }

    fn fill(&mut self, to: Time) {
        self.tokens = (self.tokens + self.rate * (to - self.at).0 as f64 / 8e12).min(self.burst as f64);
        self.at = to;
    }

    /// Rate after the interval.
    fn next_rate(&self, rule: &Pacer, link: Rate) -> f64 {
        let arrived_bytes = self.arrived_bytes as f64 * 8.0 / rule.period.as_secs_f64();
        let owed = rule.beta * self.backlog as f64;
        let rate = (1.0 - rule.eta) * self.rate + rule.eta * arrived_bytes + owed;
        rate.min(link.as_f64()).max(rule.least.as_f64())
    }

    /// Advances to `now`, and ends the intervals until then.
    fn advance(&mut self, rule: &Pacer, now: Time, link: Rate) {
        while self.ends <= now {
            let before = self.rate;
            self.fill(self.ends);
            self.rate = self.next_rate(rule, link);
            let still = self.arrived_bytes == 0 && self.backlog == 0 && self.rate == before;
            self.arrived_bytes = 0;
            // nothing changes in the following intervals
            let over = if still { (now - self.ends) / rule.period } else { 0 };
            self.ends += rule.period * (over + 1);
        }
        self.fill(now);
    }

    /// Takes the tokens of a packet and returns true, if it may leave.
    fn lets(&mut self, bytes: u64) -> bool {
        let lets = self.tokens >= bytes.min(self.burst) as f64;
        if lets {
            self.tokens -= bytes as f64;
        }
        lets
    }

    /// Time at which a packet may leave at the current rate.
    fn opens(&self, bytes: u64) -> Time {
        let lacks = (bytes.min(self.burst) as f64 - self.tokens).max(0.0);
        self.at + Time((lacks * 8e12 / self.rate) as u64 + 1)
    }
}

impl Pace {
    /// Pacer of a node with this number of ports.
    pub fn new(rule: &Pacer, _ports: usize) -> Pace {
        Pace {
            rule: rule.clone(),
            seed: 0,
            flows: BTreeMap::new(),
            draws: 0,
            waiting: VecDeque::new(),
            bucket: Bucket::new(rule, 0, Rate::INFINITE),
            due: Time::NEVER,
        }
    }

    /// Handles an echo of a mark for a direction in which the host sends: it may be paced from now on.
    #[cold]
    fn on_mark_echo(&mut self, at: &At, packet: &Packet) {
        let Direction { flow, back, number } = at.direction(packet);
        let of = Direction { flow, back: !back, number };
        if let Some(paced) = self.flows.get_mut(&of) {
            paced.echoed = at.now;
            return;
        }
        let draw = hash::uniform(self.seed, purpose::PACER, at.node.0 as u64, self.draws);
        self.draws += 1;
        if draw < self.rule.share {
            let timeout = self.rule.timeout;
            self.flows.retain(|_, paced| paced.waiting > 0 || at.now - paced.echoed < timeout);
            self.flows.insert(of, Paced { echoed: at.now, waiting: 0 });
        }
    }

    /// Returns whether a direction of a connection is paced. Pacing ends after the timeout without a mark, once none of
    /// its packets waits.
    fn paces(&mut self, of: Direction, now: Time) -> bool {
        let Some(paced) = self.flows.get(&of) else { return false };
        let over = paced.waiting == 0 && now - paced.echoed >= self.rule.timeout;
        if over {
            self.flows.remove(&of);
        }
        !over
    }

    /// Sets the timer for the waiting packets.
    fn plan(&mut self) {
        self.due = match self.waiting.front() {
            Some(first) => self.bucket.opens(first.bytes).min(self.bucket.ends),
            None => Time::NEVER,
        };
    }
}

impl SwitchProgram for Pace {
    fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
        self.seed = spec.seed;
        let Some(link) = links.first().map(|link| &spec.links[*link]) else { return };
        let full = || spec.transports.iter().map(|t| (t.sizes.mss + t.sizes.header + link.overhead) as u64).max();
        self.bucket = Bucket::new(&self.rule, self.rule.burst.or_else(full).unwrap_or(1), link.rate);
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let Some(egress) = at.egress else {
            if packet.has(flag::ACK | flag::ECE) && !packet.is(Kind::Syn) {
                self.on_mark_echo(at, packet);
            }
            return Verdict::Pass;
        };
        let link = at.rate(egress);
        if at.ingress.is_some() || packet.is_reverse() || packet.is(Kind::Syn) || link == Rate::INFINITE {
            return Verdict::Pass;
        }
        let of = at.direction(packet);
        if !self.paces(of, at.now) {
            return Verdict::Pass;
        }
        let bytes = at.bytes(egress, packet);
        self.bucket.advance(&self.rule, at.now, link);
        self.bucket.arrived_bytes += bytes;
        if self.waiting.is_empty() && self.bucket.lets(bytes) {
            return Verdict::Pass;
        }
        self.bucket.backlog += bytes;
        self.flows.entry(of).and_modify(|paced| paced.waiting += 1);
        self.waiting.push_back(Waiting { packet: *packet, ext: effects.take_ext(), of, egress, bytes });
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
        let Some(link) = self.waiting.front().map(|first| at.rate(first.egress)) else { return };
        self.bucket.advance(&self.rule, at.now, link);
        while let Some(bytes) = self.waiting.front().map(|first| first.bytes)
            && self.bucket.lets(bytes)
            && let Some(Waiting { packet, ext, of, egress, .. }) = self.waiting.pop_front()
        {
            self.bucket.backlog -= bytes;
            self.flows.entry(of).and_modify(|paced| paced.waiting -= 1);
            effects.release((packet, ext), None, Some(egress));
        }
        self.plan();
    }

    fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(|waiting| visit(&waiting.packet));
    }

    fn observe(&self, _at: &At, _port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pacer_rate_bps", self.bucket.rate);
        visit("pacer_bytes", self.bucket.backlog as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HULL's constants at 1 Gb/s.
    fn rule() -> Pacer {
        Pacer {
            period: Time::us(64),
            eta: 0.125,
            // 16 Mb/s per kilobyte
            beta: 16e3,
            burst: Some(1_538),
            least: Rate::mbps(10),
            share: 0.125,
            timeout: Time::ms(10),
        }
    }

    const LINK: Rate = Rate(1_000_000_000);

    fn bucket(rate: f64, arrived_bytes: u64, backlog: u64) -> Bucket {
        Bucket { rate, arrived_bytes, backlog, ..Bucket::new(&rule(), 1_538, LINK) }
    }

    #[test]
    fn the_rate_follows_what_comes_and_what_waits() {
        // 500 Mb/s for 64 us are 4000 bytes; 10 kB wait
        assert_eq!(bucket(500e6, 4_000, 0).next_rate(&rule(), LINK), 500e6);
        assert_eq!(bucket(500e6, 4_000, 10_000).next_rate(&rule(), LINK), 660e6);
        assert_eq!(bucket(500e6, 8_000, 0).next_rate(&rule(), LINK), 562.5e6);
        // between the least rate and the link's
        assert_eq!(bucket(1e9, 8_000, 10_000).next_rate(&rule(), LINK), 1e9);
        assert_eq!(bucket(1e7, 0, 0).next_rate(&rule(), LINK), 1e7);
    }

    #[test]
    fn what_waits_leaves_within_a_few_intervals_at_this_gain() {
        // beta is eta over the interval: 10 kB in 64 us are 1.25 Gb/s, an eighth of which is 156 Mb/s
        let by_interval = rule().eta * 8.0 / rule().period.as_secs_f64();
        assert!((rule().beta / by_interval - 1.0).abs() < 0.03, "{by_interval}");
    }

    #[test]
    fn an_idle_pacer_falls_to_the_least_rate() {
        let mut idle = bucket(1e9, 0, 0);
        idle.advance(&rule(), Time::us(128), LINK);
        assert_eq!((idle.rate, idle.ends), (765_625_000.0, Time::us(192)));
        idle.advance(&rule(), Time::s(10), LINK);
        assert_eq!((idle.rate, idle.tokens), (1e7, 1_538.0));
        assert_eq!(idle.ends, Time::us(64) * (10_000_000 / 64 + 1));
    }

    #[test]
    fn packets_leave_as_tokens_come() {
        let rule = rule();
        let mut bucket = bucket(100e6, 0, 0);
        assert!(bucket.lets(1_538) && !bucket.lets(1_538));
        // 1538 bytes at 100 Mb/s
        let opens = bucket.opens(1_538);
        assert_eq!(opens, Time::ns(123_040) + Time(1));
        bucket.ends = Time::NEVER;
        bucket.advance(&rule, opens - Time::ns(1), LINK);
        assert!(!bucket.lets(1_538));
        bucket.advance(&rule, opens, LINK);
        assert!(bucket.lets(1_538));
        // a packet larger than the bucket waits for a full bucket, and owes the rest
        bucket.advance(&rule, Time::ms(1), LINK);
        assert!(bucket.lets(9_000));
        assert_eq!(bucket.tokens, 1_538.0 - 9_000.0);
    }
}
