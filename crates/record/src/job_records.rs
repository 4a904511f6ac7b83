//! Records of training jobs: iterations of ranks, messages, and tasks.

use crate::TaskKind;

/// A job, as known before the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobRecord {
    /// Name.
    pub name: String,
    /// Bytes of its collective, and bytes over its busiest link for each of these; `None`: no collective.
    pub collective: Option<(u64, f64)>,
    /// Number of its ranks.
    pub ranks: u32,
    /// Number of iterations that it is to have.
    pub iterations: u32,
    /// Start.
    pub start_ps: u64,
    /// Lower bound of the time of an iteration.
    pub bound_ps: Option<u64>,
    /// Part of the bound that holds of each iteration even where they overlap: bytes of the busiest host,
    /// calculations of the busiest stream.
    pub work_ps: Option<u64>,
    /// First iterations, which means leave out.
    pub warmup: u32,
}

/// An iteration of a rank of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankRecord {
    /// Job, by its place in the scenario.
    pub job: u32,
    /// Rank.
    pub rank: u32,
    /// Host of the rank.
    pub host: u32,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// Start.
    pub start_ps: u64,
    /// End of the last task; `None` if the run ended before.
    pub finish_ps: Option<u64>,
    /// Time with a calculation under way.
    pub compute_ps: u64,
    /// Time with a message to or from the rank under way, and no calculation.
    pub exposed_ps: u64,
    /// Time with neither.
    pub idle_ps: u64,
    /// Time with a message under way.
    pub communication_ps: u64,
    /// Tasks of an iteration.
    pub tasks: u32,
    /// Tasks that have not ended.
    pub left: u32,
    /// First receive that waits at the end of the run, in words.
    pub waits_for: Option<String>,
}

/// A message of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransferRecord {
    /// Job, by its place in the scenario.
    pub job: u32,
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Sending task.
    pub task: u32,
    /// Tag.
    pub tag: u32,
    /// Bytes.
    pub bytes: u64,
    /// Time at which it was written.
    pub start_ps: u64,
    /// Time at which its last byte had arrived in order.
    pub finish_ps: u64,
    /// Flow of the connection; `None`: inside a server.
    pub flow: Option<u32>,
}

/// A task of a rank in an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskRecord {
    /// Job, by its place in the scenario.
    pub job: u32,
    /// Rank.
    pub rank: u32,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// Task.
    pub task: u32,
    /// Kind.
    pub kind: TaskKind,
    /// Stream of a calculation.
    pub stream: u32,
    /// Other end of a message; `None`: no message, or from any rank.
    pub peer: Option<u32>,
    /// Task of the sender, for a receive whose message has arrived.
    pub peer_task: Option<u32>,
    /// Tag of a message; `None`: no message, or any tag.
    pub tag: Option<u32>,
    /// Bytes of a message.
    pub bytes: u64,
    /// Time at which all that it waits for has ended or started.
    pub ready_ps: u64,
    /// Start; `None` if the run ended before.
    pub start_ps: Option<u64>,
    /// End; `None` if the run ended before.
    pub finish_ps: Option<u64>,
    /// Time from which its message is under way at the rank.
    pub message_start_ps: Option<u64>,
    /// Time until which it is.
    pub message_finish_ps: Option<u64>,
}
