//! Fair NIC of a host: one queue per flow and direction, served round robin.
//!
//! Source: htsim's `FairScheduler` NIC. A data flow may have at most `per_flow` packets in it; its sender is asked for
//! more when one of them leaves. Acknowledgements are not limited. The time stamp of a data packet is taken when its
//! service begins, so the measured delay excludes waiting behind other flows of the host.

use crate::event::packet::{Ext, Packet};
use crate::event::prefetch;
use crate::ids::FlowId;
use crate::port::account::Ahead;
use incast_cc::Time;
use std::collections::{BTreeMap, VecDeque};
use std::mem::{offset_of, take};

/// Largest number of queues that are searched linearly; more are found by an index.
const FEW: usize = 16;

/// One direction of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Direction {
    flow: FlowId,
    reverse: bool,
}

impl Direction {
    #[inline(always)]
    fn of(packet: &Packet) -> Direction {
        Direction { flow: packet.flow, reverse: packet.is_reverse() }
    }
}

/// Waiting packets of one flow and direction. A queue without packets is free for the next flow that has to wait, so
/// the number of queues is the peak number in use, however many flows the host has.
#[derive(Clone, Debug)]
struct FlowQueue {
    of: Direction,
    packets: VecDeque<Packet>,
    /// Extensions of the packets whose [`Packet::ext`] says that they have one, in the same order.
    exts: VecDeque<Ext>,
}

/// Index of queues by flow and direction.
#[derive(Clone, Debug)]
struct Index {
    /// Queues in use.
    used: BTreeMap<Direction, u32>,
    /// Free queues.
    free: Vec<u32>,
}

/// Packet taken into service.
#[derive(Debug)]
pub struct Served {
    /// The packet.
    pub packet: Packet,
    /// Extension of the packet.
    pub ext: Option<Ext>,
}

/// Per-flow fair queues in front of a port. Fields for waiting packets come last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FairNic {
    queues: Vec<FlowQueue>,
    /// Flow and direction of the packet in service, and the end of its service. The end is an event only if somebody
    /// waits for it.
    serving: Option<Direction>,
    done: Time,
    per_flow: u32,
    /// Number of waiting packets.
    waiting: u32,
    end_is_event: bool,
    /// Set if the end of every service is an event.
    ends_are_events: bool,
    /// Queues with packets, the next to be served first. The queue of the flow in service joins when its service ends.
    round_robin: VecDeque<u32>,
    /// Bytes that wait, as the port's queue counts them, and the time since when.
    bytes: u64,
    since: Time,
    /// Bytes of overhead that the port's queue counts.
    framing: u32,
    /// Present once more than a few queues have been in use.
    index: Option<Box<Index>>,
}

impl FairNic {
    /// Size of the part that a packet reads and writes if nothing waits, in bytes.
    pub const HOT: usize = offset_of!(FairNic, round_robin);

    /// A NIC that takes at most `per_flow` data packets of one flow, in front of a port whose queue counts `framing`
    /// bytes of overhead a packet.
    pub fn new(per_flow: u32, framing: u32) -> FairNic {
        let (queues, round_robin) = (Vec::new(), VecDeque::new());
        FairNic {
            per_flow,
            waiting: 0,
            serving: None,
            done: Time::ZERO,
            end_is_event: false,
            ends_are_events: false,
            queues,
            index: None,
            round_robin,
            bytes: 0,
            since: Time::ZERO,
            framing,
        }
    }

    /// Makes the end of each transmission an event from now on.
    pub fn disable_fast_paths(&mut self) {
        self.ends_are_events = true;
    }

    /// Returns whether nothing is being transmitted at `now`; nothing waits then.
    #[inline]
    pub fn is_idle(&mut self, now: Time) -> bool {
        if self.is_over(now) {
            debug_assert_eq!(self.waiting, 0, "who waits watches");
            self.serving = None;
        }
        self.serving.is_none()
    }

    /// Returns whether a transmission whose end nobody waited for is over by `now`.
    #[inline]
    fn is_over(&self, now: Time) -> bool {
        !self.end_is_event && self.done <= now
    }

