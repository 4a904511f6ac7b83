//! SLEEK: loss detection of NSCC's sender if switches do not trim.
//!
//! A recovery begins with more packets out of order than spreading explains, or with a probe whose response shows
//! little queueing. In a recovery all missing packets are retransmitted, once per pass, whatever the window. Rules of
//! uet-htsim (40ccb05, `runSleek`).

use incast_cc::Time;
use std::ops::Range;

/// Round trips without an ACK after which the first probe goes, while there is more to send.
const FIRST: u64 = 3;
/// Round trips after which an unanswered probe is followed by another.
const NEXT: u64 = 5;
/// Smallest threshold of out-of-order packets.
const MIN: i64 = 5;

/// State of a sender.
#[derive(Debug)]
pub struct Sleek {
    /// Target of the queueing delay.
    target: Time,
    /// End of the recovery: all packets before this number have arrived.
    until: Option<u32>,
    /// Progress of the pass.
    pass: u32,
    /// Number and time of the last probe.
    probe: (u32, Time),
    /// Time of the next probe, and time of the timer.
    due: Time,
    fires: Time,
}

/// Threshold of out-of-order packets for a recovery, from the window, the largest window and the segment size in bytes.
fn too_many((cwnd, max, mss): (i64, i64, i64)) -> u32 {
    ((cwnd * 3 / 2).min(max).max(MIN * mss) / mss) as u32
}

impl Sleek {
    /// State for a target of the queueing delay.
    pub fn new(target: Time) -> Sleek {
        let never = Time::NEVER;
        Sleek { target, until: None, pass: 0, probe: (0, Time::ZERO), due: never, fires: never }
    }

    /// Returns true in a recovery: missing packets go again whatever the window.
    pub fn recovers(&self) -> bool {
        self.until.is_some()
    }

    /// Returns whether the recovery covers packet `number`.
    pub fn covers(&self, number: u32) -> bool {
        self.until.is_some_and(|until| number < until)
    }

    /// Sets the time of the next probe at an ACK: if packets are `missing`, or if there is a `backlog`.
    pub fn await_ack(&mut self, now: Time, rtt: Time, (missing, backlog): (bool, bool)) {
        self.due = match (missing, backlog) {
            (false, false) => Time::NEVER,
            (_, true) => now + rtt * FIRST,
            (true, false) => now + rtt + self.target,
        };
    }

    /// Time at which to set a timer, unless one fires before the next probe is due.
    pub fn arms(&mut self) -> Option<Time> {
        let arms = self.due < self.fires;
        if arms {
            self.fires = self.due;
        }
        arms.then_some(self.due)
    }

    /// Handles the timer. Returns the number of the probe to be sent, if one is due.
    pub fn probes(&mut self, now: Time, rtt: Time) -> Option<u32> {
        if self.fires != now {
            return None;
        }
        self.fires = Time::NEVER;
        if self.due > now {
            return None;
        }
        self.probe = (self.probe.0 + 1, now);
        self.due = now + rtt * NEXT;
        Some(self.probe.0)
    }

    /// Round-trip time of probe `number`, if it is the last.
    pub fn took(&self, number: u32, now: Time) -> Option<Time> {
        (self.probe.0 == number).then(|| now - self.probe.1)
    }

    /// Handles an ACK of all before `next`, with `early` packets out of order; `end` is the next new packet. `probe`:
    /// queueing delay, if the ACK answers a probe. `lost`: packets wait to be retransmitted. Returns the packet numbers
    /// of the pass: those in flight among them count as lost.
    pub fn on_ack(
        &mut self,
        (next, early): (u32, u32),
        end: u32,
        probe: Option<Time>,
        window: (i64, i64, i64),
        lost: bool,
    ) -> Range<u32> {
        if probe.is_some_and(|delay| delay < self.target) {
            (self.until, self.pass) = (Some(end), next);
        }
        if self.until.is_some_and(|until| next >= until) {
            self.until = None;
        }
        if self.until.is_none() && early >= too_many(window) && !lost {
            self.until = Some(end);
        }
        let (cwnd, _, mss) = window;
        let until = self.until.unwrap_or(0).min(next.saturating_add((cwnd / mss) as u32));
        self.pass.max(next)..until
    }

