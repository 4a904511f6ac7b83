//! Explicit congestion notification at the sender (RFC 3168, RFC 8257): one reduction a window.

use super::ack::AckInfo;
use super::*;

impl Sender {
    /// ns-3: an ECN-Echo starts its reduction before the rest of the ACK is processed, and in any state. Returns
    /// whether the controller sees the echo.
    #[inline(always)]
    pub(super) fn preempt_by_ecn(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        info: &AckInfo,
    ) -> bool {
        if !t.ecn_preempts {
            return info.marked;
        }
        let marked = info.marked && info.acked > 0;
        if marked {
            (self.ecn.echo, self.ecn.echo_at) = (true, self.una);
        }
        self.ecn.echo &= info.marked;
        self.leave_cwr(ctx);
        // the controller sees the ACK after this: it judges by earlier ones
        if marked && self.phase != Phase::Cwr && self.cc.heeds_mark() {
            self.recovery.point = self.nxt;
            self.reduce_for_ecn(ctx, t);
            if t.recovery == Recovery::PrrNs3 && self.prr_governs(t) {
                self.reduce_rate_as_ns3(info.delivered, true, false);
            }
        }
        self.ecn.echo
    }

    pub(super) fn reduce_for_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let before = self.window();
        self.cc.on_ecn(&self.congestion(ctx));
        self.ecn.cwr_end = self.nxt;
        self.tlp.to = 0;
        self.ecn.send_cwr = true;
        self.phase = Phase::Cwr;
        self.start_prr(t, before);
        self.recovery.window = if t.ecn_by_prr && !self.profile.own_recovery { before } else { -1.0 };
        self.recovery.left_inflated = false;
    }

    /// Ends a reduction for ECN once the data outstanding at its start is acknowledged.
    pub(super) fn leave_cwr(&mut self, ctx: &NodeCtx<impl Effects>) {
        if self.phase == Phase::Cwr && self.una > self.ecn.cwr_end {
            self.phase = Phase::Open;
            self.cc.on_recovered(ctx.now, self.board.pipe());
        }
    }
}
