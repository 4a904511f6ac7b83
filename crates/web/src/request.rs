//! Requests of the host and what they give.

use crate::external::{self, Class};
use crate::{host, tables};
use incast_cc::Time;
use incast_record::table::{self, TABLES};
use incast_scenario::build::extent::Extent;
use incast_scenario::results::{Failure, Results, governing};
use incast_scenario::{Beside, Errors, Scenario, builtin, catalogue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Reply to a request: JSON, and the bytes it speaks of.
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    /// A reply that says nothing.
    pub(crate) const EMPTY: Reply = Reply { text: String::new(), bytes: Vec::new() };
}

/// A scenario and its changes, in the order in which they apply.
#[derive(Deserialize)]
struct Asked {
    /// Name of a built-in scenario, or of `text`.
    name: String,
    /// Text; without one, the built-in scenario.
    text: Option<String>,
    /// Texts of its files, by their names in it.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Keys and values as on the command line.
    #[serde(default)]
    set: Vec<(String, String)>,
    /// Controller of every flow.
    controller: Option<String>,
    seed: Option<u64>,
    /// Most bytes of memory of a run.
    #[serde(default = "unlimited")]
    most_bytes: u64,
}

fn unlimited() -> u64 {
    u64::MAX
}

/// A request.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// Version of the program, protocol of controllers, names of tables.
    Version,
    /// JSON schema of scenarios.
    Schema,
    /// Names and first sentences of a kind.
    List { kind: String },
    /// Description of an item.
    Describe { kind: String, name: String },
    /// Text of a built-in scenario.
    Text { name: String },
    /// Sets the host's controllers.
    Classes { classes: Vec<Class> },
    /// Names of the files that a scenario names, also where one is lacking.
    Files { scenario: Asked },
    /// Name, text, keys and size of a scenario, without running it.
    Check { scenario: Asked },
    /// Runs a scenario to its end.
    Run { scenario: Asked },
    /// A table of the last run.
    Table { name: String },
    /// Timeline of the last run.
    Timeline,
}

/// The last run.
static RESULTS: Mutex<Option<Results>> = Mutex::new(None);

/// Errors of a request: problems of a scenario by key, or words.
fn refusal(errors: &Errors) -> Value {
    let problems = errors.0.iter().map(|problem| {
        json!({
            "key": problem.key,
            "value": problem.value,
            "words": problem.to_string(),
            "suggestion": problem.suggestion,
        })
    });
    json!({ "problems": problems.collect::<Vec<Value>>() })
}

fn words(text: impl Into<String>) -> Value {
    json!({ "error": text.into() })
}

/// Reply to the request in `text`.
pub(crate) fn carried_out(text: &str) -> Reply {
    incast_scenario::text::external::resolve_with(external::resolve);
    let mut bytes = Vec::new();
    let value = serde_json::from_str(text)
        .map_err(|error| words(format!("the request is wrong: {error}")))
        .and_then(|request| answered(request, &mut bytes));
    let value = value.unwrap_or_else(|refused| refused);
    Reply { text: value.to_string(), bytes }
}

fn answered(request: Request, bytes: &mut Vec<u8>) -> Result<Value, Value> {
    let refused = |errors: Errors| refusal(&errors);
    Ok(match request {
        Request::Version => json!({
            "version": incast_scenario::VERSION,
            "protocol": external::protocol(),
            "tables": TABLES.map(|(name, _)| name),
        }),
        Request::Schema => json!({ "schema": Scenario::schema() }),
        Request::List { kind } => json!({ "items": catalogue::list(&kind).map_err(refused)? }),
        Request::Describe { kind, name } => json!({ "item": catalogue::describe(&kind, &name).map_err(refused)? }),
        Request::Text { name } => {
            json!({ "text": builtin::text(&name).ok_or_else(|| words(format!("no scenario {name:?}")))? })
        }
        Request::Classes { classes } => {
            external::register(classes).map_err(words)?;
            json!({})
        }
        Request::Files { scenario } => {
            let files = scenario.scenario().and_then(|scenario| scenario.files()).map_err(refused)?;
            json!({ "files": files.into_iter().map(|(name, _)| name).collect::<Vec<String>>() })
        }
        Request::Check { scenario } => checked(&scenario).map_err(refused)?,
        Request::Run { scenario } => run(&scenario)?,
        Request::Table { name } => {
            let make = table::named(&name).map_err(words)?;
            let results = RESULTS.lock().map_err(|error| words(error.to_string()))?;
            let results = results.as_ref().ok_or_else(|| words("nothing has run"))?;
            let (head, packed) = tables::packed(make(&results.outcome));
            results.outcome.unreadable().map_or(Ok(()), |unreadable| Err(words(unreadable)))?;
            *bytes = packed;
            head
        }
        Request::Timeline => {
            let results = RESULTS.lock().map_err(|error| words(error.to_string()))?;
            json!({ "timeline": results.as_ref().and_then(|results| results.timeline.as_deref()) })
        }
    })
}

