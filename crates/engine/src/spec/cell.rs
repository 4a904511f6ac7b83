//! Radio cells: a channel that stations share, and how they take turns on it.

use incast_cc::Time;

/// A radio cell of IEEE 802.15.4 at 2.4 GHz (O-QPSK, 250 kb/s), without beacons.
///
/// A node of its own, a switch, stands for the channel. Every link to it leaves a station and has the station's queue;
/// every link from it leads to one, without delay. A packet crosses both, and the cell decides in between: a link of
/// the first kind is [`LinkSpec::cell`](super::LinkSpec::cell)'s.
#[derive(Clone, PartialEq, Debug)]
pub struct CellSpec {
    /// The node that stands for the channel.
    pub channel: u32,
    /// Its stations, at most [`MOST_STATIONS`].
    pub stations: Vec<StationSpec>,
    /// How far signals reach.
    pub propagation: Propagation,
    /// Transceivers.
    pub phy: PhySpec,
    /// Access to the channel.
    pub mac: MacSpec,
    /// From packets to frames.
    pub framing: FramingSpec,
    /// What transceivers take.
    pub energy: EnergySpec,
}

/// Stations of a cell at most: 16-bit addresses would allow 65,534, but powers are kept for every pair.
pub const MOST_STATIONS: usize = 2_048;

/// Bytes of a PSDU at most (aMaxPHYPacketSize).
pub const MOST_PSDU: u32 = 127;

/// Bytes of an IPv6 packet on a link of 6LoWPAN at most, its MTU (RFC 4944, 4).
pub const MOST_DATAGRAM: u32 = 1280;

/// A station of a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StationSpec {
    /// Its node: a host, or a switch.
    pub node: u32,
    /// Where it is, metres.
    pub at: (f64, f64),
    /// It is a gateway: it forwards a packet once, however often it comes, and solicits no routers.
    pub routes: bool,
}

/// The loss of power on the way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Propagation {
    /// None up to this distance in metres, and nothing beyond (ns-3's `RangePropagationLossModel`).
    Range(f64),
    /// `reference + 10 exponent log10(distance / 1 m)` dB, and a part that is normally distributed with deviation
    /// `shadowing`, drawn for each pair of stations. At less than 1 m it is `reference`.
    LogDistance {
        /// At 1 m, dB.
        reference: f64,
        /// Exponent.
        exponent: f64,
        /// Standard deviation of shadowing, dB.
        shadowing: f64,
    },
}

/// Transceivers, all alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhySpec {
    /// Power of transmissions, dBm.
    pub power: f64,
    /// Power of the noise in the channel, dBm.
    pub noise: f64,
    /// From this power on the channel is busy, dBm.
    pub busy_from: f64,
    /// Which frames overlapping signals destroy.
    pub errors: Errors,
    /// When a clear channel assessment looks.
    pub assessment: Assessment,
}

/// Which frames overlapping signals destroy. A receiver follows one frame at a time, the first that is 5 dB below noise
/// and interference or better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errors {
    /// By bit errors of O-QPSK; the interference is looked at when a further signal begins and at the end of the frame,
    /// as it is then: what begins and ends within a frame does it no harm (ns-3.43, `LrWpanPhy::CheckInterference`).
    Ns3,
    /// By bit errors of O-QPSK, looked at whenever a signal begins or ends.
    Sinr,
    /// Any signal within range that overlaps a frame.
    Overlap,
    /// None.
    None,
}

/// When a clear channel assessment looks at the channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assessment {
    /// At its end (ns-3.43, `LrWpanPhy::EndCca`).
    End,
    /// All the time: a signal that ends within it makes the channel busy (IEEE 802.15.4-2011, 8.2.7).
    Window,
}

