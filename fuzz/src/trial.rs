//! Trial of a scenario: built, cut to a length, run in every way. Every result is a verdict, also a panic.

use crate::case::Case;
use crate::laws::Broken;
use crate::random::Random;
use crate::runs::{self, Cut};
use incast_cc::Time;
use incast_engine::spec::{About, RunError, Spec};
use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

/// Approximate largest number of hops in a run.
pub const HOPS: u64 = 3_000;
/// Largest memory of a run, in bytes; a scenario that takes more is left out.
const MAX_MEMORY: u64 = 300_000_000;

/// Largest number of points of time series, samples of queues and rows of a timeline in a run.
const MAX_POINTS: u64 = 1_000_000;

/// Result of a trial.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every law holds.
    Held {
        /// Number of runs.
        runs: u64,
        /// Hops per run.
        hops: u64,
    },
    /// The scenario is refused, with a reason.
    Refused,
    /// A law is broken.
    Broken(Broken),
}

thread_local! {
    /// Treatment of a panic of this thread.
    static PANIC: RefCell<Panic> = const { RefCell::new(Panic::Printed) };
}

/// Treatment of a panic.
enum Panic {
    /// Printed on standard error as usual: nobody catches it.
    Printed,
    /// Caught as a verdict, which begins with the place of the first panic.
    Caught(Option<String>),
}

/// Records the places of panics that [`caught`] catches, instead of printing them. All others are printed.
pub fn keep_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let printed = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_caught = PANIC.with_borrow_mut(|panic| match panic {
                Panic::Printed => false,
                Panic::Caught(first) => {
                    first.get_or_insert_with(|| {
                        let at = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
                        place(&Backtrace::force_capture().to_string()).or(at).unwrap_or_default()
                    });
                    true
                }
            });
            if !is_caught {
                printed(info);
            }
        }));
    });
}

/// First place in a backtrace in a crate of ours, except operators of units.
fn place(trace: &str) -> Option<String> {
    let places = trace.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let ours = |at: &&str| at.contains("crates/") && !at.contains("cc/src/units.rs");
    let at = places.map(|at| at.trim_start_matches("./")).find(ours)?;
    Some(at.rsplit_once(':').map_or(at, |(line, _)| line).to_owned())
}

/// Result of `run`, or the panic that ended it. A panic in another thread of the run is printed, without a place.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Broken> {
    let outer = PANIC.replace(Panic::Caught(None));
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let inner = PANIC.replace(outer);
    result.map_err(|payload| {
        let at = if let Panic::Caught(Some(at)) = inner { at } else { "another thread".into() };
        Broken::new(format!("no panic: {at}"), text_of(&*payload))
    })
}

/// Message of a panic.
fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
}

/// Tries a scenario whose files are in `dir`; `draws` selects the partitions and observations.
pub fn of_case(case: &Case, dir: &Path, draws: u64) -> Verdict {
    let tried = caught(|| match case.build(dir) {
        Ok(spec) => of_spec(spec, draws),
        Err(_) => Verdict::Refused,
    });
    tried.unwrap_or_else(Verdict::Broken)
}

/// Tries a built specification.
pub fn of_spec(spec: Spec, draws: u64) -> Verdict {
    caught(|| judged(spec, draws)).unwrap_or_else(Verdict::Broken)
}

fn judged(mut spec: Spec, draws: u64) -> Verdict {
    if spec.memory() > MAX_MEMORY || points(&spec) > MAX_POINTS {
        return Verdict::Refused;
    }
    let first = match runs::cut(&spec, HOPS) {
        Ok(Cut::Whole(outcome)) => Ok(*outcome),
        Ok(Cut::At(end)) => {
            (spec.duration, spec.measure_to) = (end, end);
            if spec.measure_from >= end {
                spec.measure_from = Time::ZERO;
            }
            runs::plain(&spec)
        }
        Err(error) => Err(error),
    };
    let first = match first {
        Ok(outcome) => outcome,
        Err(RunError::Stopped) => return Verdict::Broken(Broken::new("no hang", "a run took longer than it may")),
        Err(error) => return unrefused(&error),
    };
    let judged = runs::judge(&spec, first, &mut Random::new(draws, 1));
    match judged.broken {
        Some(broken) => Verdict::Broken(broken),
        None => Verdict::Held { runs: judged.runs, hops: judged.hops },
    }
}

/// Largest number of points of observations at fixed intervals in a run of full length.
fn points(spec: &Spec) -> u64 {
    let (o, ports) = (&spec.observe, spec.links.len() as u64);
    let instants = |interval: Time| spec.duration.0 / interval.0.max(1);
    let series = 8 * o.flows.len() as u64 + (o.ports.len() + o.cells.len()) as u64;
    let of_series = o.interval.map_or(0, |interval| instants(interval).saturating_mul(series));
    let of_queues = instants(o.queue_interval).saturating_mul(ports);
    of_series.saturating_add(of_queues).saturating_add(spec.timeline_rows())
}

/// Verdict if the engine refuses what the checks of scenarios accepted. What only paths tell of a flow is refused with
/// the flow's key as a run begins.
fn unrefused(error: &RunError) -> Verdict {
    let text = error.to_string();
    if let RunError::Refused(About::Flow(_), _) = error {
        return Verdict::Refused;
    }
    // an endless loop shows only at run time, and so does the size of records
    if text.starts_with("more than ") || text.starts_with("records of the run") {
        return Verdict::Refused;
    }
    Verdict::Broken(Broken::new(without_key(&text), text))
}

/// Law broken by a `text` that names no key: one for each kind of message.
pub fn without_key(text: &str) -> String {
    let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).take(50).collect();
    format!("refused scenarios say a key: {kind}")
}