impl Asked {
    fn scenario(&self) -> Result<Scenario, Errors> {
        let text = match &self.text {
            Some(text) => text,
            None => builtin::text(&self.name)
                .ok_or_else(|| builtin::unknown(&self.name, "no built-in scenario of this name"))?,
        };
        let mut scenario = Scenario::from_toml(text, Beside::Texts(self.files.clone()), &self.name)?;
        let mut problems = Vec::new();
        for (key, value) in &self.set {
            if let Err(errors) = scenario.set(key, value) {
                problems.extend(errors.0);
            }
        }
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        if let Some(controller) = &self.controller {
            scenario = scenario.with_controller(controller)?;
        }
        Ok(self.seed.map_or(scenario.clone(), |seed| scenario.with_seed(seed)))
    }
}

/// Name, resolved text, notes, size of a scenario; only `memory` if a run takes more than the most bytes.
fn checked(asked: &Asked) -> Result<Value, Errors> {
    let scenario = asked.scenario()?;
    let memory = scenario.memory(asked.most_bytes)?;
    if memory > asked.most_bytes {
        return Ok(json!({ "name": scenario.name(), "memory": memory }));
    }
    let prepared = scenario.prepare()?;
    let extent = Extent::of(&prepared.spec);
    Ok(json!({
        "name": scenario.name(),
        "seed": scenario.seed(),
        "text": scenario.resolved_toml()?,
        "written": scenario.written()?,
        "given": scenario.given(),
        "hash": scenario.hash()?,
        "notes": prepared.notes,
        "governing": governing(&prepared.spec),
        "memory": memory,
        "hosts": extent.hosts,
        "switches": extent.switches,
        "ports": extent.ports,
        "flows": extent.flows,
        "host_rate_bps": extent.host_rate_bps,
        "duration_s": extent.duration_s,
        "hops": extent.hops,
    }))
}

fn run(asked: &Asked) -> Result<Value, Value> {
    let refused = |errors: Errors| refusal(&errors);
    if let Ok(mut results) = RESULTS.lock() {
        *results = None;
    }
    external::failure();
    let scenario = asked.scenario().map_err(refused)?;
    let memory = scenario.memory(asked.most_bytes).map_err(refused)?;
    if memory > asked.most_bytes {
        return Err(json!({ "error": "the run does not fit", "memory": memory }));
    }
    let mut spec = scenario.build().map_err(refused)?;
    (spec.threads, spec.cores) = (Some(1), Some(1));
    spec.observe.max_kept = Some(asked.most_bytes);
    let seconds = Time::as_secs_f64;
    let results = scenario.run(&spec, &mut |p| {
        let (counted_s, delivered) =
            p.delivered.map_or((f64::NAN, f64::NAN), |(at, bytes)| (seconds(at), bytes as f64));
        let (now_s, end_s) = (seconds(p.now), seconds(p.end));
        !external::has_failed() && host::progress(p.set_up, now_s, end_s, p.hops as f64, counted_s, delivered) != 0
    });
    if let Some(failed) = external::failure() {
        return Err(json!({ "error": failed, "controller": true }));
    }
    let results = results.map_err(|failure| match failure {
        Failure::Refused(errors) => refusal(&errors),
        failure => words(failure.to_string()),
    })?;
    let summary = results.summary.clone();
    *RESULTS.lock().map_err(|error| words(error.to_string()))? = Some(results);
    Ok(json!({ "summary": summary, "text": scenario.resolved_toml().map_err(refused)? }))
}
