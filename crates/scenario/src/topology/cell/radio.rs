//! The radios of a cell: transceivers, MAC, 6LoWPAN.

use crate::text::problem::Report;
use crate::text::quantity::{Rate, Time};
use crate::text::words::{Word, words};
use incast_cc as cc;
use incast_engine::spec::{
    AdaptationSpec, Assessment, DiscoverySpec, EnergySpec, Errors, FramingSpec, MAX_DISCOVERY, MAX_PSDU, MacSpec,
    MeshSpec, PhySpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rate of the 2.4 GHz PHY.
pub const RATE: cc::Rate = cc::Rate::bps(250_000);

/// Rules of the radios where two readings differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reading {
    /// ns-3.43's rules.
    #[default]
    Ns3,
    /// The standard's rules.
    Standard,
}

words! {
    /// Rules of the radios: the defaults of `errors`, `assessment`, `foreign_acks`, `duplicates` and `reception`.
    "Reading" Reading {
        /// ns-3.43's `lr-wpan`.
        "ns3" => Reading::Ns3,
        /// IEEE 802.15.4-2011.
        "standard" => Reading::Standard,
    }
}

words! {
    /// Frames destroyed by overlapping signals.
    "Errors" Errors {
        /// By the bit errors of O-QPSK; interference counts when a further signal begins and at the end of the frame,
        /// with its value at that time. A signal that begins and ends within a frame does no harm.
        "ns3" => Errors::Ns3,
        /// By the bit errors of O-QPSK; interference counts all the time.
        "sinr" => Errors::Sinr,
        /// Every frame overlapped by a signal within range.
        "overlap" => Errors::Overlap,
        /// None: a station still receives one frame at a time.
        "none" => Errors::None,
    }
}

words! {
    /// Time at which a clear channel assessment of 128 us reads the channel.
    "Assessment" Assessment {
        /// At its end.
        "end" => Assessment::End,
        /// During all of it.
        "window" => Assessment::Window,
    }
}

/// Reaction of a waiting station to an acknowledgement with another number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForeignAcks {
    /// The transmission has failed.
    Fail,
    /// The station continues to wait.
    Ignore,
}

words! {
    /// Reaction of a waiting station to an acknowledgement with another number: acknowledgements carry no address.
    "ForeignAcks" ForeignAcks {
        /// The transmission has failed (IEEE 802.15.4-2006, 7.5.6.4.3; ns-3.43).
        "fail" => ForeignAcks::Fail,
        /// The station continues to wait (IEEE 802.15.4-2011, 5.1.6.4.3).
        "ignore" => ForeignAcks::Ignore,
    }
}

/// Treatment of a frame already received from the same station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duplicates {
    /// Delivered to the upper layer.
    Deliver,
    /// Acknowledged and discarded.
    Reject,
}

words! {
    /// Treatment of a frame with the number of the last one from the same station.
    "Duplicates" Duplicates {
        /// Accepted as any other (ns-3.43).
        "deliver" => Duplicates::Deliver,
        /// Acknowledged and discarded (IEEE 802.15.4-2011, 5.1.6.2).
        "reject" => Duplicates::Reject,
    }
}

/// Effect of the reception of a frame on a station's pending channel access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// The access restarts.
    Restarts,
    /// The access continues.
    Continues,
}

words! {
    /// Effect on a station's pending channel access when it acknowledges a frame meanwhile.
    "Reception" Reception {
        /// The access restarts, with the smallest exponent (ns-3.43).
        "restarts" => Reception::Restarts,
        /// The access continues with its exponent.
        "continues" => Reception::Continues,
    }
}

/// Conversion of packets to frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Adaptation {
    /// Compression and fragmentation.
    #[default]
    SixLowPan,
    /// One frame per packet.
    None,
}

words! {
    /// Conversion of packets to frames.
    "Adaptation" Adaptation {
        /// IPv6 headers are compressed, and packets fragmented (RFC 6282, RFC 4944). The transport's headers must
        /// count 40 bytes of IPv6, as in `transport.preset = "ns3-ipv6"`.
        "6lowpan" => Adaptation::SixLowPan,
        /// One frame per packet, as with raw MAC frames.
        "none" => Adaptation::None,
    }
}

/// Mesh-under flooding (RFC 4944, 11).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Mesh {
    /// Largest number of times a frame is forwarded.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 255))]
    pub hops: u32,
    /// Number of latest frames of each origin that a station remembers, and does not forward again.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 256))]
    pub remembered: u32,
    /// A station forwards a frame after a random whole number of milliseconds, up to this number.
    #[serde(default = "jitter")]
    #[schemars(range(max = 10_000))]
    pub jitter_ms: u32,
}

