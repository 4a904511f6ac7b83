//! Clock of the matchings, and division of a host's channels. Pure.

use super::wire::Channels;
use crate::hash;
use crate::hash::purpose;
use crate::ids::FlowId;
use crate::spec::DcPim;
use incast_cc::Time;

/// Times of epochs: all hosts have the same. Matching e begins at e phases; its data phase when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    round: Time,
    rounds: u64,
    phase: Time,
}

/// Round of an epoch, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// Number of the epoch.
    pub epoch: u64,
    /// Number of the round.
    pub round: u8,
}

impl Clock {
    /// Clock with these parameters.
    pub fn new(own: &DcPim) -> Clock {
        Clock { round: own.round(), rounds: own.rounds as u64, phase: own.phase() }
    }

    fn matching(&self) -> Time {
        self.round.saturating_mul(self.rounds)
    }

    fn start(&self, Round { epoch, round }: Round) -> Time {
        self.phase.saturating_mul(epoch).saturating_add(self.round.saturating_mul(round as u64))
    }

    /// Round that is under way.
    pub fn round_at(&self, now: Time) -> Option<Round> {
        let epoch = now / self.phase;
        let round = (now - self.phase.saturating_mul(epoch)) / self.round;
        (round < self.rounds).then_some(Round { epoch, round: round as u8 })
    }

    /// Round that begins now.
    pub fn begins(&self, now: Time) -> Option<Round> {
        self.round_at(now).filter(|round| self.start(*round) == now)
    }

    /// Round that ends now: its grants are accepted.
    pub fn ends(&self, now: Time) -> Option<Round> {
        let before = self.round_at(Time(now.0.checked_sub(1)?))?;
        (self.start(before) + self.round == now).then_some(before)
    }

    /// Time at which senders grant what is asked for in this round.
    pub fn grants_at(&self, round: Round) -> Time {
        self.start(round) + Time(self.round.0 / 2)
    }

    /// Returns whether a round is the last of its matching.
    pub fn is_last(&self, round: Round) -> bool {
        round.round as u64 + 1 == self.rounds
    }

    /// First time from `from` on at which a round begins or ends.
    pub fn next_bound(&self, from: Time) -> Time {
        let start = self.phase.saturating_mul(from / self.phase);
        let bound = self.round.saturating_mul((from - start).div_ceil(self.round));
        start.saturating_add(if bound > self.matching() { self.phase } else { bound })
    }

    /// End of the data phase under way: that of the matching under way begins then.
    pub fn end_of_phase(&self, now: Time) -> Time {
        let end = self.phase.saturating_mul(now / self.phase).saturating_add(self.matching());
        if end > now { end } else { end.saturating_add(self.phase) }
    }
}

impl Channels {
    /// Channels of a round.
    pub fn new(Round { epoch, round }: Round, channels: u32, prompt: u32, left: u32) -> Channels {
        Channels { epoch: epoch as u32, round, channels: channels as u8, prompt: prompt as u8, left }
    }

    /// Returns whether these are channels of a round.
    pub fn is_of(self, Round { epoch, round }: Round) -> bool {
        (self.epoch, self.round) == (epoch as u32, round)
    }
}

/// Channels that a flow's peer has asked for, or granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Flow that carries the messages of the pair of hosts.
    pub flow: FlowId,
    /// Content.
    pub of: Channels,
}

/// Random choices of a host in a round.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Seed of the run.
    pub seed: u64,
    /// Node of the host, and set if it grants.
    pub host: (u32, bool),
    /// Round.
    pub round: Round,
}

impl Draws {
    /// Draw number `i`, below `n`.
    fn pick(&self, i: u32, n: usize) -> usize {
        let entity = (self.host.0 as u64) << 1 | self.host.1 as u64;
        let counter = self.round.epoch << 16 | (self.round.round as u64) << 10 | i as u64;
        hash::pick(hash::bits(self.seed, purpose::MATCHING, entity, counter), n as u32) as usize
    }
}

