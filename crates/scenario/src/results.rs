//! Results of a run for the programs around the engine: `crates/python` and `crates/web`.

use crate::build::layout;
use crate::text::problem::Errors;
use incast_cc::Config;
use incast_engine::spec::{Governor, Spec};
use incast_engine::{About, Cost, Progress, RunError};
use incast_record::{Outcome, summary};
use std::fmt;

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Results of one run.
pub struct Results {
    /// Records, of which tables are made.
    pub outcome: Outcome,
    /// Content of `summary.json`.
    pub summary: String,
    /// Content of `timeline.json`, if the run has a timeline.
    pub timeline: Option<String>,
    /// Processor time.
    pub cost: Cost,
}

/// Why a run has no results.
#[derive(Debug)]
pub enum Failure {
    /// The listener stopped it.
    Stopped,
    /// The engine refuses the scenario.
    Refused(Errors),
    /// The run could not be carried to its end.
    Invalid(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stopped => f.write_str("the run was stopped before its end"),
            Failure::Refused(errors) => errors.fmt(f),
            Failure::Invalid(words) => f.write_str(words),
        }
    }
}

/// Runs `spec` to its end, under the scenario's `name`. `refuse` tells what the engine refuses in the scenario's terms;
/// `progress` is called now and then, and stops the run by returning false.
pub fn run(
    spec: &Spec,
    name: &str,
    refuse: impl FnOnce(About, String) -> Errors,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Results, Failure> {
    let (outcome, cost) = incast_engine::run_timed(spec, progress).map_err(|error| match error {
        RunError::Stopped => Failure::Stopped,
        RunError::Refused(about, words) => Failure::Refused(refuse(about, words)),
        RunError::Invalid(words) => Failure::Invalid(words),
    })?;
    let summary = summary::summary_text(&summary::summarize(&outcome, name, VERSION));
    let timeline = outcome.frame_ps.map(|frame| layout::timeline_json(spec, frame, outcome.end_ps));
    Ok(Results { outcome, summary, timeline, cost })
}

/// Names of the controllers of a run's flows, each once: kinds of controllers, controls of transports' own, `udp`.
pub fn governing(spec: &Spec) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for governor in spec.governors() {
        let word = match governor {
            Governor::Controller(number) => match &spec.controllers[number as usize] {
                Config::External(external) => external.0.name().to_owned(),
                config => config.kind().name.to_owned(),
            },
            Governor::Own(name) => name.to_owned(),
        };
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
