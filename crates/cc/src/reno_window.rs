//! Window shared by NewReno and the controllers derived from it: slow start and congestion avoidance of RFC 5681
//! section 3.1, a reduction, and a restart from one segment. Controllers own one and choose the size of the
//! reduction; none of them copies the growth.

use crate::{Ack, Env, Idle, Phase, Timeout};

choice! {
    /// Unit counted in slow start.
    SlowStart {
        /// RFC 5681: min(newly acked, mss) for each ACK.
        Ack = "ack",
        /// Linux: all newly acked bytes, up to ssthresh; the rest counts in avoidance.
        Segments = "segments",
    }
}

choice! {
    /// Growth by one segment per round trip in congestion avoidance.
    Avoidance {
        /// RFC 5681 equation (3): mss * mss / cwnd for each ACK.
        Ack = "ack",
        /// Count of bytes recommended by RFC 5681 (and Linux' count of segments): one whole segment each time a
        /// window of bytes has been acknowledged.
        Bytes = "bytes",
        /// htsim: min(mss, room) * mss / cwnd for each ACK, with room = the window minus the bytes in flight. Neither
        /// ECN-Echo nor a reduction prevents growth, and slow start adds min(mss, room, ssthresh - cwnd).
        Room = "room",
    }
}

choice! {
    /// Number format of the window.
    Arithmetic {
        /// Real numbers of bytes.
        Real = "real",
        /// ns-3's integers: an ACK counts the whole segments it delivers and carries the rest over to the next ACK.
        /// The window is a whole number of segments. Reductions and steps are whole bytes. Slow start that counts
        /// segments leaves nothing over for avoidance. The count towards the next segment of avoidance survives a
        /// reduction.
        Whole = "whole",
        /// htsim's integers: reductions, and steps of avoidance into the room, are whole bytes, rounded down.
        Bytes = "bytes",
        /// Linux: whole segments, reductions rounded down. Growth counts the segments newly reported by an ACK or its
        /// SACK blocks, not the segments it covers.
        Segments = "segments",
    }
}

choice! {
    /// Timeouts of the same data that lower ssthresh.
    Timeouts {
        /// RFC 5681 section 3.1: the first.
        First = "first",
        /// ns-3: every one.
        Every = "every",
        /// Linux: the first, unless it comes during fast recovery or an ECN reduction: the window was already reduced
        /// for this data.
        Once = "once",
    }
}

choice! {
    /// Part of an ACK that whole arithmetic counts if the ACK repairs a timeout without ending the repair.
    Repairs {
        /// Bytes newly reported.
        Delivered = "delivered",
        /// Full advance of the cumulative ACK, including bytes reported by SACK before (ns-3.35).
        Advance = "advance",
    }
}

choice! {
    /// Quantity that a loss halves.
    Halve {
        /// RFC 5681 equation (4): the bytes in flight.
        Flight = "flight",
        /// Linux: the window.
        Cwnd = "cwnd",
    }
}

choice! {
    /// Effect of an idle time longer than the retransmission timeout.
    IdleRule {
        /// RFC 5681 section 4.1: the window falls to the initial one at once.
        Restart = "restart",
        /// RFC 2861 and Linux: the window is halved for every timeout that has passed, down to the
        /// initial one, and ssthresh remembers three quarters of it.
        Decay = "decay",
    }
}

