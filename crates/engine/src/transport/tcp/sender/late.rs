//! Controllers that wait for late segments before they take them for lost ([`incast_cc::Late`]).

use super::*;

impl Sender {
    /// Late segments at `now`: whether a run of them is lost. Others whose time is over are to be sent again.
    pub(super) fn update_late(&mut self, now: u64, t: &TransportSpec) -> bool {
        let wait = self.profile.late.and_then(|late| late.wait).map_or(self.rtt.srtt, |wait| wait.0);
        self.board.update_late(t.dupthresh, now, wait)
    }

    /// A wait for a late segment may be over; the timer is set for the next.
    pub(super) fn watch_late(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(until) = self.board.late_until()
            && self.pacing.at > until
        {
            self.pacing.at = until;
            ctx.timer(until, TimerKind::Pace, self.ip.flow);
        }
    }
}
