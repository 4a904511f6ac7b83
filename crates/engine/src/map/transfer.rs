//! Transfer times of segments over otherwise idle links: along one path, or with packets spread between the first link
//! and the last.

use crate::ids::LinkId;
use crate::map::segments::{Segments, fragments, last_packet, packets};
use crate::radio::frames::Frames;
use crate::spec::{Discipline, LinkSpec, QueueSpec, Sizes, Spec};
use incast_cc::{Rate, Time};

/// Links of an empty network.
#[derive(Clone, Copy)]
pub struct Wires<'s> {
    spec: &'s Spec,
    links: &'s [LinkSpec],
}

impl<'s> Wires<'s> {
    /// The links of `spec`, as given or replaced by `links`.
    pub fn new(spec: &'s Spec, links: &'s [LinkSpec]) -> Wires<'s> {
        Wires { spec, links }
    }

    /// Time for one packet of `size` IP bytes along `links`.
    pub fn cross(&self, links: &[LinkId], size: u64) -> Time {
        links.iter().fold(Time::ZERO, |sum, &l| sum.saturating_add(self.crossing(l, size)))
    }

    /// Time for a packet to cross a link, without waiting for others.
    pub fn crossing(&self, link: LinkId, size: u64) -> Time {
        let l = &self.links[link];
        // a frame has no token bucket, and the channel no delay
        if l.cell.is_some() { self.takes(l, size) } else { l.crossing(size) }
    }

    /// Time for which a packet of `size` IP bytes occupies an idle link. In a radio cell: the minimum.
    fn takes(&self, link: &LinkSpec, size: u64) -> Time {
        let Some(cell) = link.cell.map(|cell| &self.spec.cells[cell as usize]) else {
            return link.serialize(size + link.overhead as u64);
        };
        Frames::of(&cell.framing, size as u32, false).min_time(cell.mac.acknowledged)
    }

    /// Serialization time of a segment with all its fragments, on one link.
    pub fn period(&self, link: LinkId, sizes: &Sizes, payload: u32) -> Time {
        let l = &self.links[link];
        fragments(sizes, payload).fold(Time::ZERO, |sum, size| sum + self.takes(l, size))
    }

    /// Time at which the last of several packets leaves a link, with its delay. They arrive from `arrival` on and
    /// occupy the link for `takes`. A bucket releases at once the bytes that it has tokens for.
    fn passes(&self, link: LinkId, arrival: Time, takes: Time) -> Time {
        let l = &self.links[link];
        let held = takes.saturating_sub(l.rate.serialize(l.bucket as u64));
        arrival.saturating_add(held).saturating_add(l.delay)
    }

    /// Lower bound of the time that a link takes for `bytes` bytes in `segments` segments or more.
    fn carries(&self, link: LinkId, sizes: &Sizes, bytes: u64, segments: u64) -> Time {
        let l = &self.links[link];
        if l.cell.is_some() {
            // by the segment size with the least time a byte
            let per_byte = |payload: u32| (self.period(link, sizes, payload).0, payload as u64);
            let cross = |a: &(u64, u64), b: &(u64, u64)| a.0 as u128 * b.1 as u128;
            let min = (1..=sizes.mss).map(per_byte).min_by(|a, b| cross(a, b).cmp(&cross(b, a)));
            let (time, payload) = min.unwrap_or((0, 1));
            return Time((time as u128 * bytes as u128 / payload as u128).min(u64::MAX as u128) as u64);
        }
        let (packets, size) = packets(sizes, bytes, segments);
        let whole = size.saturating_add(packets.saturating_mul(l.overhead as u64));
        // the time of each packet is rounded by up to a picosecond, or cut by up to a tick
        let rounded = if is_exact(l.rate) { l.tick * packets } else { l.tick.max(Time(1)) * packets };
        l.rate.serialize(whole).saturating_sub(rounded)
    }

    /// Time for `full` full segments, then segments with the payloads `rest`, in order along one path.
    ///
    /// From an empty network, equal packets leave link j at the pace of the slowest link up to j, or, behind a bucket,
    /// as soon as it has their tokens. Either way a link delays the first or the last of them most, so all but the
    /// first take one multiplication. The rest is computed packet by packet.
    pub fn in_order(&self, links: &[LinkId], sizes: &Sizes, full: u64, rest: &[u32]) -> Time {
        // by link: time at which it is free again, and arrival time of the latest packet
        let mut few = [(Time::ZERO, Time::ZERO); 8];
        let mut many = Vec::new();
        let states = few.get_mut(..links.len()).unwrap_or_else(|| {
            many.resize(links.len(), (Time::ZERO, Time::ZERO));
            &mut many
        });
        let leave = |l: &LinkSpec, free: Time, arrival: Time| {
            // a bucket releases at once the bytes that it has tokens for
            free.saturating_sub(l.rate.serialize(l.bucket as u64)).max(arrival)
        };
        let send = |states: &mut [(Time, Time)], payload: u32| {
            let mut at = Time::ZERO;
            for size in fragments(sizes, payload) {
                at = Time::ZERO;
                for (&l, (free, arrival)) in links.iter().zip(states.iter_mut()) {
                    let l = &self.links[l];
                    *arrival = at;
                    *free = at.max(*free).saturating_add(self.takes(l, size));
                    at = if l.bucket > 0 { leave(l, *free, at) } else { *free }.saturating_add(l.delay);
                }
            }
            at
        };
        let mut arrived = Time::ZERO;
        if full > 0 {
            arrived = send(states, sizes.mss);
            // lag of the last segment behind the first at a link
            let mut behind = Time::ZERO;
            let last = fragments(sizes, sizes.mss).last().unwrap_or(0);
            let mut saved = false;
            for (&l, (free, arrival)) in links.iter().zip(states.iter_mut()) {
                let link = &self.links[l];
                let first = *free;
                // behind a bucket the gaps of fragments differ: at least the last one has to pass
                let held = match saved {
                    true => self.takes(link, last),
                    false => first.saturating_sub(*arrival),
                };
                saved |= link.bucket > 0;
                *arrival = arrival.saturating_add(behind);
                let passed = self.period(l, sizes, sizes.mss).saturating_mul(full - 1);
                *free = first.saturating_add(passed).max(arrival.saturating_add(held));
                behind = if link.bucket > 0 {
                    leave(link, *free, *arrival).saturating_sub(leave(link, first, arrival.saturating_sub(behind)))
                } else {
                    free.saturating_sub(first)
                };
            }
            arrived = arrived.saturating_add(behind);
        }
        for payload in rest {
            arrived = send(states, *payload);
        }
        arrived
    }

    /// True if the last segment may overtake full ones: a trimming queue serves payloads up to a header's size first.
    fn overtakes(&self, segments: &Segments) -> bool {
        let rest = if segments.certain { segments.rest } else { Some(1) };
        let before = |queue: &QueueSpec| {
            let Discipline::Trimming(trimming) = &queue.discipline else { return false };
            rest.is_some_and(|payload| payload <= trimming.header as u32)
        };
        segments.full > 0 && self.spec.queues.iter().any(before)
    }

    /// Lower bound of the time for segments that may be cut elsewhere, along one path. `first`: IP bytes of the
    /// smallest packet that may be the first.
    fn at_least(&self, links: &[LinkId], sizes: &Sizes, segments: &Segments, first: u64) -> Time {
        let cut = |(count, last): (u64, u32)| {
            let mut arrival = Time::ZERO;
            let mut end = Time::ZERO;
            for (i, &l) in links.iter().enumerate() {
                let left = self.passes(l, arrival, self.carries(l, sizes, segments.bytes, count));
                end = end.max(left.saturating_add(self.cross(&links[i + 1..], last_packet(sizes, last))));
                arrival = arrival.saturating_add(self.crossing(l, first));
            }
            end
        };
        let [one, other] = segments.cuts(sizes.mss).map(cut);
        one.min(other)
    }

    /// Time from the first bit at the source to the last bit at the destination of `segments`, along one path. A lower
    /// bound where segments may overtake or may be cut elsewhere.
    pub fn along(&self, links: &[LinkId], sizes: &Sizes, segments: &Segments) -> Time {
        let exact = self.in_order(links, sizes, segments.full, segments.rest.as_slice());
        let first = fragments(sizes, segments.first).next().unwrap_or(0);
        match (segments.certain, self.overtakes(segments)) {
            (true, false) => exact,
            (true, true) => exact.min(self.in_order(links, sizes, segments.full, &[])),
            (false, false) => exact.min(self.at_least(links, sizes, segments, first)),
            (false, true) => exact.min(self.at_least(links, sizes, segments, first.min(last_packet(sizes, 1)))),
        }
    }
}