fn hops() -> u32 {
    10
}

fn jitter() -> u32 {
    9
}

/// Neighbour discovery (RFC 4861, RFC 4862), with ns-3.43's values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Discovery {
    /// A broadcast message is sent after a random whole number of milliseconds, up to this number.
    #[schemars(range(max = 10_000))]
    pub jitter_ms: u32,
    /// Time between two solicitations of a neighbour.
    pub interval: Time,
    /// Solicitations of a neighbour that does not answer, after the first.
    #[schemars(range(max = 100))]
    pub retries: u32,
    /// Most packets that wait for a neighbour; beyond it the oldest is lost.
    #[schemars(range(min = 1, max = 1_000))]
    pub waiting: u32,
    /// Time without a message after which a neighbour is stale.
    pub reachable: Time,
    /// Time after which a stale neighbour is probed when a packet is sent to it.
    pub delay: Time,
    /// Probes of a stale neighbour that does not answer.
    #[schemars(range(max = 100))]
    pub probes: u32,
    /// Number of addresses that a station claims at the beginning of the run (duplicate address detection); 0: none.
    #[schemars(range(max = 16))]
    pub addresses: u32,
    /// Router solicitations of a station, after about 1, 2, 4, 8, 16 ... seconds.
    #[schemars(range(max = 16))]
    pub router_solicitations: u32,
}

impl Default for Discovery {
    fn default() -> Discovery {
        Discovery {
            jitter_ms: jitter(),
            interval: Time(cc::Time::s(1)),
            retries: 3,
            waiting: 3,
            reachable: Time(cc::Time::s(30)),
            delay: Time(cc::Time::s(5)),
            probes: 3,
            addresses: 2,
            router_solicitations: 5,
        }
    }
}

impl Discovery {
    /// Reports contradictory values, and values that no station has.
    fn check(&self, radio: &Radio, at: &mut Report) {
        if radio.adaptation.0 == Adaptation::None {
            at.key("discovery", "expected none with adaptation = \"none\": it is of IPv6 over 6LoWPAN");
        }
        let least = MAX_DISCOVERY + if radio.mesh.is_some() { 7 } else { 0 };
        if radio.frame_payload < least {
            let message = format!("expected at least {least} with discovery: its longest message is not cut");
            at.value("frame_payload", radio.frame_payload, message);
        }
        if !(1..=1_000).contains(&self.waiting) {
            at.value("discovery.waiting", self.waiting, "expected 1 to 1000");
        }
        let counts = [
            ("jitter_ms", self.jitter_ms, 10_000),
            ("retries", self.retries, 100),
            ("probes", self.probes, 100),
            ("addresses", self.addresses, 16),
            ("router_solicitations", self.router_solicitations, 16),
        ];
        for (key, value, most) in counts.into_iter().filter(|(_, value, most)| value > most) {
            at.value(format!("discovery.{key}"), value, format!("expected at most {most}"));
        }
        for (key, time) in [("interval", self.interval), ("reachable", self.reachable), ("delay", self.delay)] {
            if time.0 == cc::Time::ZERO {
                at.text(format!("discovery.{key}"), time, "expected a time above 0");
            }
        }
    }

    fn spec(&self) -> DiscoverySpec {
        DiscoverySpec {
            jitter_ms: self.jitter_ms,
            interval: self.interval.0,
            retries: self.retries,
            waiting: self.waiting,
            reachable: self.reachable.0,
            delay: self.delay.0,
            probes: self.probes,
            addresses: self.addresses,
            router_solicitations: self.router_solicitations,
        }
    }
}

/// Currents of a transceiver.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Energy {
    /// Supply, volts.
    #[serde(default = "volts")]
    pub volts: f64,
    /// Current while transmitting, mA; 17.4 is the CC2420's at 0 dBm (its data sheet, table 5).
    #[serde(default = "transmitting")]
    pub transmitting_ma: f64,
    /// Current while receiving a frame, mA; 18.8 is the CC2420's.
    #[serde(default = "receiving")]
    pub receiving_ma: f64,
    /// Current while listening, mA; 18.8 is the CC2420's.
    #[serde(default = "receiving")]
    pub listening_ma: f64,
}

fn volts() -> f64 {
    3.0
}

fn transmitting() -> f64 {
    17.4
}

fn receiving() -> f64 {
    18.8
}

impl Default for Energy {
    fn default() -> Energy {
        let (transmitting_ma, receiving_ma) = (transmitting(), receiving());
        Energy { volts: volts(), transmitting_ma, receiving_ma, listening_ma: receiving_ma }
    }
}

