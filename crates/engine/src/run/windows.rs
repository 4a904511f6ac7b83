//! The engine of windows.
//!
//! Simulated time advances in engine windows of length L, the smallest latency between domains: an effect of one domain
//! on another always falls into a later window, so within a window every domain runs by itself, in any order. There is
//! no global event queue. Packets in flight are kept by value in append-only buckets, one for each near window. When a
//! window opens, they are scattered to their domains by counting: a domain writes its packets to one place and gathers
//! its arrivals from many, since reads from many places can be prefetched and writes to many cannot. Each domain with
//! work orders its packets and processes them, merged with the events of its own small queue (timers, and arrivals over
//! links inside the domain that fall into the open window). Packets that arrive beyond the near windows wait in buckets
//! for whole blocks of windows. They are distributed to the buckets of their windows when the block comes near. Windows
//! without work are skipped.
//!
//! Several threads share the domains, where that is faster ([`crate::threads::mode`]). Each runs the windows of its own
//! domains in step with the others. Packets to a domain of another thread go into a bucket for that thread, which it
//! takes over when their window opens. Between two windows one worker can be split, and the parts can be joined.
//!
//! The result depends neither on the order in which domains are visited, nor on the grouping of nodes, nor on the
//! threads: [`crate::event::order`] alone gives the order of events at a node.

use crate::domain::build::{LONGEST_WITHOUT_DELAY, Simulation};
use crate::event::order::Key;
use crate::run::buckets::BLOCK;
use crate::run::ending::{self, Ending, Endless};
use crate::run::parts::Detached;
use crate::run::worker::{End, Visit, Worker};
use crate::spec::{About, MAX_THREADS, RunError};
use crate::threads::clock::{Cost, thread_time};
use crate::threads::mode::{ModeControl, Rule};
use crate::threads::progress::{Listener, Monitor};
use crate::threads::{partition, window_loop};
use incast_cc::Time;
use incast_record::Outcome;
use std::ops::Range;
use std::time::Duration;

/// Longest window: offsets within the near windows then fit the exact division of the buckets.
const LONGEST: Time = Time(1 << 28);

/// Threads of a run.
#[derive(Clone, Copy, Debug)]
pub enum Threads {
    /// This many threads, each with its share of the domains, for the whole run.
    Own(usize),
    /// This many shares, one after the other on the caller's thread. Tests prove that the result is the same.
    Sequential(usize),
    /// Up to this many threads, where they are faster than one.
    UpTo(usize),
    /// By a rule, with this many threads, or shares in turn on the caller's thread.
    By(Rule, usize, bool),
}

impl Threads {
    /// Threads requested by a simulation.
    pub fn of(simulation: &Simulation) -> Threads {
        let max = simulation.thread_pool.threads();
        if simulation.net.spec.threads.is_some() { Threads::Own(max) } else { Threads::UpTo(max) }
    }

    /// Maximum number of threads.
    pub fn max_threads(self) -> usize {
        self.rule().1
    }

    /// Rule for more than one thread, number of threads, and whether all run on the caller's thread.
    fn rule(self) -> (Rule, usize, bool) {
        match self {
            Threads::Own(count) => (Rule::InStep, count, false),
            Threads::Sequential(count) => (Rule::InStep, count, true),
            Threads::UpTo(count) => (Rule::AUTO, count, false),
            Threads::By(rule, count, sequential) => (rule, count, sequential),
        }
    }
}

/// Runs a simulation. `visit`: order in which domains are visited.
pub fn run(simulation: Simulation, visit: Visit, threads: Threads, listener: Listener) -> Result<Outcome, RunError> {
    run_timed(simulation, visit, threads, listener).map(|(outcome, _)| outcome)
}

