//! Return of a header without room to its sender.

use crate::event::packet::Packet;
use crate::ids::NodeId;
use crate::node::context::{Effects, NodeCtx};

impl<E: Effects> NodeCtx<'_, E> {
    /// Returns the header of a packet that found no room at a port, over the opposite of the link that it arrived on.
    /// Every link to a switch that returns headers has an opposite one.
    #[cold]
    pub fn send_back(&mut self, packet: &Packet) {
        let Some(back) = self.net.back[packet.link.ix()] else { return };
        let flow = self.net.flow(packet.flow);
        let size = self.net.transport(flow.transport).sizes.ack_size as u16;
        self.offer(back, &Packet::returned(packet, NodeId(flow.src), size), None);
    }
}
