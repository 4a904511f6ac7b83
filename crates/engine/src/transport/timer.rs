//! When timers fire.

use incast_cc::Time;

/// A task of an endpoint in its host's run queue, done once everything that arrives at this instant is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Its timer fires, as one of those of a tick.
    Timer,
    /// Its application, which a packet woke, runs.
    Application,
    /// Compressed SACKs that were due then go with those of another receiver.
    Compressed(Time),
}

/// When a timer set at `now` for `wait` fires: exactly then, or on the tick at which a kernel's timer
/// wheel has it. A slot is wider the longer the wait, and a timer never fires early.
#[inline]
pub fn fires_at(tick: Time, now: Time, wait: Time) -> Time {
    if tick == Time::ZERO { now.saturating_add(wait) } else { on_wheel(tick, now, wait) }
}

/// When a timer that is over at `deadline` fires where all of them are looked at every `scan`: on the first look after
/// it, and then a two-hundredth of what that look leaves until the next.
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
