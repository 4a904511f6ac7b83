//! Tasks of one member of a collective, computed when they are asked for: the same as [`super::member()`], task
//! for task, without arrays. A run keeps a few numbers a member, however many steps the algorithm has.
//!
//! A member begins with a point, task 0, and ends with one, its last task. Between them are lanes: a ring, or rounds of
//! the same few roles. Exchanges of log n rounds are few tasks, which are kept as they are.

use super::expand::{Place, member};
use super::lane::{Course, Lane, RingLane, Role, Step, roles};
use super::method::{Algorithm, Method};
use super::parts::{Parts, share};
use super::ring::Ring;
use super::{exchange, tree};
use crate::graph::{Collective, Kind, MOST_TASKS, Pattern, Rank, Refused, Task};
use incast_cc::{Bytes, Rate, Time};

/// Tasks of one member.
#[derive(Clone, Debug)]
pub struct Body {
    own: Own,
    /// Number of tasks.
    tasks: u32,
    /// Tasks that the last one waits for.
    behind: u32,
    reduce: Option<Rate>,
}

#[derive(Clone, Debug)]
enum Own {
    /// Lanes, with their first tasks.
    Lanes(Vec<(u32, Lane)>),
    Whole(Rank),
}

impl Body {
    /// Tasks of the member at a position of n. Errors: those of [`member`].
    pub fn new(what: &Collective, n: u64, position: u32, method: &Method) -> Result<Body, Refused> {
        super::expand::check_one(what, n, method)?;
        let reduce = method.reduce;
        let Some(lanes) = lanes(what, n, position, method) else {
            let group: Vec<u32> = (0..n as u32).collect();
            let whole = member(what, &group, position, method, Place::default())?;
            let tasks = whole.tasks() as u32;
            return Ok(Body { behind: whole.waits(tasks - 1), own: Own::Whole(whole), tasks, reduce });
        };
        let mut first = 1u64;
        let mut behind = 0;
        let mut numbered = Vec::with_capacity(lanes.len());
        for lane in lanes {
            numbered.push((first as u32, lane));
            let lane = &numbered[numbered.len() - 1].1;
            behind += lane.behind();
            first += lane.tasks();
            if first >= MOST_TASKS {
                let text = format!("tasks of a member of a collective: more than {MOST_TASKS}; expected at most that");
                return Err(Refused(format!("{text} many: larger chunks, or fewer members")));
            }
        }
        Ok(Body { own: Own::Lanes(numbered), tasks: first as u32 + 1, behind: behind.max(1) as u32, reduce })
    }

    /// Number of tasks.
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    fn lane(lanes: &[(u32, Lane)], local: u32) -> Option<(usize, &Lane, Step)> {
        let after = lanes.partition_point(|(first, _)| *first <= local);
        let (first, lane) = lanes.get(after.checked_sub(1)?)?;
        Some((after - 1, lane, lane.at(local - first)))
    }

    fn is_end(&self, local: u32) -> bool {
        local == 0 || local + 1 >= self.tasks
    }

    /// A task. The peer of a message is a position in the group, and its tag is relative to the first of the
    /// collective.
    pub fn task(&self, local: u32, order: &[u32]) -> Task {
        match &self.own {
            Own::Whole(rank) => rank.task(local),
            Own::Lanes(_) if self.is_end(local) => Task::nop(),
            Own::Lanes(lanes) => match Body::lane(lanes, local) {
                None => Task::nop(),
                Some((_, lane, step)) => {
                    let peer = |place: u32| order.get(place as usize).copied().unwrap_or(place);
                    let bytes = Bytes(lane.bytes(step));
                    match lane.kind(step) {
                        Kind::Send => Task::send(bytes, peer(lane.peer(step))).tagged(lane.tag()),
                        Kind::Recv => Task::recv(bytes, peer(lane.peer(step))).tagged(lane.tag()),
                        _ => Task::calc(self.reduce.map_or(Time::ZERO, |rate| rate.serialize(bytes.0))),
                    }
                }
            },
        }
    }

    /// Number of ends that a task waits for. A task that waits for a later one does not wait for task 0 too.
    pub fn waits(&self, local: u32) -> u32 {
        match &self.own {
            Own::Whole(rank) => rank.waits(local),
            Own::Lanes(_) if local == 0 => 0,
            Own::Lanes(_) if local + 1 >= self.tasks => self.behind,
            Own::Lanes(lanes) => Body::lane(lanes, local).map_or(1, |(_, lane, step)| lane.waits(step)),
        }
    }

