//! When a run ends, and when it cannot go on: the same under both engines.

use crate::domain::build::Simulation;
use crate::event::order::Key;
use crate::spec::RunError;
use incast_cc::Time;

/// More causes and effects than this at one picosecond are taken for an endless loop.
const GENERATIONS: u16 = 50_000;

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
pub fn check(key: &Key) -> Result<(), Endless> {
    if key.generation() <= GENERATIONS { Ok(()) } else { Err(Endless(key.time)) }
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
