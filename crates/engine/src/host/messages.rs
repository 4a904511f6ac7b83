//! Two-way connections and the queries that travel on them.
//!
//! A connection is two flows between the same hosts, one each way, a duplex: one handshake opens
//! both, and what one host has received of one flow it acknowledges on the data it sends of the
//! other. All that the two flows share at a host is a [`ConnectionSide`]; the two hosts share nothing but
//! packets. A worker's host writes the response when the last byte of the request has come in
//! order; the root's host counts responses and begins the next query ([`Query`]).

use crate::event::packet::Ext;
use crate::ids::{FlowId, QueryId};
use crate::spec::{Close, TransportSpec};
use incast_cc::Time;

/// [`ConnectionSide`] of a flow that is a connection of its own.
pub const NO_SIDE: u32 = u32::MAX;

/// A flow's part in a two-way connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duplex {
    /// The flow the other way.
    pub other: FlowId,
    /// Number of the query it serves.
    pub query: QueryId,
    /// Carries responses; else requests.
    pub response: bool,
    /// Bytes of a message on this flow.
    pub size: u64,
    /// Each query has a connection of its own, which is closed so.
    pub close: Option<Close>,
}

/// Sequence numbers where each query has a connection of its own. Those of a flow's connections follow one another, so
/// that a packet says which it is of, however late it comes. An endpoint counts from 0.
impl Duplex {
    /// Numbers of one connection: SYN's, those of the message, FIN's, and the one that acknowledges that.
    fn span(self) -> u64 {
        self.size + 3
    }

    /// First byte of connection `number`.
    pub fn base(self, number: u64) -> u64 {
        number * self.span()
    }

    /// The connection of sequence or acknowledgement number `seq`; the number below its first byte belongs to it too.
    pub fn connection(self, seq: u64) -> u64 {
        (seq + 1) / self.span()
    }

    /// What acknowledges all of a connection, FIN too.
    pub fn end(self) -> u64 {
        self.size + 1
    }
}

/// One host's side of a two-way connection: what its receiver would acknowledge now, for its
/// sender to put on data.
#[derive(Clone, Default, Debug)]
pub struct ConnectionSide {
    /// Next byte expected.
    pub ack: u64,
    /// Window offered, bytes.
    pub wnd: u32,
    /// Number of the connection, where each query has its own.
    pub number: u64,
    /// So far the numbers on the wire are ahead of those of the sender here,
    pub ahead: u64,
    /// ... and of those of the receiver.
    pub ahead_received: u64,
    /// The next byte that the sender here sends for the first time.
    pub nxt: u64,
    /// Time stamp and hops to echo, and SACK blocks.
    pub ext: Ext,
    /// When what is echoed came to the host's NIC.
    pub came: Time,
    /// Echo congestion.
    pub ece: bool,
    /// A packet of the peer has arrived: there is something to acknowledge.
    pub open: bool,
    /// The handshake has agreed on no ECN.
    pub without_ecn: bool,
    /// An acknowledgement is owed and its timer runs.
    pub owed: bool,
    /// Interactive: segments are not acknowledged at once for being the first ones.
    pub pingpong: bool,
    /// Data packets sent that acknowledged something, since the receiver last looked.
    pub carried: u32,
    /// When data last arrived in order, by the timer's tick; `None` before.
    pub data_at: Option<Time>,
    /// The sender's retransmission timeout.
    pub rto: Time,
    /// Its smoothed round-trip time.
    pub srtt: Time,
    /// Its retransmission timeout before the packet at work.
    pub rto_before: Time,
    /// How long an acknowledgement waits at most, before its ceiling.
    pub ack_wait: Time,
}

impl ConnectionSide {
    /// Data arrived in order. How long ACKs wait follows the time between such arrivals. Whether the silence before
    /// was so long that the other side starts anew.
    /// `at_once`: the kernel looks at the data before the acknowledgement that they carry.
    pub fn on_data(&mut self, t: &TransportSpec, now: Time, at_once: bool) -> bool {
        let rto = if at_once { self.rto_before } else { self.rto };
        let tick = t.timer_tick.max(Time::ps(1));
        let now = tick * (now / tick);
        let timeout = t.delayed_ack_timeout;
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

    /// How long an ACK waits now.
    pub fn ack_wait(&self, t: &TransportSpec) -> Time {
        let timeout = t.delayed_ack_timeout;
        if t.adaptive_ack { self.ack_wait.min(timeout) } else { timeout }
    }

    /// Whether data sent at `now` answers what arrived: it goes before an ACK would, whatever the ceiling.
    pub fn answers(&self, t: &TransportSpec, now: Time) -> bool {
        let wait = if t.adaptive_ack { self.ack_wait } else { t.delayed_ack_timeout };
        self.data_at.is_some_and(|at| now - at < wait)
    }

    /// An ACK has waited in vain: the next may wait longer, or the side is not interactive after all.
    pub fn miss(&mut self, t: &TransportSpec) {
        if std::mem::take(&mut self.pingpong) {
            self.ack_wait = t.delayed_ack_timeout;
        } else {
            self.ack_wait = (self.ack_wait * 2).min(self.rto.next_multiple_of(t.timer_tick.max(Time::ps(1))));
        }
    }
}

/// A query under way, or to come.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Number of its [`crate::spec::QuerySpec`].
    pub spec: QueryId,
    /// Number of the query, from 0.
    pub number: u64,
    /// Responses not complete; 0 between queries.
    pub waiting: u32,
    /// When it began.
    pub begun: Time,
}
