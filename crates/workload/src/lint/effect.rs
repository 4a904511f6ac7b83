//! Tasks without effect (W07): ranks that do nothing, branches beside all messages, collectives without bytes.

use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Kind, Pattern, Rank};

/// Looks for tasks without effect.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (rank, tasks) in graph.iter() {
        let place = Place::Rank(rank);
        if tasks.tasks() == 0 {
            let remedy = || "leave it out, or give it tasks".to_string();
            report.add(Code::W07, place, || ("a rank without tasks".into(), remedy()));
        } else if !tasks.iter().any(|(_, task)| task.kind != Kind::Nop && (task.kind != Kind::Calc || task.size > 0)) {
            let what = || format!("a rank whose {} tasks take no time and send nothing", tasks.tasks());
            report.add(Code::W07, place, || (what(), "give it calculations or messages, or leave it out".into()));
        } else {
            branches(rank, tasks, report);
        }
    }
    for (index, what) in graph.collectives().iter().enumerate() {
        let all_zero = what.sizes.as_ref().is_none_or(|sizes| sizes.iter().all(|size| *size == 0));
        if what.bytes.0 == 0 && all_zero && what.pattern != Pattern::Barrier {
            let name = what.pattern.name();
            let text = || format!("collective {index}, {name}, has 0 B: other programs drop it");
            report.add(Code::W07, Place::Group(what.group), || (text(), "give its bytes, or make it a barrier".into()));
        }
    }
}

/// Calculations of a rank with messages that no dependency joins to any of these.
fn branches(rank: u32, tasks: &Rank, report: &mut Report) {
    let is_message = |i: u32| matches!(tasks.kind(i), Kind::Send | Kind::Recv | Kind::Collective);
    let count = tasks.tasks() as u32;
    if !(0..count).any(is_message) {
        return;
    }
    let mut parts: Vec<u32> = (0..count).collect();
    for task in 0..count {
        let (ends, starts) = tasks.successors(task);
        for &later in ends.iter().chain(starts) {
            let (a, b) = (root(&mut parts, task), root(&mut parts, later));
            parts[a.max(b) as usize] = a.min(b);
        }
    }
    let mut joined = vec![false; count as usize];
    for task in (0..count).filter(|i| is_message(*i)) {
        let part = root(&mut parts, task);
        joined[part as usize] = true;
    }
    let mut sizes = vec![0u64; count as usize];
    for task in 0..count {
        sizes[root(&mut parts, task) as usize] += 1;
    }
    for first in (0..count).filter(|i| sizes[*i as usize] > 0 && !joined[*i as usize]) {
        let n = sizes[first as usize];
        report.add(Code::W07, Place::Task(rank, first), || {
            let what = format!("a branch of {n} tasks from here on, which no dependency joins to a message");
            (what, "give the dependency between the calculation and the messages".into())
        });
    }
}

/// The least task of a part, found with shorter ways for later.
fn root(parts: &mut [u32], mut task: u32) -> u32 {
    while parts[task as usize] != task {
        parts[task as usize] = parts[parts[task as usize] as usize];
        task = parts[task as usize];
    }
    task
}
