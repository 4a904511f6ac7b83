//! Records of training jobs: iterations of ranks, collectives, messages, and tasks.

use crate::TaskKind;
use std::cmp::Reverse;

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
    /// Collectives, by index.
    pub collectives: Vec<CollectiveFacts>,
}

/// A collective of a job, as known before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollectiveFacts {
    /// Pattern of the data.
    pub pattern: &'static str,
    /// Algorithm.
    pub algorithm: &'static str,
    /// Group of the members.
    pub group: u32,
    /// Number of members.
    pub members: u32,
    /// Total bytes.
    pub bytes: u64,
    /// Bytes over its busiest link for each of these.
    pub bus_factor: f64,
    /// Lower bound of its time.
    pub bound_ps: Option<u64>,
}

/// Part of a rank in a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartRecord {
    /// Job, by its place in the scenario.
    pub job: u32,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// Index of the collective in the job.
    pub collective: u32,
    /// Rank.
    pub rank: u32,
    /// Start.
    pub start_ps: u64,
    /// End; `None` if the run ended before.
    pub finish_ps: Option<u64>,
    /// Longest time of a message that the rank received in it, and the message's sender; the lowest of several.
    pub longest: Option<(u64, u32)>,
}

/// A collective of one iteration of a job. Parts may be added in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectiveRecord {
    /// Number of members that have started it, and that have ended it.
    pub started: u32,
    /// See `started`.
    pub ended: u32,
    /// Start of the first member, and of the last with its rank, the lowest of several.
    pub first_start_ps: u64,
    /// See `first_start_ps`.
    pub last_start: (u64, Reverse<u32>),
    /// End of the first member, and of the last with its rank, the lowest of several.
    pub first_finish_ps: u64,
    /// See `first_finish_ps`.
    pub last_finish: (u64, Reverse<u32>),
    /// Longest time of a message, its sender and its receiver, the lowest of several.
    pub longest: Option<(u64, Reverse<u32>, Reverse<u32>)>,
}

impl Default for CollectiveRecord {
    /// A collective that nobody has started.
    fn default() -> CollectiveRecord {
        CollectiveRecord {
            started: 0,
            ended: 0,
            first_start_ps: u64::MAX,
            last_start: (0, Reverse(u32::MAX)),
            first_finish_ps: u64::MAX,
            last_finish: (0, Reverse(u32::MAX)),
            longest: None,
        }
    }
}

impl CollectiveRecord {
    /// Adds the part of a rank.
    pub fn add(&mut self, part: &PartRecord) {
        self.merge(&CollectiveRecord {
            started: 1,
            ended: part.finish_ps.is_some().into(),
            first_start_ps: part.start_ps,
            last_start: (part.start_ps, Reverse(part.rank)),
            first_finish_ps: part.finish_ps.unwrap_or(u64::MAX),
            last_finish: part.finish_ps.map_or((0, Reverse(u32::MAX)), |at| (at, Reverse(part.rank))),
            longest: part.longest.map(|(took, from)| (took, Reverse(from), Reverse(part.rank))),
        });
    }

    /// Adds the parts of other ranks.
    pub fn merge(&mut self, other: &CollectiveRecord) {
        self.started += other.started;
        self.ended += other.ended;
        self.first_start_ps = self.first_start_ps.min(other.first_start_ps);
        self.last_start = self.last_start.max(other.last_start);
        self.first_finish_ps = self.first_finish_ps.min(other.first_finish_ps);
        self.last_finish = self.last_finish.max(other.last_finish);
        self.longest = self.longest.max(other.longest);
    }
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