/// Radios of IEEE 802.15.4 at 2.4 GHz, without beacons.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Radio {
    /// Default rules of the radios.
    pub reading: Word<Reading>,
    /// Rate of the PHY: only 250 kb/s.
    pub rate: Rate,
    /// Power of transmissions, dBm.
    pub power_dbm: f64,
    /// Power of the noise, dBm.
    pub noise_dbm: f64,
    /// Power from which on the channel is busy, dBm: 10 dB above the sensitivity.
    pub busy_from_dbm: f64,
    /// Frames destroyed by overlapping signals; default: "ns3" or "sinr", by `reading`.
    pub errors: Option<Word<Errors>>,
    /// Time at which a clear channel assessment reads the channel; default: "end" or "window", by `reading`.
    pub assessment: Option<Word<Assessment>>,
    /// Smallest backoff exponent (macMinBE).
    #[schemars(range(max = 8))]
    pub least_exponent: u32,
    /// Largest backoff exponent (macMaxBE).
    #[schemars(range(max = 8))]
    pub most_exponent: u32,
    /// Number of busy channel assessments that a frame survives; one more and it fails (macMaxCSMABackoffs).
    #[schemars(range(max = 100))]
    pub backoffs: u32,
    /// Retries of a frame that is not acknowledged (macMaxFrameRetries).
    #[schemars(range(max = 100))]
    pub retries: u32,
    /// Acknowledges frames to one station.
    pub acknowledged: bool,
    /// Reaction to acknowledgements of others; default: "fail" or "ignore", by `reading`.
    pub foreign_acks: Option<Word<ForeignAcks>>,
    /// Treatment of frames received before; default: "deliver" or "reject", by `reading`.
    pub duplicates: Option<Word<Duplicates>>,
    /// Effect of a received frame on a station's pending access; default: "restarts" or "continues", by `reading`.
    pub reception: Option<Word<Reception>>,
    /// Bytes of MAC header and check sequence: 11 with 16-bit addresses in one PAN, 13 in ns-3 up to 3.36.
    #[schemars(range(min = 5, max = 50))]
    pub frame_overhead: u32,
    /// Bytes that a frame carries above the MAC.
    #[schemars(range(min = 60, max = 122))]
    pub frame_payload: u32,
    /// Conversion of packets to frames.
    pub adaptation: Word<Adaptation>,
    /// Bytes of the compressed IPv6 header of TCP: both addresses in full and the flow label, as sent by ns-3.
    #[schemars(range(min = 2, max = 41))]
    pub tcp_header: u32,
    /// Bytes of the compressed headers, IPv6 and UDP, of a datagram, as sent by ns-3.
    #[schemars(range(min = 3, max = 49))]
    pub udp_header: u32,
    /// Reassembly timeout: the time that fragments wait for the others.
    pub reassembly: Time,
    /// Mesh-under flooding of frames; default: frames go to the next hop.
    pub mesh: Option<Mesh>,
    /// Neighbour discovery; default: stations know their neighbours.
    pub discovery: Option<Discovery>,
    /// Currents of the transceiver.
    pub energy: Energy,
}

impl Default for Radio {
    fn default() -> Radio {
        Radio {
            reading: Word(Reading::Ns3),
            rate: Rate(RATE),
            power_dbm: 0.0,
            noise_dbm: -106.99,
            busy_from_dbm: -96.58,
            errors: None,
            assessment: None,
            least_exponent: 3,
            most_exponent: 5,
            backoffs: 4,
            retries: 3,
            acknowledged: true,
            foreign_acks: None,
            duplicates: None,
            reception: None,
            frame_overhead: 11,
            frame_payload: 114,
            adaptation: Word(Adaptation::SixLowPan),
            tcp_header: 38,
            udp_header: 42,
            reassembly: Time(cc::Time::s(60)),
            mesh: None,
            discovery: None,
            energy: Energy::default(),
        }
    }
}

impl Radio {
    fn is_standard(&self) -> bool {
        self.reading.0 == Reading::Standard
    }

