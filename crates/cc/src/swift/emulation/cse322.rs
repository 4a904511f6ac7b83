//! Swift as implemented for ns-3 by a student of CSE 322 (Bangladesh University of Engineering and Technology, 2022),
//! from sections 4 and 5 of the report "A Comparative Study on Performance of Different Congestion Control
//! Algorithms".
//!
//! ```text
//! cwnd < ssthresh:      cwnd += one segment an ACK that brings one            NewReno's slow start in ns-3
//! then rtt < target:    w = cwnd / segment;  cwnd = (w + alpha / w acked) segment          whole numbers
//! else, once an RTT:    cwnd *= max(1 - beta (rtt - target) / rtt, 1 - gamma)              gamma = 1: down to nothing
//! always:               cwnd between the multiples of a segment nearest to min_cwnd and max_cwnd
//! ```
//!
//! With alpha = 2 a window of three segments or more does not grow (2 / 3 is 0), and with beta = 4 every round trip
//! of more than 4/3 of the target leaves one segment: beyond 33 us the window is in slow start or one segment.

use crate::swift::sender::{DelaySignal, Family};
use crate::swift::window::{self, Moment};

choice! {
    /// Unit of the smallest and the largest window.
    Bounds {
        /// Packets.
        Packets = "packets",
        /// Bytes, rounded to the nearest whole number of packets, at least one.
        Bytes = "bytes",
    }
}

impl Bounds {
    /// Converts the bounds of a window to packets of `mss` bytes.
    pub(in crate::swift) fn in_packets(self, window: &window::Params, mss: u32) -> window::Params {
        let mut window = *window;
        if self == Bounds::Bytes {
            let nearest = |bytes: f64| libm::round(bytes / f64::from(mss)).max(1.0);
            (window.min_cwnd, window.max_cwnd) = (nearest(window.min_cwnd), nearest(window.max_cwnd));
        }
        window
    }
}

impl<R: DelaySignal> Family<R> {
    /// NewReno's slow start on an ACK for `n` whole packets: the packets left for avoidance, or `None` while the
    /// window stays below ssthresh.
    pub(super) fn slow_start(&mut self, n: f64, at: Moment) -> Option<f64> {
        let below = |family: &Self| family.fcwnd.w * family.c.mss < family.rare.ssthresh;
        if !below(self) {
            return Some(n);
        }
        let before = self.fcwnd.w;
        let taken = n.min(1.0);
        self.fcwnd.w += taken;
        if !below(self) {
            return Some(n - taken);
        }
        self.fcwnd.settle::<false>(&self.c, before, at);
        None
    }
}
