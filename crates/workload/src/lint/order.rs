//! Dependencies of a rank: cycles (E01), and those given twice (W07).

use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Rank};

/// Most tasks of a cycle that a finding names.
const NAMED: usize = 6;

/// Looks through the dependencies of all ranks.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (rank, tasks) in graph.iter() {
        doubled(rank, tasks, report);
        let left = unreached(tasks);
        if let Some(first) = left.iter().position(|waits| *waits > 0) {
            let cycle = cycle(tasks, &left, first as u32);
            let never = left.iter().filter(|waits| **waits > 0).count();
            report.add(Code::E01, Place::Task(rank, cycle[0]), || {
                let mut names: Vec<String> = cycle.iter().take(NAMED).map(u32::to_string).collect();
                if cycle.len() > NAMED {
                    names.push(format!("({} more)", cycle.len() - NAMED));
                }
                names.push(cycle[0].to_string());
                let what = format!("tasks {}, each before the next; never start: {never}", names.join(", "));
                (what, "take one of these dependencies away".into())
            });
        }
    }
}

/// Numbers that tasks still wait for when all that can start has ended.
fn unreached(tasks: &Rank) -> Vec<u32> {
    let mut left = tasks.all_waits().to_vec();
    let mut ready: Vec<u32> = (0..left.len() as u32).filter(|i| left[*i as usize] == 0).collect();
    while let Some(task) = ready.pop() {
        let (ends, starts) = tasks.successors(task);
        for &later in ends.iter().chain(starts) {
            left[later as usize] -= 1;
            if left[later as usize] == 0 {
                ready.push(later);
            }
        }
    }
    left
}

/// A cycle among the tasks that are left, in the order of its dependencies.
fn cycle(tasks: &Rank, left: &[u32], first: u32) -> Vec<u32> {
    // each task that is left waits for one that is left: going back ends in a cycle
    let mut before = vec![u32::MAX; left.len()];
    for task in (0..left.len() as u32).filter(|i| left[*i as usize] > 0) {
        let (ends, starts) = tasks.successors(task);
        for &later in ends.iter().chain(starts) {
            before[later as usize] = task;
        }
    }
    let mut seen = vec![false; left.len()];
    let mut at = first;
    while !seen[at as usize] {
        seen[at as usize] = true;
        at = before[at as usize];
    }
    let mut found = vec![at];
    let mut back = before[at as usize];
    while back != at {
        found.push(back);
        back = before[back as usize];
    }
    found.reverse();
    let least = found.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(i, _)| i);
    found.rotate_left(least);
    found
}

fn doubled(rank: u32, tasks: &Rank, report: &mut Report) {
    let mut seen = vec![u32::MAX; tasks.tasks()];
    for at_start in [false, true] {
        seen.fill(u32::MAX);
        for task in 0..tasks.tasks() as u32 {
            let (ends, starts) = tasks.successors(task);
            for &later in if at_start { starts } else { ends } {
                if std::mem::replace(&mut seen[later as usize], task) == task {
                    let what = || format!("task {later} waits for task {task} twice");
                    report.add(Code::W07, Place::Task(rank, later), || (what(), "give the dependency once".into()));
                }
            }
        }
    }
}
