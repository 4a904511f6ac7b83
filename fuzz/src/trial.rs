//! A scenario tried: built, cut to a length, run in every way. Whatever happens is a verdict, a panic too.

use crate::case::Case;
use crate::laws::Broken;
use crate::random::Random;
use crate::runs::{self, Cut};
use incast_cc::Time;
use incast_engine::spec::{RunError, Spec};
use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

/// Hops of a run at most, about.
pub const HOPS: u64 = 3_000;
/// Bytes that a run may take; a scenario that takes more is left out.
const MOST_MEMORY: u64 = 300_000_000;

/// Points of time series, samples of queues and rows of a timeline that a run may have.
const MOST_POINTS: u64 = 1_000_000;

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

thread_local! {
    /// What a panic of this thread becomes.
    static PANIC: RefCell<Panic> = const { RefCell::new(Panic::Printed) };
}

/// What a panic becomes.
enum Panic {
    /// Text on standard error, as ever: nobody catches it.
    Printed,
    /// A verdict, which begins with the place of the first.
    Caught(Option<String>),
}

/// Keeps where panics are that [`caught`] catches, instead of printing them. All others are printed.
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

/// The first place in a backtrace in a crate of ours that is no operator of a unit.
fn place(trace: &str) -> Option<String> {
    let places = trace.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let ours = |at: &&str| at.contains("crates/") && !at.contains("cc/src/units.rs");
    let at = places.map(|at| at.trim_start_matches("./")).find(ours)?;
    Some(at.rsplit_once(':').map_or(at, |(line, _)| line).to_owned())
}

/// What `run` gives, or the panic that it ends in. One of another thread of the run is printed, and has no place.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Broken> {
    let outer = PANIC.replace(Panic::Caught(None));
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let inner = PANIC.replace(outer);
    result.map_err(|payload| {
        let at = if let Panic::Caught(Some(at)) = inner { at } else { "another thread".into() };
        Broken::new(format!("no panic: {at}"), text_of(&*payload))
    })
}

/// What a panic says.
fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
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
    if spec.memory() > MOST_MEMORY || points(&spec) > MOST_POINTS {
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

/// Points that a run of the whole duration has at most of what is observed at fixed intervals.
fn points(spec: &Spec) -> u64 {
    let (o, ports) = (&spec.observe, spec.links.len() as u64);
    let instants = |interval: Time| spec.duration.0 / interval.0.max(1);
    let series = 8 * o.flows.len() as u64 + (o.ports.len() + o.cells.len()) as u64;
    let of_series = o.interval.map_or(0, |interval| instants(interval).saturating_mul(series));
    let of_queues = instants(o.queue_interval).saturating_mul(ports);
    of_series.saturating_add(of_queues).saturating_add(spec.timeline_rows())
}

/// The engine refuses what the checks of scenarios took, without a key.
fn unrefused(error: &RunError) -> Verdict {
    let text = error.to_string();
    // an endless loop is found as it runs, and the records' size too
    if text.starts_with("more than ") || text.starts_with("records of the run") {
        return Verdict::Refused;
    }
    Verdict::Broken(Broken::new(without_key(&text), text))
}

/// The law that `text`, which says no key, breaks: one for each kind of message.
pub fn without_key(text: &str) -> String {
    let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).take(50).collect();
    format!("refused scenarios say a key: {kind}")
}
