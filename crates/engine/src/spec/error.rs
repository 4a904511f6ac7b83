//! Errors of a run.

/// Part of a specification that a refusal is about. A caller that built the specification from something else, such as
/// a scenario, maps it to the user's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Nodes, links and domains as a whole.
    Network,
    /// Flow, by number.
    Flow(u32),
    /// Link and the queue of its port, by number.
    Link(u32),
    /// Cuts of the queue of a link, by the link's number.
    Cuts(u32),
    /// Application of a flow, by number.
    Application(u32),
    /// Job, by number.
    Job(u32),
    /// Transport, by number.
    Transport(u32),
    /// Program of nodes, by number.
    Program(u32),
    /// Radio cell, by number.
    Cell(u32),
    /// Path selection of packets.
    Routing,
    /// Order of events at one instant.
    Ties,
    /// Processing times of packets at hosts.
    Hosts,
    /// Shared buffer of a switch, and pauses.
    Buffer,
    /// Failures of links.
    Failures,
    /// Number of threads.
    Threads,
}

/// Reason why a run ended without a result.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// The caller asked to stop.
    Stopped,
    /// Invalid specification: the part, and a message for the user.
    Refused(About, String),
    /// The run cannot continue, e.g. because of endless work at one instant; a message for the user.
    Invalid(String),
}

impl RunError {
    /// Turns [`RunError::Invalid`] into a refusal of a part of the specification; other errors stay as they are.
    pub fn about(self, about: About) -> RunError {
        match self {
            RunError::Invalid(text) => RunError::Refused(about, text),
            other => other,
        }
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Stopped => f.write_str("the run was stopped"),
            RunError::Refused(_, text) | RunError::Invalid(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RunError {}
