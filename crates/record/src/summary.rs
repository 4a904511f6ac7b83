//! Figures of a run: `summary.json`.
//!
//! [`figures`] lists them with their units and definitions; the list is part of the summary, and the documentation is
//! checked against it. A figure that does not exist (a mean over nothing, a rate over an empty interval) is null,
//! never 0 and never NaN. Counts and sums over no flow or no port are 0. Everything is computed from integers in flow
//! and port order, so that one outcome always gives the same bytes.

use serde_json::{Map, Value};

pub use crate::figure::Stated;
use crate::figure::{Figure, fill, fill_totals, rows, stated, stated_totals};
use crate::flows::{self, Flows};
use crate::messages::{self, Completions};
use crate::statistics::seconds;
use crate::{MessageKind, Outcome, PortRecord, collectives, hosts, jobs, ports, radios};

/// Run and its names.
struct Run<'a> {
    outcome: &'a Outcome,
    scenario: &'a str,
    version: &'a str,
}

type OfRun = for<'a, 'b> fn(&'b Run<'a>) -> Value;

/// Part `run` of the summary.
const RUN: &[Figure<OfRun>] = &rows! {
    "run.scenario" [""] = |r| r.scenario, "Name of the scenario.";
    "run.seed" [""] = |r| r.outcome.seed, "Seed of the run.";
    "run.sim_s" ["s"] = |r| seconds(r.outcome.end_ps), "Simulated time, warm-up included.";
    "run.measure_from_s" ["s"] = |r| seconds(r.outcome.measure_from_ps),
        "Start of the measured interval (end of the warm-up).";
    "run.measure_to_s" ["s"] = |r| seconds(r.outcome.measure_to_ps), "End of the measured interval.";
    "run.hops" ["packets"] = |r| r.outcome.hops,
        "Packets accepted by ports, counted at every port, whole run: the unit of work. Includes packets still queued \
         at the end, excludes those waiting in a host's fair NIC.";
    "run.version" [""] = |r| r.version, "Version of the program.";
};

const GROUPS: Stated = Stated {
    key: "groups.*",
    unit: "",
    definition: "The flows and fct figures of one traffic entry, over its flows alone; also its queries and writes \
                 figures, if any.",
};

const CROSSED: Stated = Stated {
    key: "crossed_failure.*",
    unit: "",
    definition: "The flows and fct figures of the flows that crossed a failure of a link, alone (column \
                 crossed_failure of flows), and links, the names of the links with failures in one text. Percentiles \
                 of delays and round-trip times are null. Only in runs with failures.",
};

/// Every figure of the summary, in its order there.
pub fn figures() -> impl Iterator<Item = Stated> {
    stated(RUN)
        .chain(stated(flows::FIGURES))
        .chain(stated_totals(flows::COLUMNS))
        .chain(stated(flows::COMPLETION))
        .chain(stated(messages::QUERIES))
        .chain(stated(messages::WRITES))
        .chain(stated_totals(ports::COLUMNS))
        .chain(stated(ports::FIGURES))
        .chain(stated(hosts::FIGURES))
        .chain(stated(radios::FIGURES))
        .chain(stated(jobs::FIGURES))
        .chain(stated(collectives::FIGURES))
        .chain([GROUPS, CROSSED])
        .chain(stated(flows::FLOWMONITOR))
}

/// Message for the user about an iteration of a job or a collective that is faster than its lower bound, which no
/// network is.
pub fn too_fast(outcome: &Outcome) -> Option<String> {
    collectives::too_fast(outcome).or_else(|| jobs::too_fast(outcome))
}

/// Figures of `outcome` as a JSON object, keys in the order of [`figures`], then `units` and `definitions` by figure.
///
/// `scenario` and `version` are the names given to the run.
pub fn summarize(outcome: &Outcome, scenario: &str, version: &str) -> Value {
    let mut summary = Map::new();
    fill(&mut summary, RUN, &Run { outcome, scenario, version });
    fill_flows(&mut summary, &Flows::of(outcome, |_| true));
    fill(&mut summary, messages::QUERIES, &Completions::of(outcome, MessageKind::Query, |_| true));
    fill(&mut summary, messages::WRITES, &Completions::of(outcome, MessageKind::Write, |_| true));
    fill_totals(&mut summary, ports::COLUMNS, &outcome.ports.iter().collect::<Vec<&PortRecord>>());
    fill(&mut summary, ports::FIGURES, outcome);
    fill(&mut summary, hosts::FIGURES, outcome);
    fill(&mut summary, radios::FIGURES, outcome);
    if !outcome.jobs.is_empty() {
        summary.insert("jobs".to_owned(), jobs::summary(outcome));
    }
    if !outcome.collectives.is_empty() {
        summary.insert("collectives".to_owned(), collectives::summary(outcome));
    }
    summary.insert("groups".to_owned(), groups(outcome));
    if !outcome.failed_links.is_empty() {
        summary.insert("crossed_failure".to_owned(), crossed(outcome));
    }
    fill(&mut summary, flows::FLOWMONITOR, outcome);
    let there = |f: &Stated| f.key != CROSSED.key || !outcome.failed_links.is_empty();
    let by_key = |text: fn(Stated) -> &'static str| {
        figures().filter(there).map(|f| (f.key.to_owned(), text(f).into())).collect()
    };
    summary.insert("units".to_owned(), Value::Object(by_key(|f| f.unit)));
    summary.insert("definitions".to_owned(), Value::Object(by_key(|f| f.definition)));
    Value::Object(summary)
}

fn fill_flows(summary: &mut Map<String, Value>, flows: &Flows<'_>) {
    fill(summary, flows::FIGURES, flows);
    fill_totals(summary, flows::COLUMNS, &flows.all);
    fill(summary, flows::COMPLETION, &flows.completions());
}

/// Figures of the flows that crossed a failure.
fn crossed(outcome: &Outcome) -> Value {
    let links: Vec<&str> = outcome.failed_links.iter().map(|name| &**name).collect();
    let mut figures = Map::from_iter([("links".to_owned(), links.join(", ").into())]);
    fill_flows(&mut figures, &Flows::crossed(outcome));
    Value::Object(figures)
}

fn groups(outcome: &Outcome) -> Value {
    let mut groups = Map::new();
    for name in &outcome.groups {
        if groups.contains_key(name) {
            continue;
        }
        // Entries that share a name are one group.
        let here = |index: usize| outcome.groups.get(index) == Some(name);
        let mut figures = Map::new();
        fill_flows(&mut figures, &Flows::of(outcome, here));
        for (kind, table) in [(MessageKind::Query, messages::QUERIES), (MessageKind::Write, messages::WRITES)] {
            let messages = Completions::of(outcome, kind, here);
            if messages.began > 0 {
                fill(&mut figures, table, &messages);
            }
        }
        groups.insert(name.clone(), Value::Object(figures));
    }
    Value::Object(groups)
}

/// `summary` as written to `summary.json`: indented JSON, one line feed at the end. Floats have the fewest digits
/// that read back as the same number, so equal summaries are equal bytes.
pub fn summary_text(summary: &Value) -> String {
    // The alternate form of a Value is serde_json's pretty printing, without its Result.
    format!("{summary:#}\n")
}
