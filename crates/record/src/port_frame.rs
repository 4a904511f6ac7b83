//! Record of a port in one frame of a timeline.

use crate::packed::{Framed, Packer, take};

/// Record of a port in one frame of the timeline.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PortFrame {
    /// Frame, from 0.
    pub frame: u32,
    /// Port.
    pub port: u32,
    /// Packets marked.
    pub marks: u32,
    /// Packets dropped or lost.
    pub drops: u32,
    /// Pauses that began.
    pub pauses: u32,
    /// Largest queue.
    pub queue_max_bytes: u64,
    /// Integral of the queue, in byte picoseconds.
    pub byte_time: u128,
    /// Time spent transmitting.
    pub busy_ps: u64,
    /// Time paused.
    pub paused_ps: u64,
}

impl PortFrame {
    /// Adds `other`, a record of the same frame.
    pub fn add(&mut self, other: &PortFrame) {
        self.marks += other.marks;
        self.drops += other.drops;
        self.pauses += other.pauses;
        self.queue_max_bytes = self.queue_max_bytes.max(other.queue_max_bytes);
        self.byte_time += other.byte_time;
        self.busy_ps += other.busy_ps;
        self.paused_ps += other.paused_ps;
    }

    /// True if nothing happened.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.figures().into_iter().fold(0, |any, figure| any | figure) == 0
    }
}

/// Figures of a row.
const FIGURES: u32 = 8;

impl Framed for PortFrame {
    type Base = u32;

    fn frame(&self) -> u32 {
        self.frame
    }

    fn at(self, frame: u32) -> Self {
        PortFrame { frame, ..self }
    }

    fn of(self, port: u32) -> Self {
        PortFrame { port, ..self }
    }

    fn add(&mut self, later: &Self) {
        PortFrame::add(self, later);
    }

    fn base(&self) -> u32 {
        self.frame
    }

    fn frame_of(base: &u32) -> u32 {
        *base
    }

    /// Writes a bit mask of the nonzero figures, then these figures.
    #[inline]
    fn pack(&self, before: u32, into: &mut Packer) {
        let figures = self.figures();
        let there = figures.iter().rev().fold(0, |there, figure| there << 1 | u64::from(*figure > 0));
        into.put(u64::from(self.frame - before) << figures.len() | there);
        // one after the other: the mask is mostly that of the row before
        figures.into_iter().filter(|figure| *figure > 0).for_each(|figure| into.put(figure));
    }

    fn unpack(before: u32, from: &mut &[u8]) -> Option<Self> {
        let first = take(from)?;
        let frame = before + (first >> FIGURES) as u32;
        let mut figure = |i: u32| if first >> i & 1 == 1 { take(from) } else { Some(0) };
        // one by one, not in a loop: from an array on the stack two neighbours would be loaded at once, which waits for
        // all stores before it
        let (queue_max_bytes, low, busy_ps) = (figure(0)?, figure(1)?, figure(2)?);
        let (marks, drops, pauses) = (figure(3)? as u32, figure(4)? as u32, figure(5)? as u32);
        let (paused_ps, high) = (figure(6)?, figure(7)?);
        let byte_time = u128::from(high) << 64 | u128::from(low);
        let port = 0;
        Some(PortFrame { frame, port, marks, drops, pauses, queue_max_bytes, byte_time, busy_ps, paused_ps })
    }
}

impl PortFrame {
    /// Figures of the row, the most frequent first.
    #[inline]
    fn figures(&self) -> [u64; FIGURES as usize] {
        let (low, high) = (self.byte_time as u64, (self.byte_time >> 64) as u64);
        let (marks, drops, pauses) = (self.marks.into(), self.drops.into(), self.pauses.into());
        [self.queue_max_bytes, low, self.busy_ps, marks, drops, pauses, self.paused_ps, high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::FrameSeries;

    #[test]
    fn rows_come_back() {
        let whole = PortFrame {
            frame: 3,
            port: 0,
            marks: 1,
            drops: u32::MAX,
            pauses: 2,
            queue_max_bytes: u64::MAX,
            byte_time: u128::MAX - 5,
            busy_ps: 2_000_000,
            paused_ps: 7,
        };
        let rows = [
            PortFrame { frame: 0, busy_ps: 1, ..PortFrame::default() },
            whole,
            PortFrame { frame: 9, byte_time: 1 << 64, ..PortFrame::default() },
            PortFrame { frame: u32::MAX, drops: 4, ..PortFrame::default() },
        ];
        let mut series = FrameSeries::default();
        rows.iter().for_each(|row| series.push(row));
        assert!(series.rows().eq(rows));
    }
}
