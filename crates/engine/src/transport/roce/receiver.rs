//! Receiving endpoint: takes packets in order, and reports a gap once.

use super::wire::ToSender;
use crate::event::packet::{Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, has_base};

/// RoCE receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// Set from the NACK of a gap until its first packet arrives.
    reported: bool,
}

impl PacketReceiver for Receiver {
    type Pacer = ();

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver { base: ReceiverBase::new(net, flow, host), reported: false }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, _: &mut HostPacers<()>, p: &Packet) {
        if p.is_trimmed() {
            // a NIC without trimming drops a truncated packet
            return self.base.ip.count_trimmed(ctx, p);
        }
        if !self.base.ip.is_whole(ctx, p) {
            return;
        }
        let t = ctx.net.transport(self.base.transport);
        if p.seq() > self.base.next() as u64 {
            self.base.ip.count(ctx, &t.sizes, p);
            if !std::mem::replace(&mut self.reported, true) {
                self.base.send(ctx, Class::Control, ToSender::Nack {}.encode(), 0);
            }
            return;
        }
        if self.base.take(ctx, t, p) {
            self.reported = false;
        }
        if p.asks_for_ack() {
            let sent_at = (!p.has(flag::RETX)).then(|| p.sent_at());
            self.base.send(ctx, Class::Control, ToSender::Ack { sent_at }.encode(), 0);
        }
    }
}
