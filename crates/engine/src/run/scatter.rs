//! Arrivals of an opening window: scattered to their domains by counting, and ordered within a domain.

use crate::event::order::Order;
use crate::ids::DomainId;
use crate::run::buckets::Bucket;
use crate::run::pages::Pages;
use incast_cc::Time;
use std::marker::PhantomData;
use std::ops::IndexMut;

/// Bits of a sort key for the place of a packet in its bucket. Above them is its offset into the window.
const PLACE_BITS: u32 = 32;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// Windows with more packets in a domain are ordered by counting first.
const FEW: usize = 24;

/// Arrival time of a packet and its place in the bucket, in one word. Words compare by time, then by order of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Arrival(u64);

impl Arrival {
    #[inline(always)]
    fn new(offset: u32, place: u32) -> Arrival {
        Arrival((offset as u64) << PLACE_BITS | place as u64)
    }

    /// Offset into the window.
    #[inline(always)]
    pub fn offset(self) -> Time {
        Time(self.0 >> PLACE_BITS)
    }

    /// True if both arrive at the same time.
    #[inline(always)]
    fn ties(self, other: Arrival) -> bool {
        (self.0 ^ other.0) >> PLACE_BITS == 0
    }

    /// Place in the bucket.
    #[inline(always)]
    pub fn place(self) -> usize {
        (self.0 & PLACE_MASK) as usize
    }
}

/// Arrivals of an open window by domain, or those of a domain by port.
#[derive(Default)]
pub struct Scatter<To> {
    /// Range of each receiver in `arrivals`. All are empty between windows.
    runs: Vec<(u32, u32)>,
    /// Arrivals of one receiver after the other, each in order of sending.
    arrivals: Vec<Arrival>,
    to: PhantomData<To>,
}

impl<To: Copy> Scatter<To>
where
    [(u32, u32)]: IndexMut<To, Output = (u32, u32)>,
{
    /// Empty, for `count` receivers.
    pub fn new(count: usize) -> Scatter<To> {
        Scatter { runs: vec![(0, 0); count], arrivals: Vec::new(), to: PhantomData }
    }

    /// Counts one more packet for `to`. Adds receivers to `todo` at their first packet.
    #[inline(always)]
    pub fn count(&mut self, to: To, todo: &mut Vec<To>) {
        let run = &mut self.runs.as_mut_slice()[to];
        if run.1 == 0 {
            todo.push(to);
        }
        run.1 += 1;
    }

    /// Lays out the ranges of the receivers in `todo`, once all `packets` are counted.
    #[inline(always)]
    pub fn lay(&mut self, todo: &[To], packets: usize) {
        let mut sum = 0;
        for to in todo {
            let run = &mut self.runs.as_mut_slice()[*to];
            let count = run.1;
            *run = (sum, sum);
            sum += count;
        }
        if self.arrivals.len() < packets {
            self.arrivals.resize(packets, Arrival::default());
        }
    }

    /// Adds the next arrival for `to`.
    #[inline(always)]
    pub fn put(&mut self, to: To, arrival: Arrival) {
        let end = &mut self.runs.as_mut_slice()[to].1;
        self.arrivals[*end as usize] = arrival;
        *end += 1;
    }

    /// Arrivals for `to`.
    #[inline(always)]
    pub fn of(&self, to: To) -> &[Arrival] {
        let (from, end) = self.runs.as_slice()[to];
        &self.arrivals[from as usize..end as usize]
    }

    /// Arrivals for `to`, to be ordered in place.
    #[inline(always)]
    pub fn of_mut(&mut self, to: To) -> &mut [Arrival] {
        let (from, end) = self.runs.as_slice()[to];
        &mut self.arrivals[from as usize..end as usize]
    }

    /// Removes the arrivals of the receivers in `todo`.
    #[inline(always)]
    pub fn clear(&mut self, todo: &[To]) {
        todo.iter().for_each(|to| self.runs.as_mut_slice()[*to] = (0, 0));
    }
}

