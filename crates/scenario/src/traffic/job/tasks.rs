//! Tasks of a job: of a file, or of a collective.

use crate::document::job as document;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use incast_workload::collective::{Expansion, Methods, alone};
use incast_workload::lint::{Options, lint};
use incast_workload::{Collective, Refused, Report, goal};
use std::sync::Arc;

/// Reads tasks from GOAL text. A graph with a mistake that would stop a run is refused.
pub(super) fn read(key: &str, file: &str, text: &str) -> Result<Expansion, Problem> {
    let mut report = Report::default();
    let graph = goal::text::read(&mut text.as_bytes(), &mut report);
    graph.iter().for_each(|graph| lint(graph, &Options::default(), &mut report));
    match (graph, report.first_error()) {
        (_, Some(finding)) => Err(Problem::quoted(key, file, finding.to_string())),
        (Some(graph), None) if graph.ranks() > 0 => Expansion::new(Arc::new(graph), &Methods::default())
            .map_err(|refused| Problem::quoted(key, file, refused.0)),
        _ => Err(Problem::quoted(key, file, "no ranks; expected at least one")),
    }
}

/// Collective of a job, with its method.
pub(super) fn collective(own: &document::Collective, flows: &Flows) -> Result<Expansion, Problem> {
    let key = format!("{}.job.collective", flows.path);
    let wrong = |refused: Refused| Problem::new(&*key, refused.0);
    let free = flows.network.hosts - flows.taken.len() as u32;
    let what = Collective { pattern: own.kind.0, group: 0, bytes: own.size.0, root: 0, sizes: None };
    let mut methods = Methods::default();
    methods.choose(what.pattern, own.method());
    let ranks = own.ranks.unwrap_or(free);
    if ranks < 2 {
        return Err(Problem::new(format!("{key}.ranks"), format!("{ranks} ranks; expected at least 2")));
    }
    let graph = alone(&what, ranks).map_err(wrong)?;
    Expansion::new(Arc::new(graph), &methods).map_err(wrong)
}
