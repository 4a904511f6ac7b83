//! The frames of a timeline: equal stretches of the run, from its beginning on. Where the run's end is not known
//! beforehand, frames begin short, and two become one whenever there would be too many.

use crate::spec::TimelineSpec;
use incast_cc::Time;

/// The open frame of something that counts by frames.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FrameClock {
    /// End of the open frame.
    pub next: Time,
    /// Length of frames, as they are now.
    every: Time,
    /// Frames at most.
    most: u32,
    open: u32,
}

impl FrameClock {
    /// The first frame is open.
    pub fn new(spec: &TimelineSpec) -> FrameClock {
        FrameClock { next: spec.every, every: spec.every, most: spec.most, open: 0 }
    }

    /// The frame that `time` lies in.
    #[inline]
    pub fn at(&self, time: Time) -> u32 {
        // mostly the one after the open one: a division takes long
        if time >= self.next && time - self.next < self.every {
            return self.open + 1;
        }
        time.0.checked_div(self.every.0).unwrap_or(0) as u32
    }

    /// The open frame.
    pub fn open(&self) -> u32 {
        self.open
    }

    /// The time at which `frame` begins.
    pub fn start(&self, frame: u32) -> Time {
        self.every * frame as u64
    }

    /// Opens `frame`.
    pub fn go_to(&mut self, frame: u32) {
        self.open = frame;
        self.next = self.every * (frame as u64 + 1);
    }

    /// Whether frames are too short for a run that has come to `now`.
    #[inline]
    pub fn is_short(&self, now: Time) -> bool {
        now.0 > self.every.0.max(1).saturating_mul(self.most as u64)
    }

    /// Makes frames as long as a run that has come to `now` needs them ([`TimelineSpec::every_by`]): whenever two
    /// become one, `join` does that with those that are closed.
    #[inline]
    pub fn lengthen(&mut self, now: Time, mut join: impl FnMut()) {
        while self.is_short(now) {
            self.every = self.every * 2;
            self.go_to(self.open / 2);
            join();
        }
    }

    /// The last frame of a run that ends at `end`.
    pub fn last(&self, end: Time) -> u32 {
        end.0.div_ceil(self.every.0.max(1)).max(1) as u32 - 1
    }
}
