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
//! Several threads share the domains. Each runs the windows of its own in step with the others: what is sent to a
//! domain of another thread goes into a bucket for that thread, which is handed over when its window opens.
//!
//! The result does not depend on the order in which domains are visited, nor on how nodes are
//! grouped, nor on the threads: the order of events at a node is given by [`crate::event::order`] alone.

use crate::domain::build::{LONGEST_WITHOUT_DELAY, Simulation};
use crate::event::order::Key;
use crate::run::buckets::{BLOCK, Lanes, Parcel};
use crate::run::ending::{self, Ending, Endless};
use crate::run::worker::{End, Left, Visit, Worker};
use crate::spec::{About, MOST_THREADS, RunError};
use crate::threads::barrier::Broken;
use crate::threads::clock::{Cost, thread_time};
use crate::threads::cores;
use crate::threads::crew::{Crew, Report};
use crate::threads::partition;
use crate::threads::watch::{Listener, Watch};
use incast_cc::Time;
use incast_record::{Collector, Outcome};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

/// Longest window: offsets within the near windows then fit the exact division of the buckets.
const LONGEST: Time = Time(1 << 28);

/// The threads of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// So many, each with its share of the domains.
    Own(usize),
    /// So many shares, one after the other on the caller's thread: makes no difference, which tests prove.
    InTurn(usize),
}

impl Threads {
    /// Those that a simulation asks for.
    pub fn of(simulation: &Simulation) -> Threads {
        Threads::Own(simulation.team.threads())
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
    let (Threads::Own(count) | Threads::InTurn(count)) = threads;
    let end = simulation.net.spec.duration;
    let mut workers = workers(&mut simulation, count.clamp(1, MOST_THREADS as usize), visit);
    let mut watch = Watch::new(listener, end);
    watch.set_up(1.0);
    let end = match threads {
        Threads::Own(_) => on_threads(&mut workers, watch),
        Threads::InTurn(_) => {
            // so tests send small fabrics the way of large ones, too
            workers.iter_mut().for_each(|worker| worker.far = true);
            Ok(in_turn(&mut workers, &mut watch))
        }
    };
    let left: Vec<Left> = workers.into_iter().map(Worker::leave).collect();
    match end? {
        End::Reached { at, quiet } => {
            let threads = left.iter().map(|worker| worker.time).collect();
            let outcome = outcome(simulation, left, at, quiet);
            Ok((outcome, Cost { threads, helpers: team.time() }))
        }
        End::Endless(time) => Err(Endless(time).into()),
        End::Full(now) => {
            let kept: Vec<&Collector> = left.iter().map(|worker| &worker.collector).collect();
            Err(ending::full(&kept, now, simulation.net.spec))
        }
        End::Stopped => Err(RunError::Stopped),
    }
}

/// A worker a share of the domains; at most `count`.
fn workers<'a>(simulation: &'a mut Simulation, count: usize, visit: Visit) -> Vec<Worker<'a>> {
    let shares = partition::runs(&simulation.weights(), count);
    let (ending, length) = (Ending::new(simulation), window_length(simulation));
    simulation.mark_later(length, length * BLOCK);
    simulation.serve_themselves(length);
    let timers: Vec<_> = simulation.first_timers().collect();
    let (net, mut rest) = (&simulation.net, simulation.domains.as_mut_slice());
    let domains = rest.len();
    let owners: Vec<u8> = shares.iter().zip(0..=u8::MAX).flat_map(|(share, i)| share.clone().map(move |_| i)).collect();
    let lanes: Arc<[u8]> = if shares.len() > 1 { owners.clone().into() } else { Arc::default() };
    let mut workers = Vec::with_capacity(shares.len());
    for (me, share) in shares.iter().enumerate() {
        let (own, others) = rest.split_at_mut(share.len());
        rest = others;
        let lanes = Lanes { me, of: lanes.clone() };
        let own = (share.start as u32, own, domains);
        workers.push(Worker::new(net, own, ending.clone(), visit, (length, lanes, shares.len())));
    }
    for (domain, time, timer) in timers {
        let key = Key::timer(net.order, time, 0, timer);
        workers[owners[domain.ix()] as usize].queues.post((domain, key, timer));
    }
    workers
}

