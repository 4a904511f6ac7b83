//! A header without room goes back to its sender.

use crate::event::packet::{Packet, flag};
use crate::ids::{LinkId, NodeId};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// The header of a packet has found no room at the port of `link`: it turns round, and goes back to its sender by
    /// the link that it came over.
    #[cold]
    pub fn send_back(&mut self, packet: &Packet, link: LinkId) {
        let Some(back) = self.net.back.get(packet.link.ix()).copied().flatten() else {
            self.counts.dropped += 1;
            return;
        };
        if packet.has(flag::SLOW_PATH) {
            self.trace(packet, Happening::Drop, Site::Link(link));
        }
        let flow = self.net.flow(packet.flow);
        let size = self.net.transport(flow.transport).ack_size as u16;
        self.offer(back, &Packet::returned(packet, NodeId(flow.src), size), None);
    }
}
