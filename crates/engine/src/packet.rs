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
    /// Its flow is traced.
    pub const TRACED: u16 = 1 << 13;
    /// Belongs to one half of a two-way connection.
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
    /// Packets its port sent before it without a pause, where equal times ask for it
    /// ([`Ties::Scheduled`](crate::spec::Ties::Scheduled)).
    pub chain: u16,
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

impl Packet {
    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }
}

/// What only few packets carry: up to four SACK blocks `[start, end)`, newest first; the second
/// time stamp of packets of a two-way connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ext {
    /// Blocks; empty ones have `start == end`.
    pub sack: [(u64, u64); 4],
    /// Data that acknowledges: the time stamp it echoes. SYN-ACK: when it was sent, ps.
    pub ts: u64,
    /// Data that acknowledges: `hop` of the packet it echoes.
    pub hops: u8,
}
