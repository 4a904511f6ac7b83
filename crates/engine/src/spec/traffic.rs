//! Flows, triggers and queries.

use super::App;
use crate::hash;
use incast_cc::{Rate, Time};

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// When it opens.
    pub start: Time,
    /// When its application stops; [`Time::NEVER`] for no stop.
    pub stop: Time,
    /// The treatment of bytes accepted by then.
    pub at_stop: AtStop,
    /// When the receiving application closes; [`Time::NEVER`] for never. Bytes that then wait
    /// beyond a hole reset the flow; otherwise the receiver sends a FIN, and the sender is closed by
    /// the first ACK after its own FIN: later ones are answered by a reset (as in ns-3).
    pub sink_stop: Time,
    /// Index into [`Spec::transports`](super::Spec::transports).
    pub transport: u32,
    /// Index into [`Spec::controllers`](super::Spec::controllers).
    pub controller: u32,
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Traffic class of its data, where ports have queues for classes.
    pub class: u8,
    /// Traffic class of its acknowledgements.
    pub ack_class: u8,
    /// Application.
    pub app: App,
    /// Rate at which the receiving application reads; infinite drains at once.
    pub read_rate: Rate,
    /// Links from source to destination, where the path is prescribed.
    pub path: Option<Vec<u32>>,
    /// Links back.
    pub reverse_path: Option<Vec<u32>>,
    /// Links back of its pulls (NDP, EQDS, UET), where they differ from those of its ACKs.
    pub pull_path: Option<Vec<u32>>,
    /// The trigger that opens it, not before `start`; without one it opens then.
    pub trigger: Option<Triggered>,
    /// By when what it moves is to be there, if that matters.
    pub deadline: Option<Deadline>,
}

/// By when what a flow moves is to be there: its bytes, if it has a size, each write of a closed loop, or the responses
/// to each query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// So long after its beginning,
    pub within: Time,
    /// ... or as much on average: exponentially distributed.
    pub random: bool,
}

impl Deadline {
    /// That of number `number` of `entity`, from its beginning on.
    pub fn of(self, seed: u64, entity: u64, number: u64) -> Time {
        if !self.random {
            return self.within;
        }
        let u = hash::uniform(seed, hash::purpose::DEADLINE, entity, number);
        Time((self.within.0 as f64 * -libm::log1p(-u)) as u64)
    }
}

/// A trigger: it opens flows once others have come to their ends; [`crate::map::triggers`] says where it counts them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TriggerSpec {
    /// Ends of flows that activate it.
    pub activations: Vec<(u32, Done)>,
}

/// The activation of a trigger that opens a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triggered {
    /// Index into [`Spec::triggers`](super::Spec::triggers).
    pub trigger: u32,
    /// So many ends of flows have come then, at least 1.
    pub activation: u32,
}

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Done {
    /// The last byte was acknowledged at the source.
    Sent,
    /// The last byte has come to the destination.
    Received,
}

/// After an application's stop time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtStop {
    /// Accepted bytes are still delivered, then the flow closes.
    Drain,
    /// The flow is reset: nothing more is sent, the receiver is told once.
    Reset,
}

/// A root that asks its workers over two-way connections, again and again. A query
/// begins with one request on every connection in the same instant, in the order of
/// `connections`; a worker that has a whole request writes its response at once; the query ends
/// when the root has the last byte of the last response.
#[derive(Clone, PartialEq, Debug)]
pub struct QuerySpec {
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Host that asks: the source of every request flow.
    pub root: u32,
    /// Begin of query 0.
    pub first: Time,
    /// From the end of a query to the begin of the next.
    pub think: Time,
    /// Queries in all; `None` goes on until `stop`.
    pub count: Option<u64>,
    /// No query begins at or after this; [`Time::NEVER`] for no stop.
    pub stop: Time,
    /// Each query opens connections of its own, which this end closes; `None`: they persist. Those of the first query
    /// open when their flows start, those of the others as long after the query's beginning.
    pub close: Option<Close>,
    /// Connections.
    pub connections: Vec<ConnectionSpec>,
}

/// The end that closes a connection first, where each query has its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// The worker, after its response; the root when that says so.
    Worker,
    /// The root, when it has the response; the worker when the root says so.
    Root,
    /// The root, when it has the response, by a reset. The worker sends no FIN.
    Reset,
}

/// A two-way connection, opened by the root: two flows between the same hosts, one each way,
/// under one handshake; acknowledgements ride on the data of the other flow where there is some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionSpec {
    /// Flow from the root to the worker.
    pub request: u32,
    /// Flow from the worker to the root.
    pub response: u32,
    /// Bytes of a request.
    pub request_size: u64,
    /// Bytes of a response.
    pub response_size: u64,
}