/// True if a byte takes whole picoseconds.
fn is_exact(rate: Rate) -> bool {
    rate == Rate::INFINITE || 8_000_000_000_000u64.checked_rem(rate.0) == Some(0)
}

/// True if the time that a packet occupies a link is in proportion to its bytes on the wire.
pub fn is_in_proportion(link: &LinkSpec) -> bool {
    is_exact(link.rate) && link.bucket == 0 && link.cell.is_none()
}

/// Paths that part after the first link and may meet before the last.
pub struct Fan<'s, C> {
    /// Links.
    pub wires: Wires<'s>,
    /// The first link.
    pub first: LinkId,
    /// The last link, if all packets pass it.
    pub last: Option<LinkId>,
    /// Time of the quickest path from the end of the first link to the destination, for a packet of some IP bytes.
    pub onward: C,
}

impl<C: Fn(u64) -> Time> Fan<'_, C> {
    /// Time from the end of the first link to the last link, for a packet of `size` IP bytes.
    fn at_last(&self, last: LinkId, size: u64) -> Time {
        (self.onward)(size).saturating_sub(self.wires.crossing(last, size))
    }

    /// Times at which a segment's last packet reaches the destination, and its first packet the last link. `before`:
    /// time for which earlier packets occupy the first link. Only the largest and the last fragments matter.
    fn alone(&self, sizes: &Sizes, before: Time, payload: u32) -> (Time, Time) {
        let (mut end, mut first, mut sum) = (Time::ZERO, Time::NEVER, before);
        let count = fragments(sizes, payload).count();
        for (i, size) in fragments(sizes, payload).enumerate() {
            sum = sum.saturating_add(self.wires.takes(&self.wires.links[self.first], size));
            // fragments in between are as large as the first and the last but one
            if i == 0 || i + 2 >= count {
                let left = self.wires.passes(self.first, Time::ZERO, sum);
                end = end.max(left.saturating_add((self.onward)(size)));
                first = first.min(self.last.map_or(left, |last| left.saturating_add(self.at_last(last, size))));
            }
        }
        (end, first)
    }

    /// Time for full segments and a partial one that may overtake. Between the first and the last link packets do not
    /// wait for each other.
    fn in_any_order(&self, sizes: &Sizes, full: u64, rest: Option<u32>) -> Time {
        let pace = self.wires.period(self.first, sizes, sizes.mss);
        let passed =
            |arrival: Time, takes: Time| self.last.map_or(arrival, |last| self.wires.passes(last, arrival, takes));
        let mut end = Time::ZERO;
        if full > 0 {
            let first = self.alone(sizes, Time::ZERO, sizes.mss).1;
            let all = |last: LinkId| self.wires.period(last, sizes, sizes.mss).saturating_mul(full);
            let last = self.alone(sizes, pace.saturating_mul(full - 1), sizes.mss).0;
            end = last.max(passed(first, self.last.map_or(Time::ZERO, all)));
        }
        if let Some(rest) = rest {
            let (last, first) = self.alone(sizes, pace.saturating_mul(full), rest);
            let takes = self.last.map_or(Time::ZERO, |last| self.wires.period(last, sizes, rest));
            end = end.max(last).max(passed(first, takes));
        }
        end
    }

    /// Lower bound of the time for segments that may be cut elsewhere.
    fn at_least(&self, sizes: &Sizes, segments: &Segments) -> Time {
        let wires = &self.wires;
        // the first packet at the last link: the first to leave, or a small one that overtakes
        let one = fragments(sizes, segments.first).next().unwrap_or(0);
        let lead = if wires.overtakes(segments) { 0 } else { segments.lead };
        let before = wires.period(self.first, sizes, sizes.mss).saturating_mul(lead);
        let small = last_packet(sizes, 1);
        let arrival = |last: LinkId, before: Time, size: u64| {
            let takes = before.saturating_add(wires.takes(&wires.links[self.first], size));
            wires.passes(self.first, Time::ZERO, takes).saturating_add(self.at_last(last, size))
        };
        let cut = |(count, payload): (u64, u32)| {
            let carries = |link: LinkId| wires.carries(link, sizes, segments.bytes, count);
            let left = wires.passes(self.first, Time::ZERO, carries(self.first));
            let end = left.saturating_add((self.onward)(last_packet(sizes, payload)));
            let Some(last) = self.last else { return end };
            let arrival = arrival(last, Time::ZERO, one).min(arrival(last, before, small));
            end.max(wires.passes(last, arrival, carries(last)))
        };
        let [one, other] = segments.cuts(sizes.mss).map(cut);
        one.min(other)
    }

    /// Time from the first bit at the source to the last bit at the destination of `segments`.
    pub fn over(&self, sizes: &Sizes, segments: &Segments) -> Time {
        let rest = segments.rest.filter(|_| !self.wires.overtakes(segments));
        let fewest = self.in_any_order(sizes, segments.full, rest);
        if segments.certain { fewest } else { fewest.min(self.at_least(sizes, segments)) }
    }
}