    /// Sets the end of the service that begins at `now`. Returns whether the end is to be an event.
    #[inline]
    pub fn ends(&mut self, done: Time, now: Time) -> bool {
        self.done = done;
        self.end_is_event = done == now || self.waiting > 0 || self.ends_are_events;
        self.end_is_event
    }

    /// Registers a wait for the end of the current transmission. Returns its time if it is not yet an event.
    #[inline]
    pub fn end_event(&mut self, now: Time) -> Option<Time> {
        if self.end_is_event || self.serving.is_none() || self.done <= now {
            return None;
        }
        self.end_is_event = true;
        Some(self.done)
    }

    /// Queue in which packets of this flow and direction wait, if any do.
    #[inline]
    fn queue_of(&self, of: Direction) -> Option<u32> {
        if self.waiting == 0 {
            return None;
        }
        match &self.index {
            None => self.queues.iter().position(|l| l.of == of && !l.packets.is_empty()).map(|i| i as u32),
            Some(index) => index.used.get(&of).copied(),
        }
    }

    /// Takes a free queue for `of`.
    fn new_queue(&mut self, of: Direction) -> u32 {
        let free = match &mut self.index {
            None => self.queues.iter().position(|l| l.packets.is_empty()).map(|i| i as u32),
            Some(index) => index.free.pop(),
        };
        let i = free.unwrap_or_else(|| {
            if self.queues.len() == FEW {
                let used = (0..).zip(&self.queues).map(|(i, l)| (l.of, i)).collect();
                self.index = Some(Box::new(Index { used, free: Vec::new() }));
            }
            self.queues.push(FlowQueue { of, packets: VecDeque::new(), exts: VecDeque::new() });
            self.queues.len() as u32 - 1
        });
        self.queues[i as usize].of = of;
        if let Some(index) = &mut self.index {
            index.used.insert(of, i);
        }
        i
    }

    /// Returns whether the sender of `flow` may hand over another data packet at `now`.
    #[inline]
    pub fn has_room(&self, flow: FlowId, now: Time) -> bool {
        let of = Direction { flow, reverse: false };
        let served = self.serving == Some(of) && !self.is_over(now);
        let waiting = self.queue_of(of).map_or(0, |i| self.queues[i as usize].packets.len() as u32);
        waiting + u32::from(served) < self.per_flow
    }

    /// Takes a packet that arrives at an idle NIC into service.
    #[inline]
    pub fn begin(&mut self, packet: &Packet) {
        self.serving = Some(Direction::of(packet));
    }

    /// Flow whose data packet is in service.
    #[inline]
    pub fn in_service(&self) -> Option<FlowId> {
        self.serving.filter(|of| !of.reverse).map(|of| of.flow)
    }

    /// Queues a packet that arrives at a busy NIC at `now`.
    pub fn push(&mut self, packet: &Packet, ext: Option<&mut Ext>, now: Time) {
        let of = Direction::of(packet);
        let i = self.queue_of(of).unwrap_or_else(|| {
            let i = self.new_queue(of);
            if self.serving != Some(of) {
                self.round_robin.push_back(i);
            }
            i
        });
        let queue = &mut self.queues[i as usize];
        let mut packet = *packet;
        if let Some(ext) = ext {
            packet.set_ext(0);
            queue.exts.push_back(take(ext));
        }
        self.bytes += (packet.size as u32 + self.framing) as u64;
        queue.packets.push_back(packet);
        self.waiting += 1;
        self.since = now;
    }

    /// Ends the current transmission. Returns the flow whose sender may hand over more, if any.
    #[inline]
    pub fn departed(&mut self) -> Option<FlowId> {
        self.end_is_event = false;
        let served = self.serving.take()?;
        if let Some(i) = self.queue_of(served) {
            self.round_robin.push_back(i);
        }
        (!served.reverse).then_some(served.flow)
    }

    /// Takes the next packet into service at `now`.
    pub fn serve_next(&mut self, now: Time) -> Option<Served> {
        let i = self.round_robin.pop_front()?;
        let queue = &mut self.queues[i as usize];
        let packet = queue.packets.pop_front()?;
        let ext = packet.ext().and_then(|_| queue.exts.pop_front());
        self.serving = Some(queue.of);
        self.waiting -= 1;
        self.bytes -= (packet.size as u32 + self.framing) as u64;
        self.since = now;
        if queue.packets.is_empty()
            && let Some(index) = &mut self.index
        {
            index.used.remove(&queue.of);
            index.free.push(i);
        }
        Some(Served { packet, ext })
    }

