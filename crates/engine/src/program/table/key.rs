//! Match key of a packet, packed into three words, so that an entry compares all fields at once.

use crate::event::packet::{Kind, Packet, flag};
use crate::program::rule::At;
use crate::spec::table::{Exact, Field, KindOf, Masked, Match, Side, Way, tcp_flag as tcp};

/// Match key of a packet, or a mask over it.
///
/// Word 0: flags, kind, ECN bits, size, ports in and out. Word 1: flow, destination. Word 2: source, payload, class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Key([u64; 3]);

/// Word and lowest bit of a field.
const fn place(field: Field) -> (usize, u32) {
    match field {
        Field::Flags => (0, 0),
        Field::Kind => (0, 8),
        Field::Ecn => (0, 13),
        Field::Size => (0, 16),
        Field::Flow => (1, 0),
        Field::Destination => (1, 32),
        Field::Source => (2, 0),
        Field::Len => (2, 32),
        Field::Class => (2, 48),
    }
}

/// All bits of a field.
const fn width(field: Field) -> u64 {
    match field {
        Field::Flags | Field::Class => 0xff,
        Field::Kind => 0x1f,
        Field::Ecn => 3,
        Field::Size | Field::Len => 0xffff,
        Field::Flow | Field::Destination | Field::Source => 0xffff_ffff,
    }
}

const fn name(field: Field) -> &'static str {
    match field {
        Field::Flags => "flags",
        Field::Kind => "kind",
        Field::Ecn => "ecn",
        Field::Size => "size",
        Field::Flow => "flow",
        Field::Destination => "destination",
        Field::Source => "source",
        Field::Len => "len",
        Field::Class => "class",
    }
}

/// Lowest bit in word 0 of the port number plus one, or of 0 for the node's own stack.
const fn port_place(side: Side) -> u32 {
    match side {
        Side::Ingress => 32,
        Side::Egress => 48,
    }
}

const PORT: u64 = 0xffff;

/// Maximum number of ports of a node that runs tables.
pub const MAX_PORTS: usize = PORT as usize - 1;

/// TCP header bits and ECN bits by the lower bits of a packet's flags.
const BY_FLAGS: [u64; 128] = {
    let pairs: [(u16, u64); 7] = [
        (flag::ACK, tcp::ACK as u64),
        (flag::FIN, tcp::FIN as u64),
        (flag::ECE, tcp::ECE as u64),
        (flag::CWR, tcp::CWR as u64),
        (flag::PSH, tcp::PSH as u64),
        (flag::ECT, 1 << 13),
        (flag::CE, 2 << 13),
    ];
    let mut table = [0; 128];
    let mut flags = 0;
    while flags < table.len() {
        let mut i = 0;
        while i < pairs.len() {
            if flags as u16 & pairs[i].0 != 0 {
                table[flags] |= pairs[i].1;
            }
            i += 1;
        }
        flags += 1;
    }
    table
};

/// Bits of a kind, and mask of the TCP header and ECN bits that it can have.
const fn by_kind(kind: Kind) -> (u64, u64) {
    let ecn = 3 << 13;
    let segment = ecn | tcp::ALL as u64;
    // no segment has two of SYN, RST and FIN
    let plain = segment & !(tcp::FIN as u64);
    match kind {
        Kind::Data => ((KindOf::Data as u64 | KindOf::TCP as u64) << 8, segment),
        Kind::Ack => ((KindOf::Ack as u64 | KindOf::TCP as u64) << 8, segment),
        Kind::Syn => ((KindOf::Syn as u64 | KindOf::TCP as u64) << 8 | tcp::SYN as u64, plain),
        Kind::Rst => ((KindOf::Rst as u64 | KindOf::TCP as u64) << 8 | tcp::RST as u64, plain),
        Kind::Datagram => ((KindOf::Datagram as u64) << 8, ecn),
        Kind::Cnp => ((KindOf::Cnp as u64) << 8, ecn),
        Kind::Nack => ((KindOf::Nack as u64) << 8, ecn),
        Kind::Idle => ((KindOf::Idle as u64) << 8, ecn),
        Kind::Pause | Kind::Numbered | Kind::Pull | Kind::Rts | Kind::Probe => ((KindOf::Other as u64) << 8, ecn),
        Kind::Backlog | Kind::Returned | Kind::Piggyback => ((KindOf::Other as u64) << 8, ecn),
    }
}

/// Flags, kind and ECN bits of a packet.
#[inline]
fn header(packet: &Packet) -> u64 {
    let (own, of_flags) = by_kind(packet.kind());
    let resumed = packet.is(Kind::Idle) && !packet.is_idle();
    let own = if resumed { (KindOf::Resumed as u64) << 8 } else { own };
    let bits = own | BY_FLAGS[packet.flags as usize & 127] & of_flags;
    // connection flags are in the first fragment only
    let later = !packet.is_reverse() && packet.part().0 > 0;
    if later { bits & !((tcp::FIN | tcp::SYN | tcp::RST) as u64) } else { bits }
}

#[inline]
fn port(port: Option<usize>) -> u64 {
    port.map_or(0, |port| port as u64 + 1)
}

