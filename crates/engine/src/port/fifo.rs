//! Arithmetic of a port whose queue is FIFO.
//!
//! At a constant rate everything about a packet is decided at its arrival: the ring of departure times gives the
//! current queue, so drop, mark, departure and arrival at the far end follow exactly in one step, without a
//! "transmission finished" event. Departures at the instant of an arrival come first. The port keeps its own account:
//! utilisation, drops, marks, time-mean queue (the sum of times in the queue over the interval, which is the time
//! integral of its length), and the queue length sampled at a fixed interval. Decisions that need the packet later are
//! the task of explicit queues ([`super::explicit`]).

use super::frames::Noted;
use super::port::{Port, Rare};
use crate::event::interval::Interval;
use crate::event::packet::{Packet, flag};
use crate::ids::LinkId;
use crate::port::discipline::{Arrival, Place, Verdict};
use crate::port::settings::Settings;
use incast_cc::Time;
use std::sync::Arc;

/// Result of giving a packet to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// In flight.
    Arrives {
        /// Arrival time at the far end.
        time: Time,
        /// True if the queue set CE.
        marked: bool,
    },
    /// Transmitted, and lost on the wire or to a failure.
    Lost {
        /// Time of the loss: now, or the end of its transmission.
        at: Time,
    },
    /// Refused by the queue.
    Dropped,
}

/// Decides by a discipline with a state about an arrival at the port of link `link`.
#[cold]
fn ask(rare: &mut Rare, settings: &Settings, arrival: &Arrival, link: LinkId) -> Verdict {
    let place = Place { rate: settings.rate, seed: rare.seed, entity: link.0 as u64 };
    rare.discipline(settings).admit(arrival, &place)
}

/// Notifies a discipline with a state of the time at which its queue will be empty if nothing else arrives.
#[cold]
fn notify_empty(rare: &mut Rare, settings: &Settings, at: Time) {
    rare.discipline(settings).empty(at);
}

impl Port {
    /// Offers `packet` to the port, which has no explicit queue and no failures, at `now`.
    #[inline(always)]
    pub fn enqueue(&mut self, now: Time, packet: &Packet, interval: &Interval) -> Sent {
        self.accept::<false>(now, packet, interval)
    }

    /// Offers `packet` to a port whose link has failures.
    #[cold]
    pub fn enqueue_failing(&mut self, now: Time, packet: &Packet, interval: &Interval) -> Sent {
        self.accept::<true>(now, packet, interval)
    }