/// Divides `free` channels, of which `prompt` may be used at once, among proposals: by the fewest missing packets, or
/// with `draws` in random order.
pub fn divide(mut proposals: Vec<Proposal>, (mut free, mut prompt): (u32, u32), draws: Option<Draws>) -> Vec<Proposal> {
    proposals.sort_unstable_by_key(|p| (p.of.left, p.flow));
    let mut taken = Vec::new();
    while free > 0 && !proposals.is_empty() {
        let index = draws.map_or(0, |draws| draws.pick(taken.len() as u32, proposals.len()));
        let Proposal { flow, of } = proposals.remove(index);
        let channels = free.min(of.channels as u32);
        let at_once = channels.min(of.prompt as u32).min(prompt);
        (free, prompt) = (free - channels, prompt - at_once);
        taken.push(Proposal { flow, of: Channels { channels: channels as u8, prompt: at_once as u8, ..of } });
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(alpha: f64) -> Clock {
        Clock { round: Time::us(2), rounds: 4, phase: Time((8e6 * alpha) as u64) }
    }

    #[test]
    fn a_matching_of_four_rounds_precedes_each_data_phase() {
        let clock = clock(1.0);
        let at = |epoch, round| Some(Round { epoch, round });
        let us = Time::us;
        assert_eq!((clock.begins(us(0)), clock.ends(us(0))), (at(0, 0), None));
        assert_eq!((clock.begins(us(6)), clock.ends(us(6))), (at(0, 3), at(0, 2)));
        assert_eq!((clock.begins(us(8)), clock.ends(us(8))), (at(1, 0), at(0, 3)), "the next begins at once");
        assert_eq!((clock.begins(us(7)), clock.ends(us(7)), clock.round_at(us(7))), (None, None, at(0, 3)));
        assert_eq!(clock.grants_at(Round { epoch: 2, round: 1 }), us(19));
        assert_eq!([0, 1, 2, 15].map(|t| clock.next_bound(us(t))), [0, 2, 2, 16].map(us));
        assert_eq!([0, 7, 8, 20].map(|t| clock.end_of_phase(us(t))), [8, 8, 16, 24].map(us));
    }

    #[test]
    fn data_phases_may_be_longer_than_matchings() {
        let clock = clock(2.5);
        let us = Time::us;
        assert_eq!((clock.begins(us(8)), clock.ends(us(8))), (None, Some(Round { epoch: 0, round: 3 })));
        assert_eq!((clock.begins(us(20)), clock.ends(us(20))), (Some(Round { epoch: 1, round: 0 }), None));
        assert_eq!((clock.round_at(us(12)), clock.round_at(us(23))), (None, Some(Round { epoch: 1, round: 1 })));
        assert_eq!([8, 9, 20, 27].map(|t| clock.next_bound(us(t))), [8, 20, 20, 28].map(us));
        assert_eq!([7, 8, 27, 28].map(|t| clock.end_of_phase(us(t))), [8, 28, 28, 48].map(us));
    }

    fn proposals(of: &[(u32, u8, u8, u32)]) -> Vec<Proposal> {
        let channels = |&(flow, channels, prompt, left): &(u32, u8, u8, u32)| Proposal {
            flow: FlowId(flow),
            of: Channels { epoch: 0, round: 0, channels, prompt, left },
        };
        of.iter().map(channels).collect()
    }

    #[test]
    fn the_shortest_takes_what_it_needs_and_the_next_the_rest() {
        let asked = proposals(&[(0, 4, 4, 90), (1, 3, 3, 20), (2, 2, 2, 90)]);
        assert_eq!(divide(asked.clone(), (4, 2), None), proposals(&[(1, 3, 2, 20), (0, 1, 0, 90)]));
        assert_eq!(divide(asked, (0, 0), None), []);
    }

    #[test]
    fn random_rounds_take_all_in_turn() {
        let asked = proposals(&[(0, 1, 0, 1), (1, 1, 0, 2), (2, 1, 0, 3)]);
        let mut first = [0; 3];
        for epoch in 0..300 {
            let draws = Draws { seed: 1, host: (4, true), round: Round { epoch, round: 1 } };
            let taken = divide(asked.clone(), (2, 0), Some(draws));
            assert_eq!(taken.len(), 2);
            first[taken[0].flow.0 as usize] += 1;
        }
        assert!(first.iter().all(|n| (70..130).contains(n)), "{first:?}");
    }
}
