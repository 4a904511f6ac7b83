//! Linter of graphs: mistakes that other simulators run without a word.
//!
//! Checks go from the cheap to the dear. Runs without a network (E07, W03) follow only where everything before is
//! without error, as a task that cannot start hides the rest.

mod collectives;
mod effect;
mod options;
mod order;
mod pairs;
mod repeats;
mod runs;
mod servers;
mod sizes;

use crate::finding::{Code, Place, Report};
use crate::graph::{ANY, Graph, Kind, Rank};

pub use options::Options;
pub use repeats::repeats;
pub use servers::servers;

/// Looks a graph through; findings go to the report.
pub fn lint(graph: &Graph, options: &Options, report: &mut Report) {
    let before = report.errors();
    places(graph, options, report);
    fields(graph, options, report);
    nics(graph, report);
    order::check(graph, report);
    effect::check(graph, report);
    collectives::check(graph, report);
    // a peer outside is no end of a message
    if report.errors() == before {
        pairs::check(graph, report);
    }
    sizes::check(graph, options, report);
    if report.errors() == before {
        runs::check(graph, options, report);
    }
}

/// W04: ranks beside the places of a topology.
fn places(graph: &Graph, options: &Options, report: &mut Report) {
    let ranks = graph.ranks() as u64;
    if let Some(places) = options.places.filter(|places| *places != ranks) {
        let remedy = || "choose a topology of as many GPUs, or place the ranks on part of it".to_string();
        report.add(Code::W04, Place::Job, || (format!("{ranks} ranks, {places} GPUs"), remedy()));
    }
}

/// W08: numbers of NICs, which runs leave out.
fn nics(graph: &Graph, report: &mut Report) {
    let first = |(rank, tasks): (u32, &Rank)| {
        let (i, task) = tasks.iter().find(|(_, task)| task.nic > 0 && task.kind != Kind::Calc)?;
        Some((Place::Task(rank, i), task.nic))
    };
    if let Some((place, nic)) = graph.iter().find_map(first) {
        let remedy =
            || "choose a topology with planes if a host has several links: messages take them in turn".to_string();
        report.add(Code::W08, place, || (format!("NIC {nic}: runs send over the links of the rank's host"), remedy()));
    }
}

/// E04 and E10: peers, tags and sizes of messages.
fn fields(graph: &Graph, options: &Options, report: &mut Report) {
    let ranks = graph.ranks() as u64;
    for (rank, tasks) in graph.iter() {
        for (i, task) in tasks.iter().filter(|(_, task)| matches!(task.kind, Kind::Send | Kind::Recv)) {
            let place = Place::Task(rank, i);
            if u64::from(task.peer) >= ranks && !(task.kind == Kind::Recv && task.peer == ANY) {
                let remedy = || format!("expected a rank from 0 to {}", ranks.saturating_sub(1));
                report.add(Code::E04, place, || (format!("peer {} of {ranks} ranks", task.peer), remedy()));
            }
            if task.kind == Kind::Send && task.tag == ANY {
                let remedy = || "expected a number: only a receive takes any tag".to_string();
                report.add(Code::E10, place, || ("tag -1 of a send".into(), remedy()));
            }
            if let Some(most) = options.most_bytes.filter(|most| task.size > most.0) {
                let remedy = || format!("split it: the field holds {} B", most.0);
                report.add(Code::E10, place, || (format!("a message of {} B", task.size), remedy()));
            }
        }
    }
}
