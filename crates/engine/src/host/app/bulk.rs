//! One transfer, as fast as the send buffer takes it.

use crate::spec::TransportSpec;
use std::collections::VecDeque;

/// A transfer in writes of `write` bytes.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// Bytes; `None` never ends.
    pub size: Option<u64>,
    /// Bytes after the size.
    pub extra: u64,
    /// Bytes a write.
    pub write: u64,
}

impl Bulk {
    /// Bytes after which it is done.
    pub fn end(&self) -> Option<u64> {
        self.size.map(|size| size + self.extra)
    }

    fn left(&self, written: u64) -> u64 {
        self.end().map_or(u64::MAX, |end| end - written)
    }

    /// The next write into `space` bytes; `whole`: only if they take all of it. What has been written then.
    pub fn write_one(&self, written: u64, space: u64, whole: bool) -> u64 {
        let wanted = self.write.min(self.left(written));
        written
            + if wanted <= space {
                wanted
            } else if whole {
                0
            } else {
                space
            }
    }

    /// Writes as much as `space` bytes take. What has been written then.
    #[inline]
    pub fn fill(&self, written: u64, space: u64, whole: bool) -> u64 {
        let left = self.left(written);
        written
            + if left <= space {
                left
            } else if whole {
                space / self.write * self.write
            } else {
                space
            }
    }

    /// Writes until `t.notsent_lowat` bytes are unsent beyond `nxt`, as far as `space` goes. A write ends early, after
    /// a whole segment, when it reaches that; where writes end is added to `ends`, for segments that say so
    /// (`t.push_ack`). What has been written then.
    pub fn top_up(&self, written: u64, space: u64, nxt: u64, t: &TransportSpec, ends: &mut VecDeque<u64>) -> u64 {
        let full = (nxt + t.notsent_lowat).min(written + space);
        let mss = t.mss as u64;
        let end = self.end().unwrap_or(u64::MAX);
        let mut written = written;
        while written < full && written < end {
            let whole = written + self.write.min(end - written);
            // segments are begun while there is room
            let cut = written + (full - written).div_ceil(mss) * mss;
            written = whole.min(cut);
            if t.push_ack {
                ends.push_back(written);
            }
        }
        written
    }

    /// Ends so many bytes earlier; where, if that is known.
    pub fn forget(&mut self, bytes: u64) -> Option<u64> {
        self.size = self.size.map(|size| size.saturating_sub(bytes));
        self.end()
    }
}