impl Scatter<DomainId> {
    /// Scatters packets to domains by their heads. Adds the domains with packets to `todo`.
    pub fn out(&mut self, packets: &Pages, todo: &mut Vec<DomainId>) {
        packets.iter().for_each(|(_, heads, _)| heads.iter().for_each(|head| self.count(head.to.domain, todo)));
        self.lay(todo, packets.len());
        for (first, heads, _) in packets.iter() {
            (first as u32..).zip(heads).for_each(|(i, head)| self.put(head.to.domain, Arrival::new(head.offset, i)));
        }
    }
}

/// Orders `arrivals`, given in order of sending, as [`Sorter::sort`] does. For a small number.
#[inline(always)]
pub fn order(arrivals: &mut [Arrival], bucket: &Bucket, rule: Order) {
    if arrivals.len() > 1 && sort(arrivals) {
        break_ties(arrivals, bucket, rule);
    }
}

/// Orders the packets of a domain.
#[derive(Default)]
pub struct Sorter {
    /// Bits of an offset into a window.
    bits: u32,
    sorted: Vec<Arrival>,
    starts: Vec<u32>,
}

impl Sorter {
    /// For windows of `length`.
    pub fn new(length: Time) -> Sorter {
        Sorter { bits: length.0.ilog2() + 1, sorted: Vec::new(), starts: Vec::new() }
    }

    /// Orders `arrivals`, given in order of sending, by (time, tie key, link, order of sending on the link).
    #[inline]
    pub fn sort(&mut self, arrivals: &[Arrival], bucket: &Bucket, rule: Order) -> &[Arrival] {
        self.sorted.clear();
        let mut crowd = 0;
        if arrivals.len() <= FEW {
            self.sorted.extend_from_slice(arrivals);
        } else {
            crowd = self.count(arrivals);
        }
        let sorted = self.sorted.as_mut_slice();
        let tied = if crowd <= FEW { insert(sorted) } else { sort(sorted) };
        if tied {
            break_ties(sorted, bucket, rule);
        }
        sorted
    }

    /// Orders `arrivals` by the upper bits of their offsets. Returns the largest number with the same bits.
    fn count(&mut self, arrivals: &[Arrival]) -> usize {
        let bits = arrivals.len().ilog2().min(self.bits);
        let shift = PLACE_BITS + self.bits - bits;
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        let starts = self.starts.as_mut_slice();
        arrivals.iter().for_each(|arrival| starts[(arrival.0 >> shift) as usize + 1] += 1);
        let (mut sum, mut crowd) = (0, 0);
        for start in starts.iter_mut() {
            crowd = crowd.max(*start);
            sum += *start;
            *start = sum;
        }
        self.sorted.resize(arrivals.len(), Arrival::default());
        let sorted = self.sorted.as_mut_slice();
        for arrival in arrivals {
            let place = &mut starts[(arrival.0 >> shift) as usize];
            sorted[*place as usize] = *arrival;
            *place += 1;
        }
        crowd as usize
    }
}

/// Sorts arrivals that are nearly in order, equal times by place. Returns whether any times are equal.
#[inline(always)]
fn insert(arrivals: &mut [Arrival]) -> bool {
    let mut tied = false;
    for i in 1..arrivals.len() {
        let one = arrivals[i];
        let mut at = i;
        while at > 0 && arrivals[at - 1] > one {
            arrivals[at] = arrivals[at - 1];
            at -= 1;
        }
        tied |= at > 0 && arrivals[at - 1].ties(one);
        arrivals[at] = one;
    }
    tied
}

/// Sorts the arrivals. Returns whether any times are equal.
#[inline]
fn sort(arrivals: &mut [Arrival]) -> bool {
    if arrivals.len() <= FEW {
        return insert(arrivals);
    }
    arrivals.sort_unstable();
    arrivals.windows(2).any(|pair| pair[0].ties(pair[1]))
}

/// Orders equal times on different links by tie key.
#[cold]
fn break_ties(arrivals: &mut [Arrival], bucket: &Bucket, rule: Order) {
    let mut i = 1;
    while i < arrivals.len() {
        if arrivals[i].ties(arrivals[i - 1]) {
            i += order_ties(&mut arrivals[i - 1..], bucket, rule);
        } else {
            i += 1;
        }
    }
}