    /// Calls `next` with each task that waits for the end of this one.
    pub fn successors(&self, local: u32, mut next: impl FnMut(u32)) {
        let end = self.tasks - 1;
        let lanes = match &self.own {
            Own::Whole(rank) => return rank.successors(local).0.iter().copied().for_each(next),
            Own::Lanes(lanes) => lanes,
        };
        if local == 0 {
            for (first, lane) in lanes {
                lane.open(|own| next(first + own));
            }
            if lanes.is_empty() {
                next(end);
            }
        } else if let Some((i, lane, step)) = Body::lane(lanes, local).filter(|_| local < end)
            && lane.next(step, |further, own| next(lanes[i + further].0 + own))
        {
            next(end);
        }
    }

    /// Calls `to` with each position to which the member sends, a tag from the first of the collective on, and a number
    /// of messages; some of them several times.
    pub fn receivers(&self, order: &[u32], mut to: impl FnMut(u32, u32, u64)) {
        let place = |place: u32| order.get(place as usize).copied().unwrap_or(place);
        match &self.own {
            Own::Whole(rank) => {
                rank.iter().filter(|(_, t)| t.kind == Kind::Send).for_each(|(_, t)| to(t.peer, t.tag, 1));
            }
            Own::Lanes(lanes) => {
                for (_, lane) in lanes {
                    lane.receivers(|own, messages| to(place(own), lane.tag(), messages));
                }
            }
        }
    }
}

/// Lanes of a member, in the order of their tasks; `None` for exchanges of few rounds, and for an all-to-all that
/// leaves out pairs without bytes.
fn lanes(what: &Collective, n: u64, position: u32, method: &Method) -> Option<Vec<Lane>> {
    // place in the order of the ring
    let place = |position: u32| match method.order.is_empty() {
        true => u64::from(position),
        false => method.order.iter().position(|p| *p == position).unwrap_or(0) as u64,
    };
    let (own, root, bytes) = (place(position), place(what.root), what.bytes.0);
    let chunk = method.chunk.map(|Bytes(chunk)| chunk);
    let channels = (0..method.channels).map(|channel| (channel, share(bytes, method.channels, channel)));
    let mut lanes = Vec::new();
    match method.algorithm {
        Algorithm::HalvingDoubling | Algorithm::RecursiveDoubling | Algorithm::Binomial | Algorithm::Dissemination => {
            return None;
        }
        _ if n < 2 => {}
        Algorithm::Ring => {
            for (channel, share) in channels {
                if let Some(ring) = Ring::new(what.pattern, n, share, chunk) {
                    let ends = [(own + 1) % n, (own + n - 1) % n];
                    lanes.push(Lane::Ring(RingLane::new(ring, method, (own, ends), channel)));
                }
            }
        }
        Algorithm::Hierarchical => {
            for (channel, share) in channels {
                hierarchical(&mut lanes, method, (n, own), (channel, share, chunk));
            }
        }
        Algorithm::Tree => {
            for (channel, share) in channels {
                for tree in 0..2 {
                    let bytes = if tree == 0 { share.div_ceil(2) } else { share / 2 };
                    let roles = tree_roles(tree::parent(tree, n, own), &tree::children(tree, n, own), method);
                    lanes.push(Lane::rounds(roles, Course::pieces(bytes, chunk), 2 * channel + tree));
                }
            }
        }
        Algorithm::Chain => {
            for (channel, share) in channels {
                let roles = chain_roles(what.pattern, (n, own, root), method);
                lanes.push(Lane::rounds(roles, Course::pieces(share, chunk), channel));
            }
        }
        _ if leaves_out(what, n, own) => return None,
        Algorithm::Pairwise | Algorithm::NcclGrouped | Algorithm::AtOnce | Algorithm::Windowed => {
            lanes.push(all_to_all(what, n, own, method));
        }
    }
    Some(lanes)
}

/// Returns whether a member of an all-to-all has nothing to send to another, or nothing to receive.
fn leaves_out(what: &Collective, n: u64, own: u64) -> bool {
    let Some(sizes) = &what.sizes else { return false };
    let is_empty = |from: u64, to: u64| sizes.get((from * n + to) as usize).is_none_or(|bytes| *bytes == 0);
    (0..n).filter(|other| *other != own).any(|other| is_empty(own, other) || is_empty(other, own))
}