/// Runs a simulation as [`run`] does. Returns the cost of the run as well.
pub fn run_timed(
    mut simulation: Simulation,
    visit: Visit,
    threads: Threads,
    listener: Listener,
) -> Result<(Outcome, Cost), RunError> {
    let thread_pool = simulation.thread_pool.clone();
    let (rule, count, sequential) = threads.rule();
    let duration = simulation.net.spec.duration;
    let shares = partition::runs(&simulation.weights(), count.clamp(1, MAX_THREADS as usize));
    let mut worker = worker(&mut simulation, visit);
    // tests run small fabrics through the code path of large ones, too
    worker.far |= sequential;
    let mut monitor = Monitor::new(listener, duration);
    monitor.set_up(1.0);
    let mut mode = ModeControl::new(if shares.len() > 1 { rule } else { Rule::Alone });
    let begun = thread_time();
    let (end, mut threads) = walk(&mut worker, &shares, sequential, (&mut monitor, &mut mode))?;
    threads.insert(0, thread_time() - begun);
    let left = worker.leave();
    match end {
        End::Reached { at, quiet } => {
            let (idle, under_way) = (quiet && left.is_idle(), left.packets().collect::<Vec<_>>());
            let outcome = simulation.outcome(left.collector, under_way.into_iter(), at, idle)?;
            Ok((outcome, Cost { threads, helpers: thread_pool.time(), in_step: mode.in_step() }))
        }
        End::Endless(time) => Err(Endless(time).into()),
        End::Full(now) => Err(ending::full(&left.collector, now, simulation.net.spec)),
        End::Stopped => Err(RunError::Stopped),
    }
}

/// The worker of all domains.
fn worker<'a>(simulation: &'a mut Simulation, visit: Visit) -> Worker<'a> {
    let (ending, (length, _)) = (Ending::new(simulation), take_fast_paths(simulation));
    let timers: Vec<_> = simulation.first_timers().collect();
    let net = &simulation.net;
    let mut worker = Worker::new(net, &mut simulation.domains, ending, visit, length);
    for (domain, time, timer) in timers {
        worker.queues.push_message((domain, Key::timer(net.order, time, 0, timer), timer));
    }
    worker
}

/// Runs all windows, alone or in `shares`, as the mode decides. Returns the end of the run, and the processor time of
/// each thread except the caller's.
fn walk(
    worker: &mut Worker,
    shares: &[Range<usize>],
    sequential: bool,
    (monitor, mode): (&mut Monitor, &mut ModeControl),
) -> Result<(End, Vec<Duration>), RunError> {
    let mut times = Vec::new();
    loop {
        if !mode.is_in_step()
            && let Some(end) = window_loop::single_thread(worker, monitor, mode)
        {
            return Ok((end, times));
        }
        let mut parts = worker.part(shares);
        let stop = if sequential {
            Ok((window_loop::sequential(&mut parts, monitor, mode), Vec::new()))
        } else {
            window_loop::in_step(&mut parts, monitor, mode)
        };
        let left: Vec<Detached> = parts.iter_mut().map(Worker::leave).collect();
        worker.join(left);
        match stop {
            Ok((end, more)) => {
                times.resize(more.len().max(times.len()), Duration::ZERO);
                times.iter_mut().zip(more).for_each(|(time, more)| *time += more);
                if let Some(end) = end {
                    return Ok((end, times));
                }
            }
            Err((begun, refusal)) if mode.is_fixed() => {
                let text = format!("the system refused a thread after {begun} ({refusal}); give fewer");
                return Err(RunError::Refused(About::Threads, text));
            }
            Err(_) => mode.stay_alone(),
        }
    }
}

/// Takes the fast paths of a run. Returns the length of its windows, and the time before its arrival from which a
/// packet lies in a bucket.
pub fn take_fast_paths(simulation: &mut Simulation) -> (Time, Time) {
    let length = window_length(simulation);
    let near = length * BLOCK;
    simulation.take_fast_paths(length, near);
    (length, near)
}

/// Length of an engine window.
fn window_length(simulation: &Simulation) -> Time {
    let links = &simulation.net.spec.links;
    let shortest = || links.iter().map(|l| l.delay).filter(|d| *d > Time::ZERO).min();
    simulation.lookahead.or_else(shortest).unwrap_or(LONGEST_WITHOUT_DELAY).clamp(Time::ns(1), LONGEST)
}
