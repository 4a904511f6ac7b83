//! Account of a port over time: current queue, and advancing it to an instant.

use super::account::Snapshot;
use super::port::Port;
use super::ring::Slot;
use crate::event::interval::Interval;
use crate::event::metadata::PortStamp;
use incast_cc::{Rate, Time};

impl Port {
    /// Telemetry stamp of the port on a packet that arrives at `now`: bytes transmitted by then, including part of a
    /// packet, and bytes still to transmit.
    #[cold]
    pub fn stamp(&self, now: Time) -> PortStamp {
        let settings = &*self.settings;
        let accepted = self.bytes_in + self.count.packets * settings.overhead as u64 - self.rare.events.cut_bytes;
        let owed = self.owed(now).saturating_sub(settings.bucket);
        let queue = match settings.ps_per_byte {
            // with a changing rate: by whole packets
            _ if self.fails() => self.filling(now).1,
            0 if settings.rate == Rate::INFINITE => 0,
            0 => (owed.0 as u128 * settings.rate.0 as u128 / 8_000_000_000_000) as u64,
            ps => owed.0 / ps,
        };
        let queue = queue.min(accepted);
        PortStamp { time: now, sent: accepted - queue, queue: queue.min(u32::MAX as u64) as u32, link: self.link }
    }

    /// Packets and bytes in the port at `now`, including the one in transmission and those below the discipline. Does
    /// not change the account.
    #[inline]
    pub fn filling(&self, now: Time) -> (u32, u64) {
        if self.is_explicit() {
            return self.rare.queues.as_ref().map_or((0, 0), |q| q.filling());
        }
        if self.free_at <= now {
            return (0, 0);
        }
        self.in_ring(now)
    }

    /// Packets and bytes of a FIFO port that have not left by `now`.
    #[inline]
    pub(super) fn in_ring(&self, now: Time) -> (u32, u64) {
        let (mut gone, mut out) = (0, self.bytes_out);
        while gone < self.ring.len && self.slot(gone).departure <= now {
            out = self.slot(gone).bytes_to;
            gone += 1;
        }
        (self.ring.len - gone, self.bytes_in - out)
    }

    /// Returns whether the port holds at least `packets` (more than 0) at `now`, as [`Port::filling`] counts them.
    #[inline]
    pub fn holds(&self, packets: u32, now: Time) -> bool {
        if self.is_explicit() {
            return self.filling(now).0 >= packets;
        }
        self.ring.len >= packets && self.slot(self.ring.len - packets).departure > now
    }

    /// Packets that the discipline counts with `n` in the port.
    #[inline]
    pub(super) fn counted(&self, n: u32) -> u32 {
        n.saturating_sub(self.settings.device_queue)
    }

    /// Packets that the discipline counts at `at`, by the account.
    pub(super) fn length_now(&self, at: Time) -> u32 {
        match &self.rare.queues {
            Some(queues) => queues.counted(self.settings.device_queue),
            None if self.has_ahead => self.counted_behind(&self.ahead(), at).0,
            None => self.counted(self.ring.len),
        }
    }

    /// Bytes that the discipline counts at `at`, by the account.
    fn bytes_now(&self, at: Time) -> u64 {
        match &self.rare.queues {
            Some(queues) => queues.counted_bytes(),
            None if self.has_ahead => self.counted_behind(&self.ahead(), at).1,
            None => self.counted_bytes(),
        }
    }

    /// Bytes that the discipline of a FIFO port counts.
    #[inline]
    pub(super) fn counted_bytes(&self) -> u64 {
        let (n, device_queue) = (self.ring.len, self.settings.device_queue);
        if n <= device_queue {
            0
        } else if device_queue == 0 {
            self.bytes_in - self.bytes_out
        } else {
            self.bytes_in - self.slot(device_queue - 1).bytes_to
        }
    }

    /// Last accepted packet of a FIFO port, while it is there.
    #[inline(always)]
    pub(super) fn latest(&self) -> Slot {
        Slot { departure: self.free_at.saturating_sub(self.settings.bucket), bytes_to: self.bytes_in }
    }

    /// The `i`th packet in a FIFO port.
    #[inline]
    pub(super) fn slot(&self, i: u32) -> Slot {
        if i + 1 == self.ring.len { self.latest() } else { self.ring.at(i) }
    }

    /// Removes departures up to and including `now`.
    #[inline(always)]
    pub(super) fn drain(&mut self, now: Time) {
        if self.latest().departure <= now {
            self.bytes_out = self.bytes_in;
            self.ring.clear();
        } else {
            self.ring.drain(now, &mut self.bytes_out);
        }
    }

    /// Departure time of the first packet still in the account, if not after `now`.
    pub(super) fn departed_by(&self, now: Time) -> Option<Time> {
        match &self.rare.queues {
            Some(queues) => queues.left_by(now),
            None if self.ring.len > 0 => Some(self.slot(0).departure).filter(|d| *d <= now),
            None => None,
        }
    }

    /// Lower bound of the time at which the first packet leaves the account as of `at`.
    fn departs_after(&self, at: Time) -> Time {
        self.rare.queues.as_ref().map_or(at, |queues| queues.left_first())
    }

