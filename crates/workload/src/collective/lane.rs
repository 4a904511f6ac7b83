//! Lanes of a member of a collective: tasks whose kind, peer, size and order follow from their number.

use super::method::Method;
use super::parts::bound;
use super::ring::Ring;
use crate::graph::Kind;
use std::sync::Arc;

/// Round of a lane, and role in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    round: u64,
    role: usize,
}

/// Tasks that follow each other.
#[derive(Clone, Debug)]
pub(super) enum Lane {
    Ring(RingLane),
    Rounds(Rounds),
}

/// Rounds of the same roles.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    roles: Vec<Role>,
    count: u64,
    tag: u32,
    course: Course,
}

/// Sizes and peers of rounds.
#[derive(Clone, Debug)]
pub(super) enum Course {
    /// A piece of a share each round, with the peers of the roles.
    Pieces { bytes: u64, chunk: u64 },
    /// An all-to-all of n members: another peer each round, at the given distances, else at 1, 2, 3 ...
    All { n: u64, own: u64, bytes: u64, sizes: Option<Arc<[u64]>>, distances: Option<Arc<[u32]>> },
}

impl Course {
    /// Pieces of a share: all of a chunk, the last one less.
    pub fn pieces(bytes: u64, chunk: Option<u64>) -> Course {
        Course::Pieces { bytes, chunk: chunk.unwrap_or(u64::MAX).max(1) }
    }

    fn rounds(&self) -> u64 {
        match self {
            Course::Pieces { bytes, chunk } => bytes.div_ceil(*chunk).max(1),
            Course::All { n, distances, .. } => distances.as_ref().map_or(n - 1, |all| all.len() as u64),
        }
    }
}

/// Task of every round.
#[derive(Clone, Debug)]
pub(super) struct Role {
    kind: Kind,
    peer: u64,
    /// Least number of rounds from a task that it waits for; a role that waits for none waits for the first task.
    needs: Vec<u32>,
    /// Roles that wait for it, so many rounds later.
    feeds: Vec<(usize, u32)>,
}

/// Kind of a role, its peer, and the roles that it waits for, so many rounds earlier.
pub(super) type Needs = (Kind, u64, Vec<(usize, u32)>);

/// Roles with what they wait for. A send waits for the one `credits` rounds earlier too, if there are credits.
pub(super) fn roles(own: Vec<Needs>, credits: u32) -> Vec<Role> {
    let mut feeds = vec![Vec::new(); own.len()];
    let mut made = Vec::with_capacity(own.len());
    for (i, (kind, peer, mut needs)) in own.into_iter().enumerate() {
        if kind == Kind::Send && credits > 0 {
            needs.push((i, credits));
        }
        needs.iter().for_each(|(earlier, rounds)| feeds[*earlier].push((i, *rounds)));
        made.push(Role { kind, peer, needs: needs.into_iter().map(|(_, rounds)| rounds).collect(), feeds: Vec::new() });
    }
    made.iter_mut().zip(feeds).for_each(|(role, feeds)| role.feeds = feeds);
    made
}

impl Lane {
    /// Rounds of these roles.
    pub fn rounds(roles: Vec<Role>, course: Course, tag: u32) -> Lane {
        Lane::Rounds(Rounds { count: course.rounds(), roles, tag, course })
    }

    /// Number of tasks.
    pub fn tasks(&self) -> u64 {
        match self {
            Lane::Ring(own) => own.loops.saturating_mul(own.of_loop()),
            Lane::Rounds(own) => own.count.saturating_mul(own.roles.len() as u64),
        }
    }

    /// Number of tasks that the last task of the member waits for.
    pub fn behind(&self) -> u64 {
        match self {
            Lane::Ring(own) => u64::from(own.later.is_none()) + u64::from(!own.goes_on),
            Lane::Rounds(own) => own.roles.iter().map(|role| own.behind(role)).sum(),
        }
    }

    /// Round and role of a task.
    #[inline]
    pub fn at(&self, local: u32) -> Step {
        let local = u64::from(local);
        match self {
            Lane::Ring(own) => own.at(local),
            Lane::Rounds(own) => {
                let roles = own.roles.len() as u64;
                Step { round: local / roles, role: (local % roles) as usize }
            }
        }
    }

    /// Kind of a task.
    pub fn kind(&self, step: Step) -> Kind {
        match self {
            Lane::Ring(_) => [Kind::Send, Kind::Recv, Kind::Calc][step.role],
            Lane::Rounds(own) => own.roles[step.role].kind,
        }
    }

