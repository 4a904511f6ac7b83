//! Run of a graph on a network without contention: a message of b bytes arrives a latency and b / rate after its send
//! starts, whatever else is under way.
//!
//! The meaning of tasks is the engine's: a receive ends when its message has arrived and it is posted; calculations of
//! a stream exclude each other; communication takes no cpu. A message to the own rank arrives at once. A member of a
//! collective ends when the data that it needs can be there, so not before those that it needs data of have started;
//! where sends wait, all members end together.
//!
//! Without [`Rules::streams`] and with [`SendDone::Written`] the end is the critical path: no network of this latency
//! and rate is faster.

use super::gathering::{End, Gathering};
pub use super::network::Network;
use super::started::{NAMED, Outcome, Stuck, Waits};
use crate::graph::{Graph, Kind};
use crate::matching::Mailbox;
use incast_cc::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// End of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendDone {
    /// With its start: the data is handed over.
    Written,
    /// With the acknowledgement, a latency after the arrival.
    Acked,
    /// With the match: the receive is posted and the message is there.
    Matched,
}

/// Rules of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Network.
    pub network: Network,
    /// End of a send.
    pub send_done: SendDone,
    /// Exclusion of calculations of one stream.
    pub streams: bool,
    /// Record of the path to the last end, at 12 B a task.
    pub path: bool,
}

/// A run, with the path that led to its end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Run {
    /// Result.
    pub outcome: Outcome,
    /// Tasks by (rank, task) from the first start to the last end, each the cause of the next; empty if not asked for.
    pub path: Vec<(u32, u32)>,
    /// Calculations on the path; one whose start alone was waited for does not count.
    pub path_calc: Time,
}

const NOBODY: (u32, u32) = (u32::MAX, u32::MAX);
/// Bit of a cause: its start, not its end.
const START: u32 = 1 << 31;

/// Runs a graph.
pub fn run(graph: &Graph, rules: Rules) -> Run {
    let mut state = State::new(graph, rules);
    for (rank, tasks) in graph.iter() {
        for task in (0..tasks.tasks() as u32).filter(|i| tasks.waits(*i) == 0) {
            state.now.push_back(Event::Ready(rank, task));
        }
    }
    loop {
        while let Some(event) = state.now.pop_front() {
            state.carry_out(event);
        }
        let Some(Reverse((time, _, event))) = state.later.pop() else { break };
        state.time = time;
        state.now.push_back(event);
        while let Some(Reverse((at, ..))) = state.later.peek() {
            if *at != time {
                break;
            }
            if let Some(Reverse((.., event))) = state.later.pop() {
                state.now.push_back(event);
            }
        }
    }
    state.finish()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Ready(u32, u32),
    Start(u32, u32),
    End(u32, u32),
    /// Arrival of the message of this send.
    Arrival(u32, u32),
    /// Earliest end of some member of a collective that this one started.
    Late(u32, u32),
}

struct State<'g> {
    graph: &'g Graph,
    rules: Rules,
    waits: Waits,
    mail: Vec<Mailbox<(u32, u32)>>,
    /// Time at which a stream is free, and its last calculation.
    streams: HashMap<(u32, u8), (Time, u32)>,
    /// Collectives under way.
    gathered: HashMap<u32, Gathering>,
    time: Time,
    now: VecDeque<Event>,
    later: BinaryHeap<Reverse<(Time, u64, Event)>>,
    events: u64,
    outcome: Outcome,
    /// Task that decides the end, true for its own end, false for its start.
    last: ((u32, u32), bool),
    /// Task of the rank whose end, or start, came last before the start of each task.
    before: Vec<Vec<u32>>,
    /// Task whose start let each task end: the send of a receive, a member of a collective.
    causes: Vec<Vec<(u32, u32)>>,
}

