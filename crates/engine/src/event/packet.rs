//! The packet that travels: 64 bytes, `Copy`, one cache line.

/// Flag bits of a [`Packet`].
pub mod flag {
    /// Carries payload (or FIN): the data direction of a flow.
    pub const DATA: u16 = 1;
    /// Carries an acknowledgement.
    pub const ACK: u16 = 1 << 1;
    /// Opens a connection.
    pub const SYN: u16 = 1 << 2;
    /// Ends a connection.
    pub const FIN: u16 = 1 << 3;
    /// Aborts a connection.
    pub const RST: u16 = 1 << 4;
    /// ECN-capable transport.
    pub const ECT: u16 = 1 << 5;
    /// Congestion experienced.
    pub const CE: u16 = 1 << 6;
    /// ECN-Echo.
    pub const ECE: u16 = 1 << 7;
    /// Congestion window reduced.
    pub const CWR: u16 = 1 << 8;
    /// Travels towards the flow's source.
    pub const REVERSE: u16 = 1 << 9;
    /// Sent inside the measured interval.
    pub const MEASURED: u16 = 1 << 10;
    /// A segment sent before.
    pub const RETX: u16 = 1 << 11;
    /// Follows the flow's prescribed path.
    pub const PATH: u16 = 1 << 12;
    /// Its flow is traced, or ports stamp it: it takes the long way at each.
    pub const TRACED: u16 = 1 << 13;
    /// No plain one-way flow's: belongs to one half of a two-way connection, or is a datagram.
    pub const JOINED: u16 = 1 << 14;

    /// The sender has nothing more to say for now (PSH): a write ends here.
    pub const PSH: u16 = 1 << 15;

    /// Names of the header bits, for traces.
    pub const NAMES: [(u16, &str); 10] = [
        (SYN, "SYN"),
        (FIN, "FIN"),
        (RST, "RST"),
        (ACK, "ACK"),
        (ECT, "ECT"),
        (CE, "CE"),
        (ECE, "ECE"),
        (CWR, "CWR"),
        (RETX, "RETX"),
        (PSH, "PSH"),
    ];
}

/// How packets of one size are told apart that arrive together, the least [`Packet::turn`] first, as a
/// simulator does that has one list of events, what was entered first before the rest.
///
/// Arrivals are entered when their transmissions begin, all of these at one instant. What made a transmission
/// begin was entered before: the arrival at an idle port when that packet's own began, the end of the
/// transmission before when that began. The longer ago, the earlier its turn. Where that is equal the
/// packets before decide, and so on, back to where the younger of two chains without a pause began.
pub mod turn {
    /// No turn: links that may deliver two packets at one instant tell none apart.
    pub const NONE: u16 = u16::MAX;
    /// Places in a chain that has begun before older ones, from 0 up; in one that has begun after them, from
    /// 8190 down.
    const HALF: u16 = 4095;
    const LAST: u16 = 2 * HALF;
    const PLACE: u16 = 0x1fff;

    /// How long ago a cause was entered against how long its packet takes, both in ps, by powers of two:
    /// longer, as long, and then shorter and shorter.
    fn ago(lag: u64, wire: u64) -> u16 {
        let times = (wire / lag.max(1)).max(1);
        let code = if lag > wire {
            0
        } else if lag == wire {
            1
        } else {
            (times.ilog2() as u16 + 2).min(6)
        };
        code << 13
    }

    /// The turn of a packet that begins a chain and takes `wire`: what set it going was entered `lag` ago.
    /// Older chains are taken to send what this port sent `before`.
    pub fn first(lag: u64, wire: u64, before: u64) -> u16 {
        ago(lag, wire) | if lag > before { 0 } else { LAST }
    }

    /// The turn of what follows one of turn `before`, that took `lag`, without a pause.
    pub fn next(before: u16, lag: u64, wire: u64) -> u16 {
        let place = before & PLACE;
        ago(lag, wire) | if place < HALF { (place + 1).min(HALF - 1) } else { (place - 1).max(HALF) }
    }
}

/// [`Packet::ext`] of a packet without an extension.
pub const NO_EXT: u32 = u32::MAX;

/// A packet on its way over `link`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Arrival at the far end of `link`, ps.
    pub time: u64,
    /// First payload byte (data).
    pub seq: u64,
    /// Cumulative acknowledgement (of the other half, where data of a two-way connection carries it).
    pub ack: u64,
    /// Data: when the sending IP layer sent it, ps. ACK: that time of the packet it echoes.
    pub ts: u64,
    /// Link it travels on.
    pub link: u32,
    /// Flow.
    pub flow: u32,
    /// Destination host.
    pub dst: u32,
    /// Advertised window, bytes.
    pub wnd: u32,
    /// Counts the IP packets of a flow and direction (fragments share theirs), in 16 bits as IP has it.
    pub id: u16,
    /// Where equal times ask for it ([`Ties::Scheduled`](crate::spec::Ties::Scheduled)), its turn among those
    /// that arrive together ([`turn`]); until its first port has sent it, IP bytes of the packet that it
    /// answers ([`u16::MAX`]: a timer). Under [`PathChoice::Entropy`](crate::spec::PathChoice::Entropy) its entropy
    /// instead ([`Packet::entropy`]); an ACK has that of the data packet that came last.
    pub turn: u16,
    /// Index of the extension where the packet waits, or [`NO_EXT`].
    pub ext: u32,
    /// IP bytes.
    pub size: u16,
    /// Payload bytes of the whole segment.
    pub len: u16,
    /// [`flag`] bits.
    pub flags: u16,
    /// Links crossed so far.
    pub hop: u8,
    /// Data: fragment number in the low half, last fragment's number in the high half.
    /// ACK: `hop` of the packet it echoes.
    pub aux: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

