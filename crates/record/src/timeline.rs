//! The timeline of ports: `timeline_ports.parquet`.

use crate::Outcome;
use crate::figure::Of::{U32, U64, Whole};
use crate::figure::{Quantity, rows};

/// What a port did in one frame of the timeline.
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
    /// Integral of the queue, byte ps.
    pub byte_time: u128,
    /// Time of transmissions.
    pub busy_ps: u64,
    /// Time paused.
    pub paused_ps: u64,
}

impl PortFrame {
    /// Adds what `other` says of the same frame.
    pub fn add(&mut self, other: &PortFrame) {
        self.marks += other.marks;
        self.drops += other.drops;
        self.pauses += other.pauses;
        self.queue_max_bytes = self.queue_max_bytes.max(other.queue_max_bytes);
        self.byte_time += other.byte_time;
        self.busy_ps += other.busy_ps;
        self.paused_ps += other.paused_ps;
    }

    /// Nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == PortFrame { frame: self.frame, port: self.port, ..PortFrame::default() }
    }

    /// A part of the frame, of which `ps` is the numerator; the last one ends with the run.
    fn part(&self, ps: f64, outcome: &Outcome) -> Option<f64> {
        let every = outcome.frame_ps?;
        let length = outcome.end_ps.saturating_sub(every * self.frame as u64).min(every);
        Some(if length > 0 { ps / length as f64 } else { 0.0 })
    }
}

/// `timeline_ports.parquet`.
pub(crate) const PORTS: &[Quantity<PortFrame>] = &rows! {
    "frame" [""] = U32(|r| r.frame), "Frame of the timeline, from 0; the last one ends with the run.";
    "port" [""] = U32(|r| r.port), "Port: its row in ports.parquet, from 0.";
    "queue_max_bytes" ["B"] = U64(|r| r.queue_max_bytes), "Largest queue in the frame, as the discipline counts it.";
    "queue_mean_bytes" ["B"] = Whole(|r, o| r.part(r.byte_time as f64, o)),
        "Time-mean queue in the frame; what waits in a NIC with a queue a flow counts as it comes to the port.";
    "busy" [""] = Whole(|r, o| r.part(r.busy_ps as f64, o)), "Part of the frame in which the port transmits.";
    "marks" ["packets"] = U32(|r| r.marks), "Packets marked in the frame.";
    "drops" ["packets"] = U32(|r| r.drops), "Packets that the queue drops or the link loses in the frame.";
    "pauses" [""] = U32(|r| r.pauses), "Pauses that begin in the frame; 0 without priority flow control.";
    "paused" [""] = Whole(|r, o| r.part(r.paused_ps as f64, o)),
        "Part of the frame in which some class of the port is paused.";
};
