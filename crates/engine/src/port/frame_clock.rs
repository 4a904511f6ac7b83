//! The frames of a timeline: equal stretches of the run, from its beginning on. Where the run's end is not known
//! beforehand, frames begin short, and two become one whenever there would be too many.

use crate::spec::TimelineSpec;
use incast_cc::Time;

/// The open frame of something that counts by frames.
#[derive(Clone, Debug)]
pub struct FrameClock {
    /// Frames as they are now.
    spec: TimelineSpec,
    /// End of the open frame.
    pub next: Time,
}

impl FrameClock {
    /// The first frame is open.
    pub fn new(spec: &TimelineSpec) -> FrameClock {
        FrameClock { spec: *spec, next: spec.every }
    }

    /// The frame that `time` lies in.
    pub fn at(&self, time: Time) -> u32 {
        time.0.checked_div(self.spec.every.0).unwrap_or(0) as u32
    }

    /// The open frame.
    pub fn open(&self) -> u32 {
        self.at(self.next) - 1
    }

    /// The time at which `frame` begins.
    pub fn start(&self, frame: u32) -> Time {
        self.spec.every * frame as u64
    }

    /// Opens `frame`.
    pub fn go_to(&mut self, frame: u32) {
        self.next = self.spec.every * (frame as u64 + 1);
    }

    /// Makes frames as long as a run that has come to `now` needs them: whenever two become one, `join` does that with
    /// those that are closed.
    #[inline]
    pub fn lengthen(&mut self, now: Time, mut join: impl FnMut()) {
        let every = self.spec.every_by(now);
        while self.spec.every < every {
            let open = self.open() / 2;
            self.spec.every = self.spec.every * 2;
            self.go_to(open);
            join();
        }
    }

    /// The last frame of a run that ends at `end`.
    pub fn last(&self, end: Time) -> u32 {
        end.0.div_ceil(self.spec.every.0.max(1)).max(1) as u32 - 1
    }
}
