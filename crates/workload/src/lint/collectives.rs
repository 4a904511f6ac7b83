//! Collectives: groups (E08), and members that do not take part as often as the others (E05).

use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Kind};
use std::collections::HashSet;

/// Looks through groups, collectives and their members.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    let mut used: Vec<u32> = graph.collectives().iter().map(|c| c.group).collect();
    used.sort_unstable();
    used.dedup();
    for group in used {
        check_group(graph, group, report);
    }
    let mut members = vec![0u64; graph.collectives().len()];
    let mut seen = HashSet::new();
    for (rank, tasks) in graph.iter() {
        seen.clear();
        for (i, task) in tasks.iter().filter(|(_, task)| task.kind == Kind::Collective) {
            let place = Place::Task(rank, i);
            let Some(collective) = graph.collective(task.tag) else {
                let known = graph.collectives().len();
                let what = || format!("collective {}: the job has {known}, from 0", task.tag);
                report.add(Code::E08, place, || (what(), "give the index of a collective".into()));
                continue;
            };
            let group = graph.group(collective.group);
            if group.get(task.peer as usize) != Some(&rank) {
                let what = || format!("rank {rank} is not at position {} of group {}", task.peer, collective.group);
                report.add(Code::E08, place, || (what(), "give the position of the rank in its group".into()));
            } else if !seen.insert(task.tag) {
                let what = || format!("rank {rank} takes part in collective {} twice", task.tag);
                report.add(Code::E05, place, || (what(), "give each collective an index of its own".into()));
            } else {
                members[task.tag as usize] += 1;
            }
        }
    }
    for (index, (collective, count)) in graph.collectives().iter().zip(members).enumerate() {
        let size = graph.group(collective.group).len() as u64;
        if count < size {
            let name = collective.pattern.name();
            let what = || format!("collective {index}, {name}: of {size} members {count} take part");
            report.add(Code::E05, Place::Group(collective.group), || (what(), "give each member its task".into()));
        }
    }
}

fn check_group(graph: &Graph, index: u32, report: &mut Report) {
    let group = graph.group(index);
    let ranks = graph.ranks();
    let mut seen = HashSet::new();
    let wrong = match group.iter().find(|rank| **rank as usize >= ranks) {
        _ if group.is_empty() => "a group that is empty or unknown".to_string(),
        Some(rank) => format!("rank {rank} of {ranks} ranks"),
        None => match group.iter().find(|rank| !seen.insert(**rank)) {
            Some(rank) => format!("rank {rank} twice"),
            None => return,
        },
    };
    report.add(Code::E08, Place::Group(index), || (wrong, "give ranks of the job, each once".into()));
}