    /// Waiting packets, for the account of the port.
    #[inline(always)]
    pub fn ahead(&self) -> Ahead {
        Ahead { packets: self.waiting, bytes: self.bytes, since: self.since, ..Ahead::default() }
    }

    /// Waiting packets and the next one to be served; `moves` tells whether that one moves to the port now.
    pub fn whole_ahead(&self, moves: bool) -> Ahead {
        let queue = self.round_robin.front().map(|i| &self.queues[*i as usize]);
        let next = queue.and_then(|queue| queue.packets.front()).map_or(0, |p| (p.size as u32 + self.framing) as u64);
        Ahead { next, moves, ..self.ahead() }
    }

    /// Prefetches what an arriving or a departing packet touches.
    #[inline]
    pub fn prefetch(&self) {
        if self.waiting == 0 {
            return;
        }
        prefetch::lines(self.queues.as_slice(), 3);
        if let Some(queue) = self.round_robin.front().and_then(|i| self.queues.get(*i as usize))
            && let Some(packet) = queue.packets.front()
        {
            prefetch::lines(packet, 1);
        }
    }

    /// Packets waiting, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|l| &l.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::Kind;
    use crate::ids::NodeId;

    fn numbered(mut packet: Packet, id: u64) -> Packet {
        packet.id = id as u16;
        packet
    }

    fn packet(flow: u32, id: u64) -> Packet {
        numbered(Packet::forward(Kind::Data, FlowId(flow), NodeId(0), 0, 1460, Time::ZERO), id)
    }

    const LATER: Time = Time::ms(1);

    /// Takes a packet into service, for longer than a test lasts.
    fn begin(nic: &mut FairNic, packet: &Packet) {
        nic.begin(packet);
        assert!(!nic.ends(LATER, Time::ZERO), "nobody waits for its end");
    }

    /// Ends the current service and begins the next: flow, number and time stamp of the extension.
    fn next(nic: &mut FairNic) -> Option<(u32, u64, Option<Time>)> {
        nic.departed();
        let next = nic.serve_next(Time::ZERO).map(|s| (s.packet.flow.0, s.packet.id as u64, s.ext.map(|ext| ext.ts)));
        nic.ends(LATER, Time::ZERO);
        next
    }

    #[test]
    fn the_end_of_a_transmission_is_an_event_once_and_only_if_somebody_waits_for_it() {
        let mut nic = FairNic::new(1, 0);
        begin(&mut nic, &packet(1, 0));
        assert!(!nic.has_room(FlowId(1), Time::ZERO) && !nic.is_idle(Time::ZERO));
        // nobody has asked: the transmission is over when its time has come
        assert!(nic.has_room(FlowId(1), LATER) && nic.is_idle(LATER));
        assert_eq!(nic.end_event(LATER), None, "nothing is being transmitted");
        begin(&mut nic, &packet(1, 1));
        assert_eq!((nic.end_event(Time::ZERO), nic.end_event(Time::ZERO)), (Some(LATER), None));
        // the transmission is over when its event says so; other events of that instant may come first
        assert!(!nic.has_room(FlowId(1), LATER) && !nic.is_idle(LATER));
        assert_eq!((nic.departed(), nic.is_idle(LATER)), (Some(FlowId(1)), true));
        // with packets waiting, and without serialization, the end is an event from the beginning
        begin(&mut nic, &packet(1, 2));
        nic.push(&packet(2, 3), None, Time::ZERO);
        nic.push(&packet(3, 4), None, Time::ZERO);
        nic.departed();
        assert!(nic.serve_next(Time::ZERO).is_some_and(|s| s.packet.id == 3) && nic.ends(LATER, Time::ZERO));
        nic.departed();
        assert!(nic.serve_next(Time::ZERO).is_some_and(|s| s.packet.id == 4) && nic.ends(Time::ZERO, Time::ZERO));
        nic.push(&packet(4, 5), None, Time::ZERO);
        nic.push(&packet(4, 6), None, Time::ZERO);
        nic.departed();
        assert!(
            nic.serve_next(Time::ZERO).is_some_and(|s| s.packet.id == 5) && nic.ends(LATER, Time::ZERO),
            "6 waits in its lane"
        );
    }