/// Every worker has a thread of its own, the first the caller's.
fn on_threads(workers: &mut [Worker], mut watch: Watch) -> Result<End, RunError> {
    let crew = Crew::new(workers.len(), cores());
    let crew = &crew;
    let [first, others @ ..] = workers else {
        return Err(RunError::Refused(About::Network, "a network without nodes".into()));
    };
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(others.len());
        for (i, worker) in (1..).zip(others) {
            let run = move || in_step(crew, i, worker, &mut Watch::new(&mut |_| true, Time::NEVER));
            match thread::Builder::new().spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(refusal) => {
                    crew.break_up();
                    let (n, begun) = (crew.threads(), threads.len() + 1);
                    return Err(RunError::Refused(
                        About::Threads,
                        format!("{n}: the system refused a thread after {begun} ({refusal}); give fewer"),
                    ));
                }
            }
        }
        let end = in_step(crew, 0, first, &mut watch);
        for thread in threads {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        end.map_err(|Broken| RunError::Stopped)
    })
}

/// Runs a worker to the end of the run, in step with the others of the crew.
fn in_step(crew: &Crew<Parcel>, me: usize, worker: &mut Worker, watch: &mut Watch) -> Result<End, Broken> {
    let _guard = crew.guard();
    let begun = thread_time();
    loop {
        let all = crew.agree(me, worker.report())?;
        let mut window = match worker.open(&all, watch) {
            Ok(window) => window,
            Err(end) => {
                worker.time = thread_time() - begun;
                return Ok(end);
            }
        };
        let pack = |worker: &mut Worker, to, parcel: &mut Parcel| worker.buckets.pack(to, parcel);
        let unpack = |worker: &mut Worker, parcel: &mut Parcel| {
            window.unpack(&mut worker.buckets, &mut worker.queues, parcel);
        };
        crew.exchange(me, worker, pack, unpack)?;
        worker.pass(window, watch);
    }
}

/// All workers have one thread, one after the other in every window.
fn in_turn(workers: &mut [Worker], watch: &mut Watch) -> End {
    let count = workers.len();
    let mut parcels: Vec<Parcel> = (0..count * count).map(|_| Parcel::default()).collect();
    loop {
        let all = workers.iter().map(Worker::report).fold(Report::NOTHING, Report::and);
        let mut windows = Vec::new();
        for worker in workers.iter_mut() {
            match worker.open(&all, watch) {
                Ok(window) => windows.push(window),
                Err(end) => return end,
            }
        }
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                let parcel = &mut parcels[from * count + to];
                if workers[from].buckets.pack(to, parcel) {
                    let worker = &mut workers[to];
                    windows[to].unpack(&mut worker.buckets, &mut worker.queues, parcel);
                }
            }
        }
        for (worker, window) in workers.iter_mut().zip(windows) {
            worker.pass(window, watch);
        }
    }
}

/// Joins what the workers leave at the end of the run.
fn outcome(simulation: Simulation, left: Vec<Left>, at: Time, quiet: bool) -> Outcome {
    let idle = quiet && left.iter().all(|l| l.idle);
    let mut under_way = Vec::new();
    let mut collector = Collector::new(simulation.net.spec.groups.len());
    for mut worker in left {
        under_way.append(&mut worker.under_way);
        collector.merge(worker.collector);
    }
    simulation.outcome(collector, under_way.into_iter(), at, idle)
}

/// Length of an engine window.
fn window_length(simulation: &Simulation) -> Time {
    let links = &simulation.net.spec.links;
    let shortest = || links.iter().map(|l| l.delay).filter(|d| *d > Time::ZERO).min();
    simulation.lookahead.or_else(shortest).unwrap_or(LONGEST_WITHOUT_DELAY).clamp(Time::ns(1), LONGEST)
}
