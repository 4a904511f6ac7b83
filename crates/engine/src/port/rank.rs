//! Queues that go by the ranks of packets (Alizadeh et al., pFabric, SIGCOMM 2013, section 4.2).
//!
//! Packets lie in the order of their arrival. The packet of least rank says which flow is served, the first of those
//! with that rank; of that flow the packet goes that came first, for ranks fall while a flow sends, and what goes again
//! would wait behind what came after it. An arrival that finds no room takes the place of packets of greater ranks, the
//! greatest first and of equal ones the newest, if they make room; else it is dropped. (The authors' ns-2 code takes
//! one packet out whatever the sizes are; of full packets that is the same.)

use super::account::Events;
use super::class_queue::{ClassQueue, Dropped, Waiting};
use super::queues::{Admission, Queues};
use super::settings::Settings;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::ids::FlowId;
use crate::port::discipline::{Arrival, Verdict};

/// The rank of data lies where nothing else of data is: in its advertised window; data of a two-way connection offers
/// one, and has the rank in its extension.
impl Packet {
    /// Gives data a rank.
    pub fn set_rank(&mut self, rank: u32, ext: &mut Option<Ext>) {
        debug_assert!(self.is(Kind::Data));
        if self.has(flag::DUPLEX) {
            ext.get_or_insert_default().number = rank;
        } else {
            self.wnd = rank;
        }
    }

    /// How urgent it is, the least first: what data has been given, the class of numbered data (pHost), and 0 for all
    /// else.
    #[inline]
    pub fn rank(&self, ext: Option<&Ext>) -> u32 {
        match ext {
            _ if !self.is(Kind::Data) => {
                if self.is(Kind::Numbered) {
                    self.rank_of_class()
                } else {
                    0
                }
            }
            _ if !self.has(flag::DUPLEX) => self.wnd,
            ext => ext.map_or(0, |ext| ext.number),
        }
    }

    #[cold]
    fn rank_of_class(&self) -> u32 {
        self.own_class().unwrap_or(0) as u32
    }
}

impl Waiting {
    /// Whose packet it is: flow and direction.
    fn stream(&self) -> (FlowId, bool) {
        (self.packet.flow, self.packet.is_reverse())
    }
}

impl ClassQueue {
    /// The packet to be served moves to the head.
    #[cold]
    pub(super) fn bring_forward(&mut self) {
        let least = self.queue.iter().min_by_key(|w| w.rank).map(Waiting::stream);
        let first = self.queue.iter().position(|w| Some(w.stream()) == least);
        if let Some(served) = first.filter(|i| *i > 0).and_then(|i| self.queue.remove(i)) {
            self.queue.push_front(served);
        }
    }

    /// The places of the packets that give way to an arrival of so much and of this rank, the highest place first;
    /// `None`: they do not make room.
    fn giving_way(&mut self, arrival: &Arrival, rank: u32) -> Option<Vec<usize>> {
        let mut places: Vec<(u32, usize, u64)> =
            (0..).zip(&self.queue).map(|(i, w)| (w.rank, i, w.size)).filter(|w| w.0 > rank).collect();
        places.sort_unstable();
        let (mut without, mut given) = (*arrival, Vec::new());
        while let Some((_, place, size)) = places.pop() {
            (without.packets, without.bytes) = (without.packets - 1, without.bytes - size);
            given.push(place);
            if self.admit(&without) != Verdict::Drop {
                given.sort_unstable_by(|a, b| b.cmp(a));
                return Some(given);
            }
        }
        None
    }
}

impl Queues {
    /// The rank of a packet, where packets are served by that.
    #[inline]
    pub(super) fn rank_of(&self, packet: &Packet, ext: Option<&Ext>) -> u32 {
        if self.goes_by_rank() { packet.rank(ext) } else { 0 }
    }

    /// The queue has no room for an arrival, which packets of greater ranks may make.
    #[cold]
    pub(super) fn displace(
        &mut self,
        refused: Admission,
        packet: &Packet,
        ext: Option<&Ext>,
        settings: &Settings,
        events: &mut Events,
    ) -> Admission {
        let rank = packet.rank(ext);
        let Some(places) = self.classes[0].giving_way(&refused.arrival, rank) else { return refused };
        for place in places {
            let Some(Waiting { packet, size, wire, lost, .. }) = self.take_out(0, place) else { continue };
            // a packet that the wire was to lose is counted as lost since it was accepted
            let counted = !lost as u64;
            events.drops += counted;
            events.withdrawn += 1;
            events.cut_bytes += size + settings.overhead as u64;
            if settings.ps_per_byte == 0 {
                events.odd_busy = events.odd_busy.wrapping_sub(wire.0);
            }
            self.classes[0].count.drops += counted;
            self.dropped.push(Dropped { packet, returns: false, lost, place: None });
        }
        Admission { verdict: Verdict::Accept, ..refused }
    }
}
