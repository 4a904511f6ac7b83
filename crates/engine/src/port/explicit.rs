//! Explicit queues: packets wait in the port itself and leave by a Departure event.
//!
//! A FIFO port settles everything at a packet's arrival. What is known only later needs the
//! packet to be still there when its turn comes: marking at the end of its transmission, for
//! example. Here the packet lies in a real queue, one event a packet ends its transmission, and
//! only then is its arrival at the far end known, so the lookahead of such a link is its delay
//! alone. The account is the same as a FIFO port's: wherever both can serve, they give the same
//! bytes, which tests hold them to.

use super::{Interval, Port};
use crate::packet::{Ext, Packet, flag};
use crate::queue::{Arrival, Bound, Verdict};
use crate::spec::QueueSpec;
use std::collections::VecDeque;
use std::mem::take;

/// What an explicit queue did with an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// Refused.
    Dropped,
    /// It waits here.
    Waits {
        /// The queue was empty: its transmission ends then, ps.
        ends: Option<u64>,
        /// The queue set CE.
        marked: bool,
        /// The wire will lose it.
        lost: bool,
    },
    /// Transmitted in no time.
    Passed {
        /// The queue set CE.
        marked: bool,
        /// The wire lost it.
        lost: bool,
    },
}

/// The end of a transmission.
#[derive(Clone, Debug)]
pub struct Departed {
    /// The packet that left, CE set where the queue marked it.
    pub packet: Packet,
    /// Its extension.
    pub ext: Option<Ext>,
    /// It is lost on the wire.
    pub lost: bool,
    /// It was marked as it left.
    pub marked: bool,
    /// When the next transmission, which begins now, ends, ps.
    pub next: Option<u64>,
}

#[derive(Clone, Debug)]
struct Waiting {
    packet: Packet,
    ext: Option<Ext>,
    /// Time on the wire, ps.
    wire: u64,
    lost: bool,
    /// When it left, ps, while the account does not know it yet.
    left: u64,
}

/// The queue. Packets that left stay at its head until the account next moves, as in the ring of
/// a FIFO port; the first of the others is being transmitted.
#[derive(Clone, Debug)]
pub(super) struct Explicit {
    queue: VecDeque<Waiting>,
    /// Packets at the head that left.
    gone: usize,
    /// Bytes of those that did not.
    here: u64,
    /// Bytes in the account, and of those the ones below the discipline, which are at the head.
    bytes: u64,
    bytes_below: u64,
    /// The account covers the time up to here, ps.
    known_to: u64,
    /// A packet is marked as it leaves if the queue exceeds this.
    mark: Option<Bound>,
    /// Marks at departures inside the measured interval.
    marks: u64,
}

impl Explicit {
    /// The queue that `spec` asks for, if it asks for one.
    pub(super) fn of(spec: &QueueSpec) -> Option<Box<Explicit>> {
        spec.is_explicit().then(|| {
            Box::new(Explicit {
                queue: VecDeque::new(),
                gone: 0,
                here: 0,
                bytes: 0,
                bytes_below: 0,
                known_to: 0,
                mark: Bound::at_departure(spec),
                marks: 0,
            })
        })
    }

    /// Packets in the account.
    pub(super) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Packets and bytes that have not left.
    pub(super) fn filling(&self) -> (u32, u64) {
        ((self.queue.len() - self.gone) as u32, self.here)
    }

    /// Bytes the discipline counts, by the account.
    pub(super) fn counted_bytes(&self) -> u64 {
        self.bytes - self.bytes_below
    }

    /// Marks at departures inside the measured interval.
    pub(super) fn marks(&self) -> u64 {
        self.marks
    }

    /// When the first packet left that the account still has, if that is by `now`.
    pub(super) fn left_by(&self, now: u64) -> Option<u64> {
        self.queue.front().map(|w| w.left).filter(|left| *left <= now)
    }

    /// Packets that wait and will arrive.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queue.iter().skip(self.gone).filter(|w| !w.lost).map(|w| &w.packet)
    }

    fn push(&mut self, waiting: Waiting, below: u32) {
        let size = waiting.packet.size as u64;
        self.here += size;
        self.bytes += size;
        if self.len() < below {
            self.bytes_below += size;
        }
        self.queue.push_back(waiting);
    }

    /// Takes the head, which left, out of the account.
    fn forget(&mut self, below: u32) {
        let Some(head) = self.queue.pop_front() else { return };
        let size = head.packet.size as u64;
        self.gone -= 1;
        self.bytes -= size;
        if below > 0 {
            // the first that the discipline holds moves below it
            self.bytes_below += self.queue.get(below as usize - 1).map_or(0, |w| w.packet.size as u64);
            self.bytes_below -= size;
        }
    }

    /// Whether a packet is to be marked that leaves a queue of so much, itself included.
    fn marks_departure(&mut self, packet: &Packet, packets: u64, bytes: u64, measured: bool) -> bool {
        let marked = packet.has(flag::ECT) && self.mark.is_some_and(|k| k.exceeded(packets, bytes));
        self.marks += (marked && measured) as u64;
        marked
    }

    /// Gives back memory after a burst.
    pub(super) fn shrink(&mut self) {
        if self.queue.capacity() > 64 && self.queue.len() * 4 < self.queue.capacity() {
            self.queue.shrink_to(self.queue.len() * 2);
        }
    }
}