    /// Advances the queue of the account to `at`.
    #[inline(always)]
    pub(super) fn advance(&mut self, at: Time) {
        match &mut self.rare.queues {
            Some(queues) => queues.advance(at, self.settings.device_queue, &mut self.count),
            None => self.drain(at),
        }
    }

    /// Advances the account: everything due up to `now`, before arrivals at `now`.
    #[cold]
    pub(super) fn advance_account(&mut self, now: Time, interval: &Interval) {
        if self.orders_departures() {
            return self.advance_account_before_ties(now, interval);
        }
        self.advance_account_to(now, interval, false);
    }

    /// [`Port::advance_account`] if an arrival decides whether a departure at `now` precedes it: the account counts it
    /// as gone, and the ring keeps it until the decision.
    #[cold]
    #[inline(never)]
    fn advance_account_before_ties(&mut self, now: Time, interval: &Interval) {
        self.advance_account_to(now.saturating_sub(Time::ps(1)), interval, false);
        if self.next_advance <= now {
            let (ring, bytes_out) = (self.ring.clone(), self.bytes_out);
            self.advance_account_to(now, interval, false);
            (self.ring, self.bytes_out) = (ring, bytes_out);
        }
    }

    /// Advances the account to `now`. At the `end` of the run the account needs no snapshot.
    pub(super) fn advance_account_to(&mut self, now: Time, interval: &Interval, end: bool) {
        if self.rare.frames.is_some() {
            return self.advance_frames(now, |port| port.advance_account_once(now, interval, end));
        }
        while self.next_advance <= now {
            self.advance_account_once(now, interval, end);
        }
    }

    /// Advances the account to the next due instant before `now`.
    #[inline(always)]
    fn advance_account_once(&mut self, now: Time, interval: &Interval, end: bool) {
        let at = self.next_advance;
        // a sample of explicit queues without departures needs nothing else: the time is added later
        let sample_alone = match &self.rare.queues {
            Some(queues) => self.begun && at < interval.to && queues.left_first() > at,
            None => false,
        };
        if !sample_alone && self.advance_account_at(at, interval, end && at == now) {
            return;
        }
        let length = self.length_now(at) as usize;
        // without arrivals before `now`, an empty queue stays empty
        let until = if length == 0 { now } else { self.departs_after(at).min(now) };
        let samples = &mut self.rare.samples;
        if samples.next == at {
            samples.take(length, until, interval);
        }
        self.next_advance = samples.next.min(interval.to);
    }

    /// Advances the account to `at`, maybe the `end` of the run. Returns whether the measured interval is over.
    #[inline(always)]
    fn advance_account_at(&mut self, at: Time, interval: &Interval, end: bool) -> bool {
        self.advance(at);
        self.ring.shrink();
        if let Some(queues) = &mut self.rare.queues {
            queues.shrink();
        }
        if at >= interval.from && !self.begun {
            let snapshot = self.snapshot(at);
            self.begin_frames_account();
            self.count.max_packets = self.length_now(at);
            self.count.max_bytes = self.bytes_now(at);
            self.rare.at_from = (snapshot != Snapshot::default()).then(|| Box::new(snapshot));
            self.begun = true;
            if let Some(queues) = &mut self.rare.queues {
                queues.snapshot(true, self.settings.device_queue);
            }
        }
        if at >= interval.to {
            if !end {
                self.rare.at_to = Some(Box::new(self.snapshot(at)));
            }
            if let Some(queues) = &mut self.rare.queues {
                queues.snapshot(false, self.settings.device_queue);
            }
            self.next_advance = Time::NEVER;
            return true;
        }
        false
    }

    /// Account at `at`, without arrivals since the last packet: the future part of accepted packets is subtracted.
    pub(super) fn snapshot(&self, at: Time) -> Snapshot {
        let (mut count, device_queue) = (self.count, self.settings.device_queue);
        let mut before = self.bytes_out;
        for i in 0..self.ring.len {
            let slot = self.slot(i);
            let size = slot.bytes_to - before;
            before = slot.bytes_to;
            let leaves = match i.checked_sub(device_queue) {
                None => at,
                Some(_) if device_queue == 0 => slot.departure,
                Some(j) => self.slot(j).departure,
            };
            count.take_wait(leaves.saturating_sub(at), size);
        }
        if let Some(frames) = &self.rare.frames {
            count.max_bytes = count.max_bytes.max(frames.max_before);
        }
        let ahead = self.ahead();
        ahead.pass(at, &mut count);
        let (events, bytes_in) = (self.rare.events, self.bytes_in);
        let station = self.station().is_some();
        let owed = self.rare.queues.as_ref().map_or_else(|| self.owed(at), |queues| queues.unpaid(at, station));
        let (held, ahead) = (self.held(at), self.accepted_ahead());
        Snapshot { count, events, bytes_in, owed, held, ahead }
    }

    /// Time from `at` until all accepted packets are transmitted, or the bucket is full.
    pub(super) fn owed(&self, at: Time) -> Time {
        self.rare.queues.as_ref().map_or(self.free_at.saturating_sub(at), |q| q.owed(at))
    }

    /// Transmission time of a packet that begins at `start`, of `size` bytes as the queue counts it.
    pub fn wire_from(&self, start: Time, size: u64) -> Time {
        match &self.rare.faults {
            Some(faults) => faults.wire_from(start, size, &self.settings),
            None => self.settings.serialization(size),
        }
    }
}
