//! Planes that the messages of a job take: those in which routing knows of a path.

use crate::event::order::Timer;
use crate::ids::{NodeId, RankId};
use crate::map::failover::Cuts;
use crate::map::jobs::{Jobs, Pair};
use crate::spec::Spec;
use incast_cc::Time;
use std::collections::BTreeSet;

/// Connections that have parts of a message.
#[derive(Clone, Copy, Debug)]
pub struct Carriers {
    /// First connection of those that may have a part.
    first: u32,
    /// Bits of those that have one, from the first on.
    mask: u8,
}

impl Carriers {
    fn one(connection: u32) -> Carriers {
        Carriers { first: connection, mask: 1 }
    }

    /// One of the connections for messages that go together.
    pub fn any(self) -> u32 {
        self.first
    }

    /// Number of parts.
    pub fn count(self) -> u32 {
        self.mask.count_ones()
    }

    /// Connections, and the bytes of their parts of a message of `bytes`.
    pub fn parts(self, bytes: u64) -> impl Iterator<Item = (u32, u64)> {
        let count = u64::from(self.count());
        let bits = (0..u8::BITS).filter(move |bit| self.mask >> bit & 1 == 1);
        bits.zip(0..).map(move |(bit, i)| (self.first + bit, bytes / count + u64::from(i < bytes % count)))
    }
}

impl Jobs {
    /// Connections for message number `turn` of a kind of a pair, of `bytes`, which is sent at `at`.
    pub fn carriers(&self, pair: &Pair, kind: u8, turn: u32, (bytes, at): (u64, Time)) -> Carriers {
        let of_kind = self.of_kind(pair, kind);
        let (len, planes) = (of_kind.len() as u32, pair.planes.count);
        if planes == 1 {
            return Carriers::one(of_kind.start + turn % len);
        }
        if !pair.planes.split {
            let own = turn % len;
            let group = of_kind.start + own / planes * planes;
            let others = (0..planes).map(|next| group + (own + next) % planes);
            return Carriers::one(others.into_iter().find(|c| self.is_up(*c, at)).unwrap_or(of_kind.start + own));
        }
        let first = of_kind.start + turn % (len / planes) * planes;
        let all = (0..planes).fold(0, |mask, plane| mask | 1u8 << plane);
        let up = (0..planes).filter(|plane| self.is_up(first + plane, at)).fold(0, |mask, plane| mask | 1u8 << plane);
        let mut mask = if up == 0 { all } else { up };
        // each part has a byte at least
        while u64::from(mask.count_ones()) > bytes.max(1) {
            mask &= !(1 << (u8::BITS - 1 - mask.leading_zeros()));
        }
        Carriers { first, mask }
    }

    /// Connection for a message that goes again at `at`, in place of `connection` of a pair.
    pub fn instead(&self, pair: &Pair, connection: u32, at: Time) -> Option<u32> {
        let of_kind = self.of_kind(pair, self.connections[connection as usize].kind);
        let planes = pair.planes.count;
        let first = of_kind.start + (connection - of_kind.start) / planes * planes;
        (first..first + planes).find(|c| self.is_up(*c, at))
    }

    /// Returns whether routing knows of a path for a connection at `at`.
    fn is_up(&self, connection: u32, at: Time) -> bool {
        let down = |(from, until): &(Time, Time)| *from <= at && at < *until;
        self.down.get(connection as usize).is_none_or(|own| !own.iter().any(down))
    }

    /// Returns whether routing learns at `at` that a connection has no path.
    pub fn fails(&self, connection: u32, at: Time) -> bool {
        self.down.get(connection as usize).is_some_and(|own| own.iter().any(|(from, _)| *from == at))
    }

    /// Notes when routing knows of no path, for connections of jobs with several planes.
    pub(super) fn find_planes_down(&mut self, spec: &Spec) {
        if spec.failures.is_empty() || self.pairs.iter().all(|pair| pair.planes.count == 1) {
            return;
        }
        let cuts = Cuts::new(spec);
        self.down = vec![Vec::new(); self.connections.len()];
        for pair in self.pairs.iter_mut().filter(|pair| pair.planes.count > 1) {
            for c in pair.connections() {
                let connection = &mut self.connections[c as usize];
                let flow = &spec.flows[connection.flow];
                let found = cuts.of(flow.src, flow.dst).into_iter().chain(cuts.of(flow.dst, flow.src));
                let own = &mut self.down[c as usize];
                own.extend(found.map(|(from, until, _)| (from, until)));
                own.sort_unstable();
                own.dedup();
                pair.planes.may_fail |= !own.is_empty();
            }
        }
    }

    /// Start of the job of a rank.
    pub fn begins(&self, spec: &Spec, rank: RankId) -> Time {
        spec.jobs[self.ranks[rank].job as usize].start
    }

    /// Timers of ranks: the start of their jobs, and the times at which their messages leave a plane.
    pub fn timers(&self, spec: &Spec) -> impl Iterator<Item = (NodeId, Time, Timer)> {
        let begin = |rank: RankId| self.begins(spec, rank);
        let mut times: BTreeSet<(RankId, Time)> =
            (0..self.ranks.len() as u32).map(|rank| (RankId(rank), begin(RankId(rank)))).collect();
        for (connection, down) in self.connections.iter().zip(&self.down) {
            let from = self.pairs[connection.pair as usize].from;
            times.extend(down.iter().map(|(at, _)| (from, *at)).filter(|(rank, at)| *at > begin(*rank)));
        }
        times.into_iter().map(|(rank, at)| (self.ranks[rank].host, at, Timer::Rank(rank)))
    }
}
