//! Tasks as GOAL can say them.

use crate::graph::{Graph, Kind, Refused, Task};
use std::fmt;

/// Number of picoseconds in GOAL's unit of time.
pub(super) const NS: u64 = 1_000;

/// Loss of a file that was written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Written {
    /// Calculations whose durations were rounded to nanoseconds.
    pub rounded: u64,
}

/// Failure to write a file.
#[derive(Debug)]
pub enum Failed {
    /// The graph has what GOAL cannot say.
    Refused(Refused),
    /// The file cannot be written.
    Io(std::io::Error),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Refused(refused) => refused.fmt(f),
            Failed::Io(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for Failed {}
impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Failed {
        Failed::Io(error)
    }
}
impl From<Refused> for Failed {
    fn from(refused: Refused) -> Failed {
        Failed::Refused(refused)
    }
}

/// Refuses a graph with collectives, before anything is written.
pub(super) fn check(graph: &Graph) -> Result<(), Refused> {
    for (rank, tasks) in graph.iter() {
        if let Some((i, _)) = tasks.iter().find(|(_, task)| task.kind == Kind::Collective) {
            return Err(Refused(format!(
                "task {rank}:{i}: GOAL has no collectives; expected a graph that is expanded"
            )));
        }
    }
    Ok(())
}

/// The task with its duration in whole nanoseconds; counts those that were rounded.
pub(super) fn in_ns(task: Task, written: &mut Written) -> Task {
    match task.kind {
        Kind::Calc => {
            written.rounded += u64::from(task.size % NS != 0);
            Task { size: task.size / NS + u64::from(task.size % NS >= NS / 2), ..task }
        }
        Kind::Nop => Task { kind: Kind::Calc, size: 0, ..task },
        _ => task,
    }
}
