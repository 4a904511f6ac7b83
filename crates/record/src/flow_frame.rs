//! Record of a flow in one frame of a timeline.

use crate::packed::{Framed, Packer, add_zigzag, take, zigzag_difference};

/// State of a flow. Tables hold the number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum FlowState {
    /// Slow start.
    #[default]
    SlowStart = 0,
    /// Congestion avoidance or the controller's steady state, including a reduction after an ECN mark.
    Avoidance = 1,
    /// Fast recovery.
    Recovery = 2,
    /// From a retransmission timeout until the data outstanding at that time is acknowledged.
    Timeout = 3,
    /// Nothing left to send: finished, stopped or reset.
    Done = 4,
}

impl FlowState {
    const ALL: [FlowState; 5] =
        [FlowState::SlowStart, FlowState::Avoidance, FlowState::Recovery, FlowState::Timeout, FlowState::Done];
}

/// Record of a flow in one frame of the timeline.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FlowFrame {
    /// Frame, from 0.
    pub frame: u32,
    /// Flow.
    pub flow: u32,
    /// Application bytes delivered in order to the receiver.
    pub delivered_bytes: u64,
    /// Congestion window at the frame's end, in bytes; `None` without a window.
    pub cwnd_bytes: Option<u64>,
    /// State at the frame's end.
    pub state: FlowState,
}

impl Framed for FlowFrame {
    type Base = (u32, u64);

    fn frame(&self) -> u32 {
        self.frame
    }

    fn at(self, frame: u32) -> Self {
        FlowFrame { frame, ..self }
    }

    fn of(self, flow: u32) -> Self {
        FlowFrame { flow, ..self }
    }

    fn add(&mut self, later: &Self) {
        *self = FlowFrame { delivered_bytes: self.delivered_bytes + later.delivered_bytes, ..*later };
    }

    fn base(&self) -> (u32, u64) {
        (self.frame, self.window())
    }

    fn frame_of(base: &(u32, u64)) -> u32 {
        base.0
    }

    fn pack(&self, before: (u32, u64), into: &mut Packer) {
        into.put((self.frame - before.0) as u64 * FlowState::ALL.len() as u64 + self.state as u64);
        into.put(self.delivered_bytes);
        into.put(zigzag_difference(self.window(), before.1));
    }

    fn unpack(before: (u32, u64), from: &mut &[u8]) -> Option<Self> {
        let (states, first) = (FlowState::ALL.len() as u64, take(from)?);
        Some(FlowFrame {
            frame: before.0 + (first / states) as u32,
            flow: 0,
            state: FlowState::ALL[(first % states) as usize],
            delivered_bytes: take(from)?,
            cwnd_bytes: add_zigzag(before.1, take(from)?).checked_sub(1),
        })
    }
}

impl FlowFrame {
    /// Congestion window; 0 without one.
    fn window(&self) -> u64 {
        self.cwnd_bytes.map_or(0, |bytes| bytes.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::FrameSeries;

    #[test]
    fn rows_come_back() {
        let row = |frame, delivered_bytes, cwnd_bytes, state| FlowFrame {
            frame,
            flow: 0,
            delivered_bytes,
            cwnd_bytes,
            state,
        };
        let rows = [
            row(0, 0, None, FlowState::SlowStart),
            row(7, 1448, Some(0), FlowState::Recovery),
            row(8, u64::MAX, Some(14_480), FlowState::Timeout),
            row(9, 3, Some(14_479), FlowState::Avoidance),
            row(u32::MAX, 0, Some(u64::MAX - 1), FlowState::Done),
        ];
        let mut series = FrameSeries::default();
        rows.iter().for_each(|row| series.push(row));
        assert!(series.rows().eq(rows));
    }
}
