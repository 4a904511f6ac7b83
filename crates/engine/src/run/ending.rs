//! When a run ends, and when it cannot go on: the same under both engines.

use crate::domain::build::Simulation;
use crate::event::order::Key;
use crate::spec::RunError;
use incast_cc::Time;
use incast_record::Collector;

/// More causes and effects than this at one picosecond are taken for an endless loop.
const GENERATIONS: u16 = 50_000;

/// The end of a run: its duration, or soon after the last flow or query of a known size has finished.
pub struct Ending {
    /// Nothing happens at or after it.
    pub at: Time,
    /// So many finish.
    last: u64,
}

impl Ending {
    /// The end of `simulation` as it begins.
    pub fn new(simulation: &Simulation) -> Ending {
        Ending { at: simulation.net.spec.duration, last: simulation.last_to_finish() }
    }

    /// Looks whether the last one has finished. No window is longer than what is added to its time, so the end lies
    /// behind the window that is open.
    #[inline]
    pub fn update(&mut self, simulation: &Simulation, collector: &Collector) {
        if collector.finished == self.last {
            self.at = simulation.end_after(Time(collector.finished_at));
        }
    }
}

/// Refuses an event that too many others at its instant have led to.
#[inline]
pub fn check(key: &Key) -> Result<(), RunError> {
    if key.generation() <= GENERATIONS { Ok(()) } else { Err(endless(key.time)) }
}

#[cold]
fn endless(time: Time) -> RunError {
    RunError::Invalid(format!(
        "more than {GENERATIONS} causes and effects at the one instant {}: a loop of links without delay and with \
         infinite rate never lets time pass; give one of them a delay or a rate",
        time
    ))
}
