//! Flows by frames, for a timeline: state of the sender at the end of each frame, and bytes received in it.
//!
//! The first event after the end of a frame closes it, and finds everything as the frame left it. Frames grow longer
//! with the arrivals of packets. A timer may fire after the last arrival, which ends the run. Its changes belong to the
//! last frame.

use crate::port::frame_clock::FrameClock;
use crate::radio::repeated::RepeatedArrivals;
use crate::spec::TimelineSpec;
use crate::transport::{ReceiveEndpoint, SendEndpoint};
use incast_cc::Time;
use incast_record::packed::{FrameSeries, Framed};
use incast_record::store::Store;
use incast_record::{FlowFrame, FlowState};

/// Window and state of a sender, once it has opened.
pub type Snapshot = Option<(Option<u64>, FlowState)>;

/// The frames of a sender.
#[derive(Debug)]
#[repr(C)]
pub struct SenderFrames {
    clock: FrameClock,
    previous: Snapshot,
    /// Rows of frames at whose end the state differs from the previous one.
    rows: FrameSeries<FlowFrame>,
}

impl SenderFrames {
    /// Without rows.
    pub fn new(spec: &TimelineSpec, store: &Store) -> SenderFrames {
        SenderFrames { clock: FrameClock::new(spec), rows: FrameSeries::stored(store), previous: None }
    }

    /// True if the open frame is over at `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.clock.next
    }

    /// Called before an event of `sender` at `now`. `come`: time reached by the run.
    #[inline]
    pub fn before(&mut self, sender: &SendEndpoint, now: Time, come: Time) {
        if self.is_due(now) {
            self.close(sender, now, come);
        }
    }

    #[cold]
    fn close(&mut self, sender: &SendEndpoint, now: Time, come: Time) {
        self.clock.lengthen(come, || self.rows.coarsen());
        if now < self.clock.next {
            return;
        }
        self.push_if_changed(sender.snapshot(), self.clock.open());
        self.clock.go_to(self.clock.at(now));
    }

    fn push_if_changed(&mut self, snapshot: Snapshot, frame: u32) {
        if let Some((cwnd_bytes, state)) = snapshot.filter(|_| snapshot != self.previous) {
            self.rows.push(&FlowFrame { frame, cwnd_bytes, state, ..FlowFrame::default() });
            self.previous = snapshot;
        }
    }

    /// A store for the joined rows of flows, written by another thread.
    pub fn sibling_store(&self) -> Store {
        self.rows.sibling_store()
    }

    /// Closes the last frame, at `end` of the run.
    pub fn end(&mut self, sender: &SendEndpoint, end: Time) {
        self.before(sender, end, end);
        self.clock.lengthen(end, || self.rows.coarsen());
        self.push_if_changed(sender.snapshot(), self.clock.open());
    }
}

/// The frames of a receiver.
#[derive(Debug)]
#[repr(C)]
pub struct ReceiverFrames {
    clock: FrameClock,
    /// Bytes of the flow's transfer.
    size: u64,
    /// Bytes delivered before the open frame.
    from: u64,
    /// Rows of frames with arrivals.
    rows: FrameSeries<FlowFrame>,
}

impl ReceiverFrames {
    /// Without rows.
    pub fn new(spec: &TimelineSpec, size: Option<u64>, store: &Store) -> ReceiverFrames {
        let size = size.unwrap_or(u64::MAX);
        ReceiverFrames { clock: FrameClock::new(spec), size, rows: FrameSeries::stored(store), from: 0 }
    }

    /// Application bytes delivered in frames that are over at `now`: without an arrival since, the latest of them is
    /// still open.
    pub fn delivered_by(&self, now: Time, receiver: &ReceiveEndpoint, repeated: &RepeatedArrivals) -> u64 {
        if self.is_due(now) { self.delivered(receiver, repeated) } else { self.from }
    }

    /// Application bytes delivered at the receiver, as in the flow's record.
    pub fn delivered(&self, receiver: &ReceiveEndpoint, repeated: &RepeatedArrivals) -> u64 {
        receiver.delivered().min(self.size).saturating_sub(repeated.of(receiver.flow()).bytes)
    }

    /// True if the open frame is over at `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.clock.next
    }

    /// Closes the open frame at `now`. `delivered`: total bytes delivered. `come`: time reached by the run.
    #[cold]
    pub fn close(&mut self, delivered: u64, now: Time, come: Time) {
        self.clock.lengthen(come, || self.rows.coarsen());
        if self.is_due(now) {
            self.push_if_changed(delivered);
            self.clock.go_to(self.clock.at(now));
        }
    }

    fn push_if_changed(&mut self, delivered: u64) {
        if let Some(more) = delivered.checked_sub(self.from).filter(|more| *more > 0) {
            self.rows.push(&FlowFrame { frame: self.clock.open(), delivered_bytes: more, ..FlowFrame::default() });
            self.from = delivered;
        }
    }

    /// Closes the last frame, at `end` of the run.
    pub fn end(&mut self, delivered: u64, end: Time) {
        self.close(delivered, end, end);
        self.clock.lengthen(end, || self.rows.coarsen());
        self.push_if_changed(delivered);
    }
}

/// Joins the rows of a flow's two ends in a run that ends at `end`: a row for each frame with arrivals, or at whose end
/// the state of the sender has changed. The rows are kept in `store`.
pub fn joined(sent: &SenderFrames, arrived: &ReceiverFrames, end: Time, store: &Store) -> FrameSeries<FlowFrame> {
    // events at the very end belong to the last frame
    let last = sent.clock.last(end);
    let clipped = |row: FlowFrame| row.at(row.frame.min(last));
    let mut sent_rows = sent.rows.all_rows().map(clipped).peekable();
    let mut arrived_rows = arrived.rows.all_rows().map(clipped).peekable();
    let (mut rows, mut previous) = (FrameSeries::stored(store), None);
    while let Some(frame) = sent_rows.peek().into_iter().chain(arrived_rows.peek()).map(|row| row.frame).min() {
        let (mut snapshot, mut delivered_bytes) = (previous, 0);
        while let Some(row) = sent_rows.next_if(|row| row.frame == frame) {
            snapshot = Some((row.cwnd_bytes, row.state));
        }
        while let Some(row) = arrived_rows.next_if(|row| row.frame == frame) {
            delivered_bytes += row.delivered_bytes;
        }
        if delivered_bytes > 0 || snapshot != previous {
            let (cwnd_bytes, state) = snapshot.unwrap_or_default();
            rows.push(&FlowFrame { frame, flow: 0, delivered_bytes, cwnd_bytes, state });
            previous = snapshot;
        }
    }
    rows
}