params! {
    /// Unit counted in slow start: "ack" adds at most one segment per ACK, "segments" adds everything that the ACK
    /// covers.
    slow_start_per: SlowStart = "ack", "", "RFC 5681 section 3.1; Linux counts segments";
    /// Growth by one segment per round trip in congestion avoidance: "ack" adds mss*mss/cwnd per ACK, "bytes" one
    /// segment per window of acknowledged bytes, "room" min(mss, room)*mss/cwnd per ACK, marked or not, with room =
    /// the window minus the bytes in flight (htsim).
    avoidance: Avoidance = "ack", "", "RFC 5681 equation (3)";
    /// Smallest window after a reduction.
    floor: f64 = "2.0", "segments", "RFC 5681 equation (4)", "a number of at least 0" => |x| *x >= 0.0;
    /// Number format of the window: "real", "whole" for ns-3's integers (whole segments counted, the rest carried
    /// over; reductions and rates rounded down), "segments" for Linux' (whole segments, reductions rounded down;
    /// growth by the segments newly reported by an ACK), or "bytes" for htsim's (reductions and steps into the room
    /// rounded down to bytes).
    arithmetic: Arithmetic = "real", "",
        "own choice; ns-3 counts whole segments and bytes, Linux segments, htsim bytes";
    /// Timeouts that lower ssthresh: the "first" of the same data, "every" one, or "once": the first unless the
    /// window is already being reduced for this data.
    timeouts: Timeouts = "first", "", "RFC 5681 section 3.1; ns-3 takes every one, Linux once";
    /// Part of an ACK that whole arithmetic counts if the ACK repairs a timeout without ending the repair: bytes
    /// "delivered" that no SACK block had reported, or the full "advance" of the ACK.
    repairs: Repairs = "delivered", "", "own choice, as ns-3.43; ns-3.35 has advance";
    /// Effect of an idle time longer than the retransmission timeout: "restart" from the initial window, or "decay"
    /// by halves for every timeout that has passed, with ssthresh at three quarters of the window
    /// (transport.idle_restart switches both off).
    idle: IdleRule = "restart", "", "RFC 5681 section 4.1; Linux follows RFC 2861";
    /// Initial slow-start threshold; "none": slow start lasts until a loss or a mark ends it.
    initial_ssthresh: Option<f64> = "none", "segments",
        "RFC 5681 section 3.1: arbitrarily high",
            "\"none\" or a number of at least 1" => |x| x.is_none_or(|x| x >= 1.0);
}

/// Methods of [`Controller`](crate::Controller) answered by a `window: RenoWindow`.
macro_rules! by_window {
    () => {
        fn on_idle(&mut self, idle: &$crate::Idle) {
            self.window.idle(idle);
        }

        #[inline]
        fn cwnd(&self) -> f64 {
            self.window.cwnd
        }

        fn ssthresh(&self) -> f64 {
            self.window.ssthresh
        }

        fn in_slow_start(&self) -> bool {
            self.window.cwnd < self.window.ssthresh
        }
    };
}
pub(crate) use by_window;

/// Extent of a timeout's losses, for ns-3's count of the ACK that ends their repair: only the bytes beyond the losses
/// count, as in its `TcpSocketBase`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AfterTimeout {
    /// End of the lost data, bytes; 0 if there is nothing to repair.
    end: u64,
}

impl AfterTimeout {
    /// Notes a timeout.
    pub(crate) fn begin(&mut self, event: &Timeout) {
        self.end = event.sent;
    }

    /// Bytes beyond the losses that the ACK acknowledges, if the ACK ends the repair. A mark ends it too, without
    /// this exception.
    pub(crate) fn beyond(&mut self, ack: &Ack) -> Option<u64> {
        if self.end == 0 || ack.phase == Phase::Loss {
            return None;
        }
        let end = core::mem::take(&mut self.end);
        (ack.phase == Phase::Open && ack.round.has_reached(end)).then(|| ack.round.acked - end)
    }
}

/// `cwnd` and `ssthresh` in bytes, and their changes.
#[derive(Clone, Debug)]
pub struct RenoWindow {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) mss: f64,
    initial: f64,
    /// Towards the next segment of avoidance: bytes, or segments where the arithmetic is whole.
    counted: f64,
    /// Delivered bytes that do not fill a segment yet.
    left_over: f64,
    /// True if a recovery has just ended.
    recovered: bool,
    after_timeout: AfterTimeout,
    /// Timeouts of the connection, or since [`RenoWindow::forget_timeouts`].
    timeouts: u32,
    /// `cwnd` and `ssthresh` to restore if the latest reduction was spurious.
    before: (f64, f64),
    rules: Params,
    halve: Halve,
}

