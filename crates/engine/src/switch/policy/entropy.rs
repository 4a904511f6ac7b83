//! Entropies: values that a sender sets in its packets, which switches hash together with flow and direction.
//!
//! REPS (Bonato et al., arXiv 2407.21625; with the constants of its authors' uet-htsim): the most recent values of
//! acknowledgements without a mark are kept in a ring and reused once each, the oldest unused value first. Without an
//! unused value, a packet takes a random one. After a timeout the ring is frozen for some time: packets take its values
//! round robin, used or not, since recently used paths are likely to work. Then the ring is emptied, and some packets
//! explore.
//!
//! The counter is htsim's spraying, from the fork that the MSwift paper cites (smcclure20/csg-htsim,
//! `SwiftSubflowSrc::move_path_flow_label`).

use crate::event::packet::Packet;
use crate::hash::{self, purpose};
use crate::ids::{FlowId, LinkId};
use crate::map::paths::Hops;
use crate::spec::{self, PathChoice, Recycled, Spec};
use crate::switch::rule::{Ctx, Rule};
use incast_cc::Time;

/// Next-hop selection by entropy.
#[derive(Clone, Debug)]
pub struct Entropy;

impl Entropy {
    /// Rule without state: the sender sets the entropies.
    pub fn new(_: &spec::Entropy, _: &Spec, _: &[LinkId]) -> Entropy {
        Entropy
    }
}

impl Rule for Entropy {
    const PURE: bool = true;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let reverse = packet.is_reverse();
        hash::pick(hash::entropy(ctx.map.spec.seed, packet.flow, reverse, packet.entropy(), ctx.node), hops.len())
    }
}

/// Source of a flow's entropies.
#[derive(Clone, Debug)]
pub struct Source {
    seed: u64,
    flow: FlowId,
    /// Values drawn so far.
    draws: u64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Counter(u16),
    Recycled(Ring),
}

/// Ring of returned values.
#[derive(Clone, Debug)]
struct Ring {
    rule: Recycled,
    /// Latest values by position, at most the size of the ring.
    values: Vec<u16>,
    /// Position of the next value to store.
    head: usize,
    /// Number of latest values that are unused.
    fresh: usize,
    /// Number of packets that still explore with random entropies.
    explore: u32,
    /// End of the freeze, 0 if not frozen; and position of the next value to use while frozen.
    frozen: Time,
    next: usize,
}

impl Source {
    /// Source of flow `flow`, if its packets have entropies.
    pub fn new(spec: &Spec, flow: FlowId) -> Option<Box<Source>> {
        let PathChoice::Entropy(entropy) = &spec.choice else { return None };
        let mut source = Source { seed: spec.seed, flow, draws: 0, kind: Kind::Counter(0) };
        source.kind = match entropy {
            spec::Entropy::Given => return None,
            spec::Entropy::Counter => Kind::Counter(source.draw(1 << 16)),
            spec::Entropy::Recycled(rule) => Kind::Recycled(Ring {
                rule: rule.clone(),
                values: Vec::new(),
                head: 0,
                fresh: 0,
                explore: 0,
                frozen: Time::ZERO,
                next: 0,
            }),
        };
        Some(Box::new(source))
    }

    /// Source of recycled values for a flow whose transport manages it itself.
    pub fn recycled(seed: u64, flow: FlowId, rule: Recycled) -> Source {
        let ring = Ring { rule, values: Vec::new(), head: 0, fresh: 0, explore: 0, frozen: Time::ZERO, next: 0 };
        Source { seed, flow, draws: 0, kind: Kind::Recycled(ring) }
    }

    fn draw(&mut self, values: u32) -> u16 {
        self.draws += 1;
        hash::pick(hash::bits(self.seed, purpose::ENTROPY, self.flow.0 as u64, self.draws), values) as u16
    }

    /// Value of the next packet; `new`: first transmission of a segment.
    pub fn take(&mut self, new: bool) -> u16 {
        match &mut self.kind {
            Kind::Counter(value) => {
                let now = *value;
                *value = value.wrapping_add(u16::from(new));
                now
            }
            Kind::Recycled(ring) => match ring.take() {
                Some(value) => value,
                None => {
                    let values = ring.rule.values;
                    self.draw(values)
                }
            },
        }
    }

    /// Treats a retransmission as new: the counter moves on for the next packet.
    pub fn advance(&mut self) {
        if let Kind::Counter(value) = &mut self.kind {
            *value = value.wrapping_add(1);
        }
    }

    /// Handles an ACK that returns `value`, with or without a mark.
    pub fn on_ack(&mut self, now: Time, value: u16, marked: bool) {
        if let Kind::Recycled(ring) = &mut self.kind {
            ring.on_ack(now, value, marked);
        }
    }

