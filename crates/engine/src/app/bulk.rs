//! One transfer, as fast as the send buffer accepts it.

use super::application::{Application, Start};
use std::collections::VecDeque;

/// One transfer, in writes of `write` bytes, as fast as the send buffer accepts them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bulk {
    /// Bytes; `None`: endless.
    pub size: Option<u64>,
    /// Bytes a write.
    pub write: u64,
}

/// A bulk transfer at its sender.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) app: Bulk,
    /// Bytes sent beyond the size.
    extra: u64,
}

impl Application for State {
    type Parameters = Bulk;

    fn new(app: Bulk, start: Start) -> State {
        State { app, extra: start.extra }
    }

    fn end(&self) -> Option<u64> {
        self.app.size.map(|size| size + self.extra)
    }
}

impl State {
    /// Writes at most `max` bytes into `space`, after `written` bytes; with `whole` only whole writes. Returns the
    /// bytes.
    #[inline]
    pub fn write(&self, written: u64, max: u64, space: u64, whole: bool) -> u64 {
        let wanted = self.end().map_or(u64::MAX, |end| end - written).min(max);
        match whole {
            _ if wanted <= space => wanted,
            true => space / self.app.write * self.app.write,
            false => space,
        }
    }

    /// Writes until `full` bytes are written. The write that reaches `full` ends early, after a whole segment of `mss`
    /// bytes. Appends the end of each write to `ends`, for segments that carry it. Returns the total written.
    pub fn top_up(&self, mut written: u64, full: u64, mss: u32, mut ends: Option<&mut VecDeque<u64>>) -> u64 {
        let (mss, end) = (mss as u64, self.end().unwrap_or(u64::MAX));
        while written < full && written < end {
            let whole = written + self.app.write.min(end - written);
            // a segment is begun while there is room
            let cut = written + (full - written).div_ceil(mss) * mss;
            written = whole.min(cut);
            ends.iter_mut().for_each(|ends| ends.push_back(written));
        }
        written
    }

    /// Moves the end `bytes` earlier. Returns the end, if known.
    pub fn forget(&mut self, bytes: u64) -> Option<u64> {
        self.app.size = self.app.size.map(|size| size.saturating_sub(bytes));
        self.end()
    }
}
