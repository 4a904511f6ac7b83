//! The state of a host: its NIC, what it costs its packets, its connections. Pure: no event is made
//! here.

pub mod core_rate;
pub mod driven;
pub mod messages;
pub mod nic;
pub mod processing;
pub mod scheduled;
pub mod tokens;

use crate::host::nic::FairNic;
use crate::host::processing::Processing;
use crate::ids::{FlowId, NodeId, PortIx};
use crate::program::Programs;
use incast_cc::Time;
use std::mem::offset_of;

/// One host. Its first cache line is what a packet reads and writes that finds nothing waiting at the NIC.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// Node number.
    pub node: NodeId,
    /// Domain-local number of its NIC's port.
    pub port: PortIx,
    /// Fair queues in front of that port, if asked for.
    pub nic: Option<FairNic>,
    /// Engines from the NIC to the stack, if it costs its packets something.
    pub receive: Option<Box<Processing>>,
    /// ... and from the stack to the NIC.
    pub send: Option<Box<Processing>>,
    /// Programs between the NIC and all that, if it runs some.
    pub programs: Option<Box<Programs>>,
    /// Tasks of this instant, once all that arrives is delivered.
    pub run_queue: RunQueue,
}

const _: () = assert!(offset_of!(Host, nic) + FairNic::HOT <= 64);

/// Tasks of a host's endpoints at this instant, in order, once all that arrives is delivered.
#[derive(Clone, Default, Debug)]
pub struct RunQueue {
    /// Whose application a packet woke, in that order.
    pub woken: Vec<FlowId>,
    /// Whose timer fires, and when it was set in the order of [`RunQueue::settings`]: the retransmission timer of this
    /// sender, or the delayed ACK's of the other flow of its duplex.
    pub due: Vec<(u64, FlowId, bool)>,
    /// When compressed SACKs of receivers may go, in the order of their timers, and which of them a timer that
    /// fires takes along.
    pub compressed: Vec<(Time, FlowId)>,
    /// See `compressed`.
    pub released: Vec<(Time, FlowId)>,
    /// Timers set so far.
    pub settings: u64,
}