    /// Handles a retransmission timeout.
    pub fn timed_out(&mut self, now: Time) {
        if let Kind::Recycled(ring) = &mut self.kind
            && ring.frozen == Time::ZERO
            && ring.explore == 0
        {
            ring.frozen = now.saturating_add(ring.rule.freeze).max(Time::ps(1));
            ring.next = 0;
        }
    }
}

impl Ring {
    /// Next value of the ring; `None`: use a random one.
    fn take(&mut self) -> Option<u16> {
        if self.explore > 0 {
            self.explore -= 1;
            return None;
        }
        let held = self.values.len();
        if held == 0 {
            return None;
        }
        if self.frozen > Time::ZERO {
            let i = self.next % held;
            self.next = i + 1;
            return Some(self.values[i]);
        }
        if self.fresh == 0 {
            return None;
        }
        let i = (self.head + held - self.fresh) % held;
        self.fresh -= 1;
        Some(self.values[i])
    }

    fn on_ack(&mut self, now: Time, value: u16, marked: bool) {
        if self.frozen > Time::ZERO && now > self.frozen {
            *self = Ring {
                explore: self.rule.explore,
                values: Vec::new(),
                head: 0,
                fresh: 0,
                frozen: Time::ZERO,
                ..self.clone()
            };
        }
        if marked {
            return;
        }
        let max = self.rule.ring as usize;
        if self.values.len() < max {
            self.values.push(value);
        } else {
            self.values[self.head] = value;
        }
        self.head = (self.head + 1) % max;
        self.fresh = (self.fresh + 1).min(max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(ring: u32) -> Source {
        let rule = Recycled { ring, values: 1 << 16, explore: 2, freeze: Time::us(10) };
        let ring = Ring { rule, values: Vec::new(), head: 0, fresh: 0, explore: 0, frozen: Time::ZERO, next: 0 };
        Source { seed: 1, flow: FlowId(0), draws: 0, kind: Kind::Recycled(ring) }
    }

    fn next(s: &mut Source) -> Option<u16> {
        let Kind::Recycled(ring) = &mut s.kind else { return None };
        ring.take()
    }

    #[test]
    fn the_earliest_fresh_value_goes_first_and_once() {
        let mut s = source(4);
        assert_eq!(next(&mut s), None, "nothing came back yet");
        for (value, marked) in [(11, false), (12, true), (13, false)] {
            s.on_ack(Time::ZERO, value, marked);
        }
        assert_eq!([next(&mut s), next(&mut s), next(&mut s)], [Some(11), Some(13), None]);
        // a full ring forgets the oldest
        (21..27).for_each(|value| s.on_ack(Time::ZERO, value, false));
        let all: Vec<_> = std::iter::from_fn(|| next(&mut s)).collect();
        assert_eq!(all, [23, 24, 25, 26]);
    }

    #[test]
    fn a_timeout_freezes_the_ring_and_then_packets_explore() {
        let mut s = source(3);
        [5, 6].into_iter().for_each(|value| s.on_ack(Time::ZERO, value, false));
        assert_eq!([next(&mut s), next(&mut s), next(&mut s)], [Some(5), Some(6), None]);
        s.timed_out(Time(1_000_000));
        let turns: Vec<_> = (0..5).map(|_| next(&mut s)).collect();
        assert_eq!(turns, [Some(5), Some(6), Some(5), Some(6), Some(5)]);
        // values returned while it is frozen join the round
        s.on_ack(Time(11_000_000), 7, false);
        assert_eq!([next(&mut s), next(&mut s), next(&mut s)], [Some(6), Some(7), Some(5)]);
        // the first ACK after 10 us ends the freeze: two packets explore, and its own value is the first to be reused
        s.on_ack(Time(11_000_001), 8, false);
        assert_eq!([next(&mut s), next(&mut s), next(&mut s), next(&mut s)], [None, None, Some(8), None]);
        // while packets explore, no timeout freezes anything
        let mut s = source(3);
        s.timed_out(Time::ZERO);
        s.on_ack(Time(20_000_000), 1, true);
        s.timed_out(Time(20_000_000));
        assert_eq!([next(&mut s), next(&mut s), next(&mut s)], [None; 3]);
        s.on_ack(Time(20_000_000), 2, false);
        assert_eq!([next(&mut s), next(&mut s)], [Some(2), None]);
    }

    #[test]
    fn a_counter_goes_on_with_new_segments_only() {
        let mut s = Source { seed: 1, flow: FlowId(0), draws: 0, kind: Kind::Counter(u16::MAX) };
        assert_eq!([s.take(true), s.take(false), s.take(true), s.take(true)], [u16::MAX, 0, 0, 1]);
    }
}
