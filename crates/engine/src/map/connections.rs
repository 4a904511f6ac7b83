//! Connections of packets, as programs of switches ask for them.

use crate::event::packet::Packet;
use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use crate::program::{Connections, Direction};
use crate::spec::FlowSpec;

impl Connections for FabricMap<'_> {
    fn direction(&self, packet: &Packet) -> Direction {
        let (flow, back) = (packet.flow, packet.is_reverse());
        let Some(duplex) = self.duplex(flow) else { return Direction { flow, back, number: 0 } };
        let number = match duplex.close {
            Some(_) => duplex.connection(if back { packet.ack } else { packet.seq() }),
            None => 0,
        };
        match duplex.response {
            true => Direction { flow: duplex.other, back: !back, number },
            false => Direction { flow, back, number },
        }
    }

    fn flow(&self, flow: FlowId) -> &FlowSpec {
        &self.spec.flows[flow]
    }
}
