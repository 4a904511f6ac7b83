//! Flows, triggers and queries.

use super::App;
use crate::hash;
use incast_cc::{Rate, Time};

/// Flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Opening time.
    pub start: Time,
    /// Stop time of the sending application; [`Time::NEVER`]: none.
    pub stop: Time,
    /// Treatment of bytes accepted by the stop time.
    pub at_stop: AtStop,
    /// Time at which the receiving application closes; [`Time::NEVER`]: never. If bytes wait beyond a hole at that
    /// time, the flow is reset. Otherwise the receiver sends a FIN, and the first ACK after the sender's own FIN closes
    /// the sender, which answers later ACKs by a reset (as in ns-3).
    pub sink_stop: Time,
    /// Index into [`Spec::transports`](super::Spec::transports).
    pub transport: u32,
    /// Index into [`Spec::controllers`](super::Spec::controllers).
    pub controller: u32,
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Traffic class of data packets, for ports with class queues.
    pub class: u8,
    /// Traffic class of acknowledgements.
    pub ack_class: u8,
    /// Application.
    pub app: App,
    /// Read rate of the receiving application; infinite: reads at once.
    pub read_rate: Rate,
    /// Links from source to destination, if the path is prescribed.
    pub path: Option<Vec<u32>>,
    /// Links of the reverse path.
    pub reverse_path: Option<Vec<u32>>,
    /// Reverse path of its pulls (NDP, EQDS, UET), if it differs from that of its ACKs.
    pub pull_path: Option<Vec<u32>>,
    /// Trigger that opens the flow, not before `start`; `None`: it opens at `start`.
    pub trigger: Option<Triggered>,
    /// Deadline of its transfers, if any.
    pub deadline: Option<Deadline>,
}

/// Deadline of the transfers of a flow: of its bytes, if it has a size, of each write of a closed loop, or of the
/// responses to each query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// Time from the beginning of the transfer to its deadline.
    pub within: Time,
    /// Exponentially distributed deadlines with mean `within`.
    pub random: bool,
}

impl Deadline {
    /// Time from the beginning of transfer `number` of `entity` to its deadline.
    pub fn of(self, seed: u64, entity: u64, number: u64) -> Time {
        if !self.random {
            return self.within;
        }
        let u = hash::uniform(seed, hash::purpose::DEADLINE, entity, number);
        Time((self.within.0 as f64 * -libm::log1p(-u)) as u64)
    }
}

/// Trigger that opens flows after other flows have ended; [`crate::map::triggers`] describes where it counts them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TriggerSpec {
    /// Flow ends that activate it.
    pub activations: Vec<(u32, Done)>,
}

/// Activation of a trigger that opens a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triggered {
    /// Index into [`Spec::triggers`](super::Spec::triggers).
    pub trigger: u32,
    /// Number of flow ends that opens the flow, at least 1.
    pub activation: u32,
}

/// End of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Done {
    /// Acknowledgement of the last byte at the source.
    Sent,
    /// Arrival of the last byte at the destination.
    Received,
}

/// Treatment of a flow after its application's stop time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtStop {
    /// Deliver the accepted bytes, then close the flow.
    Drain,
    /// Reset the flow: nothing more is sent, the receiver gets one RST.
    Reset,
}

/// Repeated queries of a root to its workers over two-way connections. A query begins with one request on every
/// connection at the same instant, in the order of `connections`. A worker writes its response as soon as it has the
/// whole request. The query ends when the root has the last byte of the last response.
#[derive(Clone, PartialEq, Debug)]
pub struct QuerySpec {
    /// Index into [`Spec::groups`](super::Spec::groups).
    pub group: u32,
    /// Root: source of every request flow.
    pub root: u32,
    /// Start time of query 0.
    pub first: Time,
    /// Time from the end of a query to the start of the next.
    pub think: Time,
    /// Total number of queries; `None`: until `stop`.
    pub count: Option<u64>,
    /// Time from which on no query begins; [`Time::NEVER`]: no stop.
    pub stop: Time,
    /// End that closes the connections, if each query opens its own; `None`: persistent connections. Connections of the
    /// first query open at the start of their flows, those of later queries equally long after the start of the query.
    pub close: Option<Close>,
    /// Connections.
    pub connections: Vec<ConnectionSpec>,
}

/// End that closes a connection first, if each query has its own connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// The worker closes after its response, and the root after the worker's FIN.
    Worker,
    /// The root closes when it has the response, and the worker after the root's FIN.
    Root,
    /// The root resets the connection when it has the response. The worker sends no FIN.
    Reset,
}

/// Two-way connection, opened by the root: two flows between the same hosts, one in each direction, with one handshake.
/// Acknowledgements are piggybacked on the data of the other flow if possible.
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
