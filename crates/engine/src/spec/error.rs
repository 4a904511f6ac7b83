//! Errors of a run.

/// The part of a specification that a refusal is about: whoever made the specification of something else, such as a
/// scenario, says by it which of the user's words are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Nodes, links and domains as a whole.
    Network,
    /// A flow, by its number.
    Flow(u32),
    /// A link and the queue of its port, by number.
    Link(u32),
    /// A transport, by its number in the specification.
    Transport(u32),
    /// A program of nodes, by its number.
    Program(u32),
    /// A radio cell, by its number.
    Cell(u32),
    /// How packets choose their paths.
    Routing,
    /// How events at one instant are ordered.
    Ties,
    /// What packets cost at hosts.
    Hosts,
    /// The buffer that ports of a switch share, and pauses.
    Buffer,
    /// Failures of links.
    Failures,
    /// The number of threads.
    Threads,
}

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// The caller asked to stop.
    Stopped,
    /// The specification contradicts itself: in which part, and in words for the user.
    Refused(About, String),
    /// The run cannot go on (e.g. endless work at one instant); in words for the user.
    Invalid(String),
}

impl RunError {
    /// The same as a refusal of a part of the specification, unless it is one already.
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
