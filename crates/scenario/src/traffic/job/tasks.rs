//! Tasks of a job: of a file, or of a collective.

use super::hosts::check_hosts;
use crate::document::job as document;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use crate::traffic::shuffle::shuffled;
use incast_engine::hash::{self, purpose};
use incast_workload::collective::{Methods, alone, expand, expanded_tasks, zipf};
use incast_workload::lint::{Options, lint};
use incast_workload::{Collective, Graph, Kind, Pattern, Refused, Report, Task, goal};

/// Most tasks of a collective.
const MOST_TASKS: f64 = 2e7;
/// Memory of a task in a run, about.
const TASK_BYTES: f64 = 60.0;

/// Reads tasks from GOAL text. A graph with a mistake that would stop a run is refused.
pub(super) fn read(key: &str, file: &str, text: &str) -> Result<Graph, Problem> {
    let mut report = Report::default();
    let graph = goal::text::read(&mut text.as_bytes(), &mut report);
    graph.iter().for_each(|graph| lint(graph, &Options::default(), &mut report));
    match (graph, report.first_error()) {
        (_, Some(finding)) => Err(Problem::quoted(key, file, finding.to_string())),
        (Some(graph), None) if graph.ranks() > 0 => Ok(graph),
        _ => Err(Problem::quoted(key, file, "no ranks; expected at least one")),
    }
}

/// Messages of a collective.
pub(super) fn expanded(
    collective: &document::Collective,
    hosts: Option<usize>,
    entry: u32,
    flows: &Flows,
) -> Result<Graph, Problem> {
    let key = format!("{}.job.collective", flows.path);
    let wrong = |refused: Refused| Problem::new(&*key, refused.0);
    let free = || flows.network.hosts - flows.taken.len() as u32;
    let mut what = Collective::new(collective.kind.0, 0, collective.size.0);
    let mut methods = Methods::default();
    methods.choose(what.pattern, collective.method());
    let ranks = collective.ranks.or(hosts.map(|own| own as u32)).unwrap_or_else(free);
    if ranks < 2 {
        return Err(Problem::new(format!("{key}.ranks"), format!("{ranks} ranks; expected at least 2")));
    }
    if hosts.is_none() {
        check_hosts(ranks as usize, flows)?;
    }
    if (what.bytes.0 == 0) != (what.pattern == Pattern::Barrier) {
        let message = if what.bytes.0 == 0 { "expected at least 1 B" } else { "expected 0B: a barrier has no data" };
        return Err(Problem::quoted(format!("{key}.size"), collective.size, message));
    }
    if let Some(exponent) = collective.skew {
        if what.pattern != Pattern::AllToAll {
            let message = format!("{exponent}: expected none: {} has no receivers to choose", what.pattern.name());
            return Err(Problem::new(format!("{key}.skew"), message));
        }
        let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::SKEW, entry.into(), u64::from(i)), n);
        what.sizes = Some(zipf(what.bytes, exponent, &shuffled(ranks, draw)).into());
    }
    let tasks = expanded_tasks(&what, ranks.into(), methods.of(what.pattern)).map_err(wrong)?;
    if tasks > MOST_TASKS {
        let message = format!(
            "{tasks:.0} tasks, which take {:.1} GB; expected at most {MOST_TASKS:.0}: a larger chunk, fewer channels, \
             or fewer ranks",
            tasks * TASK_BYTES / 1e9
        );
        return Err(Problem::new(key, message));
    }
    let graph = alone(&what, ranks).and_then(|graph| expand(&graph, &methods)).map_err(wrong)?;
    let empty = |(_, task): (u32, Task)| task.kind == Kind::Send && task.size == 0;
    if what.pattern != Pattern::Barrier && graph.iter().any(|(_, rank)| rank.iter().any(empty)) {
        let message = "messages of 0 B; expected more bytes, or fewer channels or ranks";
        return Err(Problem::quoted(format!("{key}.size"), collective.size, message));
    }
    Ok(graph)
}