    /// Tag of the messages, from the first of the collective.
    pub fn tag(&self) -> u32 {
        match self {
            Lane::Ring(own) => own.tag,
            Lane::Rounds(own) => own.tag,
        }
    }

    /// Place of the peer of a message.
    pub fn peer(&self, step: Step) -> u32 {
        match self {
            Lane::Ring(own) => own.ends[step.role.min(1)] as u32,
            Lane::Rounds(own) => own.peer(step),
        }
    }

    /// Bytes of a message, or of a reduction.
    pub fn bytes(&self, step: Step) -> u64 {
        match self {
            Lane::Ring(own) if step.role == 0 => own.ring.sent(own.at, step.round),
            Lane::Ring(own) => own.ring.received(own.at, step.round),
            Lane::Rounds(own) => own.bytes(step),
        }
    }

    /// Number of ends that a task waits for.
    pub fn waits(&self, step: Step) -> u32 {
        match self {
            Lane::Ring(own) => 1 + u32::from(step.role == 0 && own.waits_for_credit(step.round)),
            Lane::Rounds(own) => {
                let needs = own.roles[step.role].needs.iter();
                (needs.filter(|rounds| u64::from(**rounds) <= step.round).count() as u32).max(1)
            }
        }
    }

    /// Calls `task` with each task that waits for the first of the member.
    pub fn open(&self, mut task: impl FnMut(u32)) {
        match self {
            Lane::Ring(own) if own.follows => {}
            Lane::Ring(_) => (0..2).for_each(task),
            Lane::Rounds(own) => {
                for (i, role) in own.roles.iter().enumerate() {
                    let rounds = role.needs.iter().min().map_or(own.count, |least| own.count.min((*least).into()));
                    (0..rounds).for_each(|round| task(own.number(round, i)));
                }
            }
        }
    }

    /// Calls `task` with each task that waits for this one: the number of lanes that it lies further, and its number
    /// there. Returns whether the last task of the member waits for this one.
    pub fn next(&self, step: Step, mut task: impl FnMut(usize, u32)) -> bool {
        match self {
            Lane::Ring(own) => own.next(step, task),
            Lane::Rounds(own) => {
                let role = &own.roles[step.role];
                let mut any = false;
                for (later, rounds) in &role.feeds {
                    let round = step.round + u64::from(*rounds);
                    if round < own.count {
                        task(0, own.number(round, *later));
                        any = true;
                    }
                }
                match role.kind {
                    Kind::Send => own.is_last_send(step.round),
                    _ => !any,
                }
            }
        }
    }

    /// Calls `to` with each place to which the lane sends and a number of messages, some of them several times.
    pub fn receivers(&self, mut to: impl FnMut(u32, u64)) {
        match self {
            Lane::Ring(own) => to(own.ends[0] as u32, own.steps()),
            Lane::Rounds(own) => {
                for role in (0..own.roles.len()).filter(|role| own.roles[*role].kind == Kind::Send) {
                    let pieces = matches!(own.course, Course::Pieces { .. });
                    let (rounds, messages) = if pieces { (1, own.count) } else { (own.count, 1) };
                    (0..rounds).for_each(|round| to(own.peer(Step { round, role }), messages));
                }
            }
        }
    }
}

impl Rounds {
    fn number(&self, round: u64, role: usize) -> u32 {
        (round * self.roles.len() as u64) as u32 + role as u32
    }

    /// Returns whether the member sends nothing later to the same peer.
    fn is_last_send(&self, round: u64) -> bool {
        matches!(self.course, Course::All { .. }) || round + 1 == self.count
    }

    fn behind(&self, role: &Role) -> u64 {
        match role.kind {
            Kind::Send if matches!(self.course, Course::All { .. }) => self.count,
            Kind::Send => 1,
            _ => {
                let least = role.feeds.iter().map(|(_, rounds)| *rounds).min();
                least.map_or(self.count, |rounds| self.count.min(rounds.into()))
            }
        }
    }

    fn peer(&self, Step { round, role }: Step) -> u32 {
        let Course::All { n, own, distances, .. } = &self.course else { return self.roles[role].peer as u32 };
        let distance = distances.as_ref().map_or(round + 1, |all| u64::from(all[round as usize]));
        let forth = self.roles[role].kind == Kind::Send;
        ((if forth { own + distance } else { own + n - distance }) % n) as u32
    }

