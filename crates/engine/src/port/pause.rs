//! Pauses of a port: pause frames it sends for its switch, and classes paused by the neighbour.

use super::explicit::Departed;
use super::frames::Noted;
use super::port::Port;
use crate::event::interval::Interval;
use crate::event::packet::{PAUSE_FRAME, Packet};
use crate::spec::PfcSpec;
use incast_cc::Time;

/// Minimum frame size on the wire, in bytes.
const SHORTEST: u64 = 64;

/// Size of a pause frame on a link with this overhead, in bytes.
pub fn frame_bytes(overhead: u32) -> u64 {
    (PAUSE_FRAME as u64 + overhead as u64).max(SHORTEST)
}

impl Port {
    /// Transmission time of a pause frame that begins at `now`.
    pub(super) fn frame_wire(&self, now: Time) -> Time {
        let (framing, overhead) = (self.settings.framing, self.settings.overhead);
        self.wire_from(now, frame_bytes(framing + overhead) - overhead as u64)
    }

    /// Takes a pause frame at `now`. Returns the end of its transmission, if it begins now.
    pub fn send_frame(&mut self, now: Time, frame: Packet, interval: &Interval) -> Option<Time> {
        let queues = self.rare.queues.as_mut()?;
        // a frame carries the current state: it replaces a waiting one of the same class
        if let Some(waits) = queues.frames.iter_mut().find(|f| f.paused_class() == frame.paused_class()) {
            *waits = frame;
            return None;
        }
        queues.frames.push_back(frame);
        if queues.is_idle() { self.begin(now, interval) } else { None }
    }

    /// Ends the transmission of a pause frame, begun at `began`.
    pub(super) fn depart_frame(&mut self, frame: Packet, began: Time, now: Time, interval: &Interval) -> Departed {
        // a pause frame is lost only while the link is down
        let delay = self.settings.delay;
        let arrives = match &mut self.rare.faults {
            Some(faults) => faults.arrival(began, now, delay, || 1.0),
            None => Some(now + delay),
        };
        let next = self.begin_anew(now, interval);
        Departed { packet: frame, ext: None, lost: false, marked: false, arrives, next, account: None }
    }

    /// Begins a transmission at `now`, after an idle time in which packets may have waited.
    fn begin_anew(&mut self, now: Time, interval: &Interval) -> Option<Time> {
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        self.advance(now);
        self.begin(now, interval)
    }

    /// Pauses or resumes a class from `now` on, as `frame` requests. Returns the end of the transmission that begins
    /// then, if any.
    pub fn obey(&mut self, frame: &Packet, now: Time, interval: &Interval) -> Option<Time> {
        let queues = self.rare.queues.as_mut()?;
        let queue = queues.classes.get_mut(frame.paused_class() as usize)?;
        if frame.pauses() {
            queue.pausing.begin(now, frame.sent_at(), interval);
            let begins = queues.pausing.since.is_none();
            queues.pausing.begin(now, frame.sent_at(), interval);
            if begins {
                self.note(now, Noted::Pause);
            }
            return None;
        }
        queue.pausing.end(now, interval);
        self.go_on(now, interval)
    }

    /// Ends pauses that were requested before `now`.
    pub fn clear_pauses(&mut self, now: Time, interval: &Interval) {
        let Some(queues) = &mut self.rare.queues else { return };
        for queue in queues.classes.iter_mut().filter(|l| l.pausing.asked < now) {
            queue.pausing.end(now, interval);
        }
    }

    /// Blocks transmissions of lossless classes in this interval, which replaces an earlier one.
    pub fn keep_silent(&mut self, silence: (Time, Time), pfc: &PfcSpec) {
        let classes = self.rare.queues.iter_mut().flat_map(|q| &mut q.classes);
        classes.zip(&pfc.lossless).filter(|l| *l.1).for_each(|(queue, _)| queue.pausing.silence = silence);
    }

    /// True if its queues hold packets, or it is paused.
    pub fn is_in_use(&self) -> bool {
        self.rare.queues.as_ref().is_some_and(|q| q.filling().0 > 0 || q.pausing.since.is_some())
    }

    /// Continues after a class may have been resumed. Returns the end of the transmission that begins then, if any.
    pub fn go_on(&mut self, now: Time, interval: &Interval) -> Option<Time> {
        let queues = self.rare.queues.as_mut()?;
        if queues.classes.iter().all(|l| l.pausing.since.is_none()) {
            if let (Some(since), Some(frames)) = (queues.pausing.since, &mut self.rare.frames) {
                frames.note_paused(since, now);
            }
            queues.pausing.end(now, interval);
        }
        if queues.is_idle() { self.begin_anew(now, interval) } else { None }
    }

    /// True if its queues hold packets and nothing is in transmission, because of a pause.
    pub fn is_stalled(&self) -> bool {
        self.rare.queues.as_ref().is_some_and(|q| q.is_idle() && q.filling().0 > 0)
    }

    /// Paused classes with packets: class, start of the pause, and time of the neighbour's request.
    pub fn stalled(&self) -> impl Iterator<Item = (u8, Time, Time)> {
        let classes = self.rare.queues.iter().flat_map(|q| (0u8..).zip(&q.classes));
        let classes = classes.filter(|l| !l.1.queue.is_empty());
        classes.filter_map(|(class, queue)| Some((class, queue.pausing.since?, queue.pausing.asked)))
    }

    /// Paused classes, and the times of the neighbour's requests.
    pub fn paused(&self) -> impl Iterator<Item = (u8, Time)> {
        let classes = self.rare.queues.iter().flat_map(|q| (0u8..).zip(&q.classes));
        classes.filter(|l| l.1.pausing.since.is_some()).map(|l| (l.0, l.1.pausing.asked))
    }

    /// IP bytes and number of its packets on `account`.
    pub fn held_on(&self, account: u32) -> (u64, u64) {
        self.rare.queues.as_ref().map_or((0, 0), |q| q.held_on(account))
    }

    /// Class and PFC account of its packets; the packet in transmission has no class.
    pub fn on_accounts(&self) -> impl Iterator<Item = (Option<u8>, u32)> {
        let queues = self.rare.queues.iter();
        let waiting = queues.clone().flat_map(|q| (0u8..).zip(&q.classes));
        let waiting = waiting.flat_map(|(class, queue)| queue.queue.iter().map(move |w| (Some(class), w.account)));
        let service = queues.map(|q| (None, q.account_in_service()));
        waiting.chain(service).filter_map(|(class, account)| Some((class, account?)))
    }

    /// Packet of `account` in this port, if any.
    pub fn packet_on(&self, account: u32) -> Option<&Packet> {
        self.rare.queues.as_ref()?.packet_on(account)
    }
}