impl RenoWindow {
    /// Starts at the initial window, in slow start unless the threshold is lower; `halve` is the quantity that a loss
    /// halves.
    pub(crate) fn new(env: &Env, rules: Params, halve: Halve) -> RenoWindow {
        let mss = f64::from(env.mss);
        RenoWindow {
            cwnd: env.initial_window,
            ssthresh: rules.initial_ssthresh.map_or(f64::INFINITY, |segments| segments * mss),
            mss,
            initial: env.initial_window,
            counted: 0.0,
            left_over: 0.0,
            recovered: false,
            after_timeout: AfterTimeout::default(),
            timeouts: 0,
            before: (0.0, 0.0),
            rules,
            halve,
        }
    }

    /// Starts without slow start: the threshold is at most the initial window.
    pub(crate) fn in_avoidance(self) -> RenoWindow {
        RenoWindow { ssthresh: self.cwnd.min(self.ssthresh), ..self }
    }

    /// Whole segments that an ACK counts for, in whole arithmetic: the segments it delivers, those it covers if it
    /// ends a recovery, those beyond the losses if it ends the repair of a timeout.
    pub(crate) fn whole_segments(&mut self, ack: &Ack) -> f64 {
        if ack.acked == 0 {
            return 0.0;
        }
        let advance = self.rules.repairs == Repairs::Advance && ack.phase == Phase::Loss;
        let bytes = self.left_over + if advance { ack.acked } else { ack.delivered } as f64;
        let segments = libm::floor(bytes / self.mss);
        self.left_over = bytes - segments * self.mss;
        let recovered = core::mem::take(&mut self.recovered).then_some(ack.acked);
        let instead = self.after_timeout.beyond(ack).or(recovered);
        instead.map_or(segments, |bytes| libm::floor(bytes as f64 / self.mss))
    }

    /// Bytes that an estimate counts for an ACK of `segments` whole segments, in whole arithmetic: one segment
    /// for a duplicate or a partial ACK.
    pub(crate) fn whole_bytes(&self, ack: &Ack, segments: f64) -> u64 {
        let segments = if ack.acked == 0 || ack.phase == Phase::Recovery { 1.0 } else { segments };
        (segments * self.mss) as u64
    }

    /// Bytes that an ACK counts for.
    #[inline]
    pub(crate) fn counts(&self, ack: &Ack) -> u64 {
        if self.in_segments() { ack.delivered.div_ceil(self.mss as u64) * self.mss as u64 } else { ack.acked }
    }

    /// True if the window is kept in whole segments.
    #[inline]
    pub(crate) fn in_segments(&self) -> bool {
        self.rules.arithmetic == Arithmetic::Segments
    }

    /// True for ns-3's arithmetic.
    pub(crate) fn in_whole(&self) -> bool {
        self.rules.arithmetic == Arithmetic::Whole
    }

    /// Notes the end of a fast recovery.
    pub(crate) fn recovered(&mut self) {
        self.recovered = true;
    }

    /// Growth on an ACK, if the state of the transport allows any: not during a reduction or recovery, not for an ACK
    /// with ECN-Echo (its reduction follows), not while something else than the window limits sending. After a
    /// timeout marks do not prevent growth: the window is one segment already, and no reduction follows.
    #[inline]
    pub(crate) fn grow(&mut self, ack: &Ack) {
        if self.rules.arithmetic == Arithmetic::Whole {
            let segments = self.whole_segments(ack);
            self.grow_whole(ack, segments);
            return;
        }
        if self.rules.avoidance == Avoidance::Room {
            return self.grow_into_room(ack);
        }
        let left = self.slow_start(ack);
        match self.rules.avoidance {
            Avoidance::Ack if left > 0.0 => self.cwnd += self.mss * self.mss / self.cwnd,
            Avoidance::Ack | Avoidance::Room => {}
            Avoidance::Bytes => self.count(left, self.cwnd),
        }
    }

