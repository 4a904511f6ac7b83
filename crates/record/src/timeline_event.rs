//! Events of a timeline, and the ports that flows pass.

/// Kinds of events; events of one instant are in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A link is repaired or back to normal.
    Repair,
    /// A link fails.
    Failure,
    /// A link degrades: other rate, other delay, or losses.
    Degradation,
    /// Pauses begin to spread over switches.
    StormBegins,
    /// Pauses stop spreading.
    StormEnds,
    /// A query begins.
    Query,
    /// A query has received all responses.
    QueryEnds,
    /// A flow opens.
    FlowStarts,
    /// The last byte of a flow is acknowledged.
    FlowEnds,
    /// The retransmission timer of a flow fires.
    Timeout,
}

/// Subject of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Subject {
    /// A flow; for a query, the flow of its first response.
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

    /// Subject of this kind of event.
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

/// Event of a timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TimelineEvent {
    /// Time of the event.
    pub time_ps: u64,
    /// Kind.
    pub kind: EventKind,
    /// Number of the flow or port.
    pub subject: u32,
}

/// Port on the path of a flow's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathPort {
    /// Flow.
    pub flow: u32,
    /// Port.
    pub port: u32,
    /// Number of ports before it on the path.
    pub position: u32,
    /// True if only some of the flow's packets pass it.
    pub sprayed: bool,
}
