//! Reductions of the window for congestion marks (RFC 3168, RFC 8257).

use super::Sender;
use super::ack::AckInfo;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{LossRules, Recovery};
use incast_cc::{Controller, Phase};

impl Sender {
    /// ns-3: an ECN-Echo starts its reduction before the rest of the ACK is processed, and in any state. Returns
    /// whether the controller sees the echo.
    #[inline(always)]
    pub(super) fn preempt_by_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, loss: &LossRules, info: &AckInfo) -> bool {
        if !loss.ecn_preempts {
            return info.marked;
        }
        let marked = info.marked && info.acked > 0;
        self.ecn.on_echo(info.marked, info.acked > 0, self.snd.una);
        self.leave_cwr(ctx);
        // the controller sees the ACK after this: it judges by earlier ones
        if marked && self.recovery.phase != Phase::Cwr && self.cc.heeds_mark() {
            self.recovery.point = self.snd.nxt;
            self.reduce_for_ecn(ctx, loss);
            if loss.recovery == Recovery::PrrNs3 && self.prr_governs(loss) {
                self.reduce_rate_as_ns3(info.delivered, true, false);
            }
        }
        self.ecn.echo_pending()
    }

    pub(super) fn reduce_for_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, loss: &LossRules) {
        let before = self.window();
        self.cc.on_ecn(&self.congestion(ctx));
        self.ecn.reduce(self.snd.nxt);
        self.recovery.tlp.cancel();
        self.recovery.phase = Phase::Cwr;
        self.start_prr(loss, before);
        self.recovery.window = if loss.ecn_by_prr && !self.profile.own_recovery { before } else { -1.0 };
        self.recovery.left_inflated = false;
    }

    /// Ends a reduction for ECN once the data outstanding at its start is acknowledged.
    pub(super) fn leave_cwr(&mut self, ctx: &NodeCtx<impl Effects>) {
        if self.recovery.phase == Phase::Cwr && self.ecn.is_past(self.snd.una) {
            self.recovery.phase = Phase::Open;
            self.cc.on_recovered(ctx.now, self.board.pipe());
        }
    }
}