    fn bytes(&self, step: Step) -> u64 {
        match &self.course {
            Course::Pieces { bytes, chunk } => (bytes - step.round * (*chunk).min(*bytes)).min(*chunk),
            Course::All { n, own, bytes, sizes, .. } => {
                let peer = u64::from(self.peer(step));
                let (from, to) = if self.roles[step.role].kind == Kind::Send { (*own, peer) } else { (peer, *own) };
                match sizes {
                    Some(sizes) => sizes.get((from * n + to) as usize).copied().unwrap_or(0),
                    None => bound(*bytes, *n, to + 1) - bound(*bytes, *n, to),
                }
            }
        }
    }
}

/// Steps of a ring: a send and a receive, and a reduction where one takes time.
#[derive(Clone, Debug)]
pub(super) struct RingLane {
    ring: Ring,
    at: u64,
    /// Places of the member to which it sends, and from which it receives.
    ends: [u64; 2],
    tag: u32,
    credits: u64,
    loops: u64,
    /// Steps of a loop, and the number of the first ones whose reductions take time.
    count: u64,
    reducing: u64,
    /// True if the lane begins after the one before, and if the next one begins after this one.
    follows: bool,
    goes_on: bool,
    /// Messages to the same member before this lane.
    sends_before: u64,
    /// Lane, so many further, that sends to the same member later, and its number of messages.
    later: Option<(usize, u64)>,
}

impl RingLane {
    /// The steps of a ring at a place of it, between two members.
    pub fn new(ring: Ring, method: &Method, (at, ends): (u64, [u64; 2]), tag: u32) -> RingLane {
        let (loops, count) = ring.loops();
        RingLane {
            ring,
            at,
            ends,
            tag,
            credits: method.credits.into(),
            loops,
            count,
            reducing: if method.reduce.is_some() { ring.reducing() } else { 0 },
            follows: false,
            goes_on: false,
            sends_before: 0,
            later: None,
        }
    }

    /// Number of steps.
    pub fn steps(&self) -> u64 {
        self.loops * self.count
    }

    /// Sets the lane, so many further, that sends so many messages to the same member later.
    pub fn goes_on_in(&mut self, later: (usize, u64)) {
        self.later = Some(later);
    }

    /// Sets the number of messages to the same member in an earlier lane.
    pub fn follows_sends(&mut self, sends: u64) {
        self.sends_before = sends;
    }

    /// Sets whether the lane follows the one before, and the next one follows it.
    pub fn chain(&mut self, follows: bool, goes_on: bool) {
        (self.follows, self.goes_on) = (follows, goes_on);
    }

    fn of_loop(&self) -> u64 {
        2 * self.count + self.reducing
    }

    fn at(&self, local: u64) -> Step {
        let (round, rest) = match self.loops {
            1 => (0, local),
            _ => (local / self.of_loop() * self.count, local % self.of_loop()),
        };
        let with = 3 * self.reducing;
        if rest < with {
            Step { round: round + rest / 3, role: (rest % 3) as usize }
        } else {
            Step { round: round + self.reducing + (rest - with) / 2, role: ((rest - with) % 2) as usize }
        }
    }

    /// Number of the send of a step; the receive is the next.
    fn number(&self, step: u64) -> u32 {
        let (before, rest) = match self.loops {
            1 => (0, step),
            _ => (step / self.count * self.of_loop(), step % self.count),
        };
        (before + 2 * rest + rest.min(self.reducing)) as u32
    }

    fn waits_for_credit(&self, step: u64) -> bool {
        self.credits > 0 && self.sends_before + step >= self.credits
    }

    fn next(&self, step: Step, mut task: impl FnMut(usize, u32)) -> bool {
        let Step { round, role } = step;
        if role == 0 {
            let later = round + self.credits;
            match self.later {
                _ if self.credits == 0 => {}
                _ if later < self.steps() => task(0, self.number(later)),
                // an all-gather in one loop: two tasks a step
                Some((lane, sends)) if later - self.steps() < sends => task(lane, 2 * (later - self.steps()) as u32),
                _ => {}
            }
            return self.later.is_none() && round + 1 == self.steps();
        }
        if role == 1 && round % self.count < self.reducing {
            task(0, self.number(round) + 2);
            return false;
        }
        if round + 1 < self.steps() {
            let next = self.number(round + 1);
            task(0, next);
            task(0, next + 1);
        } else if self.goes_on {
            task(1, 0);
            task(1, 1);
        } else {
            return true;
        }
        false
    }
}
