//! The endpoint window: algorithm 1 on a moving average of the endpoint delay and its own target (section 3.3).
//!
//! ```text
//! cwnd = min(fcwnd, ecwnd);   the larger of the two is at most ceiling times the smaller
//! ```
//!
//! The endpoint window begins with the first endpoint delay above zero. Without a model of hosts there is none, and
//! the fabric window is the window.

use super::window::{Constants, Moment, Verdict, Window};
use crate::Time;
use crate::units::ps;

params! {
    /// Target of the smoothed endpoint delay, for the endpoint window.
    endpoint_target: Time = "100us", "", "section 5.4, table 4",
        "a time above 0 with a unit, such as \"100us\"" => |t| *t > Time::ZERO;
    /// Gain of the moving average of the endpoint delay.
    endpoint_gain: f64 = "0.125", "", "own choice, that of RFC 6298's smoothed RTT; not published",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Largest ratio of fabric and endpoint window, in either direction.
    ceiling: f64 = "2.0", "", "own choice; section 3.3 has a ceiling and does not publish it",
        "a number of at least 1" => |x| *x >= 1.0;
}

/// The endpoint window and the delay that it follows.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    target: f64,
    gain: f64,
    ceiling: f64,
    /// Moving average, ps; not a number before the first delay.
    pub(super) delay: f64,
    pub(super) ecwnd: Window,
}

impl Endpoint {
    /// An endpoint window before the first delay.
    pub(super) fn new(p: &Params) -> Endpoint {
        let ecwnd = Window { w: f64::INFINITY, t_last_decrease: Time::ZERO };
        Endpoint { target: ps(p.endpoint_target), gain: p.endpoint_gain, ceiling: p.ceiling, delay: f64::NAN, ecwnd }
    }

    /// True before the first delay.
    pub(super) fn is_idle(&self) -> bool {
        self.delay.is_nan()
    }

    /// Handles a delay above zero; the window begins at `fcwnd`.
    pub(super) fn on_ack(&mut self, c: &Constants, sample: f64, n: f64, at: Moment, fcwnd: f64) {
        if self.is_idle() {
            self.delay = sample;
            self.ecwnd.w = fcwnd;
        } else {
            self.delay += self.gain * (sample - self.delay);
        }
        let verdict = Verdict::of(self.delay, self.target, c.beta);
        self.ecwnd.on_ack::<false>(c, verdict, n, at);
    }

    /// Limits the larger of the two windows by the smaller. It is no decrease for the decrease timer. Returns the
    /// endpoint window.
    pub(super) fn cap(&mut self, fcwnd: &mut f64) -> f64 {
        *fcwnd = fcwnd.min(self.ceiling * self.ecwnd.w);
        self.ecwnd.w = self.ecwnd.w.min(self.ceiling * *fcwnd);
        self.ecwnd.w
    }
}
