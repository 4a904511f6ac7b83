//! What a port did in a frame of a timeline.

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
}
