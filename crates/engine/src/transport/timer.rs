//! Expiry times of timers.

use incast_cc::Time;

/// Task of an endpoint in its host's run queue, run once all arrivals of this instant are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// A timer of the endpoint fires, as one of those of a tick.
    Timer,
    /// The application, woken by a packet, runs.
    Application,
    /// Compressed SACKs with this deadline go with those of another receiver.
    Compressed(Time),
}

/// Time of a timer's event; off at [`Time::NEVER`]. Events at other times are outdated.
#[derive(Debug)]
pub struct Alarm(Time);

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm(Time::NEVER)
    }
}

impl Alarm {
    /// Returns whether no event is awaited.
    pub fn is_off(&self) -> bool {
        self.0 == Time::NEVER
    }

    /// Returns whether no event is awaited up to `at`.
    #[inline]
    pub fn is_after(&self, at: Time) -> bool {
        at < self.0
    }

    /// Awaits an event at `at`.
    pub fn set(&mut self, at: Time) {
        self.0 = at;
    }

    /// Sets the timer to `at`, unless it fires before. Returns whether it needs an event at `at`.
    #[inline]
    pub fn advance(&mut self, at: Time) -> bool {
        let earlier = self.is_after(at);
        if earlier {
            self.0 = at;
        }
        earlier
    }

    /// Returns whether the event at `now` is the one awaited, and awaits no other.
    #[inline]
    pub fn fires(&mut self, now: Time) -> bool {
        let fires = self.0 == now;
        if fires {
            self.0 = Time::NEVER;
        }
        fires
    }
}

/// Expiry of a timer set at `now` for `wait`: exact, or on the tick of a kernel's timer wheel. A slot is wider the
/// longer the wait, and a timer never fires early.
#[inline]
pub fn fires_at(tick: Time, now: Time, wait: Time) -> Time {
    if tick == Time::ZERO { now.saturating_add(wait) } else { on_wheel(tick, now, wait) }
}

/// Expiry of a timer with `deadline` if all timers are scanned every `scan`: at the first scan after the deadline, plus
/// a two-hundredth of `scan` less the time from the deadline to that scan.
pub fn scanned_at(scan: Time, deadline: Time) -> Time {
    let look = scan.saturating_mul(deadline / scan + 1);
    look.saturating_add((scan - (look - deadline)) / 200)
}

fn on_wheel(tick: Time, now: Time, wait: Time) -> Time {
    let from = now / tick;
    let ticks = wait.div_ceil(tick);
    let mut shift = 0;
    while shift < 24 && ticks >= 63 << shift {
        shift += 3;
    }
    tick.saturating_mul((((from + ticks) >> shift) + 1) << shift)
}
