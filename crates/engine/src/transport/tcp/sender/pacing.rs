//! Pacing: at the controller's rate or gap, or at a multiple of the window per round trip.

use super::Sender;
use crate::event::order::Timer;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::{Controller, Pacing, Time};

impl Sender {
    /// Charges a sent packet to the pacing rate.
    #[inline]
    pub(super) fn pace(&mut self, ctx: &NodeCtx<impl Effects>, len: u32) {
        let t = ctx.net.transport(self.transport);
        let rate = match self.cc.pacing() {
            Pacing::Rate(rate) => rate,
            Pacing::Gap(_) => return,
            Pacing::None => match &t.output.pacing {
                None => return,
                Some(own) if own.restart_at_max && self.recovery.restarting => own.max.as_f64(),
                Some(own) => {
                    if self.rtt.srtt == Time::ZERO {
                        return;
                    }
                    // the last segment of the initial window is paced: the sequence numbers count SYN
                    if ((self.snd.nxt + 1) as f64) <= t.windows.initial_window * self.mss as f64 {
                        return;
                    }
                    let window = self.window();
                    let is_slow_start = window < self.cc.ssthresh() / 2.0;
                    let factor = if is_slow_start { own.slow_start } else { own.avoidance };
                    let window = window.max(self.board.pipe() as f64);
                    (factor * window * 8.0 / self.rtt.srtt.as_secs_f64()).min(own.max.as_f64())
                }
            },
        };
        if rate > 0.0 {
            let gap = Time((len as f64 * 8e12 / rate) as u64);
            // a packet sent in spite of pacing does not delay the paced ones
            if t.output.pacing.is_none() || self.pacing.from <= ctx.now {
                self.pacing.from = self.pacing.from.max(ctx.now) + gap;
            }
        }
    }

    /// Earliest time of the next packet.
    #[inline]
    pub(super) fn paced_until(&self) -> Time {
        match self.cc.pacing() {
            Pacing::Gap(gap) if self.ip.packets > 0 => self.pacing.last_send.saturating_add(gap),
            _ => self.pacing.from,
        }
    }

    /// Returns whether pacing lets a packet go now; sets a timer if not.
    #[inline(always)]
    pub(super) fn pace_lets_go(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        let from = self.paced_until();
        if from > ctx.now && self.timers.pace.advance(from) {
            ctx.timer(from, Timer::Pace(self.ip.flow));
        }
        from <= ctx.now
    }
}
