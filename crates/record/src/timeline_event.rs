//! What happens at an instant of a timeline, and the ports that flows pass.

/// Kinds of events, in the order in which those of one instant stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A link works again as it should.
    Repair,
    /// A link fails.
    Failure,
    /// A link works otherwise: at another rate, with another delay, with losses.
    Degradation,
    /// Pauses begin to spread over switches.
    StormBegins,
    /// They no longer do.
    StormEnds,
    /// A query begins.
    Query,
    /// It has all its responses.
    QueryEnds,
    /// A flow opens.
    FlowStarts,
    /// Its last byte is acknowledged.
    FlowEnds,
    /// Its retransmission timer fires.
    Timeout,
}

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Subject {
    /// A flow; of a query, that of its first response.
    Flow,
    /// A port.
    Port,
}

impl EventKind {
    /// Names in tables, by numbers.
    pub const NAMES: [&str; 10] = [
        "repair",
        "failure",
        "degradation",
        "pause-storm",
        "pause-storm-end",
        "query",
        "query-end",
        "flow-start",
        "flow-end",
        "timeout",
    ];

    /// What it is about.
    pub fn what(self) -> Subject {
        use EventKind::*;
        match self {
            Repair | Failure | Degradation | StormBegins | StormEnds => Subject::Port,
            Query | QueryEnds | FlowStarts | FlowEnds | Timeout => Subject::Flow,
        }
    }
}

impl Subject {
    /// Names in tables, by numbers.
    pub const NAMES: [&str; 2] = ["flow", "port"];
}

/// An event of a timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TimelineEvent {
    /// When.
    pub time_ps: u64,
    /// What happens.
    pub kind: EventKind,
    /// Number of the flow or port.
    pub subject: u32,
}

/// A port that a flow's data passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathPort {
    /// Flow.
    pub flow: u32,
    /// Port.
    pub port: u32,
    /// Ports before it.
    pub position: u32,
    /// Only some of its packets pass it.
    pub sprayed: bool,
}