/// Unslotted CSMA-CA, acknowledgements and retries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MacSpec {
    /// Least backoff exponent (macMinBE).
    pub least_exponent: u32,
    /// Greatest backoff exponent (macMaxBE).
    pub most_exponent: u32,
    /// A frame fails that finds the channel busy more often than this (macMaxCSMABackoffs).
    pub backoffs: u32,
    /// Retries of a frame that is not acknowledged (macMaxFrameRetries).
    pub retries: u32,
    /// Frames to one station ask for acknowledgements.
    pub acknowledged: bool,
    /// An acknowledgement with another number, which is that of another station's frame, ends the wait: the try has
    /// failed (ns-3.43, `LrWpanMac::PdDataIndication`, after IEEE 802.15.4-2006, 7.5.6.4.3). Else it is ignored (IEEE
    /// 802.15.4-2011, 5.1.6.4.3).
    pub foreign_acks_fail: bool,
    /// A frame that has the number of the one before from the same station is acknowledged and not passed on (IEEE
    /// 802.15.4-2011, 5.1.6.2); ns-3.43 has no such filter.
    pub duplicates_rejected: bool,
    /// A frame that is to be acknowledged makes the station begin its own access to the channel anew (ns-3.43); else
    /// it goes on with the exponent and the count that it had.
    pub reception_restarts: bool,
}

/// From packets to frames.
#[derive(Clone, PartialEq, Debug)]
pub struct FramingSpec {
    /// Bytes of the MAC's header and of the frame check sequence.
    pub overhead: u32,
    /// Bytes that a frame carries for the layers above.
    pub payload: u32,
    /// 6LoWPAN; `None`: a packet is a frame.
    pub adaptation: Option<AdaptationSpec>,
}

/// 6LoWPAN (RFC 4944, RFC 6282) below IPv6, whose header of 40 bytes is part of a packet's size.
#[derive(Clone, PartialEq, Debug)]
pub struct AdaptationSpec {
    /// Bytes of the compressed IPv6 header of a packet of TCP.
    pub tcp_header: u32,
    /// Bytes of the compressed headers, IPv6 and UDP, of a datagram.
    pub udp_header: u32,
    /// Fragments wait for the others for so long.
    pub reassembly: Time,
    /// Frames are flooded, each to all in range; `None`: they are sent to the next hop.
    pub mesh: Option<MeshSpec>,
    /// Stations have to find their neighbours; `None`: they know them.
    pub discovery: Option<DiscoverySpec>,
}

/// Neighbour discovery (RFC 4861, RFC 4862).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscoverySpec {
    /// A message to all is sent after 0 to this many milliseconds, a whole number of them.
    pub jitter_ms: u32,
    /// Between two solicitations of a neighbour (RetransTimer).
    pub interval: Time,
    /// Solicitations of an unknown neighbour after the first.
    pub retries: u32,
    /// Packets that wait for a neighbour at most; the oldest goes.
    pub waiting: u32,
    /// A neighbour from which nothing has come is stale after this time (ReachableTime).
    pub reachable: Time,
    /// One that is stale and is sent to is probed after this time (DELAY_FIRST_PROBE_TIME).
    pub delay: Time,
    /// Probes of it (MAX_UNICAST_SOLICIT).
    pub probes: u32,
    /// Addresses of a station that it claims as the run begins (duplicate address detection).
    pub addresses: u32,
    /// Router solicitations of a station.
    pub router_solicitations: u32,
}

/// Bytes of the longest message of neighbour discovery as 6LoWPAN compresses it.
pub const MOST_DISCOVERY: u32 = 70;

/// Mesh-under flooding (RFC 4944, 11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeshSpec {
    /// Times that a frame is forwarded at most.
    pub hops: u32,
    /// Latest frames of an originator that a station remembers.
    pub remembered: u32,
    /// A station forwards a frame after 0 to this many milliseconds, a whole number of them.
    pub jitter_ms: u32,
}

/// What a transceiver takes, by state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EnergySpec {
    /// Supply, volts.
    pub volts: f64,
    /// Current while it transmits, milliamperes.
    pub transmitting: f64,
    /// Current while it receives a frame, milliamperes.
    pub receiving: f64,
    /// Current while it listens, milliamperes.
    pub listening: f64,
}
