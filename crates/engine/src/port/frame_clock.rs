//! Frames of a timeline: equal intervals from the beginning of the run. If the end of the run is unknown, frames begin
//! short, and are merged in pairs whenever there would be too many.

use crate::spec::TimelineSpec;
use incast_cc::Time;

/// Clock of the open frame.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FrameClock {
    /// End of the open frame.
    pub next: Time,
    /// Current length of frames.
    every: Time,
    /// Maximum number of frames.
    max: u32,
    open: u32,
}

impl FrameClock {
    /// Clock with the first frame open.
    pub fn new(spec: &TimelineSpec) -> FrameClock {
        FrameClock { next: spec.every, every: spec.every, max: spec.most, open: 0 }
    }

    /// Number of the frame that contains `time`.
    #[inline]
    pub fn at(&self, time: Time) -> u32 {
        // usually the one after the open frame: avoids a division
        if time >= self.next && time - self.next < self.every {
            return self.open + 1;
        }
        time.0.checked_div(self.every.0).unwrap_or(0) as u32
    }

    /// Number of the open frame.
    pub fn open(&self) -> u32 {
        self.open
    }

    /// Start time of `frame`.
    pub fn start(&self, frame: u32) -> Time {
        self.every * frame as u64
    }

    /// Opens `frame`.
    pub fn go_to(&mut self, frame: u32) {
        self.open = frame;
        self.next = self.every * (frame as u64 + 1);
    }

    /// Returns whether frames are too short for a run that has reached `now`.
    #[inline]
    pub fn is_short(&self, now: Time) -> bool {
        now.0 > self.every.0.max(1).saturating_mul(self.max as u64)
    }

    /// Lengthens frames for a run that has reached `now` ([`TimelineSpec::every_by`]): `join` merges closed frames each
    /// time the length doubles.
    #[inline]
    pub fn lengthen(&mut self, now: Time, mut join: impl FnMut()) {
        while self.is_short(now) {
            self.every = self.every * 2;
            self.go_to(self.open / 2);
            join();
        }
    }

    /// Number of the last frame of a run that ends at `end`.
    pub fn last(&self, end: Time) -> u32 {
        end.0.div_ceil(self.every.0.max(1)).max(1) as u32 - 1
    }
}