impl Port {
    /// Brings the account up to `at`: what left by then, and the time that passed.
    pub(super) fn settle(&mut self, at: u64) {
        let below = self.class.below;
        loop {
            let packets = self.counted(self.held()) as u64;
            let Some(explicit) = &mut self.rare.explicit else { return };
            let left = explicit.left_by(at);
            let until = left.unwrap_or(at);
            let span = until - explicit.known_to;
            explicit.known_to = until;
            self.count.packet_time += packets * span;
            self.count.byte_time += explicit.counted_bytes() as u128 * span as u128;
            if left.is_none() {
                return;
            }
            explicit.forget(below);
            if packets == 1 {
                self.rare.empty_since = until;
            }
        }
    }

    /// Offers `packet` to the explicit queue at `now`. Where `ends` says so, the caller calls
    /// [`Port::depart`] then.
    pub fn offer(&mut self, now: u64, packet: &Packet, ext: Option<&mut Ext>, interval: &Interval) -> Offered {
        if now >= self.next_look {
            self.look(now, interval);
        }
        self.settle(now);
        let size = packet.size as u64;
        let before = self.held();
        let counted = self.counted(before);
        let bytes = self.rare.explicit.as_ref().map_or(0, |q| q.counted_bytes());
        let ect = packet.has(flag::ECT);
        let arrival = Arrival { now, packets: counted as u64, bytes, size, ect };
        let verdict = self.admit(&arrival);
        if verdict == Verdict::Drop {
            self.rare.events.drops += 1;
            self.count.marks += u32::from(self.class.rule.counts_as_marked(&arrival));
            return Offered::Dropped;
        }
        let mut marked = verdict == Verdict::Mark;
        self.count.marks += marked as u32;
        let wire = self.class.serialization(size);
        if self.class.ps_per_byte == 0 {
            self.rare.events.odd_busy += wire;
        }
        self.free_at = self.free_at.max(now) + wire;
        self.bytes_in += size;
        self.count.packets += 1;
        let lost = self.class.lossy && self.loses_latest(size);
        let below = self.class.below;
        let Some(explicit) = &mut self.rare.explicit else { return Offered::Dropped };
        if self.free_at == now {
            marked |= explicit.marks_departure(packet, 1, size, interval.holds(now));
            self.rare.empty_since = now;
            return Offered::Passed { marked, lost };
        }
        let packet = Packet { flags: packet.flags | if marked { flag::CE } else { 0 }, ..*packet };
        explicit.push(Waiting { packet, ext: ext.map(take), wire, lost, left: u64::MAX }, below);
        let bytes = explicit.counted_bytes();
        if before >= below {
            self.count.max_packets = self.count.max_packets.max(counted + 1);
            self.count.max_bytes = self.count.max_bytes.max(bytes);
        } else {
            self.rare.empty_since = now;
        }
        Offered::Waits { ends: (before == 0).then_some(self.free_at), marked, lost }
    }

    /// Ends the transmission under way at `now`; `None` if there is none.
    pub fn depart(&mut self, now: u64, interval: &Interval) -> Option<Departed> {
        let explicit = self.rare.explicit.as_mut()?;
        let (packets, bytes) = (explicit.queue.len() - explicit.gone, explicit.here);
        let head = explicit.queue.get_mut(explicit.gone)?;
        head.left = now;
        let (mut packet, ext, lost) = (head.packet, head.ext.take(), head.lost);
        explicit.gone += 1;
        explicit.here -= packet.size as u64;
        let marked = explicit.marks_departure(&packet, packets as u64, bytes, interval.holds(now));
        packet.flags |= if marked { flag::CE } else { 0 };
        let next = explicit.queue.get(explicit.gone).map(|w| now + w.wire);
        Some(Departed { packet, ext, lost, marked, next })
    }

    /// Propagation delay of the link, ps.
    pub fn delay(&self) -> u64 {
        self.class.delay
    }
}
