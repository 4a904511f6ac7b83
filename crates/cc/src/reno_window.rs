//! The window that NewReno and everything derived from it share: slow start and congestion
//! avoidance of RFC 5681 section 3.1, and the two ways down (a reduction, a restart from one
//! segment). Controllers own one and decide how far down; none of them copies the way up.

use crate::{Ack, Env, Phase, Timeout};

choice! {
    /// What slow start counts.
    SlowStart {
        /// RFC 5681: min(newly acked, mss) for each ACK.
        Ack = "ack",
        /// Linux: everything newly acked, up to ssthresh; what is left over goes to avoidance.
        Segments = "segments",
    }
}

choice! {
    /// How congestion avoidance adds one segment a round trip.
    Avoidance {
        /// RFC 5681 equation (3): mss * mss / cwnd for each ACK.
        Ack = "ack",
        /// RFC 5681's recommended count of bytes (and Linux' count of segments): one whole
        /// segment each time a window of bytes has been acknowledged.
        Bytes = "bytes",
    }
}

/// `cwnd` and `ssthresh` in bytes, and how they move.
#[derive(Clone, Debug)]
pub struct RenoWindow {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) mss: f64,
    initial: f64,
    floor: f64,
    counted: f64,
    slow_start: SlowStart,
    avoidance: Avoidance,
}

impl RenoWindow {
    /// The initial window, in slow start. No reduction goes below `floor` segments.
    pub(crate) fn new(env: &Env, floor: f64, slow_start: SlowStart, avoidance: Avoidance) -> RenoWindow {
        let mss = f64::from(env.mss);
        RenoWindow {
            cwnd: env.initial_window,
            ssthresh: f64::INFINITY,
            mss,
            initial: env.initial_window,
            floor: floor * mss,
            counted: 0.0,
            slow_start,
            avoidance,
        }
    }

    /// Growth on an ACK, where the state of the transport allows any: not during a reduction or
    /// recovery, not for an ACK with ECN-Echo (its reduction follows), not while something else
    /// than the window limits sending. After a timeout marks do not hold the window back: it is
    /// one segment already, and no reduction follows.
    pub(crate) fn grow(&mut self, ack: &Ack) {
        let may_grow = match ack.phase {
            Phase::Open => !ack.ece,
            Phase::Loss => true,
            Phase::Cwr | Phase::Recovery => false,
        };
        if !may_grow || !ack.cwnd_limited || ack.acked == 0 {
            return;
        }
        let mut acked = ack.acked as f64;
        if self.cwnd < self.ssthresh {
            match self.slow_start {
                SlowStart::Ack => {
                    self.cwnd += acked.min(self.mss);
                    return;
                }
                SlowStart::Segments => {
                    let step = acked.min(self.ssthresh - self.cwnd);
                    self.cwnd += step;
                    acked -= step;
                }
            }
        }
        match self.avoidance {
            Avoidance::Ack if acked > 0.0 => self.cwnd += self.mss * self.mss / self.cwnd,
            Avoidance::Ack => {}
            Avoidance::Bytes => {
                self.counted += acked;
                let windows = libm::floor(self.counted / self.cwnd);
                self.counted -= windows * self.cwnd;
                self.cwnd += windows * self.mss;
            }
        }
    }

    /// Half of what is in flight (RFC 5681 equation (4), before its floor).
    pub(crate) fn half(in_flight: u64) -> f64 {
        in_flight as f64 / 2.0
    }

    /// A reduction to `window` bytes or the floor; slow start is over.
    pub(crate) fn reduce(&mut self, window: f64) {
        self.ssthresh = window.max(self.floor);
        self.cwnd = self.ssthresh;
        self.counted = 0.0;
    }

    /// At most `window` bytes from now on, ssthresh unchanged.
    pub(crate) fn deflate(&mut self, window: f64) {
        if window < self.cwnd {
            self.cwnd = window;
            self.counted = 0.0;
        }
    }

    /// After an idle time: the restart window min(IW, cwnd) of RFC 5681 section 4.1.
    pub(crate) fn idle(&mut self) {
        self.deflate(self.initial);
    }

    /// A timeout: slow start again from one segment up to `window` bytes. Repeated timeouts of
    /// the same data leave ssthresh alone (RFC 5681 section 3.1).
    pub(crate) fn restart(&mut self, event: &Timeout, window: f64) {
        if event.consecutive <= 1 {
            self.ssthresh = window.max(self.floor);
        }
        self.cwnd = self.mss;
        self.counted = 0.0;
    }
}
