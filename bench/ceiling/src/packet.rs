//! Packets, in two sizes.

/// Makes a packet fill one cache line, as the engine's.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line;

/// Makes two packets fill one cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub struct HalfLine;

/// Kind of node at the far end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Sends and answers.
    Host,
    /// Top-of-rack switch, above the hosts of a rack.
    Edge,
    /// Above the edge switches of its pod.
    Aggregation,
    /// Above all pods.
    Core,
}

/// Address of a host: its edge switch among all, its pod, its place in the rack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Number of its edge switch.
    pub edge: u16,
    /// Number of its pod.
    pub pod: u8,
    /// Place below its edge switch.
    pub place: u8,
}

/// A packet in flight on `link`; `A` sets its size.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Packet<A> {
    /// Arrival at the far end of `link`, ps.
    pub time: u64,
    /// Hash of its flow and direction, into which every switch folds itself.
    pub hash: u64,
    /// Link it travels on; equal to the number of its port.
    pub link: u32,
    /// Twice its flow, plus one in the direction of ACKs.
    pub flow: u32,
    /// Destination.
    pub to: Address,
    /// IP bytes.
    pub size: u16,
    /// Kind of the node at which it arrives.
    pub at: Kind,
    /// Empty; sets the alignment to the size.
    pub align: [A; 0],
}

const _: () = assert!(size_of::<Packet<HalfLine>>() == 32);
const _: () = assert!(size_of::<Packet<Line>>() == 64);

impl<A> Packet<A> {
    /// A packet of `flow` to `to`, before its first hop.
    pub fn new(flow: u32, to: Address, size: u16, time: u64) -> Packet<A> {
        Packet { time, hash: mix(flow as u64), link: 0, flow, to, size, at: Kind::Host, align: [] }
    }
}

/// The finalizer of splitmix64: the engine's hash.
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
