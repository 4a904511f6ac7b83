//! Priority queues by packet rank (Alizadeh et al., pFabric, SIGCOMM 2013, section 4.2).
//!
//! Packets are stored in order of arrival. The first packet with the lowest rank selects the flow to serve, and the
//! earliest packet of this flow is sent: ranks fall while a flow sends, so a retransmission would otherwise wait behind
//! later packets. An arrival that does not fit replaces packets of higher rank, the highest first and among equal ranks
//! the newest, if they make enough room; otherwise it is dropped. (The authors' ns-2 code removes one packet whatever
//! the sizes; for full packets that is the same.)

use super::account::Events;
use super::class_queue::{ClassQueue, Dropped, Waiting};
use super::queues::{Admission, Queues};
use super::settings::Settings;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::ids::FlowId;
use crate::port::discipline::{Arrival, Verdict};

/// Rank of data packets, stored in the unused advertised window. Data of a two-way connection uses its window, and has
/// the rank in its extension.
impl Packet {
    /// Sets the rank of a data packet.
    pub fn set_rank(&mut self, rank: u32, ext: &mut Option<Ext>) {
        debug_assert!(self.is(Kind::Data));
        if self.has(flag::DUPLEX) {
            ext.get_or_insert_default().number = rank;
        } else {
            self.wnd = rank;
        }
    }

    /// Rank of a packet, the lowest first: the rank set for data, the class of numbered data (pHost), and 0 for all
    /// others.
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
    /// Flow and direction of the packet.
    fn stream(&self) -> (FlowId, bool) {
        (self.packet.flow, self.packet.is_reverse())
    }
}

impl ClassQueue {
    /// Moves the packet to be served to the head.
    #[cold]
    pub(super) fn bring_forward(&mut self) {
        let min = self.queue.iter().min_by_key(|w| w.rank).map(Waiting::stream);
        let first = self.queue.iter().position(|w| Some(w.stream()) == min);
        if let Some(served) = first.filter(|i| *i > 0).and_then(|i| self.queue.remove(i)) {
            self.queue.push_front(served);
        }
    }

    /// Positions of the packets that an arrival of this rank replaces, the highest first; `None`: they do not make
    /// enough room.
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
    /// Rank of a packet, if packets are served by rank; otherwise 0.
    #[inline]
    pub(super) fn rank_of(&self, packet: &Packet, ext: Option<&Ext>) -> u32 {
        if self.goes_by_rank() { packet.rank(ext) } else { 0 }
    }

    /// Makes room for an arrival that does not fit, by dropping packets of higher rank.
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
            // a packet that the wire will lose was counted as lost when it was accepted
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
