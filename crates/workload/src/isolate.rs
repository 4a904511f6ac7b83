//! Some ranks of a job by themselves: what they calculate and tell each other.

use crate::graph::{ANY, Builder, Collective, Graph, Kind, Refused, Task};

/// Ranks of a job by themselves, in this order, and the number of their tasks that take part no longer: messages and
/// collectives with other ranks take no time, what waited for them waits for what was before them. Errors: no rank, a
/// rank that is unknown or given twice, a receive from any source.
pub fn isolate(graph: &Graph, ranks: &[u32]) -> Result<(Graph, u64), Refused> {
    if ranks.is_empty() {
        return Err(Refused("no ranks: expected at least one".into()));
    }
    let mut new = vec![ANY; graph.ranks()];
    for (i, rank) in (0..).zip(ranks) {
        match new.get_mut(*rank as usize) {
            None => {
                let last = graph.ranks().saturating_sub(1);
                return Err(Refused(format!("rank {rank}: expected a rank of the job, 0 to {last}")));
            }
            Some(known) if *known != ANY => return Err(Refused(format!("rank {rank} twice: expected each rank once"))),
            Some(known) => *known = i,
        }
    }
    let mut job = Builder::new(ranks.len() as u64)?;
    let collectives: Vec<Option<u32>> =
        graph.collectives().iter().map(|what| kept(graph, what, &new, &mut job)).collect();
    let mut left_out = 0;
    for (i, rank) in (0..).zip(ranks) {
        let Some(tasks) = graph.rank(*rank) else { continue };
        for (number, task) in tasks.iter() {
            let task = match task.kind {
                Kind::Recv if task.peer == ANY => {
                    return Err(Refused(format!("task {rank}:{number}: a receive from any source; expected a source")));
                }
                Kind::Send | Kind::Recv => match new.get(task.peer as usize) {
                    Some(&peer) if peer != ANY => Task { peer, ..task },
                    _ => without(task, &mut left_out),
                },
                Kind::Collective => match collectives.get(task.tag as usize) {
                    Some(Some(tag)) => Task { tag: *tag, ..task },
                    _ => without(task, &mut left_out),
                },
                Kind::Calc | Kind::Nop => task,
            };
            job.task(i, task)?;
        }
        for earlier in 0..tasks.tasks() as u32 {
            let (ends, starts) = tasks.successors(earlier);
            ends.iter().try_for_each(|later| job.requires(i, *later, earlier))?;
            starts.iter().try_for_each(|later| job.irequires(i, *later, earlier))?;
        }
    }
    Ok((job.finish(), left_out))
}

/// Index of a collective whose members all stay.
fn kept(graph: &Graph, what: &Collective, new: &[u32], job: &mut Builder) -> Option<u32> {
    let number = |rank: &u32| new.get(*rank as usize).copied().filter(|new| *new != ANY);
    let members: Vec<u32> = graph.group(what.group).iter().map(number).collect::<Option<_>>()?;
    let group = job.group(members);
    Some(job.collective(Collective { group, ..what.clone() }))
}

/// A task whose other end is gone.
fn without(task: Task, left_out: &mut u64) -> Task {
    *left_out += 1;
    Task { stream: task.stream, ..Task::nop() }
}