impl<'g> State<'g> {
    fn new(graph: &'g Graph, rules: Rules) -> State<'g> {
        let tasks = |rank: &crate::graph::Rank| if rules.path { rank.tasks() } else { 0 };
        State {
            graph,
            rules,
            waits: Waits::new(graph),
            mail: graph.iter().map(|(_, rank)| Mailbox::new(rank.is_wild())).collect(),
            streams: HashMap::new(),
            gathered: HashMap::new(),
            time: Time::ZERO,
            now: VecDeque::new(),
            later: BinaryHeap::new(),
            events: 0,
            outcome: Outcome { tasks: graph.total(), ..Outcome::default() },
            last: (NOBODY, true),
            before: graph.iter().map(|(_, rank)| vec![u32::MAX; tasks(rank)]).collect(),
            causes: graph.iter().map(|(_, rank)| vec![NOBODY; tasks(rank)]).collect(),
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        if time == self.time {
            self.now.push_back(event);
        } else {
            self.events += 1;
            self.later.push(Reverse((time, self.events, event)));
        }
    }

    fn caused(&mut self, (rank, task): (u32, u32), by: (u32, u32)) {
        if self.rules.path {
            self.causes[rank as usize][task as usize] = by;
        }
    }

    fn carry_out(&mut self, event: Event) {
        match event {
            Event::Ready(rank, task) => self.ready(rank, task),
            Event::Start(rank, task) => {
                self.release(rank, task | START, self.graph.successors(rank, task).1);
            }
            Event::End(rank, task) => {
                self.outcome.ended += 1;
                self.outcome.end = self.time;
                self.last = ((rank, task), true);
                self.release(rank, task, self.graph.successors(rank, task).0);
            }
            Event::Arrival(rank, task) => {
                let sent = self.graph.task(rank, task);
                let Some(mail) = self.mail.get_mut(sent.peer as usize) else { return };
                if let Some(receive) = mail.arrive((rank, sent.tag), (rank, task)) {
                    self.caused(receive, (rank, task));
                    self.matched((rank, task), receive);
                }
            }
            Event::Late(rank, task) => {
                if self.time > self.outcome.end {
                    self.outcome.end = self.time;
                    self.last = ((rank, task), false);
                }
            }
        }
    }

    fn release(&mut self, rank: u32, by: u32, successors: &[u32]) {
        let (now, before, path) = (&mut self.now, &mut self.before[rank as usize], self.rules.path);
        self.waits.count(rank, successors, |task| {
            if path {
                before[task as usize] = by;
            }
            now.push_back(Event::Ready(rank, task));
        });
    }

    fn matched(&mut self, (from, sent): (u32, u32), (to, receive): (u32, u32)) {
        self.at(self.time, Event::End(to, receive));
        if self.rules.send_done == SendDone::Matched {
            self.at(self.time, Event::End(from, sent));
        }
    }

    fn ready(&mut self, rank: u32, index: u32) {
        let task = self.graph.task(rank, index);
        let Rules { network, send_done, streams, .. } = self.rules;
        let mut start = self.time;
        if task.kind == Kind::Calc && streams {
            let (free, last) = self.streams.get(&(rank, task.stream)).copied().unwrap_or((Time::ZERO, 0));
            if free > start {
                start = free;
                if self.rules.path {
                    self.before[rank as usize][index as usize] = last;
                }
            }
            self.streams.insert((rank, task.stream), (start.saturating_add(task.duration()), index));
        }
        if !self.graph.successors(rank, index).1.is_empty() {
            self.at(start, Event::Start(rank, index));
        }
        match task.kind {
            Kind::Calc | Kind::Nop => self.at(start.saturating_add(task.duration()), Event::End(rank, index)),
            Kind::Send => {
                let own = task.peer == rank;
                let arrival = start.saturating_add(if own { Time::ZERO } else { network.message(task.bytes()) });
                self.at(arrival, Event::Arrival(rank, index));
                match send_done {
                    SendDone::Written => self.at(start, Event::End(rank, index)),
                    SendDone::Acked => {
                        let back = if own { Time::ZERO } else { network.latency };
                        self.at(arrival.saturating_add(back), Event::End(rank, index));
                    }
                    SendDone::Matched => {}
                }
            }
            Kind::Recv => {
                if let Some(sent) = self.mail[rank as usize].post((task.peer, task.tag), (rank, index)) {
                    self.matched(sent, (rank, index));
                }
            }
            Kind::Collective => self.join((rank, index), task.tag, task.peer.into()),
        }
    }

    /// Lets the member at a position join a collective.
    fn join(&mut self, task: (u32, u32), collective: u32, position: u64) {
        let Some(what) = self.graph.collective(collective) else { return };
        let members = self.graph.group(what.group).len() as u64;
        let Rules { network, send_done, .. } = self.rules;
        let here = self.gathered.entry(collective).or_insert_with(|| Gathering::new(what, members));
        let (ends, late) = match send_done {
            SendDone::Written => {
                let ends = here.join(what, network, self.time, (position, task));
                (ends, here.late(what, network))
            }
            SendDone::Acked | SendDone::Matched => (here.join_all(what, network, self.time, task), None),
        };
        if here.is_over() {
            self.gathered.remove(&collective);
        }
        for End { task, time, cause } in ends {
            if let Some(by) = cause {
                self.caused(task, by);
            }
            self.at(time, Event::End(task.0, task.1));
        }
        if let Some((time, (rank, first))) = late.filter(|(time, _)| *time > self.time) {
            self.at(time, Event::Late(rank, first));
        }
    }

    fn finish(mut self) -> Run {
        let mut stuck = [Vec::new(), Vec::new(), Vec::new()];
        for mail in &self.mail {
            let (receives, messages) = mail.left();
            stuck[0].extend(receives.into_iter().map(|(rank, task)| Stuck::Recv(rank, task)));
            stuck[1].extend(messages.into_iter().map(|(rank, task)| Stuck::Send(rank, task)));
            stuck.iter_mut().for_each(|kind| kind.truncate(NAMED));
        }
        let mut waiting: Vec<_> =
            self.gathered.values().flat_map(Gathering::waiting).map(|(r, i)| Stuck::Collective(*r, *i)).collect();
        waiting.sort_unstable();
        waiting.truncate(NAMED);
        stuck[2] = waiting;
        self.outcome.stuck = stuck.concat();
        let mut path = Vec::new();
        // from the end of a task to its start or to that of its cause, and from there to what came before: each lies
        // earlier among the events of the run
        let (mut task, mut at_end) = self.last;
        let mut path_calc = Time::ZERO;
        while self.rules.path && task != NOBODY {
            if path.last() != Some(&task) {
                path.push(task);
            }
            let (rank, index) = (task.0 as usize, task.1 as usize);
            let before = self.before[rank][index];
            (task, at_end) = match self.causes[rank][index] {
                cause if at_end && cause != NOBODY => (cause, false),
                _ if at_end => {
                    path_calc = path_calc.saturating_add(self.graph.task(task.0, task.1).duration());
                    (task, false)
                }
                _ if before == u32::MAX => (NOBODY, false),
                _ => ((task.0, before & !START), before & START == 0),
            };
        }
        path.reverse();
        Run { outcome: self.outcome, path, path_calc }
    }
}