/// Bytes of a pause frame on a wire without overhead; Ethernet's makes them 64 and what goes around a frame.
pub const PAUSE_FRAME: u16 = 46;

/// No frame is shorter on the wire.
const SHORTEST: u64 = 64;

/// Bytes that a pause frame takes on `link`.
pub fn frame_bytes(overhead: u32) -> u64 {
    (PAUSE_FRAME as u64 + overhead as u64).max(SHORTEST)
}

impl Packet {
    /// Its entropy, where it has one: what switches hash to choose among next hops.
    #[inline]
    pub fn entropy(&self) -> u16 {
        self.turn
    }

    /// A queue has cut it to its header: less is left than it carried.
    #[inline]
    pub fn is_trimmed(&self) -> bool {
        self.len > self.size && self.aux == 0 && !self.has(flag::REVERSE)
    }

    /// What a switch tells the neighbour that `of` came from: to pause `class`, or to resume it. It travels over a link
    /// of its own accord and goes no further; it wears the flow of `of` in the other direction, of which the neighbour,
    /// if it is a host, has an end.
    pub fn pause_frame(of: &Packet, class: u8, pause: bool, now: u64) -> Packet {
        let reverse = !of.flags & flag::REVERSE;
        Packet {
            seq: class as u64,
            ack: pause as u64,
            ts: now,
            // no path has so many links
            hop: u8::MAX - 1,
            flags: flag::SYN | flag::RST | flag::PATH | flag::TRACED | reverse,
            turn: turn::NONE,
            ext: NO_EXT,
            size: PAUSE_FRAME,
            len: 0,
            aux: 0,
            ..*of
        }
    }

    /// It is one that [`Packet::pause_frame`] made.
    #[inline]
    pub fn is_pause_frame(&self) -> bool {
        self.has(flag::SYN | flag::RST)
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }
}

/// Ports that stamp a packet at most: the NIC's and the switches' of a three-level fat tree. No flow is built that
/// would want more.
pub const STAMPS: usize = 6;

/// What a port stamps on a packet ([`incast_cc::Hop`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortStamp {
    /// When, ps.
    pub time: u64,
    /// Bytes transmitted since the run began.
    pub sent: u64,
    /// Bytes to be transmitted before the packet.
    pub queue: u32,
    /// Link of the port.
    pub link: u32,
}

/// In-band telemetry of a packet, or of the one that it acknowledges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// So many ports have stamped the packet.
    pub count: u8,
    /// Their stamps.
    pub stamps: [PortStamp; STAMPS],
}

impl Telemetry {
    /// A port stamps the packet.
    pub fn push(&mut self, stamp: PortStamp) {
        if let Some(free) = self.stamps.get_mut(self.count as usize) {
            *free = stamp;
            self.count += 1;
        }
    }

    /// The stamps, in the packet's order.
    pub fn stamps(&self) -> &[PortStamp] {
        &self.stamps[..self.count as usize]
    }
}

/// What only few packets carry: up to four SACK blocks `[start, end)`, newest first; the second
/// time stamp of packets of a two-way connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ext {
    /// Blocks; empty ones have `start == end`.
    pub sack: [(u64, u64); 4],
    /// Data that acknowledges: the time stamp it echoes. SYN-ACK: when it was sent, ps.
    pub ts: u64,
    /// Data that acknowledges: `hop` of the packet it echoes.
    pub hops: u8,
    /// Data that acknowledges: how long the receiving host has had the packet it echoes, ps; 0 where hosts cost
    /// nothing.
    pub host: u64,
    /// Stamps of ports, for controllers that ask for them; aside, since all who do not carry this too.
    pub telemetry: Option<Box<Telemetry>>,
}

const _: () = assert!(size_of::<Ext>() <= 96);

#[cfg(test)]
mod tests {
    use super::turn::{first, next};

    /// Full packets at 1 Gb/s over 10 us: 12 us each, an ACK is 10.4 us old when it is taken in.
    const FULL: u64 = 12_016_000;
    const ACK: u64 = 10_432_000;

    #[test]
    fn what_was_entered_longer_ago_has_its_turn_before() {
        let chain = next(first(u64::MAX, FULL, 0), FULL, FULL);
        assert!(first(u64::MAX, FULL, FULL) < chain, "a timer, set long before");
        assert!(first(FULL + 1, FULL, FULL) < chain, "a packet of the same size, passed on");
        assert!(first(ACK, FULL, FULL) > chain, "the chain's last transmission began before the ACK's");
        // behind a fragment of 72 B the chain's next packet was set going 0.6 us ago
        assert!(first(ACK, FULL, 592_000) < next(chain, 592_000, FULL));
    }

    #[test]
    fn chains_keep_the_order_they_met_in() {
        let follow = |turn, n| (0..n).fold(turn, |t, _| next(t, FULL, FULL));
        let older = first(u64::MAX, FULL, FULL);
        for packets in [1, 10, 1000] {
            assert!(follow(first(FULL + 1, FULL, FULL), packets) < follow(older, packets + 1), "{packets}");
            assert!(follow(first(ACK, FULL, FULL), packets) > follow(older, packets + 1), "{packets}");
        }
        // beyond what is counted nothing turns over
        assert!(follow(older, 60_000) < follow(first(ACK, FULL, FULL), 60_000));
    }
}