    #[inline(always)]
    fn accept<const FAILS: bool>(&mut self, now: Time, packet: &Packet, interval: &Interval) -> Sent {
        if now >= self.next_advance {
            self.advance_account(now, interval);
        }
        let settings = &*self.settings;
        let size = (packet.size as u32 + settings.framing) as u64;
        if !FAILS && settings.accepts_when_idle && self.free_at <= now {
            return Sent::Arrives { time: self.take_when_idle(now, size), marked: false };
        }
        if settings.scheduled {
            self.drain_scheduled(now, size);
        } else {
            self.drain(now);
        }
        let before = self.counted(self.ring.len);
        let bytes_before = self.counted_bytes();
        let arrival = Arrival { now, packets: before as u64, bytes: bytes_before, size, ect: packet.has(flag::ECT) };
        let settings = &*self.settings;
        let decided = settings.discipline.decide(&arrival);
        let verdict = match decided {
            Some(verdict) => verdict,
            None => ask(&mut self.rare, settings, &arrival, self.link),
        };
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => self.count.marks += 1,
            Verdict::Drop => {
                self.rare.events.drops += 1;
                self.dropped = true;
                self.count.marks += u32::from(self.rare.discipline(settings).counts_as_marked(&arrival));
                return Sent::Dropped;
            }
        }
        let last = self.free_at;
        let wire = if FAILS { self.wire_from(last.max(now), size) } else { settings.serialization(size) };
        if settings.ps_per_byte == 0 {
            self.rare.events.odd_busy += wire.0;
        }
        // a bucket is full again when a transmitter would be free; its tokens are time ahead
        let free_at = last.max(now) + wire;
        let departure = free_at.saturating_sub(settings.bucket).max(now);
        let ahead = self.ring.len;
        // the discipline's queue holds the packet until the one `below` positions ahead has left
        let leaves = match settings.device_queue {
            0 => departure,
            device_queue if ahead < device_queue => now,
            1 => last,
            device_queue => self.slot(ahead - device_queue).departure,
        };
        if departure > now {
            self.ring.push(self.latest());
        }
        self.free_at = free_at;
        self.bytes_in += size;
        self.count.packets += 1;
        if departure <= now {
            self.bytes_out = self.bytes_in;
        }
        if leaves > now {
            self.count.add_wait(leaves - now, size);
            self.count.holds(before + 1, bytes_before + size);
        }
        if decided.is_none() {
            notify_empty(&mut self.rare, settings, leaves);
        }
        let (delay, lossy) = (settings.delay, settings.lossy);
        if lossy && self.loses_latest(size) {
            return Sent::Lost { at: now };
        }
        if FAILS {
            // departures from a token bucket take no time
            let start = if self.settings.bucket > Time::ZERO { departure } else { departure - wire };
            return match self.arrival_of(packet, start, departure, self.count.packets - 1) {
                Some(time) => Sent::Arrives { time, marked: verdict == Verdict::Mark },
                None => {
                    self.rare.faults.iter_mut().for_each(|f| f.schedule_loss(packet, now, departure, interval));
                    self.note(departure, Noted::Loss);
                    Sent::Lost { at: departure }
                }
            };
        }
        Sent::Arrives { time: departure + delay, marked: verdict == Verdict::Mark }
    }

    /// Disables the shortcut for an empty port: every arrival reads the ring.
    pub fn disable_fast_paths(&mut self) {
        self.settings = Arc::new(Settings { accepts_when_idle: false, ..(*self.settings).clone() });
    }

    /// Accepts a packet of `size` bytes at a port that is empty at `now`. Returns its arrival time.
    #[inline(always)]
    fn take_when_idle(&mut self, now: Time, size: u64) -> Time {
        let settings = &*self.settings;
        let wire = settings.serialization(size);
        let departure = now + wire;
        self.free_at = departure;
        self.bytes_out = self.bytes_in;
        self.bytes_in += size;
        self.count.packets += 1;
        self.ring.clear();
        self.ring.len = 1;
        if settings.device_queue == 0 {
            self.count.add_wait(wire, size);
            self.count.holds(1, size);
        }
        departure + settings.delay
    }

    /// Removes departures that precede an arrival of `size` bytes at `now` under scheduled [ties](crate::spec::Ties),
    /// if it came over a link like this one: of two events at one instant, the one scheduled first comes first. A
    /// departure is scheduled when its transmission begins, an arrival when its own transmission begins.
    fn drain_scheduled(&mut self, now: Time, size: u64) {
        self.drain(now.saturating_sub(Time::ps(1)));
        if self.ring.len > 0 {
            let head = self.slot(0);
            // nothing is left of it if the rate was infinite until the link was degraded, and others left at once
            let left = head.bytes_to.checked_sub(self.bytes_out);
            let first = left.is_none_or(|bytes| {
                self.settings.serialization(bytes) >= self.settings.delay + self.settings.serialization(size)
            });
            if head.departure == now && first {
                self.drain(now);
            }
        }
        self.rare.tie_rank.busy = self.ring.len > 0;
    }

    /// Returns whether an arrival decides if a departure at the same instant precedes it.
    pub fn orders_departures(&self) -> bool {
        self.settings.scheduled && !self.is_explicit()
    }

    /// Tie rank of `packet`, the last accepted one.
    pub fn tie_rank(&mut self, packet: &Packet) -> u16 {
        self.rare.tie_rank.next(packet, &self.settings)
    }
}
