//! State of a host: NIC, processing, connections. Pure: creates no events.

pub mod messages;
pub mod nic;
pub mod nic_queue;
pub mod processing;

use crate::host::nic::FairNic;
use crate::host::processing::Processing;
use crate::ids::{FlowId, NodeId, PortIx};
use crate::program::Programs;
use incast_cc::Time;
use std::mem::offset_of;

/// One host. The first cache line holds what a packet reads and writes that finds nothing waiting at the NIC.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// Node number.
    pub node: NodeId,
    /// Domain-local number of the NIC's port.
    pub port: PortIx,
    /// Fair queues in front of the port, if configured.
    pub nic: Option<FairNic>,
    /// Engines from the NIC to the stack, if packets take processing time.
    pub receive: Option<Box<Processing>>,
    /// Engines from the stack to the NIC.
    pub send: Option<Box<Processing>>,
    /// Programs between the NIC and the engines, if any.
    pub programs: Option<Box<Programs>>,
    /// Tasks of this instant, run once all arrivals are delivered.
    pub run_queue: RunQueue,
}

const _: () = assert!(offset_of!(Host, nic) + FairNic::HOT <= 64);

/// Ordered tasks of a host's endpoints at this instant, run once all arrivals are delivered.
#[derive(Clone, Default, Debug)]
pub struct RunQueue {
    /// Flows whose application a packet woke, in that order.
    pub woken: Vec<FlowId>,
    /// Flows whose timer fires, with its number in the order of [`RunQueue::settings`]: the sender's retransmission
    /// timer, or (`true`) the delayed-ACK timer of the other flow of its duplex.
    pub due: Vec<(u64, FlowId, bool)>,
    /// Deadlines of compressed SACKs, in the order of their timers, and those that a firing timer takes along.
    pub compressed: Vec<(Time, FlowId)>,
    /// See `compressed`.
    pub released: Vec<(Time, FlowId)>,
    /// Timers set so far.
    pub settings: u64,
}
