//! Tasks of a job: of a file, or of a collective.

use crate::document::job as document;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use incast_workload::collective::{Methods, alone, expand, expanded_tasks, tags};
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

/// First tag of the messages of each collective, with its pattern.
pub(super) type Patterns = Vec<(u32, Pattern)>;

/// Messages of a collective of `each` ranks a host, and their tags.
pub(super) fn expanded(
    collective: &document::Collective,
    each: u32,
    flows: &Flows,
) -> Result<(Graph, Patterns), Problem> {
    let key = format!("{}.job.collective", flows.path);
    let wrong = |refused: Refused| Problem::new(&*key, refused.0);
    let free = (flows.network.hosts_of_plane() - flows.taken.len() as u32).saturating_mul(each);
    let what = Collective { pattern: collective.kind.0, group: 0, bytes: collective.size.0, root: 0, sizes: None };
    let mut methods = Methods::default();
    methods.choose(what.pattern, collective.method());
    let ranks = collective.ranks.unwrap_or(free);
    if ranks < 2 {
        return Err(Problem::new(format!("{key}.ranks"), format!("{ranks} ranks; expected at least 2")));
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
    let whole = alone(&what, ranks).map_err(wrong)?;
    let first = tags(&whole, &methods).map_err(wrong)?;
    let graph = expand(&whole, &methods).map_err(wrong)?;
    let empty = |(_, task): (u32, Task)| task.kind == Kind::Send && task.size == 0;
    if graph.iter().any(|(_, rank)| rank.iter().any(empty)) {
        let message = "messages of 0 B; expected more bytes, or fewer channels or ranks (a barrier has no bytes)";
        return Err(Problem::quoted(format!("{key}.size"), collective.size, message));
    }
    Ok((graph, first.into_iter().map(|tag| (tag, what.pattern)).collect()))
}
