//! Retransmission timer (RFC 6298): its deadline, what it waits for, and the count of timeouts. The event in the queue
//! is lazy: a later deadline leaves it alone, and it is set again when it fires early.

use incast_cc::Time;

/// Event that the timer waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    /// An ACK (RFC 6298).
    Ack,
    /// The peer's window opens.
    Window,
    /// A tail-loss probe is due.
    Probe,
    /// Overtaken segments that may still arrive.
    Reordering,
}

/// Consequence of an event of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fired {
    /// The event is outdated, or the timer is off.
    Nothing,
    /// The deadline has moved: the event is to be set for this time.
    Later(Time),
    /// The timer has expired.
    Expired,
}

/// Retransmission timer.
#[derive(Debug)]
pub(super) struct RetransmissionTimer {
    pub waiting: Waiting,
    /// Time of expiry; [`Time::NEVER`] if off.
    deadline: Time,
    /// Time of the timer's event.
    at: Time,
    /// Consecutive timeouts.
    pub consecutive: u32,
    /// Consecutive probes of a closed window.
    pub probes: u8,
}

impl RetransmissionTimer {
    /// A timer that is off.
    pub fn new() -> RetransmissionTimer {
        RetransmissionTimer { waiting: Waiting::Ack, deadline: Time::NEVER, at: Time::NEVER, consecutive: 0, probes: 0 }
    }

    /// True if it is off.
    #[inline(always)]
    pub fn is_off(&self) -> bool {
        self.deadline == Time::NEVER
    }

    /// True if its deadline has come.
    pub fn is_due(&self, now: Time) -> bool {
        self.deadline <= now
    }

    /// Turns it off.
    #[inline(always)]
    pub fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Keeps it on while its expiry is handled at `now`.
    pub fn hold(&mut self, now: Time) {
        self.deadline = now;
    }

    /// Turns it off once nothing is outstanding. The answer to a probe of a window that is still closed leaves the
    /// persist timer alone; `opens`: the peer's window reaches further.
    #[inline(always)]
    pub fn rest(&mut self, opens: bool) {
        if self.waiting != Waiting::Window || opens {
            self.stop();
            self.waiting = Waiting::Ack;
        }
    }

    /// Sets the deadline. Returns the time of a new event, if one is needed.
    #[inline]
    pub fn set(&mut self, deadline: Time) -> Option<Time> {
        self.deadline = deadline;
        if self.at <= deadline {
            return None;
        }
        self.at = deadline;
        Some(deadline)
    }

    /// Handles an event of the timer at `now`.
    pub fn fire(&mut self, now: Time) -> Fired {
        if self.at != now {
            return Fired::Nothing;
        }
        self.at = Time::NEVER;
        if self.is_off() {
            Fired::Nothing
        } else if let Some(later) = (self.deadline > now).then(|| self.set(self.deadline)).flatten() {
            Fired::Later(later)
        } else {
            Fired::Expired
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fired, RetransmissionTimer, Waiting};
    use incast_cc::Time;

    #[test]
    fn a_later_deadline_needs_no_event_and_an_earlier_one_does() {
        let mut timer = RetransmissionTimer::new();
        assert!(timer.is_off() && !timer.is_due(Time::ms(99)));
        assert_eq!(timer.set(Time::ms(10)), Some(Time::ms(10)));
        assert_eq!(timer.set(Time::ms(20)), None);
        assert_eq!(timer.set(Time::ms(5)), Some(Time::ms(5)));
        assert_eq!(timer.fire(Time::ms(5)), Fired::Expired);
    }

    #[test]
    fn an_event_that_fires_early_is_set_again() {
        let mut timer = RetransmissionTimer::new();
        timer.set(Time::ms(10));
        timer.set(Time::ms(30));
        assert_eq!(timer.fire(Time::ms(10)), Fired::Later(Time::ms(30)));
        assert_eq!(timer.fire(Time::ms(20)), Fired::Nothing, "of an earlier setting");
        assert_eq!(timer.fire(Time::ms(30)), Fired::Expired);
        timer.set(Time::ms(40));
        timer.stop();
        assert_eq!(timer.fire(Time::ms(40)), Fired::Nothing);
    }

    #[test]
    fn the_answer_to_a_probe_of_a_closed_window_leaves_the_persist_timer_alone() {
        let mut timer = RetransmissionTimer::new();
        timer.set(Time::ms(10));
        timer.waiting = Waiting::Window;
        timer.rest(false);
        assert!(!timer.is_off());
        timer.rest(true);
        assert!(timer.is_off() && timer.waiting == Waiting::Ack);
    }
}
