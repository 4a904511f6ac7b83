//! Packet trimming ([`trimming`](super::discipline::trimming)) at the queues of an explicit port.

use super::account::Events;
use super::buffer::{Pool, SharedBuffer};
use super::class_queue::Dropped;
use super::queues::{Admission, Queues};
use super::settings::Settings;
use crate::event::interval::Interval;
use crate::event::packet::Packet;
use crate::port::discipline::trimming::{DATA, HEADERS, Trim};
use crate::port::discipline::{Arrival, Verdict};
use incast_cc::Time;

impl Queues {
    /// Handles an arrival that does not fit into the data queue. Either the last queued packet is trimmed to its
    /// header, by a draw and if that makes enough room, or the arrival is. A port that does not trim drops the packet
    /// instead.
    pub(super) fn trim(
        &mut self,
        refused: Admission,
        packet: &Packet,
        settings: &Settings,
        buffer: Option<&mut SharedBuffer>,
        events: &mut Events,
        interval: &Interval,
    ) -> Admission {
        let now = refused.arrival.now;
        let Some(trim) = self.trim.as_mut().filter(|_| refused.class == DATA) else { return refused };
        let (newest, header, drops) = (trim.draw(now, interval), trim.header(), trim.drops());
        let mut buffer = buffer;
        if newest && self.trim_newest(&refused.arrival, header, settings, buffer.as_deref_mut(), events, interval) {
            return Admission { verdict: Verdict::Accept, ..refused };
        }
        if drops {
            return refused;
        }
        let mut packet = *packet;
        packet.trim(header);
        Admission { cut: Some(header), ..self.admit(HEADERS, &packet, now, settings, buffer.as_deref()) }
    }

    /// Trims the last packet of the data queue, if that makes enough room for the arrival.
    fn trim_newest(
        &mut self,
        arrival: &Arrival,
        header: u16,
        settings: &Settings,
        buffer: Option<&mut SharedBuffer>,
        events: &mut Events,
        interval: &Interval,
    ) -> bool {
        let mut pool = buffer.map(|buffer| &mut *buffer.pool);
        let held = self.here_of(DATA).1;
        let data = &mut self.classes[DATA];
        let Some(newest) = data.queue.back().map(|w| w.size) else { return false };
        let place = data.queue.len() - 1;
        let without = Arrival { packets: arrival.packets - 1, bytes: arrival.bytes - newest, ..*arrival };
        let (rest, arrival_size) = (held - newest, arrival.size);
        let fits = |pool: &Pool| {
            let mut pool = pool.clone();
            pool.give_back(rest, newest);
            pool.takes(rest, arrival_size)
        };
        // htsim accepts the arrival even if it is larger, which matters with probes among the data
        let takes = self.trim.as_ref().is_some_and(Trim::drops) || data.admit(&without) != Verdict::Drop;
        if !pool.as_deref().is_none_or(fits) || !takes {
            return false;
        }
        let Some(mut cut) = self.take_out(DATA, place) else { return false };
        if let Some(pool) = pool.as_deref_mut() {
            pool.give_back(rest, cut.size);
        }
        let odd = |wire: Time| if settings.ps_per_byte == 0 { wire.0 } else { 0 };
        events.odd_busy = events.odd_busy.wrapping_sub(odd(cut.wire));
        events.cut_bytes += cut.size;
        if self.trim.as_ref().is_some_and(Trim::drops) {
            events.cut_bytes += settings.overhead as u64;
            events.withdrawn += 1;
            events.drops += !cut.lost as u64;
            self.classes[DATA].count.drops += !cut.lost as u64;
            self.dropped.push(Dropped { packet: cut.packet, returns: false, lost: cut.lost, place: None });
            return true;
        }
        cut.packet.trim(header);
        cut.size = header as u64 + settings.framing as u64;
        cut.wire = settings.serialization(cut.size);
        let (packets, bytes) = self.counted_of(HEADERS, settings.device_queue);
        let arrival = Arrival { packets: packets as u64, bytes, size: cut.size, ..*arrival };
        let held = self.here_of(HEADERS).1;
        let headers = &mut self.classes[HEADERS];
        // the arrival must keep the room that was found for it
        let full = pool.as_deref().is_some_and(|pool| {
            let mut left = pool.clone();
            left.take(rest, arrival_size);
            !left.takes(held, cut.size)
        });
        let verdict = if full { headers.refuse() } else { headers.admit(&arrival) };
        if verdict == Verdict::Drop {
            // a packet that the wire will lose was counted as lost when it was accepted
            let trim = self.trim.as_mut().filter(|_| !cut.lost);
            let returns = trim.is_some_and(|trim| trim.sends_back(&cut.packet, arrival.now, interval));
            if !cut.lost && !returns {
                headers.drop(&arrival);
                events.drops += 1;
            }
            events.cut_bytes += settings.overhead as u64;
            events.withdrawn += 1;
            self.dropped.push(Dropped { packet: cut.packet, returns, lost: cut.lost, place: None });
        } else {
            // it counts in the header queue
            if let Some(pool) = pool {
                pool.take(held, cut.size);
            }
            events.cut_bytes -= cut.size;
            events.odd_busy = events.odd_busy.wrapping_add(odd(cut.wire));
            self.push(HEADERS, cut, settings.device_queue);
            let (packets, bytes) = self.counted_of(HEADERS, settings.device_queue);
            self.classes[HEADERS].holds(packets, bytes);
        }
        true
    }
}