    /// Reports contradictory values, and values that no radio has.
    pub fn check(&self, at: &mut Report) {
        if self.rate.0 != RATE {
            at.text("rate", self.rate, "expected 250kbps: the 2.4 GHz PHY of IEEE 802.15.4 has no other");
        }
        if self.least_exponent > self.most_exponent {
            let message = format!("expected at most most_exponent, {}", self.most_exponent);
            at.value("least_exponent", self.least_exponent, message);
        }
        if self.most_exponent > 8 {
            at.value("most_exponent", self.most_exponent, "expected at most 8");
        }
        if self.frame_overhead + self.frame_payload > MAX_PSDU {
            let message = format!(
                "expected at most {}: a PSDU has {MAX_PSDU} bytes at most, and frame_overhead is {}",
                MAX_PSDU.saturating_sub(self.frame_overhead),
                self.frame_overhead
            );
            at.value("frame_payload", self.frame_payload, message);
        }
        if self.frame_payload < 60 {
            let message = "expected at least 60, so that a first fragment has room for headers and eight bytes";
            at.value("frame_payload", self.frame_payload, message);
        }
        for (key, value) in [("tcp_header", self.tcp_header), ("udp_header", self.udp_header)] {
            if !(2..=49).contains(&value) {
                at.value(key, value, "expected 2 to 49 bytes");
            }
        }
        if self.reassembly.0 == cc::Time::ZERO {
            at.text("reassembly", self.reassembly, "expected a time above 0");
        }
        let levels = [self.power_dbm, self.noise_dbm, self.busy_from_dbm];
        for (key, value) in ["power_dbm", "noise_dbm", "busy_from_dbm"].into_iter().zip(levels) {
            if !(-200.0..=60.0).contains(&value) {
                at.value(key, value, "expected -200 to 60 dBm");
            }
        }
        if let Some(mesh) = &self.mesh {
            if self.adaptation.0 == Adaptation::None {
                at.key("mesh", "expected none with adaptation = \"none\": 6LoWPAN floods frames");
            }
            for (key, value, most) in [("mesh.hops", mesh.hops, 255), ("mesh.remembered", mesh.remembered, 256)] {
                if !(1..=most).contains(&value) {
                    at.value(key, value, format!("expected 1 to {most}"));
                }
            }
            if mesh.jitter_ms > 10_000 {
                at.value("mesh.jitter_ms", mesh.jitter_ms, "expected at most 10000 ms");
            }
        }
        if let Some(discovery) = &self.discovery {
            discovery.check(self, at);
        }
        let own = &self.energy;
        let amounts = [own.volts, own.transmitting_ma, own.receiving_ma, own.listening_ma];
        for (key, value) in ["volts", "transmitting_ma", "receiving_ma", "listening_ma"].into_iter().zip(amounts) {
            if !(value >= 0.0 && value.is_finite()) {
                at.value(format!("energy.{key}"), value, "expected 0 or more");
            }
        }
    }

    pub(super) fn phy(&self) -> PhySpec {
        let standard = self.is_standard();
        let assessment = if standard { Assessment::Window } else { Assessment::End };
        PhySpec {
            power: self.power_dbm,
            noise: self.noise_dbm,
            busy_from: self.busy_from_dbm,
            errors: self.errors.map_or(if standard { Errors::Sinr } else { Errors::Ns3 }, |w| w.0),
            assessment: self.assessment.map_or(assessment, |w| w.0),
        }
    }

    pub(super) fn mac(&self) -> MacSpec {
        let ns3 = !self.is_standard();
        MacSpec {
            least_exponent: self.least_exponent,
            most_exponent: self.most_exponent,
            backoffs: self.backoffs,
            retries: self.retries,
            acknowledged: self.acknowledged,
            foreign_acks_fail: self.foreign_acks.map_or(ns3, |w| w.0 == ForeignAcks::Fail),
            duplicates_rejected: self.duplicates.map_or(!ns3, |w| w.0 == Duplicates::Reject),
            reception_restarts: self.reception.map_or(ns3, |w| w.0 == Reception::Restarts),
        }
    }

    pub(super) fn framing(&self) -> FramingSpec {
        let mesh = self.mesh.as_ref().map(|mesh| MeshSpec {
            hops: mesh.hops,
            remembered: mesh.remembered,
            jitter_ms: mesh.jitter_ms,
        });
        let adaptation = (self.adaptation.0 == Adaptation::SixLowPan).then_some(AdaptationSpec {
            tcp_header: self.tcp_header,
            udp_header: self.udp_header,
            reassembly: self.reassembly.0,
            mesh,
            discovery: self.discovery.as_ref().map(Discovery::spec),
        });
        FramingSpec { overhead: self.frame_overhead, payload: self.frame_payload, adaptation }
    }

    pub(super) fn energy(&self) -> EnergySpec {
        EnergySpec {
            volts: self.energy.volts,
            transmitting: self.energy.transmitting_ma,
            receiving: self.energy.receiving_ma,
            listening: self.energy.listening_ma,
        }
    }
}
