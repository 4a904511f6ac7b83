//! Pauses of a port: frames it sends for its switch, and classes that the neighbour has paused.

use super::Port;
use super::explicit::Departed;
use crate::event::interval::Interval;
use crate::event::packet::{Packet, frame_bytes};
use crate::spec::PfcSpec;

impl Port {
    /// Time on the wire of a pause frame that begins at `now`.
    pub(super) fn frame_wire(&self, now: u64) -> u64 {
        let (framing, overhead) = (self.class.framing, self.class.overhead);
        self.wire_from(now, frame_bytes(framing + overhead) - overhead as u64)
    }

    /// Takes a pause frame at `now`, ps; when its transmission ends, ps, if it begins now.
    pub fn send_frame(&mut self, now: u64, frame: Packet) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        // a frame says what holds now: it takes the place of one about its class that still waits
        if let Some(waits) = explicit.frames.iter_mut().find(|f| f.seq == frame.seq) {
            *waits = frame;
            return None;
        }
        explicit.frames.push_back(frame);
        if explicit.is_idle() { self.begin(now) } else { None }
    }

    /// The transmission of a pause frame, begun at `began`, ends.
    pub(super) fn depart_frame(&mut self, frame: Packet, began: u64, now: u64, interval: &Interval) -> Departed {
        let arrives = self.arrival_of_frame(began, now);
        let next = self.begin_anew(now, interval);
        Departed { packet: frame, ext: None, lost: false, marked: false, arrives, next, account: None }
    }

    /// Begins a transmission at `now`, after a time without one in which packets may have waited.
    fn begin_anew(&mut self, now: u64, interval: &Interval) -> Option<u64> {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.settle(now);
        self.begin(now)
    }

    /// `class` is paused from `now` on, ps, or resumed, as the neighbour asked at `asked`, ps; when the transmission
    /// ends that begins then, ps, if one does.
    pub fn obey(&mut self, class: u8, pause: bool, asked: u64, now: u64, interval: &Interval) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        let lane = explicit.lanes.get_mut(class as usize)?;
        if pause {
            lane.pausing.begin(now, asked, interval);
            explicit.pausing.begin(now, asked, interval);
            return None;
        }
        lane.pausing.end(now, interval);
        self.go_on(now, interval)
    }

    /// Pauses that were asked for before `now` hold no longer.
    pub fn clear_pauses(&mut self, now: u64, interval: &Interval) {
        let Some(explicit) = &mut self.rare.explicit else { return };
        for lane in explicit.lanes.iter_mut().filter(|l| l.pausing.asked < now) {
            lane.pausing.end(now, interval);
        }
    }

    /// It begins no packet of classes that can be paused in this span, ps; none is kept for the time before.
    pub fn keep_silent(&mut self, span: (u64, u64), pfc: &PfcSpec) {
        let lanes = self.rare.explicit.iter_mut().flat_map(|q| &mut q.lanes);
        lanes.zip(&pfc.lossless).filter(|l| *l.1).for_each(|(lane, _)| lane.pausing.silence = span);
    }

    /// Something is in its queues, or it is paused.
    pub fn is_in_use(&self) -> bool {
        self.rare.explicit.as_ref().is_some_and(|q| q.filling().0 > 0 || q.pausing.since.is_some())
    }

    /// Some class may be held no longer; when the transmission ends that begins then, if one does.
    pub fn go_on(&mut self, now: u64, interval: &Interval) -> Option<u64> {
        let explicit = self.rare.explicit.as_mut()?;
        if explicit.lanes.iter().all(|l| l.pausing.since.is_none()) {
            explicit.pausing.end(now, interval);
        }
        if explicit.is_idle() { self.begin_anew(now, interval) } else { None }
    }

    /// Something is in its queues that nothing under way sends: a pause holds it.
    pub fn is_stalled(&self) -> bool {
        self.rare.explicit.as_ref().is_some_and(|q| q.is_idle() && q.filling().0 > 0)
    }

    /// Its classes that are paused and have something: since when they are, and when the neighbour asked for it.
    pub fn stalled(&self) -> impl Iterator<Item = (u8, u64, u64)> {
        let lanes = self.rare.explicit.iter().flat_map(|q| (0u8..).zip(&q.lanes));
        let lanes = lanes.filter(|l| !l.1.queue.is_empty());
        lanes.filter_map(|(class, lane)| Some((class, lane.pausing.since?, lane.pausing.asked)))
    }

    /// Class and account of what it has, the packet in transmission without a class.
    pub fn on_accounts(&self) -> impl Iterator<Item = (Option<u8>, u32)> {
        let explicit = self.rare.explicit.iter();
        let waiting = explicit.clone().flat_map(|q| (0u8..).zip(&q.lanes));
        let waiting = waiting.flat_map(|(class, lane)| lane.queue.iter().map(move |w| (Some(class), w.account)));
        let service = explicit.map(|q| (None, q.account_in_service()));
        waiting.chain(service).filter_map(|(class, account)| Some((class, account?)))
    }

    /// A packet of `account` that lies in it.
    pub fn packet_on(&self, account: u32) -> Option<&Packet> {
        self.rare.explicit.as_ref()?.packet_on(account)
    }
}
