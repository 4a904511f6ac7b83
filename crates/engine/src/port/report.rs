//! Reports of a port: record of the measured interval, and time series of its queue.

use super::account::PARTS;
use super::port::{Port, Rare};
use crate::event::interval::Interval;
use crate::event::packet::Packet;
use crate::ids::FlowId;
use incast_cc::{Rate, Time};
use incast_record::{Name, PortRecord};

impl Port {
    /// Bytes transmitted by `now`, including part of a packet.
    pub fn sent(&self, now: Time) -> u64 {
        self.stamp(now).sent
    }

    /// Current queue length in packets, as the discipline counts it (for time series).
    pub fn length(&mut self, now: Time, interval: &Interval) -> u64 {
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        self.advance(now);
        self.length_now(now) as u64
    }

    /// Reports the queue length since the last call, up to `now`: every change (`every` `None`), or at multiples of
    /// `every`. A departure at the instant of an arrival that decides their order ([`Port::orders_departures`]) is
    /// reported later, with its time.
    pub fn observe(&mut self, now: Time, interval: &Interval, every: Option<Time>, emit: &mut dyn FnMut(Time, u64)) {
        match every {
            Some(every) => {
                while self.rare.probe_next < now {
                    let at = self.rare.probe_next;
                    let length = self.length(at, interval);
                    emit(at, length);
                    self.rare.probe_next += every.max(Time::ps(1));
                }
            }
            None => {
                let by = if self.orders_departures() { now.saturating_sub(Time::ps(1)) } else { now };
                while let Some(departure) = self.departed_by(by) {
                    let before = self.length_now(departure) as u64;
                    let length = self.length(departure, interval);
                    if length != before {
                        self.rare.probe_last = length;
                        emit(departure, self.rare.probe_last);
                    }
                }
                let length = self.length_now(now) as u64;
                if length != self.rare.probe_last {
                    self.rare.probe_last = length;
                    emit(now, length);
                }
            }
        }
    }

    /// Closes the account at the end of the run.
    pub fn close(&mut self, end: Time, interval: &Interval) {
        self.settle_due(end, interval);
        self.end_own_service(end, interval);
        self.end_last_unnoted(end, interval);
        self.advance_account_to(end, interval, true);
        if self.rare.at_to.is_none() {
            self.advance(end);
        }
    }

    /// Record of the measured interval, after [`Port::close`].
    pub fn record(&self, name: &Name, end: Time, interval: &Interval) -> PortRecord {
        let settings = &*self.settings;
        let to = self.rare.at_to.as_deref().copied().unwrap_or_else(|| self.snapshot(end));
        let from = match self.begun {
            true => self.rare.at_from.as_deref().copied().unwrap_or_default(),
            false => to,
        };
        let (a, b) = (&from.count, &to.count);
        let ((packet_time_before, byte_time_before), (packet_time, byte_time)) = (a.times(), b.times());
        let (was, is) = (&from.events, &to.events);
        let span = (interval.to - interval.from).0 as f64;
        let mean = |integral: f64| if span > 0.0 { integral / span } else { 0.0 };
        let packets = b.packets - a.packets;
        let accepted_bytes = to.bytes_in - from.bytes_in + packets * settings.overhead as u64;
        // trimmed bytes may have been accepted before the interval
        let bytes = accepted_bytes.wrapping_sub(is.cut_bytes - was.cut_bytes);
        // transmission time of accepted packets, plus the time owed at the start, minus the time owed at the end
        let odd = is.odd_busy.wrapping_sub(was.odd_busy);
        let owed = from.owed.0.wrapping_sub(to.owed.0);
        let busy = bytes.wrapping_mul(settings.ps_per_byte).wrapping_add(odd).wrapping_add(owed);
        let total = &self.rare.events;
        let taken = self.rare.faults.as_ref().map_or_else(Default::default, |f| f.taken);
        let withdrawn = is.withdrawn - was.withdrawn;
        let sent = bytes as i64 as i128 * PARTS as i128 + from.held.unsent as i128 - to.held.unsent as i128;
        let ahead = to.ahead_bytes(settings.overhead).wrapping_sub(from.ahead_bytes(settings.overhead));
        let queues = self.rare.queues.as_deref();
        let cuts = queues.map_or((0, 0), |q| q.cuts());
        PortRecord {
            name: name.clone(),
            rate_bps: if settings.rate == Rate::INFINITE { 0 } else { settings.rate.0 },
            packets: packets + from.held.packets - to.held.packets - withdrawn,
            bytes: (sent / PARTS as i128).max(0) as u64,
            accepted: (packets + to.ahead.0 as u64) - from.ahead.0 as u64,
            accepted_bytes: accepted_bytes.wrapping_add(ahead),
            trimmed: cuts.0,
            returned: cuts.1,
            busy_ps: busy,
            drops: is.drops - was.drops,
            losses: is.losses - was.losses + taken.measured,
            marks: (b.marks - a.marks) as u64
                + queues.map_or(0, |q| q.marks())
                + self.rare.pending_marks.as_ref().map_or(0, |marks| marks.count),
            queue_mean_packets: mean((packet_time - packet_time_before) as f64),
            queue_p99_packets: self.rare.samples.percentile(99),
            queue_max_packets: b.max_packets as u64,
            queue_mean_bytes: mean((byte_time - byte_time_before) as f64),
            queue_max_bytes: b.max_bytes,
            packets_total: self.count.packets - total.withdrawn - self.held(end).packets,
            accepted_total: self.count.packets + self.accepted_ahead().0 as u64,
            lost_total: total.drops + total.losses + taken.total,
            classes: queues.map_or(Vec::new(), |q| q.records(span, end, interval)),
            pauses: queues.map_or(0, |q| q.pausing.pauses),
            paused_ps: queues.map_or(0, |q| q.pausing.time_to(end, interval).0),
            deadlocked_ps: None,
            limit_packets: None,
            limit_bytes: None,
        }
    }

    /// End of the last transmission that a failure will lose, as far as known.
    pub fn last_scheduled_loss(&self) -> Option<Time> {
        self.rare.faults.as_ref()?.last_scheduled_loss()
    }

    /// Flows of which a packet crossed a failure of the link, with the end of its transmission.
    pub fn crossed(&self) -> impl Iterator<Item = (FlowId, Time)> {
        self.rare.faults.iter().flat_map(|faults| &faults.crossed).map(|(flow, end)| (*flow, *end))
    }

    /// Ends the run at `end`: packets to be lost later are in flight instead, and are no longer counted as lost.
    pub fn spares(&mut self, end: Time, interval: &Interval) -> impl Iterator<Item = Packet> {
        let Rare { faults, frames, .. } = &mut *self.rare;
        faults.iter_mut().flat_map(move |faults| faults.spare(end, interval)).map(move |(departure, packet)| {
            if let Some(frames) = frames {
                frames.take_back_loss(departure);
            }
            packet
        })
    }
}