    /// Slow start on an ACK, if growth is allowed at all; returns the bytes left for avoidance.
    #[inline]
    pub(crate) fn slow_start(&mut self, ack: &Ack) -> f64 {
        let may_grow = match ack.phase {
            Phase::Open => !ack.ece,
            Phase::Loss => true,
            Phase::Cwr | Phase::Recovery => false,
        };
        if !may_grow || !ack.cwnd_limited || ack.acked == 0 {
            return 0.0;
        }
        let acked = self.counts(ack) as f64;
        if self.cwnd >= self.ssthresh {
            return acked;
        }
        match self.rules.slow_start_per {
            SlowStart::Ack => {
                self.cwnd += acked.min(self.mss);
                0.0
            }
            SlowStart::Segments => {
                let step = acked.min(self.ssthresh - self.cwnd);
                self.cwnd += step;
                acked - step
            }
        }
    }

    /// Adds one segment for each `per` bytes of those acknowledged in avoidance.
    #[inline]
    pub(crate) fn count(&mut self, acked: f64, per: f64) {
        if acked <= 0.0 {
            return;
        }
        if self.counted >= per {
            // counted under a larger window
            self.counted = 0.0;
            self.cwnd += self.mss;
        }
        self.counted += acked;
        let times = libm::floor(self.counted / per);
        self.counted -= times * per;
        self.cwnd += times * self.mss;
    }

    /// Growth on an ACK that counts for `segments` whole segments, as ns-3 does it.
    pub(crate) fn grow_whole(&mut self, ack: &Ack, segments: f64) {
        if self.rules.avoidance == Avoidance::Room {
            return self.grow_into_room(ack);
        }
        if !matches!(ack.phase, Phase::Open | Phase::Loss) || !ack.cwnd_limited || ack.acked == 0 {
            return;
        }
        let mut segments = segments;
        if self.cwnd < self.ssthresh && segments > 0.0 {
            match self.rules.slow_start_per {
                SlowStart::Ack => {
                    self.cwnd += self.mss;
                    segments -= 1.0;
                    if self.cwnd < self.ssthresh {
                        return;
                    }
                }
                SlowStart::Segments => {
                    self.cwnd = (self.cwnd + segments * self.mss).min(self.ssthresh);
                    return;
                }
            }
        }
        if self.cwnd < self.ssthresh {
            return;
        }
        match self.rules.avoidance {
            Avoidance::Ack if segments > 0.0 => {
                self.cwnd += libm::floor((self.mss * self.mss / self.cwnd).max(1.0));
            }
            Avoidance::Ack | Avoidance::Room => {}
            Avoidance::Bytes => {
                let window = libm::floor(self.cwnd / self.mss).max(1.0);
                if self.counted >= window {
                    self.counted = 0.0;
                    self.cwnd += self.mss;
                }
                self.counted += segments;
                let windows = libm::floor(self.counted / window);
                self.counted -= windows * window;
                self.cwnd += windows * self.mss;
            }
        }
    }

    /// [`Avoidance::Room`].
    fn grow_into_room(&mut self, ack: &Ack) {
        let room = (ack.round.acked as f64 + self.cwnd - ack.round.sent as f64).min(self.mss).max(0.0);
        if ack.phase == Phase::Recovery || !ack.cwnd_limited || ack.acked == 0 {
            return;
        }
        self.cwnd += if self.cwnd < self.ssthresh {
            room.min(self.ssthresh - self.cwnd)
        } else {
            self.in_kind(room * self.mss / self.cwnd)
        };
    }

    /// Half of what is in flight (RFC 5681 equation (4), before its floor), or of the window in force.
    pub(crate) fn half(&self, in_flight: u64, in_force: f64) -> f64 {
        self.cut_of(in_flight, in_force) / 2.0
    }

    /// Quantity that a reduction applies to, bytes.
    pub(crate) fn cut_of(&self, in_flight: u64, in_force: f64) -> f64 {
        match self.halve {
            Halve::Flight => in_flight as f64,
            Halve::Cwnd => in_force,
        }
    }

    fn least(&self) -> f64 {
        self.rules.floor * self.mss
    }

    fn in_kind(&self, window: f64) -> f64 {
        match self.rules.arithmetic {
            Arithmetic::Real => window,
            Arithmetic::Whole | Arithmetic::Bytes => libm::floor(window),
            Arithmetic::Segments => libm::floor(window / self.mss) * self.mss,
        }
    }

