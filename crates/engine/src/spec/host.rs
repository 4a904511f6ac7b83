//! The time that packets take in hosts.

use incast_cc::{Rate, Time};

/// The time that packets take in a host, each way; `None`: none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HostSpec {
    /// From the NIC to the stack.
    pub receive: Option<ProcessingSpec>,
    /// From the stack to the NIC.
    pub send: Option<ProcessingSpec>,
}

/// Engines between NIC and stack, one side of a host. A flow's packets of one direction take one of them.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessingSpec {
    /// Engines that work side by side, 1 to [`EngineId::MOST`](crate::EngineId::MOST).
    pub engines: u32,
    /// Service time of a packet with payload,
    pub packet_time: Time,
    /// of one without,
    pub ack_time: Time,
    /// and what its IP bytes add, at this rate.
    pub rate: Rate,
    /// Packets that an engine holds at most, the one in service included; 0: no limit.
    pub limit: u64,
}
