//! A scenario tried: built, cut to a length, run in every way. Whatever happens is a verdict, a panic too.

use crate::case::Case;
use crate::laws::Broken;
use crate::random::Random;
use crate::runs;
use incast_engine::spec::{RunError, Spec};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Hops of a run at most, about.
pub const HOPS: u64 = 6_000;
/// Bytes that a run may take; a scenario that takes more is left out.
const MOST_MEMORY: u64 = 300_000_000;

/// What became of a scenario.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every law holds in so many runs of so many hops.
    Held {
        /// Runs.
        runs: u64,
        /// Hops of one.
        hops: u64,
    },
    /// It is refused, and says why.
    Refused,
    /// A law is broken.
    Broken(Broken),
}

/// Where the last panic was, and what it said.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Keeps what panics say, instead of printing it.
pub fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let at = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
        let mut kept = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        // the first is the cause; those of threads that wait for it follow
        kept.get_or_insert((at, text));
    }));
}

/// What `run` gives, or the panic that it ends in.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Broken> {
    *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = None;
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
        let kept = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (at, text) = kept.unwrap_or_default();
        Broken::new(format!("no panic: {at}"), text)
    })
}

/// Tries a scenario whose files lie in `dir`; `draws` decides which partitions and observations.
pub fn of_case(case: &Case, dir: &Path, draws: u64) -> Verdict {
    let tried = caught(|| match case.build(dir) {
        Ok(spec) => of_spec(spec, draws),
        Err(_) => Verdict::Refused,
    });
    tried.unwrap_or_else(Verdict::Broken)
}

/// Tries what was built.
pub fn of_spec(spec: Spec, draws: u64) -> Verdict {
    caught(|| judged(spec, draws)).unwrap_or_else(Verdict::Broken)
}

fn judged(mut spec: Spec, draws: u64) -> Verdict {
    if spec.memory() > MOST_MEMORY {
        return Verdict::Refused;
    }
    let end = match runs::cut(&spec, HOPS) {
        Ok(end) => end,
        Err(RunError::Stopped) => return Verdict::Broken(Broken::new("no hang", "a run took longer than it may")),
        Err(error) => return unrefused(&error),
    };
    if end < spec.duration {
        (spec.duration, spec.measure_to) = (end, end);
        if spec.measure_from >= end {
            spec.measure_from = incast_cc::Time::ZERO;
        }
    }
    let judged = runs::judge(&spec, &mut Random::new(draws, 1));
    match (judged.refused, judged.broken) {
        (Some(error), _) => unrefused(&error),
        (None, Some(broken)) => Verdict::Broken(broken),
        (None, None) => Verdict::Held { runs: judged.runs + 1, hops: judged.hops },
    }
}

/// The engine refuses what the checks of scenarios took, without a key.
fn unrefused(error: &RunError) -> Verdict {
    let text = error.to_string();
    // an endless loop is found as it runs, and the records' size too
    if text.starts_with("more than ") || text.starts_with("records of the run") {
        return Verdict::Refused;
    }
    Verdict::Broken(Broken::new("refused scenarios say a key", text))
}
