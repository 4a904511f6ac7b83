//! Slots of senders that wait for the NIC of their host.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::event::order::Timer;
use crate::host::nic_queue::Next;
use crate::ids::NodeId;
use crate::node::context::{Effects, NodeCtx};

impl Endpoints {
    /// Called when the wire of host `node` is free.
    #[cold]
    pub fn on_nic_slot(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        ctx.turn = Some((ctx.generation, Timer::NicSlot(node)));
        // like other departures: effects at this instant belong to its generation
        ctx.generation = ctx.generation.saturating_sub(1);
        ctx.shared.nic_queues[host.ix()].event_pending = false;
        loop {
            let nic_queue = &mut ctx.shared.nic_queues[host.ix()];
            if !nic_queue.is_free(ctx.now) {
                break;
            }
            match ctx.next_of_nic(host) {
                None => return,
                Some(Next::Packet(packet, ext)) => ctx.put_on_wire(host, &packet, ext.map(|ext| *ext)),
                Some(Next::Sender(flow)) => {
                    let Some(sender) = self.senders.at_mut(ctx.net.ends[flow].sender.ix()) else { continue };
                    observed(&mut self.probes, sender, ctx, |s, ctx| s.on_tx_ready(ctx));
                }
            }
        }
        ctx.await_tx_slot(host);
    }
}
