//! When a run ends, and when it cannot go on: the same under both engines.

use crate::domain::build::Simulation;
use crate::event::outbox::Instant;
use crate::spec::{RunError, Spec};
use incast_cc::Time;
use incast_record::Collector;

/// More causes and effects than this at one picosecond are taken for an endless loop.
const GENERATIONS: u16 = 50_000;

/// Bytes of what a run records point by point: the packet trace, steps of counted packets, time series, queries and
/// writes. As much as the time series that a scenario may ask for.
pub const MOST_KEPT: u64 = 2_400_000_000;

/// Bytes that records of a run may take: `MOST_KEPT`, and fewer where it says so.
pub fn most_kept(spec: &Spec) -> u64 {
    spec.observe.most_kept.map_or(MOST_KEPT, |most| most.min(MOST_KEPT))
}

/// Why a run that was at `now` ends without a result: its records take more than they may.
pub fn full(kept: &Collector, now: Time, spec: &Spec) -> RunError {
    let (end, gigabytes) = (spec.duration, [kept.kept_bytes(), most_kept(spec)].map(|bytes| bytes as f64 * 1e-9));
    let (events, steps) = (kept.trace.len(), kept.monitored.len());
    let (points, messages) = (kept.samples.len(), kept.messages.len());
    RunError::Invalid(format!(
        "records of the run take {:.2} GB at {now} of {end}, and may take {:.2} GB: {events} events of packets \
         (measure.trace), {steps} steps of counted packets (measure.acks), {points} points of time series \
         (measure.series), {messages} queries and writes; expected fewer traced flows, no measure.acks, a longer \
         measure.series.interval, fewer or larger writes, or a shorter run.duration",
        gigabytes[0], gigabytes[1]
    ))
}

/// The end of a run: its duration, or soon after the last flow or query of a known size has finished.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Nothing happens at or after it.
    pub at: Time,
    /// So many finish.
    last: u64,
    /// How much longer the run lasts, and how long at most.
    relay: Time,
    duration: Time,
}

impl Ending {
    /// The end of `simulation` as it begins.
    pub fn new(simulation: &Simulation) -> Ending {
        let net = &simulation.net;
        let duration = net.spec.duration;
        Ending { at: duration, last: simulation.last_to_finish(), relay: net.relay, duration }
    }

    /// So many have finished, the latest at `at`. After the last one a run goes on for the longest latency of a link:
    /// no window is longer, so the end lies behind the window that is open.
    #[inline]
    pub fn update(&mut self, finished: u64, at: Time) {
        if finished == self.last {
            self.at = at.saturating_add(self.relay).min(self.duration);
        }
    }
}

/// Refuses an event that too many others at its instant have led to.
#[inline]
pub fn check(at: Instant) -> Result<(), Endless> {
    if at.generation <= GENERATIONS { Ok(()) } else { Err(Endless(at.time)) }
}

/// Why a domain does nothing more.
#[derive(Clone, Copy, Debug)]
pub enum Halt {
    /// An endless loop at that instant.
    Endless(Endless),
    /// Whoever watches the run has said no.
    Stopped,
}

impl From<Endless> for Halt {
    fn from(endless: Endless) -> Halt {
        Halt::Endless(endless)
    }
}

/// The instant at which a domain found an endless loop.
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
