//! The engine of windows.
//!
//! Simulated time advances in engine windows of length L, the smallest latency between domains:
//! what one domain does inside a window reaches another in a later one, so within a window every
//! domain runs by itself, in any order. There is no global event queue. In-flight packets lie by
//! value in append-only buckets, one a near window. When a window opens they are dealt out to their
//! domains by counting: a domain writes to one place what it sends, and gathers what it gets, since
//! reads from many places can be asked for ahead and writes to many cannot. Each domain with work
//! orders its packets and walks them, merging the events of its own small queue (timers, and arrivals
//! over links inside the domain that fall into the open window). Packets that will arrive beyond the
//! near windows lie in buckets for whole blocks of windows, and are dealt out to those of their windows when the
//! block comes near. Windows without work are skipped.
//!
//! Several threads share the domains, where that is quicker ([`crate::threads::pace`]). Each runs the windows of its
//! own in step with the others: what is sent to a domain of another thread goes into a bucket for that thread, which is
//! handed over when its window opens. Between two windows one worker can be parted, and the parts can be joined.
//!
//! The result does not depend on the order in which domains are visited, nor on how nodes are
//! grouped, nor on the threads: the order of events at a node is given by [`crate::event::order`] alone.

use crate::domain::build::{LONGEST_WITHOUT_DELAY, Simulation};
use crate::event::order::Key;
use crate::run::buckets::BLOCK;
use crate::run::ending::{self, Ending, Endless};
use crate::run::parts::Left;
use crate::run::worker::{End, Visit, Worker};
use crate::spec::{About, MOST_THREADS, RunError};
use crate::threads::clock::{Cost, thread_time};
use crate::threads::pace::{Pace, Rule};
use crate::threads::watch::{Listener, Watch};
use crate::threads::{partition, stretch};
use incast_cc::Time;
use incast_record::Outcome;
use std::ops::Range;
use std::time::Duration;

/// Longest window: offsets within the near windows then fit the exact division of the buckets.
const LONGEST: Time = Time(1 << 28);

/// The threads of a run.
#[derive(Clone, Copy, Debug)]
pub enum Threads {
    /// So many, each with its share of the domains, from the first window to the last.
    Own(usize),
    /// So many shares, one after the other on the caller's thread: makes no difference, which tests prove.
    InTurn(usize),
    /// Up to so many, where they are quicker than one.
    UpTo(usize),
    /// As a rule says: so many of their own, or in turn.
    By(Rule, usize, bool),
}

impl Threads {
    /// Those that a simulation asks for.
    pub fn of(simulation: &Simulation) -> Threads {
        let most = simulation.team.threads();
        if simulation.net.spec.threads.is_some() { Threads::Own(most) } else { Threads::UpTo(most) }
    }

    /// How many at most.
    pub fn most(self) -> usize {
        self.rule().1
    }

    /// When there is more than one, how many, and whether on the caller's thread.
    fn rule(self) -> (Rule, usize, bool) {
        match self {
            Threads::Own(count) => (Rule::InStep, count, false),
            Threads::InTurn(count) => (Rule::InStep, count, true),
            Threads::UpTo(count) => (Rule::AUTO, count, false),
            Threads::By(rule, count, in_turn) => (rule, count, in_turn),
        }
    }
}

/// Runs a simulation, with domains visited in the given order.
pub fn run(simulation: Simulation, visit: Visit, threads: Threads, listener: Listener) -> Result<Outcome, RunError> {
    run_timed(simulation, visit, threads, listener).map(|(outcome, _)| outcome)
}

/// Runs a simulation as [`run`] does; second, what it cost.
pub fn run_timed(
    mut simulation: Simulation,
    visit: Visit,
    threads: Threads,
    listener: Listener,
) -> Result<(Outcome, Cost), RunError> {
    let team = simulation.team.clone();
    let (rule, count, in_turn) = threads.rule();
    let duration = simulation.net.spec.duration;
    let shares = partition::runs(&simulation.weights(), count.clamp(1, MOST_THREADS as usize));
    let mut worker = worker(&mut simulation, visit);
    // so tests send small fabrics the way of large ones, too
    worker.far |= in_turn;
    let mut watch = Watch::new(listener, duration);
    watch.set_up(1.0);
    let mut pace = Pace::new(if shares.len() > 1 { rule } else { Rule::Alone });
    let begun = thread_time();
    let (end, mut threads) = walk(&mut worker, &shares, in_turn, (&mut watch, &mut pace))?;
    threads.insert(0, thread_time() - begun);
    let left = worker.leave();
    match end {
        End::Reached { at, quiet } => {
            let (idle, under_way) = (quiet && left.is_idle(), left.packets().collect::<Vec<_>>());
            let outcome = simulation.outcome(left.collector, under_way.into_iter(), at, idle);
            Ok((outcome, Cost { threads, helpers: team.time(), in_step: pace.in_step() }))
        }
        End::Endless(time) => Err(Endless(time).into()),
        End::Full(now) => Err(ending::full(&left.collector, now, simulation.net.spec)),
        End::Stopped => Err(RunError::Stopped),
    }
}

/// The worker that has all domains.
fn worker<'a>(simulation: &'a mut Simulation, visit: Visit) -> Worker<'a> {
    let (ending, length) = (Ending::new(simulation), window_length(simulation));
    simulation.mark_later(length, length * BLOCK);
    simulation.serve_themselves(length);
    let timers: Vec<_> = simulation.first_timers().collect();
    let net = &simulation.net;
    let mut worker = Worker::new(net, &mut simulation.domains, ending, visit, length);
    for (domain, time, timer) in timers {
        worker.queues.post((domain, Key::timer(net.order, time, 0, timer), timer));
    }
    worker
}

/// Goes through all windows: alone, or in `shares`, as the pace says. How the run ended, and the processor time of each
/// thread but the caller's.
fn walk(
    worker: &mut Worker,
    shares: &[Range<usize>],
    in_turn: bool,
    (watch, pace): (&mut Watch, &mut Pace),
) -> Result<(End, Vec<Duration>), RunError> {
    let mut times = Vec::new();
    loop {
        if !pace.is_in_step()
            && let Some(end) = stretch::alone(worker, watch, pace)
        {
            return Ok((end, times));
        }
        let mut parts = worker.part(shares);
        let stop = if in_turn {
            Ok((stretch::in_turn(&mut parts, watch, pace), Vec::new()))
        } else {
            stretch::in_step(&mut parts, watch, pace)
        };
        let left: Vec<Left> = parts.iter_mut().map(Worker::leave).collect();
        worker.join(left);
        match stop {
            Ok((end, more)) => {
                times.resize(more.len().max(times.len()), Duration::ZERO);
                times.iter_mut().zip(more).for_each(|(time, more)| *time += more);
                if let Some(end) = end {
                    return Ok((end, times));
                }
            }
            Err((begun, refusal)) if pace.is_fixed() => {
                let text = format!("the system refused a thread after {begun} ({refusal}); give fewer");
                return Err(RunError::Refused(About::Threads, text));
            }
            Err(_) => pace.stay_alone(),
        }
    }
}

/// Length of an engine window.
fn window_length(simulation: &Simulation) -> Time {
    let links = &simulation.net.spec.links;
    let shortest = || links.iter().map(|l| l.delay).filter(|d| *d > Time::ZERO).min();
    simulation.lookahead.or_else(shortest).unwrap_or(LONGEST_WITHOUT_DELAY).clamp(Time::ns(1), LONGEST)
}
