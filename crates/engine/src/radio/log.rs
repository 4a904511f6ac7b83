//! Log of frames: those on the air, and recent ones.

use super::frame::Frame;
use incast_cc::Time;

/// A frame on the air, or a recent one.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    /// Sending station.
    pub from: u16,
    /// Start at the sender.
    pub start: Time,
    /// End at the sender.
    pub end: Time,
    /// The frame.
    pub frame: Frame,
    /// True if no other frame is on the air at the same time, anywhere.
    pub alone: bool,
}

/// Number of removed frames at which their memory is released.
const FORGOTTEN: usize = 64;

/// Frames in the order in which they began, numbered consecutively.
#[derive(Clone, Default, Debug)]
pub struct Log {
    frames: Vec<OnAir>,
    /// Number of removed frames at the front of `frames`.
    forgotten: usize,
    /// Number of the first frame not removed.
    first: u64,
}

impl Log {
    /// Number of the first frame not removed.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number of the next frame.
    pub fn end(&self) -> u64 {
        self.first + (self.frames.len() - self.forgotten) as u64
    }

    /// Frames not removed.
    pub fn frames(&self) -> &[OnAir] {
        &self.frames[self.forgotten..]
    }

    /// Frames not removed.
    pub fn frames_mut(&mut self) -> &mut [OnAir] {
        &mut self.frames[self.forgotten..]
    }

    /// A frame not removed.
    #[inline]
    pub fn frame(&self, number: u64) -> &OnAir {
        &self.frames[(number - self.first) as usize + self.forgotten]
    }

    /// Adds a frame. Returns its number.
    pub fn push(&mut self, on: OnAir) -> u64 {
        self.frames.push(on);
        self.end() - 1
    }

    /// Removes the first frame.
    pub fn forget(&mut self) {
        self.first += 1;
        self.forgotten += 1;
        if self.forgotten == FORGOTTEN {
            self.frames.drain(..FORGOTTEN);
            self.forgotten = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::{Frame, Part, What};
    use super::{FORGOTTEN, Log, OnAir};
    use incast_cc::Time;

    #[test]
    fn frames_keep_their_numbers_when_others_are_forgotten() {
        let part = Part { datagram: 0, index: 0, to: 0, flood: None };
        let frame = Frame { psdu: 5, number: 0, what: What::Ack(part) };
        let on = |i: u64| OnAir { from: 0, start: Time(i), end: Time(i + 1), frame, alone: true };
        let mut log = Log::default();
        for i in 0..5 * FORGOTTEN as u64 {
            assert_eq!(log.push(on(i)), i);
            if i % 5 != 0 {
                log.forget();
            }
            let (first, frames) = (log.first(), log.frames());
            assert!(frames.iter().zip(first..).all(|(on, number)| on.start == Time(number)), "{i}");
            assert_eq!(first + frames.len() as u64, i + 1);
        }
    }
}
