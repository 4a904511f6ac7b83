//! A sender that differs from the paper.

use super::cycles::Cycles;
use super::{Counts, Gate, PaceBy, Recovery};
use crate::swift::sender::{DelaySignal, Family};
use crate::swift::window::Moment;
use crate::units::ps;
use crate::{Ack, Phase, Time, Timeout};

impl<R: DelaySignal> Family<R> {
    /// Handles an ACK with any difference from the paper.
    #[inline(never)]
    pub(in crate::swift) fn emulate_ack(&mut self, ack: &Ack) {
        if self.c.other.cycles {
            self.fabric_delay = ps(ack.srtt);
            return self.in_cycles(|cycles| cycles.on_ack(ack));
        }
        self.end_timeouts();
        let recovery = self.c.other.recovery;
        let (rtt, delay) = match (ack.rtt, ack.fabric_delay) {
            (Some(rtt), Some(delay)) => (rtt, ps(delay)),
            // the last measured delay still counts
            _ if recovery == Recovery::NewReno && ack.acked > 0 && !self.fabric_delay.is_nan() => {
                (self.gate_rtt, libm::trunc(self.fabric_delay))
            }
            _ => return,
        };
        self.choose_rtts(rtt, ack.srtt);
        let fcwnd = self.fcwnd.w;
        let verdict = self.judge(ack, delay);
        let mut at = Moment { now: ack.now, rtt: self.gate_rtt, restarts: true };
        if self.c.other.gate == Gate::None {
            at.rtt = Time::ZERO;
        }
        let mut n = match self.c.other.counts {
            _ if self.c.other.counts_segments() => self.count_segments(ack),
            Counts::Delivered => ack.delivered as f64 / self.c.mss,
            Counts::Cumulative => ack.acked as f64 / self.c.mss,
        };
        let mut exit_cut = false;
        match recovery {
            Recovery::NewReno if ack.phase == Phase::Recovery => return,
            Recovery::AtExit => {
                // htsim's duplicates during a recovery do not restart the time of the last decrease
                at.restarts = ack.acked > 0 || ack.phase != Phase::Recovery;
                exit_cut = core::mem::take(&mut self.recovered) && self.fcwnd.can_decrease(at);
            }
            _ => {}
        }
        if self.c.other.slow_start {
            match self.slow_start(n, at) {
                Some(left) => n = left,
                None => return self.publish(),
            }
        }
        self.fcwnd.on_ack::<false>(&self.c, verdict, n, at);
        if exit_cut {
            // reduction for the loss, after the change by the delay
            self.fcwnd.w *= 1.0 - self.c.max_mdf;
            self.fcwnd.settle::<false>(&self.c, f64::INFINITY, at);
        }
        self.hear_endpoint(ack, n, at, fcwnd);
        self.publish();
    }

    /// Passes an event to a window that changes in cycles.
    pub(in crate::swift) fn in_cycles(&mut self, event: impl FnOnce(&mut Cycles)) {
        let Some(cycles) = self.rare.cycles.as_deref_mut() else { return };
        event(cycles);
        let (cwnd, ssthresh) = (cycles.window.cwnd, cycles.window.ssthresh);
        self.rare.ssthresh = ssthresh;
        self.hold(cwnd);
    }

    /// Chooses the round trips of decreases and of pacing.
    fn choose_rtts(&mut self, rtt: Time, srtt: Time) {
        self.gate_rtt = match self.c.other.gate {
            Gate::Rtt | Gate::None => rtt,
            Gate::Srtt => srtt,
            Gate::PriorSrtt => self.smooth(rtt),
        };
        self.pace_rtt = match self.c.other.pace_by {
            PaceBy::Rtt => rtt,
            PaceBy::Srtt => srtt,
        };
    }

    /// Returns the smoothed RTT before `sample`, then adds it; each product is rounded down by itself (htsim).
    fn smooth(&mut self, sample: Time) -> Time {
        let prior = self.rare.srtt;
        self.rare.srtt = if prior > 0 { 7 * prior / 8 + sample.0 / 8 } else { sample.0 };
        Time(prior)
    }

    /// Segments that an ACK counts for, in whole bytes and segments (ns-3).
    fn count_segments(&mut self, ack: &Ack) -> f64 {
        let rare = &mut *self.rare;
        rare.rest += ack.delivered as f64;
        let whole = libm::floor(rare.rest / self.c.mss);
        rare.rest -= whole * self.c.mss;
        // SACKed data of the recovery counts at its end
        let ends = self.c.other.recovery == Recovery::NewReno && core::mem::take(&mut self.recovered);
        let recovered = ends.then_some(ack.acked);
        let instead = rare.after_timeout.beyond(ack).or(recovered);
        instead.map_or(whole, |bytes| libm::floor(bytes as f64 / self.c.mss))
    }

    /// Handles a loss of `in_flight` bytes; true if the transport's recovery determines the window.
    pub(in crate::swift) fn leaves_loss_to_transport(&mut self, in_flight: u64) -> bool {
        self.halve(in_flight);
        self.c.other.recovery == Recovery::AtExit
    }

    /// Effects of a timeout besides the reduction; false if it does not restart the time of the last decrease
    /// (htsim).
    pub(in crate::swift) fn prepare_timeout(&mut self, event: &Timeout) -> bool {
        self.rare.after_timeout.begin(event);
        if event.consecutive <= 1 {
            self.halve(event.in_flight);
        }
        if self.c.other.gate == Gate::PriorSrtt {
            self.gate_rtt = Time(self.rare.srtt);
        }
        self.c.other.recovery != Recovery::AtExit
    }

    /// Sets NewReno's threshold for `in_flight` bytes (RFC 5681 equation 4).
    fn halve(&mut self, in_flight: u64) {
        if self.c.other.recovery == Recovery::NewReno {
            self.rare.ssthresh = (in_flight as f64 / 2.0).max(2.0 * self.c.mss);
        }
    }

    /// The transport's recovery ended.
    pub(in crate::swift) fn end_recovery(&mut self) {
        if self.c.other.cycles {
            return self.in_cycles(Cycles::recovered);
        }
        match self.c.other.recovery {
            Recovery::Own => return,
            Recovery::NewReno => {
                self.fcwnd.w = self.rare.ssthresh / self.c.mss;
                self.publish();
            }
            Recovery::AtExit => {}
        }
        self.recovered = true;
    }
}
