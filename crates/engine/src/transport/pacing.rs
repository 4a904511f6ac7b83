//! Pacers of hosts: what happens when one is due.

use crate::ids::{FlowId, HostIx, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::packet_transports;
use crate::transport::end_table::EndTable;
use crate::transport::ends::{ReceiveEndpoint, SendEndpoint};
use crate::transport::other::{Kept, OtherReceiver, Pacers};
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketReceiver, Receivers};

/// Endpoints of a domain.
struct Ends<'e> {
    net: &'e FabricMap<'e>,
    senders: &'e mut EndTable<SendEndpoint>,
    receivers: &'e mut EndTable<ReceiveEndpoint>,
}

/// Gives credit to the next flow of a host, if credit is due.
fn give_credit(ctx: &mut NodeCtx<impl Effects>, kept: &mut Kept, host: HostIx, ends: &mut Ends) {
    let Some((flow, list)) = kept.credits.due(ctx.now) else { return };
    if let Some(ReceiveEndpoint::Other(other)) = ends.receivers.at_mut(ends.net.ends[flow].receiver.ix())
        && let Some(granted) = other.grant(ctx, kept, list)
    {
        kept.credits.granted(ctx, host, flow, granted);
    }
}

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $module:ident,)+) => {
        $(impl Receivers<crate::transport::$module::Receiver> for Ends<'_> {
            fn of(&mut self, flow: FlowId) -> Option<&mut crate::transport::$module::Receiver> {
                match self.receivers.at_mut(self.net.ends[flow].receiver.ix())? {
                    ReceiveEndpoint::Other(OtherReceiver::$name(end)) => Some(end),
                    _ => None,
                }
            }

            fn sender(&mut self, flow: FlowId) -> Option<&mut SenderBase> {
                match self.senders.at_mut(self.net.ends[flow].sender.ix())? {
                    SendEndpoint::Other(other) => other.base_mut(),
                    SendEndpoint::Tcp(_) => None,
                }
            }
        })+

        /// Called when the pacer of host `node` is due. `senders` and `receivers`: those of its domain.
        #[cold]
        pub fn on_pacer(
            ctx: &mut NodeCtx<impl Effects>,
            pacers: &mut Pacers,
            (senders, receivers): (&mut EndTable<SendEndpoint>, &mut EndTable<ReceiveEndpoint>),
            node: NodeId,
        ) {
            let net = ctx.net;
            let host = net.place[node.ix()].node.of_host();
            let kept = pacers.of(host);
            let mut ends = Ends { net, senders, receivers };
            $(
                if <crate::transport::$module::Receiver as PacketReceiver>::AFTER_CREDIT {
                    give_credit(ctx, kept, host, &mut ends);
                }
                crate::transport::$module::Receiver::on_pacer(ctx, &mut kept.$module, host, &mut ends);
            )+
        }
    };
}
packet_transports!(list);
