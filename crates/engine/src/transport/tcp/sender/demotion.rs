//! What packets carry beside their headers: what they ask of switches, ranks, and classes by the bytes that went before
//! them (Bai et al., PIAS, NSDI 2015, section 3.1), by the size of their transfer, or by what is left of it.
//!
//! PIAS knows no sizes: the first bytes of a transfer have the highest class, and with every size of
//! [`TransportSpec::demotion`] that it exceeds its packets fall by one. What is sent again has the class of its place.
//! By the whole size all packets of a transfer have one class.

use super::*;
use crate::app::parameters::App;

impl Sender {
    /// Adds it to `packet`, which is about to leave with what begins at `seq`.
    #[cold]
    #[inline(never)]
    pub(super) fn label(
        &mut self,
        ctx: &NodeCtx<impl Effects>,
        t: &TransportSpec,
        seq: u64,
        packet: &mut Packet,
        ext: &mut Option<Ext>,
    ) {
        if self.profile.asks != Asks::Nothing && (packet.len > 0 || packet.is(Kind::Syn)) {
            self.ask(ctx, packet, seq, ext.get_or_insert_default());
        }
        if let Some(rank) = t.rank.filter(|_| packet.is(Kind::Data)) {
            // the greatest where that is more than 32 bits hold
            packet.set_rank(self.rank(ctx.net, rank, seq).min(u32::MAX.into()) as u32, ext);
        }
        if !t.demotion.is_empty() {
            let measure = match t.demotion_by {
                Rank::Sent => {
                    // what carries nothing belongs to what went before it
                    let last = if packet.len > 0 { seq } else { seq.saturating_sub(1) };
                    last % self.unit(ctx.net)
                }
                by => self.rank(ctx.net, by, seq),
            };
            let class = t.demotion.partition_point(|size| *size <= measure);
            if class < t.demotion.len() {
                packet.set_class(class as u8);
            }
        }
    }

    /// Bytes of each thing that the flow moves one after another, whose classes begin anew.
    pub(super) fn unit(&self, net: &FabricMap) -> u64 {
        let own = match net.flow(self.ip.flow).app {
            App::ClosedLoop(app) => app.write,
            _ => u64::MAX,
        };
        net.duplex(self.ip.flow).map_or(own, |duplex| duplex.size).max(1)
    }
}
