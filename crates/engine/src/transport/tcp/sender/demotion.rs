//! Labels of packets beside their headers: requests to switches, ranks, and traffic classes by the bytes sent before
//! (Bai et al., PIAS, NSDI 2015, section 3.1), by the size of the transfer, or by its remaining bytes.
//!
//! PIAS does not know sizes: the first bytes of a transfer have the highest class. With every size of
//! [`OutputRules::demotion`] that the transfer exceeds, its packets fall by one class. A retransmission has the class
//! of its position. By the whole size all packets of a transfer have one class.

use super::Sender;
use crate::app::parameters::App;
use crate::event::packet::{Ext, Kind, Packet};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{OutputRules, Rank};
use incast_cc::Asks;

impl Sender {
    /// Labels `packet`, which is about to leave and begins at `seq`.
    #[cold]
    #[inline(never)]
    pub(super) fn label(
        &mut self,
        ctx: &NodeCtx<impl Effects>,
        output: &OutputRules,
        seq: u64,
        packet: &mut Packet,
        ext: &mut Option<Ext>,
    ) {
        if self.profile.asks != Asks::Nothing && (packet.len > 0 || packet.is(Kind::Syn)) {
            self.ask(ctx, packet, seq, ext.get_or_insert_default());
        }
        if let Some(rank) = output.rank.filter(|_| packet.is(Kind::Data)) {
            // saturates at 32 bits
            packet.set_rank(self.rank(ctx.net, rank, seq).min(u32::MAX.into()) as u32, ext);
        }
        if !output.demotion.is_empty() {
            let measure = match output.demotion_by {
                Rank::Sent => {
                    // a packet without data belongs to the data before it
                    let last = if packet.len > 0 { seq } else { seq.saturating_sub(1) };
                    last % self.unit(ctx.net)
                }
                by => self.rank(ctx.net, by, seq),
            };
            let class = output.demotion.partition_point(|size| *size <= measure);
            if class < output.demotion.len() {
                packet.set_class(class as u8);
            }
        }
    }

    /// Size of the unit, in bytes, after which the flow's classes begin anew: a write or a message.
    pub(super) fn unit(&self, net: &FabricMap) -> u64 {
        let own = match net.flow(self.ip.flow).app {
            App::ClosedLoop(app) => app.write,
            _ => u64::MAX,
        };
        net.duplex(self.ip.flow).map_or(own, |duplex| duplex.size).max(1)
    }
}