impl Key {
    /// Key of a packet. The third word is computed only if `third` is set, because it reads the packet's flow.
    #[inline]
    pub fn of(at: &At, packet: &Packet, third: bool) -> Key {
        let (ingress, egress) = (port(at.ingress), port(at.egress));
        let own = header(packet) | (packet.size as u64) << 16 | ingress << 32 | egress << 48;
        let ends = packet.flow.0 as u64 | (packet.dst.0 as u64) << 32;
        Key([own, ends, if third { Key::third(at, packet) } else { 0 }])
    }

    #[cold]
    fn third(at: &At, packet: &Packet) -> u64 {
        let flow = at.connections.flow(packet.flow);
        let (source, class) = match packet.is_reverse() {
            true => (flow.dst, flow.ack_class),
            false => (flow.src, flow.class),
        };
        let class = packet.own_class().unwrap_or(class);
        source as u64 | (packet.len as u64) << 32 | (class as u64) << 48
    }

    /// Returns whether its bits under `mask` equal those of `value`.
    #[inline]
    pub fn fits(&self, value: &Key, mask: &Key) -> bool {
        let differs = |i: usize| (self.0[i] ^ value.0[i]) & mask.0[i];
        differs(0) | differs(1) | differs(2) == 0
    }

    /// Flags, kind and ECN bits.
    #[inline]
    pub fn header(&self) -> u16 {
        self.0[0] as u16
    }

    /// Mask over flags, kind and ECN bits.
    pub fn header_mask() -> Key {
        Key([u16::MAX as u64, 0, 0])
    }

    /// Bits under a mask.
    pub fn masked(&self, mask: &Key) -> Key {
        Key([0, 1, 2].map(|i| self.0[i] & mask.0[i]))
    }

    /// Union of the bits of two keys.
    pub fn and(&self, other: &Key) -> Key {
        Key([0, 1, 2].map(|i| self.0[i] | other.0[i]))
    }

    /// Mask over all bits of these parts.
    pub fn of_exact(parts: &[Exact]) -> Key {
        let mut mask = Key::default();
        for part in parts {
            match part {
                Exact::Field(field) => mask.put(place(*field), width(*field)),
                Exact::Port(side) => mask.put((0, port_place(*side)), PORT),
            }
        }
        mask
    }

    /// Name and value of a part, as results show them.
    pub fn part(&self, part: Exact) -> (&'static str, u64) {
        let (name, (word, bit), width) = match part {
            Exact::Field(field) => (name(field), place(field), width(field)),
            Exact::Port(Side::Ingress) => ("ingress", (0, port_place(Side::Ingress)), PORT),
            Exact::Port(Side::Egress) => ("egress", (0, port_place(Side::Egress)), PORT),
        };
        (name, self.0[word] >> bit & width)
    }

    /// Returns whether a mask covers the third word.
    pub fn asks_third(&self) -> bool {
        self.0[2] != 0
    }

    fn put(&mut self, (word, bit): (usize, u32), value: u64) {
        self.0[word] |= value << bit;
    }

    /// Value and mask of an entry at a node whose ports feed `links`; `None` if the node has no such port.
    pub fn of_match(matches: &Match, links: &[u32]) -> Option<(Key, Key)> {
        let (mut value, mut mask) = (Key::default(), Key::default());
        for Masked { field, value: bits, mask: of } in &matches.fields {
            value.put(place(*field), *bits as u64);
            mask.put(place(*field), *of as u64);
        }
        for (side, way) in [(Side::Ingress, &matches.ingress), (Side::Egress, &matches.egress)] {
            let Some(way) = way else { continue };
            let number = match way {
                Way::Stack => None,
                Way::Links(list) => Some(local(list, links)?),
            };
            value.put((0, port_place(side)), port(number));
            mask.put((0, port_place(side)), PORT);
        }
        Some((value, mask))
    }
}

/// Local port that feeds one of `list`.
pub fn local(list: &[u32], links: &[u32]) -> Option<usize> {
    links.iter().position(|link| list.contains(link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, NodeId};
    use incast_cc::Time;

    fn bits(packet: &Packet, flags: u32) -> bool {
        header(packet) & 0xff == flags as u64
    }

    #[test]
    fn headers_have_the_flags_of_their_kind() {
        let packet = |kind, flags| {
            let mut packet = Packet::forward(kind, FlowId(7), NodeId(3), 0, 0, Time::ZERO);
            packet.flags |= flags;
            packet
        };
        assert!(bits(&packet(Kind::Syn, flag::ECE | flag::CWR), tcp::SYN | tcp::ECE | tcp::CWR));
        assert!(bits(&packet(Kind::Syn, flag::ACK | flag::REVERSE), tcp::SYN | tcp::ACK));
        assert!(bits(&packet(Kind::Data, flag::ACK | flag::PSH | flag::FIN), tcp::ACK | tcp::PSH | tcp::FIN));
        assert!(bits(&packet(Kind::Rst, 0), tcp::RST));
        assert!(bits(&packet(Kind::Datagram, flag::ECT), 0));
        let last = packet(Kind::Data, flag::FIN | flag::ACK).fragment(1, 1, 500);
        assert!(bits(&last, tcp::ACK), "FIN stands in the first fragment");
        let marked = header(&packet(Kind::Datagram, flag::ECT | flag::CE));
        assert_eq!((marked >> 8 & 31, marked >> 13 & 3), (KindOf::Datagram as u64, 3));
        assert_eq!(header(&packet(Kind::Ack, 0)) >> 8 & 31, KindOf::Ack.bits() as u64);
    }
}
