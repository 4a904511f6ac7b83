//! The frames of a packet: 6LoWPAN's compression and fragments (RFC 6282, 3.1; RFC 4944, 5.3).

use super::timing::{self, ASSESSMENT, TURNAROUND};
use crate::spec::{AdaptationSpec, FramingSpec};
use incast_cc::Time;

/// Bytes of an IPv6 header.
const IPV6: u32 = 40;
/// Bytes of an UDP header.
const UDP: u32 = 8;
/// Bytes of the fragmentation header: of the first fragment, and of each other one.
const FIRST: u32 = 4;
const OTHER: u32 = 5;
/// Bytes of a mesh header with 16-bit addresses, and of a broadcast header (RFC 4944, 5.2, 11.1).
const MESH: u32 = 5 + 2;

/// Frames of a packet. All but the first and the last have the same size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frames {
    /// Number of frames.
    pub count: u16,
    first: u8,
    middle: u8,
    last: u8,
}

impl Frames {
    /// Frames of a packet of `size` IP bytes, of UDP or of TCP.
    pub fn of(spec: &FramingSpec, size: u32, udp: bool) -> Frames {
        let Some(adaptation) = &spec.adaptation else { return Frames::one(spec.overhead + size) };
        Frames::compressed(spec, adaptation, size, udp)
    }

    /// A single frame with a PSDU of `psdu` bytes.
    pub fn one(psdu: u32) -> Frames {
        let psdu = psdu as u8;
        Frames { count: 1, first: psdu, middle: psdu, last: psdu }
    }

    /// The frame of a neighbour discovery message of `size` bytes.
    pub fn of_message(spec: &FramingSpec, size: u32) -> Frames {
        let mesh = spec.adaptation.as_ref().is_some_and(|a| a.mesh.is_some());
        Frames::one(spec.overhead + if mesh { MESH } else { 0 } + size)
    }

    fn compressed(spec: &FramingSpec, adaptation: &AdaptationSpec, size: u32, udp: bool) -> Frames {
        let mesh = if adaptation.mesh.is_some() { MESH } else { 0 };
        let (headers, compressed) =
            if udp { (IPV6 + UDP, adaptation.udp_header) } else { (IPV6, adaptation.tcp_header) };
        let rest = size.saturating_sub(headers);
        if compressed + rest + mesh <= spec.payload {
            return Frames::one(spec.overhead + mesh + compressed + rest);
        }
        // offsets are in units of eight bytes
        let first = (spec.payload - FIRST - mesh - compressed) / 8 * 8;
        let middle = (spec.payload - OTHER - mesh) / 8 * 8;
        let others = (rest - first).div_ceil(middle);
        let last = rest - first - (others - 1) * middle;
        let psdu = |header: u32, bytes: u32| (spec.overhead + mesh + header + bytes) as u8;
        Frames {
            count: 1 + others as u16,
            first: psdu(FIRST + compressed, first),
            middle: psdu(OTHER, middle),
            last: psdu(OTHER, last),
        }
    }

    /// Minimum time from a packet's arrival at an otherwise idle station to its arrival at the receiver.
    pub fn min_time(&self, acknowledged: bool) -> Time {
        let answer = if acknowledged { TURNAROUND + timing::airtime(timing::ACK) } else { Time::ZERO };
        let alone = |psdu: u8| ASSESSMENT + TURNAROUND + timing::airtime(psdu);
        let whole = |psdu: u8| alone(psdu) + answer + timing::space(psdu);
        let others = (0..self.count - 1).map(|i| whole(self.psdu(i)));
        others.fold(alone(self.last), |sum, time| sum + time)
    }

    /// Bytes of the PSDU of frame `number`.
    pub fn psdu(&self, number: u16) -> u8 {
        match number {
            _ if number + 1 == self.count => self.last,
            0 => self.first,
            _ => self.middle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;
    use crate::spec::{AdaptationSpec, FramingSpec, MeshSpec};
    use incast_cc::Time;

    fn spec(mesh: bool) -> FramingSpec {
        let mesh = mesh.then_some(MeshSpec { hops: 10, remembered: 10, jitter_ms: 9 });
        let adaptation =
            AdaptationSpec { tcp_header: 38, udp_header: 42, reassembly: Time::s(60), mesh, discovery: None };
        FramingSpec { overhead: 11, payload: 114, adaptation: Some(adaptation) }
    }

    fn sizes(mesh: bool, size: u32, udp: bool) -> Vec<u8> {
        let frames = Frames::of(&spec(mesh), size, udp);
        (0..frames.count).map(|i| frames.psdu(i)).collect()
    }

    #[test]
    fn frames_are_as_long_as_in_ns3() {
        // ns-3.43: PSDU bytes on the air, by bytes of TCP after the IPv6 header, and by bytes of UDP payload
        let tcp: [(u32, &[u8]); 7] = [
            (36, &[85]),
            (32, &[81]),
            (40, &[89]),
            (48, &[97]),
            (56, &[105]),
            (132, &[125, 76]),
            (568, &[125, 120, 120, 120, 120, 96]),
        ];
        tcp.iter().for_each(|(bytes, psdus)| assert_eq!(sizes(false, 40 + bytes, false), *psdus));
        let udp: [(u32, &[u8]); 5] =
            [(40, &[93]), (72, &[125]), (73, &[121, 25]), (100, &[121, 52]), (536, &[121, 120, 120, 120, 120, 72])];
        udp.iter().for_each(|(bytes, psdus)| assert_eq!(sizes(false, 48 + bytes, true), *psdus));
        let mesh: [(u32, &[u8]); 4] = [(36, &[92]), (32, &[88]), (56, &[112]), (132, &[124, 91])];
        mesh.iter().for_each(|(bytes, psdus)| assert_eq!(sizes(true, 40 + bytes, false), *psdus));
    }

    #[test]
    fn messages_of_neighbour_discovery_are_as_long_as_in_ns3() {
        let sizes = |mesh: bool| [60, 70, 44, 23].map(|size| Frames::of_message(&spec(mesh), size).psdu(0));
        assert_eq!(sizes(false), [71, 81, 55, 34]);
        assert_eq!(sizes(true), [78, 88, 62, 41]);
    }

    #[test]
    fn a_packet_without_adaptation_is_a_frame() {
        let spec = FramingSpec { adaptation: None, ..spec(false) };
        assert_eq!(Frames::of(&spec, 100, true), Frames::one(111));
    }
}
