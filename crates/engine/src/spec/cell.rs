//! Radio cells: a shared channel and medium access by its stations.

use incast_cc::Time;

/// A radio cell of IEEE 802.15.4 at 2.4 GHz (O-QPSK, 250 kb/s), without beacons.
///
/// The channel is a node of its own, a switch. Every link to it leaves a station and has the station's queue; every
/// link from it leads to a station, without delay. A packet crosses both links, and the cell schedules it in between.
/// [`LinkSpec::cell`](super::LinkSpec::cell) is set on links to the channel.
#[derive(Clone, PartialEq, Debug)]
pub struct CellSpec {
    /// Node of the channel.
    pub channel: u32,
    /// Stations, at most [`MAX_STATIONS`].
    pub stations: Vec<StationSpec>,
    /// Path loss of signals.
    pub propagation: Propagation,
    /// Transceivers.
    pub phy: PhySpec,
    /// Access to the channel.
    pub mac: MacSpec,
    /// Encapsulation of packets in frames.
    pub framing: FramingSpec,
    /// Energy consumption of transceivers.
    pub energy: EnergySpec,
}

/// Maximum number of stations in a cell. 16-bit addresses would allow 65,534, but received powers are stored for every
/// pair.
pub const MAX_STATIONS: usize = 2_048;

/// Maximum PSDU size in bytes (aMaxPHYPacketSize).
pub const MAX_PSDU: u32 = 127;

/// MTU of a 6LoWPAN link: maximum size of an IPv6 packet, in bytes (RFC 4944, 4).
pub const MAX_DATAGRAM: u32 = 1280;

/// A station of a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StationSpec {
    /// Node: a host or a switch.
    pub node: u32,
    /// Position, in metres.
    pub at: (f64, f64),
    /// Gateway: forwards a packet once, however often it arrives, and solicits no routers.
    pub routes: bool,
}

/// Propagation loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Propagation {
    /// No loss up to this distance in metres, no signal beyond (ns-3's `RangePropagationLossModel`).
    Range(f64),
    /// `reference + 10 exponent log10(distance / 1 m)` dB plus shadowing: a normally distributed term with standard
    /// deviation `shadowing`, drawn for each pair of stations. Below 1 m the distance counts as 1 m.
    LogDistance {
        /// Loss at 1 m, in dB.
        reference: f64,
        /// Path-loss exponent.
        exponent: f64,
        /// Standard deviation of shadowing, in dB.
        shadowing: f64,
    },
}

/// Parameters of all transceivers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhySpec {
    /// Transmission power, in dBm.
    pub power: f64,
    /// Noise power in the channel, in dBm.
    pub noise: f64,
    /// Energy-detection threshold: the channel is busy from this power on, in dBm.
    pub busy_from: f64,
    /// Frame-error model for overlapping signals.
    pub errors: Errors,
    /// Measurement time of a clear channel assessment.
    pub assessment: Assessment,
}

/// Frame-error model for overlapping signals. A receiver locks on to one frame at a time: the first with an SINR of at
/// least -5 dB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errors {
    /// Bit errors of O-QPSK. The interference is evaluated when a further signal begins and at the end of the frame, as
    /// it is at that instant: a signal that begins and ends within a frame does it no harm (ns-3.43,
    /// `LrWpanPhy::CheckInterference`).
    Ns3,
    /// Bit errors of O-QPSK, evaluated whenever a signal begins or ends.
    Sinr,
    /// Any overlapping signal within range destroys a frame.
    Overlap,
    /// No frame errors.
    None,
}

/// Measurement time of a clear channel assessment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assessment {
    /// At the end of the assessment (ns-3.43, `LrWpanPhy::EndCca`).
    End,
    /// Over the whole assessment: a signal that ends within it makes the channel busy (IEEE 802.15.4-2011, 8.2.7).
    Window,
}