    #[test]
    fn what_waits_is_known_with_its_bytes_and_since_when() {
        let mut nic = FairNic::new(3, 18);
        begin(&mut nic, &packet(1, 0));
        let size = packet(1, 1).size as u64 + 18;
        nic.push(&packet(1, 1), None, Time(10));
        nic.push(&packet(2, 2), None, Time(20));
        assert_eq!(nic.ahead(), Ahead { packets: 2, bytes: 2 * size, since: Time(20), ..Ahead::default() });
        nic.departed();
        assert_eq!(nic.whole_ahead(false).next, size);
        assert!(nic.serve_next(Time(30)).is_some());
        assert_eq!(nic.ahead(), Ahead { packets: 1, bytes: size, since: Time(30), ..Ahead::default() });
    }

    #[test]
    fn flows_take_turns_and_keep_their_extensions() {
        let mut nic = FairNic::new(3, 0);
        begin(&mut nic, &packet(1, 0));
        nic.push(&packet(1, 1), None, Time(10));
        nic.push(&packet(1, 2), Some(&mut Ext { ts: Time(12), ..Ext::default() }), Time(20));
        assert!(!nic.has_room(FlowId(1), Time(20)), "one in service and two that wait");
        assert!(nic.has_room(FlowId(2), Time(20)));
        // acknowledgements of the same flow, and data of another
        nic.push(
            &numbered(Packet::reverse(Kind::Ack, FlowId(1), NodeId(0), 0), 3),
            Some(&mut Ext { ts: Time(13), ..Ext::default() }),
            Time(30),
        );
        nic.push(&packet(2, 4), None, Time(40));
        assert_eq!(nic.waiting().count(), 4);
        assert_eq!(next(&mut nic), Some((1, 3, Some(Time(13)))));
        assert!(nic.has_room(FlowId(1), Time(40)));
        assert_eq!(next(&mut nic), Some((2, 4, None)));
        assert_eq!(next(&mut nic), Some((1, 1, None)));
        assert_eq!(next(&mut nic), Some((1, 2, Some(Time(12)))));
        assert_eq!(next(&mut nic), None);
        assert!(nic.is_idle(Time::ZERO));
    }

    #[test]
    fn a_flow_that_waits_no_longer_leaves_its_lane_to_others() {
        let mut nic = FairNic::new(3, 0);
        for flow in 0..1000 {
            begin(&mut nic, &packet(2 * flow, 0));
            nic.push(&packet(2 * flow + 1, 1), None, Time::ZERO);
            assert_eq!(next(&mut nic), Some((2 * flow + 1, 1, None)));
            assert_eq!(next(&mut nic), None);
        }
        assert_eq!(nic.queues.len(), 1);
    }

    #[test]
    fn many_flows_take_turns_as_few_do() {
        let mut nic = FairNic::new(2, 0);
        for round in 0..3 {
            begin(&mut nic, &packet(0, 0));
            for flow in 1..=100 {
                for seq in 0..2 {
                    assert!(nic.has_room(FlowId(flow), Time::ZERO));
                    nic.push(&packet(flow, seq), None, Time::ZERO);
                }
                assert!(!nic.has_room(FlowId(flow), Time::ZERO));
            }
            let served: Vec<(u32, u64)> =
                (0..200).map(|_| next(&mut nic)).map(|n| n.map_or((0, 0), |n| (n.0, n.1))).collect();
            let expected: Vec<(u32, u64)> = (0..2).flat_map(|seq| (1..=100).map(move |flow| (flow, seq))).collect();
            assert_eq!(served, expected, "round {round}");
            assert_eq!((next(&mut nic), nic.queues.len()), (None, 100));
        }
        assert!(
            nic.is_idle(Time::ZERO) && nic.index.is_some_and(|index| index.used.is_empty() && index.free.len() == 100)
        );
    }
}
