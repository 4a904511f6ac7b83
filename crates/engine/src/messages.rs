//! Two-way connections and the queries that travel on them.
//!
//! A connection is two flows between the same hosts, one each way, joined: one handshake opens
//! both, and what one host has received of one flow it acknowledges on the data it sends of the
//! other. All that the two halves of a host share is a [`Half`]; the two hosts share nothing but
//! packets. A worker's host writes the response when the last byte of the request has come in
//! order; the root's host counts responses and begins the next query ([`Query`]).

use crate::packet::Ext;

/// [`Half`] of a flow that is a connection of its own.
pub const NO_HALF: u32 = u32::MAX;

/// A flow's part in a two-way connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Join {
    /// The flow the other way.
    pub other: u32,
    /// Number of the query it serves.
    pub query: u32,
    /// Carries responses; else requests.
    pub response: bool,
    /// Bytes of a message on this flow.
    pub size: u64,
}

/// One host's side of a two-way connection: what its receiver would acknowledge now, for its
/// sender to put on data.
#[derive(Clone, Copy, Default, Debug)]
pub struct Half {
    /// Next byte expected.
    pub ack: u64,
    /// Window offered, bytes.
    pub wnd: u32,
    /// Time stamp and hops to echo, and SACK blocks.
    pub ext: Ext,
    /// Echo congestion.
    pub ece: bool,
    /// The peer has been heard: there is something to acknowledge.
    pub open: bool,
    /// An acknowledgement is owed and its timer runs.
    pub owed: bool,
    /// Interactive: segments are not acknowledged at once for being the first ones.
    pub pingpong: bool,
    /// Data packets sent that acknowledged something, since the receiver last looked.
    pub carried: u32,
    /// When data last arrived, ps; `None` before.
    pub heard_at: Option<u64>,
    /// The sender's retransmission timeout when it last sent, ps.
    pub rto: u64,
}

/// A query under way, or to come.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Number of its [`crate::spec::QuerySpec`].
    pub spec: u32,
    /// Number of the query, from 0.
    pub number: u64,
    /// Responses not complete; 0 between queries.
    pub waiting: u32,
    /// When it began, ps.
    pub begun: u64,
}