    /// Three quarters of the window: ns-3's whole bytes, or half plus a quarter of Linux' segments, each rounded
    /// down.
    pub(crate) fn three_quarters(&self) -> f64 {
        match self.rules.arithmetic {
            Arithmetic::Whole => libm::floor(3.0 * self.cwnd / 4.0),
            _ => self.in_kind(self.cwnd / 2.0) + self.in_kind(self.cwnd / 4.0),
        }
    }

    /// Resets the count towards the next segment, unless it survives a reduction.
    fn forget_count(&mut self) {
        if self.rules.arithmetic != Arithmetic::Whole {
            self.counted = 0.0;
        }
    }

    /// Reduces to `window` bytes or the floor and ends slow start.
    pub(crate) fn reduce(&mut self, window: f64) {
        self.remember();
        self.ssthresh = self.in_kind(window).max(self.least());
        self.cwnd = self.ssthresh;
        self.forget_count();
    }

    /// Sets the threshold to `window` bytes or the floor; a smaller window stays, in slow start.
    pub(crate) fn bound(&mut self, window: f64) {
        let cwnd = self.cwnd;
        self.reduce(window);
        self.cwnd = self.cwnd.min(cwnd);
    }

    /// Ends a reduction with `window` bytes or the floor, possibly not the intended value; the state for
    /// [`undo`](Self::undo) stays.
    pub(crate) fn settle(&mut self, window: f64) {
        self.ssthresh = self.in_kind(window).max(self.least());
        self.cwnd = self.ssthresh;
    }

    /// Ends slow start; the window stays.
    pub(crate) fn end_slow_start(&mut self) {
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }

    /// Limits the window to `window` bytes; ssthresh stays.
    pub(crate) fn deflate(&mut self, window: f64) {
        if window < self.cwnd {
            self.cwnd = window;
            self.forget_count();
        }
    }

    /// After an idle time: the restart window min(IW, cwnd), at once or step by step.
    pub(crate) fn idle(&mut self, idle: &Idle) {
        match self.rules.idle {
            IdleRule::Restart => self.deflate(self.initial),
            IdleRule::Decay => {
                self.ssthresh = self.ssthresh.max(self.three_quarters());
                for _ in 0..idle.timeouts {
                    if self.cwnd <= self.initial {
                        break;
                    }
                    self.cwnd = self.in_kind(self.cwnd / 2.0).max(self.initial);
                }
            }
        }
    }

    /// Notes the window, and raises the threshold to three quarters of it (Linux).
    fn remember(&mut self) {
        self.before = (self.cwnd, self.ssthresh.max(self.three_quarters()));
    }

    /// Undoes a spurious reduction: window and threshold are at least their previous values.
    pub(crate) fn undo(&mut self) {
        self.cwnd = self.cwnd.max(self.before.0);
        self.ssthresh = self.ssthresh.max(self.before.1);
    }

    /// Restarts the count of timeouts.
    pub(crate) fn forget_timeouts(&mut self) {
        self.timeouts = 0;
    }

    /// Restarts after a timeout: slow start from one segment up to `window` bytes. Repeated timeouts of the same data
    /// leave ssthresh alone (RFC 5681 section 3.1) unless every one counts. Returns whether it was lowered.
    pub(crate) fn restart(&mut self, event: &Timeout, window: f64) -> bool {
        let lowers = match self.rules.timeouts {
            Timeouts::First => event.consecutive <= 1,
            Timeouts::Every => true,
            Timeouts::Once => event.consecutive <= 1 && !matches!(event.phase, Phase::Cwr | Phase::Recovery),
        };
        if lowers {
            self.remember();
            self.ssthresh = self.in_kind(window).max(self.least());
        }
        self.timeouts = self.timeouts.saturating_add(1);
        let empties = event.emptying > 0 && self.timeouts >= event.emptying;
        self.cwnd = if empties { 0.0 } else { self.mss };
        self.recovered = false;
        self.after_timeout.begin(event);
        self.forget_count();
        lowers
    }
}
