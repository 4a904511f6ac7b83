//! Packets that reach their host more than once because an acknowledgement frame was lost.

use crate::event::interval::Interval;
use crate::event::packet::{Kind, Packet};
use crate::ids::FlowId;
use incast_cc::Time;
use std::collections::BTreeMap;

/// Repeated arrivals of a flow's data direction.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Packets with data.
    pub packets: u64,
    /// Bytes of datagrams, which no transport tells from new ones.
    pub bytes: u64,
    /// Bytes of datagrams inside the measured interval.
    pub bytes_m: u64,
}

/// Repeated arrivals at the stacks of hosts, by flow.
#[derive(Debug, Default)]
pub struct RepeatedArrivals(BTreeMap<FlowId, Repeated>);

impl RepeatedArrivals {
    /// Counts a packet that reaches its host's stack again at `now`.
    pub fn count(&mut self, packet: &Packet, now: Time, interval: &Interval) {
        if packet.is_reverse() || packet.len == 0 {
            return;
        }
        let own = self.0.entry(packet.flow).or_default();
        own.packets += 1;
        if packet.is(Kind::Datagram) {
            own.bytes += packet.len as u64;
            own.bytes_m += if interval.holds(now) { packet.len as u64 } else { 0 };
        }
    }

    /// Repeated arrivals of `flow`.
    pub fn of(&self, flow: FlowId) -> Repeated {
        self.0.get(&flow).copied().unwrap_or_default()
    }
}
