//! Tasks of ranks of jobs: `tasks.parquet`.

use crate::figure::Of::{Index, OptTime, OptU64, Time, U32};
use crate::figure::{Column, Quantity, columns, rows};
use crate::jobs::names;
use crate::{Outcome, TaskKind, TaskRecord};

/// Columns of `tasks.parquet`.
const TASKS: [Quantity<TaskRecord>; 15] = rows! {
    "job" [""] = Index(|t| t.job, names), "Job.";
    "rank" [""] = U32(|t| t.rank), "Rank.";
    "iteration" [""] = U32(|t| t.iteration), "Number of the iteration, from 0.";
    "task" [""] = U32(|t| t.task),
        "Task of the rank, from 0; a collective has the tasks into which it expands.";
    "kind" [""] = Index(|t| t.kind as u32, TaskKind::names), "`calc`, `send`, `recv` or `collective`.";
    "stream" [""] = U32(|t| t.stream), "Stream of a calculation.";
    "peer" [""] = OptU64(|t| t.peer.map(u64::from)),
        "Rank at the other end of a message; missing for a receive from any rank that has not ended, and without a \
         message.";
    "peer_task" [""] = OptU64(|t| t.peer_task.map(u64::from)),
        "Sending task of the message of a receive; missing for others, and before the message has arrived.";
    "tag" [""] = OptU64(|t| t.tag.map(u64::from)), "Tag of a message; missing without one.";
    "bytes" ["B"] = OptU64(|t| (t.kind != TaskKind::Calc).then_some(t.bytes)), "Bytes of a message or collective.";
    "ready_s" ["s"] = Time(|t| t.ready_ps), "Simulated time at which all that the task waits for has ended or started.";
    "start_s" ["s"] = OptTime(|t| t.start_ps),
        "Simulated time at which it starts: a calculation as its stream is free, a message as it is written, a receive \
         as it is posted.";
    "finish_s" ["s"] = OptTime(|t| t.finish_ps), "Simulated time of its end; missing if the run ended before.";
    "message_start_s" ["s"] = OptTime(|t| t.message_start_ps),
        "Simulated time from which its message is under way at the rank: at its sender from the writing on, at its \
         receiver from the earliest time at which its first byte could arrive, or over the links of a server from its \
         send on, also before the receive is posted.";
    "message_finish_s" ["s"] = OptTime(|t| t.message_finish_ps),
        "Simulated time until which it is: at its sender the acknowledgement of the last byte, at its receiver the \
         arrival of the last byte in order.";
};

/// `tasks.parquet`: one row per iteration and task that has become ready, of the ranks asked for, by job, rank,
/// iteration and task; none without `measure.tasks`.
pub(crate) fn tasks(outcome: &Outcome) -> Vec<Column> {
    columns(&TASKS, &outcome.tasks.iter().collect::<Vec<_>>(), outcome)
}