    /// Notes that the pass took `number` for lost.
    pub fn passed(&mut self, number: u32) {
        self.pass = number + 1;
    }

    /// Takes the pass back to `number`, which timed out.
    pub fn passes_again_from(&mut self, number: u32) {
        self.pass = self.pass.min(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: i64 = 263_016;

    #[test]
    fn so_many_out_of_order_are_too_many() {
        assert_eq!(too_many((20_480, MAX, 4096)), 7, "30,720 bytes");
        assert_eq!(too_many((4_160, MAX, 4096)), 5);
        assert_eq!(too_many((MAX, MAX, 4096)), 64, "the largest window");
    }

    #[test]
    fn a_recovery_passes_over_what_is_missing_once_and_ends_with_what_was_sent() {
        let mut sleek = Sleek::new(Time::us(10));
        let window = (20_480, MAX, 4096);
        assert!(sleek.on_ack((3, 6), 30, None, window, false).is_empty() && !sleek.recovers());
        assert!(sleek.on_ack((3, 7), 30, None, window, true).is_empty(), "others wait to be sent again");
        // a window of five packets, from the first missing one
        assert_eq!(sleek.on_ack((3, 7), 30, None, window, false), 3..8);
        (3..8).for_each(|number| sleek.passed(number));
        assert!(sleek.on_ack((3, 7), 31, None, window, false).is_empty());
        assert_eq!(sleek.on_ack((6, 4), 31, None, window, false), 8..11, "in recovery it takes any number");
        sleek.passes_again_from(7);
        assert_eq!(sleek.on_ack((6, 4), 31, None, window, false), 7..11);
        assert_eq!(sleek.on_ack((28, 0), 40, None, window, false), 28..30, "of what was sent when it began");
        assert!(sleek.on_ack((30, 0), 40, None, window, false).is_empty() && !sleek.recovers());
    }

    #[test]
    fn a_probe_that_is_back_soon_begins_a_pass_anew() {
        let (mut sleek, rtt, window) = (Sleek::new(Time::us(10)), Time::us(14), (20_480, MAX, 4096));
        sleek.await_ack(Time::us(100), rtt, (true, true));
        assert_eq!(sleek.arms(), Some(Time::us(142)));
        // all is sent: one round trip and the target
        sleek.await_ack(Time::us(110), rtt, (true, false));
        assert_eq!(sleek.arms(), Some(Time::us(134)));
        sleek.await_ack(Time::us(120), rtt, (true, false));
        assert_eq!((sleek.arms(), sleek.probes(Time::us(134), rtt), sleek.arms()), (None, None, Some(Time::us(144))));
        assert_eq!((sleek.probes(Time::us(142), rtt), sleek.probes(Time::us(144), rtt)), (None, Some(1)));
        assert_eq!(sleek.arms(), Some(Time::us(214)), "five round trips after it");
        assert_eq!((sleek.took(1, Time::us(150)), sleek.took(0, Time::us(150))), (Some(Time::us(6)), None));
        assert!(sleek.on_ack((3, 1), 9, Some(Time::us(10)), window, false).is_empty(), "not below the target");
        assert_eq!(sleek.on_ack((3, 1), 9, Some(Time::us(9)), window, false), 3..8);
        (3..8).for_each(|number| sleek.passed(number));
        assert_eq!(sleek.on_ack((3, 1), 9, Some(Time::us(9)), window, false), 3..8, "each probe anew");
        sleek.await_ack(Time::us(150), rtt, (false, false));
        assert_eq!((sleek.probes(Time::us(214), rtt), sleek.arms()), (None, None));
    }
}