/// Orders the run of equal offsets at the start of `arrivals`. Returns its length.
#[inline(always)]
fn order_ties(arrivals: &mut [Arrival], bucket: &Bucket, rule: Order) -> usize {
    let (first, offset) = (arrivals[0], arrivals[0].offset());
    if arrivals.get(2).is_none_or(|third| !third.ties(first)) {
        let key = |arrival: Arrival| (bucket.tie(arrival.place(), rule), bucket.packets.head(arrival.place()).link);
        if key(arrivals[1]) < key(first) {
            arrivals.swap(0, 1);
        }
        return 2;
    }
    let run = arrivals.iter().take_while(|arrival| arrival.ties(first)).count();
    let arrivals = &mut arrivals[..run];
    // during this sort the key takes the place of the offset: one word distinguishes most packets
    for arrival in arrivals.iter_mut() {
        *arrival = Arrival::new(bucket.tie(arrival.place(), rule), arrival.place() as u32);
    }
    if sort(arrivals) {
        order_by_link(arrivals, bucket);
    }
    for arrival in arrivals.iter_mut() {
        *arrival = Arrival::new(offset.0 as u32, arrival.place() as u32);
    }
    run
}

/// Orders `arrivals` by tie key, which is in the place of the offset, then by link.
#[cold]
fn order_by_link(arrivals: &mut [Arrival], bucket: &Bucket) {
    arrivals
        .sort_unstable_by_key(|arrival| (arrival.offset(), bucket.packets.head(arrival.place()).link, arrival.place()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::{Kind, Packet};
    use crate::hash;
    use crate::ids::{FlowId, HostIx, LinkId, NodeId, NodeIx};
    use crate::map::fabric::Place;
    use crate::run::pages::{Head, Spare};
    use crate::spec::Ties;

    /// A bucket of packets to domain 0, from their offsets and links.
    fn bucket(heads: impl Iterator<Item = (u32, u32)>) -> Bucket {
        let to = Place { domain: DomainId(0), node: NodeIx::host(HostIx(0)) };
        let packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
        let (mut bucket, mut spare) = (Bucket::default(), Spare::default());
        for (offset, link) in heads {
            if bucket.packets.is_full() {
                bucket.packets.make_room(&mut spare);
            }
            bucket.packets.push(Head { to, offset, link: LinkId(link) }, &packet);
        }
        bucket
    }

    #[test]
    fn packets_are_in_order_of_time_tie_key_link_and_sending() {
        let length = Time(1_000_000);
        let rule = Order { seed: 7, ties: Ties::Hash };
        // few and many arrivals; distinct times, mostly equal times, and all early in the window
        let few = FEW as u32;
        let cases = [(1, 1), (few, 1), (few + 1, 1), (300, 1), (300, 40_000), (300, 1_000_000)];
        for ((count, step), span) in cases.into_iter().flat_map(|case| [(case, 1_000_000), (case, 1_000)]) {
            let random = |i: u32| hash::mix(i as u64) as u32;
            let bucket = bucket((0..count).map(|i| (random(i) % span / step * step, random(i) % 5)));
            let mut scatter = Scatter::new(1);
            scatter.out(&bucket.packets, &mut Vec::new());
            let head = |i: usize| bucket.packets.head(i);
            let key = |i: usize| (head(i).offset, bucket.tie(i, rule), head(i).link, i);
            let mut expected: Vec<usize> = (0..count as usize).collect();
            expected.sort_by_key(|i| key(*i));
            let mut sorter = Sorter::new(length);
            let sorted = sorter.sort(scatter.of(DomainId(0)), &bucket, rule);
            assert_eq!(sorted.iter().map(|arrival| arrival.place()).collect::<Vec<_>>(), expected, "{count} by {step}");
            assert!(sorted.iter().all(|arrival| arrival.offset().0 == head(arrival.place()).offset as u64));
        }
    }
}
