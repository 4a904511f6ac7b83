//! Flows, applications, triggers and queries.

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
    /// The trigger that opens it, not before `start`; without one it opens then.
    pub trigger: Option<Triggered>,
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

/// What the sending application does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum App {
    /// One transfer, in writes of `write` bytes as fast as the send buffer takes them; `size`
    /// `None` never ends.
    Bulk {
        /// Bytes.
        size: Option<u64>,
        /// Bytes a write.
        write: u64,
    },
    /// Writes of `write` bytes at `rate` during ON times. A write that does not fit is retried
    /// at the next tick of the rate, as ns-3's OnOffApplication does.
    OnOff {
        /// Application rate.
        rate: Rate,
        /// Length of an ON time.
        on: Time,
        /// Length of an OFF time; zero never pauses (constant rate).
        off: Time,
        /// Bytes a write.
        write: u64,
        /// Start with an OFF time (ns-3 does, after the handshake).
        off_first: bool,
    },
    /// One flow of a two-way connection: writes what a [`QuerySpec`] tells it to.
    Messages,
    /// No transport beneath it (UDP): full segments at a constant pace from the flow's start to its stop. Nothing is
    /// acknowledged or sent again, there is no window and no ECN; the controller has no part in it. Where the NIC takes
    /// only so many packets of a flow, the ones beyond are never sent.
    Udp {
        /// Time from one segment to the next, above 0.
        gap: Time,
    },
    /// Keeps writes under way: the next is written `think` after one was acknowledged.
    ClosedLoop {
        /// Bytes a write.
        write: u64,
        /// Writes under way at a time.
        outstanding: u32,
        /// Time between an acknowledgement and the write it allows.
        think: Time,
        /// Writes in all; `None` never ends.
        count: Option<u64>,
    },
}

impl App {
    /// It ends by itself, after so many bytes or writes.
    pub fn is_finite(&self) -> bool {
        matches!(self, App::Bulk { size: Some(_), .. } | App::ClosedLoop { count: Some(_), .. })
    }

    /// It writes what a query tells it to, on a two-way connection.
    pub fn is_messages(&self) -> bool {
        *self == App::Messages
    }

    /// Bytes of one transfer, where it has a size.
    pub fn size(&self) -> Option<u64> {
        if let App::Bulk { size, .. } = self { *size } else { None }
    }

    /// Time from one datagram to the next, if it sends these.
    pub fn datagram_gap(&self) -> Option<Time> {
        if let App::Udp { gap } = self { Some(*gap) } else { None }
    }

    /// Bytes of a write that is acknowledged as one; 0 where none is.
    pub fn acknowledged_write(&self) -> u64 {
        if let App::ClosedLoop { write, .. } = self { *write } else { 0 }
    }

    /// What it asks for at most, in segments of `mss` bytes; bits per second.
    pub fn rate(&self, mss: u32) -> f64 {
        match self {
            App::OnOff { rate, .. } => rate.as_f64(),
            App::Udp { gap } => 8.0 * f64::from(mss) / gap.as_secs_f64(),
            App::Bulk { .. } | App::Messages | App::ClosedLoop { .. } => f64::INFINITY,
        }
    }
}

/// A root that asks its workers over persistent two-way connections, again and again. A query
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
    /// Connections.
    pub connections: Vec<ConnectionSpec>,
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
