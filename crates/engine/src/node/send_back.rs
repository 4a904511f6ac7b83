//! A header without room goes back to its sender.

use crate::event::packet::Packet;
use crate::ids::NodeId;
use crate::node::context::{Effects, NodeCtx};

impl<E: Effects> NodeCtx<'_, E> {
    /// The header of a packet has found no room at a port: it turns round, and goes back to its sender by the link that
    /// it came over. Each that leads to a switch which sends back has one.
    #[cold]
    pub fn send_back(&mut self, packet: &Packet) {
        let Some(back) = self.net.back[packet.link.ix()] else { return };
        let flow = self.net.flow(packet.flow);
        let size = self.net.transport(flow.transport).ack_size as u16;
        self.offer(back, &Packet::returned(packet, NodeId(flow.src), size), None);
    }
}