/// Unslotted CSMA-CA, acknowledgements and retries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MacSpec {
    /// Minimum backoff exponent (macMinBE).
    pub least_exponent: u32,
    /// Maximum backoff exponent (macMaxBE).
    pub most_exponent: u32,
    /// Maximum number of backoffs: a frame that finds the channel busy more often fails (macMaxCSMABackoffs).
    pub backoffs: u32,
    /// Maximum retries of an unacknowledged frame (macMaxFrameRetries).
    pub retries: u32,
    /// Unicast frames request acknowledgements.
    pub acknowledged: bool,
    /// An acknowledgement with the sequence number of another station's frame ends the wait, and the attempt fails
    /// (ns-3.43, `LrWpanMac::PdDataIndication`, after IEEE 802.15.4-2006, 7.5.6.4.3). Otherwise it is ignored (IEEE
    /// 802.15.4-2011, 5.1.6.4.3).
    pub foreign_acks_fail: bool,
    /// A frame with the sequence number of the previous frame from the same station is acknowledged and not delivered
    /// (IEEE 802.15.4-2011, 5.1.6.2); ns-3.43 has no such filter.
    pub duplicates_rejected: bool,
    /// Receiving a frame that requests an acknowledgement restarts the station's own channel access (ns-3.43).
    /// Otherwise the access continues with its backoff exponent and count.
    pub reception_restarts: bool,
}

/// Encapsulation of packets in frames.
#[derive(Clone, PartialEq, Debug)]
pub struct FramingSpec {
    /// Size of MAC header and frame check sequence, in bytes.
    pub overhead: u32,
    /// Maximum payload of a frame, in bytes.
    pub payload: u32,
    /// 6LoWPAN; `None`: one packet is one frame.
    pub adaptation: Option<AdaptationSpec>,
}

/// 6LoWPAN (RFC 4944, RFC 6282) below IPv6. A packet's size includes the IPv6 header of 40 bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct AdaptationSpec {
    /// Size of the compressed IPv6 header of a TCP packet, in bytes.
    pub tcp_header: u32,
    /// Size of the compressed IPv6 and UDP headers of a datagram, in bytes.
    pub udp_header: u32,
    /// Reassembly timeout.
    pub reassembly: Time,
    /// Flooding: each frame goes to all stations in range; `None`: unicast to the next hop.
    pub mesh: Option<MeshSpec>,
    /// Neighbour discovery; `None`: stations know their neighbours.
    pub discovery: Option<DiscoverySpec>,
}

/// Neighbour discovery (RFC 4861, RFC 4862).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscoverySpec {
    /// Maximum random delay of a multicast message, in whole milliseconds from 0.
    pub jitter_ms: u32,
    /// Interval between solicitations of a neighbour (RetransTimer).
    pub interval: Time,
    /// Further solicitations of an unknown neighbour after the first.
    pub retries: u32,
    /// Maximum number of packets that wait for a neighbour; the oldest is dropped.
    pub waiting: u32,
    /// Time without a packet from a neighbour after which it is stale (ReachableTime).
    pub reachable: Time,
    /// Time from a packet to a stale neighbour to its first probe (DELAY_FIRST_PROBE_TIME).
    pub delay: Time,
    /// Probes of a stale neighbour (MAX_UNICAST_SOLICIT).
    pub probes: u32,
    /// Addresses that each station claims when the run begins (duplicate address detection).
    pub addresses: u32,
    /// Router solicitations per station.
    pub router_solicitations: u32,
}

/// Size of the longest neighbour discovery message after 6LoWPAN compression, in bytes.
pub const MAX_DISCOVERY: u32 = 70;

/// Mesh-under flooding (RFC 4944, 11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeshSpec {
    /// Maximum number of times a frame is forwarded.
    pub hops: u32,
    /// Number of recent frames a station remembers per originator.
    pub remembered: u32,
    /// Maximum random delay before forwarding a frame, in whole milliseconds from 0.
    pub jitter_ms: u32,
}

/// Power consumption of a transceiver by state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EnergySpec {
    /// Supply voltage, in volts.
    pub volts: f64,
    /// Current while transmitting, in milliamperes.
    pub transmitting: f64,
    /// Current while receiving a frame, in milliamperes.
    pub receiving: f64,
    /// Current while listening, in milliamperes.
    pub listening: f64,
}