/// Rings of a channel: in the server, along the rail, in the server again. The last goes to the same member as the
/// first, whose messages count among its credits.
fn hierarchical(
    lanes: &mut Vec<Lane>,
    method: &Method,
    (n, own): (u64, u64),
    (channel, share, chunk): (u32, u64, Option<u64>),
) {
    let g = u64::from(method.server);
    let (server, place, servers) = (own / g, own % g, n / g);
    let inside = |k: u64| server * g + k % g;
    let rail = |s: u64| s % servers * g + place;
    let part = Parts::new(g, share, None).part(0, place);
    let around = [inside(place + 1), inside(place + g - 1)];
    let along = [rail(server + 1), rail(server + servers - 1)];
    let mut own: Vec<RingLane> = Vec::new();
    for (pattern, members, at, bytes, chunk, ends) in [
        (Pattern::ReduceScatter, g, place, share, None, around),
        (Pattern::AllReduce, servers, server, part, chunk, along),
        (Pattern::AllGather, g, place, share, None, around),
    ] {
        if let Some(ring) = Ring::new(pattern, members, bytes, chunk).filter(|ring| ring.steps() > 0) {
            own.push(RingLane::new(ring, method, (at, ends), channel));
        }
    }
    let last = own.len().saturating_sub(1);
    if g > 1 && last > 0 {
        let (sends, later) = (own[0].steps(), own[last].steps());
        own[0].goes_on_in((last, later));
        own[last].follows_sends(sends);
    }
    for (i, lane) in own.iter_mut().enumerate() {
        lane.chain(i > 0, i < last);
    }
    lanes.extend(own.into_iter().map(Lane::Ring));
}

/// Roles of a member of a tree in a piece: receives and reductions from below, then up and from above, then down.
fn tree_roles(up: Option<u64>, down: &[u64], method: &Method) -> Vec<Role> {
    let mut own = Vec::new();
    let mut summed = Vec::new();
    for child in down {
        let received = own.len();
        own.push((Kind::Recv, *child, vec![(received, 1)]));
        if method.reduce.is_some() {
            own.push((Kind::Calc, 0, vec![(received, 0)]));
        }
        summed.push((own.len() - 1, 0));
    }
    let mut ready = summed.clone();
    if let Some(up) = up {
        own.push((Kind::Send, up, summed));
        let received = own.len();
        own.push((Kind::Recv, up, vec![(received, 1)]));
        ready = vec![(received, 0)];
    }
    own.extend(down.iter().map(|child| (Kind::Send, *child, ready.clone())));
    roles(own, method.credits)
}

/// Roles of a member of a chain in a piece: receive, reduction, send.
fn chain_roles(pattern: Pattern, (n, position, root): (u64, u64, u64), method: &Method) -> Vec<Role> {
    let relative = (position + n - root) % n;
    let (at, back) = if pattern == Pattern::Reduce { (n - 1 - relative, true) } else { (relative, false) };
    let place = |at: u64| if back { (n - 1 - at + root) % n } else { (at + root) % n };
    let mut own = Vec::new();
    if at > 0 {
        own.push((Kind::Recv, place(at - 1), vec![(0, 1)]));
        if back && method.reduce.is_some() {
            own.push((Kind::Calc, 0, vec![(0, 0)]));
        }
    }
    if at + 1 < n {
        let ready = own.len().checked_sub(1).map(|last| (last, 0));
        own.push((Kind::Send, place(at + 1), ready.into_iter().collect()));
    }
    roles(own, method.credits)
}

/// Rounds of an all-to-all: a send and a receive each, which wait for those of an earlier round.
fn all_to_all(what: &Collective, n: u64, own: u64, method: &Method) -> Lane {
    let under_way = match method.algorithm {
        Algorithm::Pairwise => Some(1),
        Algorithm::Windowed => Some(method.window),
        _ => None,
    };
    let after: Vec<(usize, u32)> = under_way.into_iter().flat_map(|rounds| [(0, rounds), (1, rounds)]).collect();
    let distances = (method.algorithm == Algorithm::NcclGrouped)
        .then(|| exchange::grouped_distances(n).into_iter().filter(|d| *d > 0).map(|d| d as u32).collect());
    let course = Course::All { n, own, bytes: what.bytes.0, sizes: what.sizes.clone(), distances };
    Lane::rounds(roles(vec![(Kind::Send, 0, after.clone()), (Kind::Recv, 0, after)], 0), course, 0)
}
