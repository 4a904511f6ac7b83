//! End of a run, and runs that cannot go on: the same under both engines.

use crate::domain::build::Simulation;
use crate::event::outbox::Instant;
use crate::spec::{RunError, Spec};
use incast_cc::Time;
use incast_record::Collector;

/// Longest chain of causes and effects at one picosecond. A longer one counts as an endless loop.
const GENERATIONS: u16 = 50_000;

/// Maximum bytes of individual records: the packet trace, steps of counted packets, time series, queries and writes,
/// pauses. Equal to the limit on a scenario's time series.
pub const MAX_KEPT: u64 = 2_400_000_000;

/// Bytes that the records of a run may take: `MAX_KEPT`, or the specification's own limit if lower.
pub fn max_kept(spec: &Spec) -> u64 {
    spec.observe.max_kept.map_or(MAX_KEPT, |max| max.min(MAX_KEPT))
}

/// The error of a run that ends at `now` because its records exceed the limit.
pub fn full(kept: &Collector, now: Time, spec: &Spec) -> RunError {
    let (end, gigabytes) = (spec.duration, [kept.kept_bytes(), max_kept(spec)].map(|bytes| bytes as f64 * 1e-9));
    let (events, steps, tasks) = (kept.trace.len(), kept.monitored.len(), kept.tasks.len());
    let sent = kept.transfers.len();
    let (points, messages, pauses) = (kept.samples.len(), kept.messages.len(), kept.pauses.len());
    RunError::Invalid(format!(
        "records of the run take {:.2} GB at {now} of {end}, and may take {:.2} GB: {events} events of packets \
         (measure.trace), {steps} steps of counted packets (measure.acks), {points} points of time series \
         (measure.series), {messages} queries and writes, {sent} messages (measure.messages), {pauses} steps of \
         pauses (measure.pauses), {tasks} tasks (measure.tasks); expected fewer, a longer measure.series.interval, \
         larger writes, or a shorter run",
        gigabytes[0], gigabytes[1]
    ))
}

/// End of a run: its duration, or shortly after the last flow or query of known size has finished.
#[derive(Clone, Debug)]
pub struct Ending {
    /// End time: nothing happens at or after it.
    pub at: Time,
    /// Number of flows and queries that finish.
    last: u64,
    /// Extra time after the last one has finished, and duration of the run.
    max_latency: Time,
    duration: Time,
}

impl Ending {
    /// The end of `simulation`, as known at the start.
    pub fn new(simulation: &Simulation) -> Ending {
        let net = &simulation.net;
        let duration = net.spec.duration;
        Ending { at: duration, last: simulation.last_to_finish(), max_latency: net.max_latency, duration }
    }

    /// Updates the end: `finished` have finished, the latest at `at`. After the last one a run goes on for the longest
    /// latency of a link. No window is longer, so the end lies after the open window.
    #[inline]
    pub fn update(&mut self, finished: u64, at: Time) {
        if finished == self.last {
            self.at = at.saturating_add(self.max_latency).min(self.duration);
        }
    }
}

/// Refuses an event after too long a chain of causes at its instant.
#[inline]
pub fn check(at: Instant) -> Result<(), Endless> {
    if at.generation <= GENERATIONS { Ok(()) } else { Err(Endless(at.time)) }
}

/// Reason why a domain stops.
#[derive(Clone, Copy, Debug)]
pub enum Halt {
    /// An endless loop at an instant.
    Endless(Endless),
    /// The listener stopped the run.
    Stopped,
}

impl From<Endless> for Halt {
    fn from(endless: Endless) -> Halt {
        Halt::Endless(endless)
    }
}

/// Instant at which a domain found an endless loop.
#[derive(Clone, Copy, Debug)]
pub struct Endless(pub Time);

impl From<Endless> for RunError {
    fn from(Endless(time): Endless) -> RunError {
        RunError::Invalid(format!(
            "more than {GENERATIONS} causes and effects at the one instant {}: a loop of links without delay and with \
             infinite rate never lets time pass; give one of them a delay or a rate",
            time
        ))
    }
}
