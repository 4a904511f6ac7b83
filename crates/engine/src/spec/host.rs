//! Processing times of packets in hosts.

use incast_cc::{Rate, Time};

/// Processing times of packets in a host, per direction; `None`: no processing time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HostSpec {
    /// From the NIC to the stack.
    pub receive: Option<ProcessingSpec>,
    /// From the stack to the NIC.
    pub send: Option<ProcessingSpec>,
}

/// Engines between NIC and stack, for one direction of a host. All packets of a flow and direction use one engine.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessingSpec {
    /// Number of parallel engines, 1 to [`EngineId::MAX`](crate::EngineId::MAX).
    pub engines: u32,
    /// Service time of a packet with payload.
    pub packet_time: Time,
    /// Service time of a packet without payload.
    pub ack_time: Time,
    /// Rate at which IP bytes add to the service time.
    pub rate: Rate,
    /// Maximum number of packets at an engine, including the one in service; 0: no limit.
    pub limit: u64,
}
