//! Losses (section 3.6, algorithm 1): a reduction by `max_mdf` when a hole is found, once an RTT; the same at a
//! timeout, and the smallest window at the `retx_reset_threshold`-th consecutive timeout. The transport retransmits,
//! without a recovery window of its own.

use super::emulation::cycles::Cycles;
use super::sender::{DelaySignal, Family};
use super::window::Moment;
use crate::{Congestion, Timeout};

impl<R: DelaySignal> Family<R> {
    /// Reacts to a hole. Returns the window and the endpoint window to their bounds.
    pub(super) fn lose(&mut self, event: &Congestion) {
        if self.c.other.cycles {
            return self.in_cycles(Cycles::lose);
        }
        self.rare.retransmit_cnt = 0;
        if self.leaves_loss_to_transport(event.in_flight) {
            return;
        }
        self.cut(Moment { now: event.now, rtt: self.gate_rtt, restarts: true }, false);
    }

    /// The retransmission timer fired.
    pub(super) fn time_out(&mut self, event: &Timeout) {
        if self.c.other.cycles {
            return self.in_cycles(|cycles| cycles.time_out(event));
        }
        self.timed_out = true;
        self.rare.retransmit_cnt += 1;
        let restarts = self.prepare_timeout(event);
        let reset = self.rare.retransmit_cnt >= self.rare.retx_reset_threshold;
        self.cut(Moment { now: event.now, rtt: self.gate_rtt, restarts }, reset);
    }

    /// Reduces both windows, or sets them to the smallest.
    fn cut(&mut self, at: Moment, reset: bool) {
        let endpoint = self.rare.endpoint.as_mut().filter(|endpoint| !endpoint.is_idle());
        if reset {
            self.fcwnd.reset(&self.c, at);
        } else {
            self.fcwnd.on_loss(&self.c, at);
        }
        if let Some(endpoint) = endpoint {
            if reset {
                endpoint.ecwnd.reset(&self.c, at);
            } else {
                endpoint.ecwnd.on_loss(&self.c, at);
            }
            self.ecwnd = endpoint.cap(&mut self.fcwnd.w);
        }
        self.publish();
    }
}
