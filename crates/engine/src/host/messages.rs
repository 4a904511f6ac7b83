//! Two-way connections and the queries on them.
//!
//! A connection (duplex) is two flows between the same hosts, one each way. One handshake opens both. A host
//! acknowledges one flow on the data that it sends on the other. All that the two flows share at a host is its
//! [`Tcb`]; the two hosts share nothing but packets. A worker's host writes the response once the last byte
//! of the request has arrived in order. The root's host counts responses and begins the next query ([`Query`]).

use crate::event::packet::Ext;
use crate::ids::{FlowId, QueryId};
use crate::spec::{AckRules, Close, TransportSpec};
use incast_cc::Time;

/// [`Tcb`] of a one-way flow.
pub const NO_TCB: u32 = u32::MAX;

/// Role of a flow in a two-way connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duplex {
    /// Flow in the other direction.
    pub other: FlowId,
    /// Query that the flow serves.
    pub query: QueryId,
    /// Set if the flow carries responses, else requests.
    pub response: bool,
    /// Message size on this flow, in bytes.
    pub size: u64,
    /// Way to close, if each query has a connection of its own.
    pub close: Option<Close>,
}

/// Sequence numbers if each query has a connection of its own. Connections of a flow use consecutive ranges, so that
/// even a late packet identifies its connection. An endpoint counts from 0.
impl Duplex {
    /// Sequence numbers of one connection: the SYN's, the message's, the FIN's, and the one that acknowledges the FIN.
    fn span(self) -> u64 {
        self.size + 3
    }

    /// First byte of connection `number`.
    pub fn base(self, number: u64) -> u64 {
        number * self.span()
    }

    /// Connection of a sequence or acknowledgement number; the number below its first byte belongs to it too.
    pub fn connection(self, seq: u64) -> u64 {
        (seq + 1) / self.span()
    }

    /// Acknowledgement number that covers the whole connection, FIN included.
    pub fn end(self) -> u64 {
        self.size + 1
    }
}

/// Transmission control block (RFC 9293 section 3.3.1) of one end of a two-way connection: the state that its sender
/// and its receiver share. The sender puts the acknowledgements of the receiver on data.
#[derive(Clone, Default, Debug)]
pub struct Tcb {
    /// Next byte expected.
    pub ack: u64,
    /// Offered window, in bytes.
    pub wnd: u32,
    /// Number of the connection, if each query has its own.
    pub number: u64,
    /// Offset of the sequence numbers on the wire from the sender's own.
    pub ahead: u64,
    /// Offset from the receiver's own.
    pub ahead_received: u64,
    /// Next new byte of this sender.
    pub nxt: u64,
    /// Time stamp and hops to echo, and SACK blocks.
    pub ext: Ext,
    /// Arrival time of the echoed packet at the host's NIC.
    pub arrived_at: Time,
    /// Set if congestion must be echoed.
    pub ece: bool,
    /// Set once a packet of the peer has arrived, so that there is something to acknowledge.
    pub open: bool,
    /// Set if the handshake agreed on no ECN.
    pub without_ecn: bool,
    /// Set while an acknowledgement is delayed and its timer runs.
    pub owed: bool,
    /// Interactive mode (Linux pingpong): first segments are not acknowledged at once.
    pub pingpong: bool,
    /// Data packets sent with an acknowledgement since the receiver last looked.
    pub carried: u32,
    /// Arrival time of the last in-order data, in whole timer ticks; `None` before the first.
    pub data_at: Option<Time>,
    /// The sender's retransmission timeout.
    pub rto: Time,
    /// Smoothed round-trip time of the sender.
    pub srtt: Time,
    /// Retransmission timeout of the sender before the current packet.
    pub rto_before: Time,
    /// Longest wait of an acknowledgement, before its ceiling is applied.
    pub ack_wait: Time,
}

impl Tcb {
    /// Records the arrival of in-order data. The ACK wait follows the time between such arrivals. Returns true for the
    /// first data and after silence longer than the retransmission timeout: quick ACKs begin again.
    /// `at_once`: the kernel processes the data before the acknowledgement on it.
    pub fn on_data(&mut self, t: &TransportSpec, now: Time, at_once: bool) -> bool {
        let rto = if at_once { self.rto_before } else { self.rto };
        let tick = t.timing.timer_tick.max(Time::ps(1));
        let now = tick * (now / tick);
        let timeout = t.acks.delayed_ack_timeout;
        let Some(at) = self.data_at.replace(now) else {
            self.ack_wait = timeout;
            return true;
        };
        let silence = now - at;
        let half = tick * (self.ack_wait / tick / 2);
        if silence <= timeout / 2 {
            self.ack_wait = half + timeout / 2;
        } else if silence < self.ack_wait {
            self.ack_wait = (half + silence).min(rto.next_multiple_of(tick));
        } else {
            return rto > Time::ZERO && silence > rto.next_multiple_of(tick);
        }
        false
    }

    /// Current wait of a delayed ACK.
    pub fn ack_wait(&self, acks: &AckRules) -> Time {
        let timeout = acks.delayed_ack_timeout;
        if acks.adaptive_ack { self.ack_wait.min(timeout) } else { timeout }
    }

    /// Returns whether data sent at `now` responds to received data: within the ACK wait, without its ceiling.
    pub fn answers(&self, acks: &AckRules, now: Time) -> bool {
        let wait = if acks.adaptive_ack { self.ack_wait } else { acks.delayed_ack_timeout };
        self.data_at.is_some_and(|at| now - at < wait)
    }

    /// Records that a delayed ACK timer expired: the next ACK may wait longer, or the connection is not interactive
    /// after all.
    pub fn miss(&mut self, t: &TransportSpec) {
        if std::mem::take(&mut self.pingpong) {
            self.ack_wait = t.acks.delayed_ack_timeout;
        } else {
            self.ack_wait = (self.ack_wait * 2).min(self.rto.next_multiple_of(t.timing.timer_tick.max(Time::ps(1))));
        }
    }
}

/// Current query, or the next one.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Number of its [`crate::spec::QuerySpec`].
    pub spec: QueryId,
    /// Number of the query, from 0.
    pub number: u64,
    /// Number of incomplete responses; 0 between queries.
    pub waiting: u32,
    /// Start time.
    pub begun: Time,
}
