//! Frames of ns-3.43, exact to the nanosecond: its `lr-wpan` and `sixlowpan` with backoffs of 0.

use super::{Drive, circle, framing, raw};
use incast_cc::Time;
use incast_engine::spec::CellSpec;
use incast_engine::testing::What;

/// A frame sent or received: nanoseconds, true if it begins, station, bytes of its PSDU, true for an acknowledgement.
type Seen = (u64, bool, u16, u8, bool);

fn without_backoff(spec: CellSpec) -> CellSpec {
    let mac = incast_engine::spec::MacSpec { least_exponent: 0, most_exponent: 0, ..spec.mac };
    CellSpec { mac, ..spec }
}

fn seen(drive: &Drive) -> Vec<Seen> {
    let sightings = drive.cell.sightings.as_deref().unwrap_or_default();
    let row = |s: &incast_engine::testing::Sighting| {
        (s.time.0 / 1000, s.begins, s.station, s.frame.psdu, matches!(s.frame.what, What::Ack(_)))
    };
    sightings.iter().map(row).collect()
}

/// Frames of a lone UDP datagram: `(begins, PSDU)` of the data, in nanoseconds. Each is received 33 ns after its end,
/// and acknowledged 192 us after that.
fn lone(payload: u32, frames: &[(u64, u8)]) {
    let spec = without_backoff(CellSpec { framing: framing(), ..circle(1) });
    let mut drive = Drive::new(&spec);
    drive.submit(Time::ZERO, (1, 0), 48 + payload);
    drive.until(Time::ms(100));
    let mut expected: Vec<Seen> = Vec::new();
    for &(at, psdu) in frames {
        let heard = at + (12 + 2 * psdu as u64) * 16_000 + 33;
        let acked = heard + 192_000;
        expected.extend([
            (at, true, 1, psdu, false),
            (heard, false, 0, psdu, false),
            (acked, true, 0, 5, true),
            (acked + 352_000 + 33, false, 1, 5, true),
        ]);
    }
    assert_eq!(seen(&drive), expected);
    assert_eq!(drive.arrived, [(frames.last().map_or(0, |f| f.0 + (12 + 2 * f.1 as u64) * 16_000 + 33), 0, 1)]);
}

#[test]
fn a_lone_datagram_is_sent_as_in_ns3() {
    lone(40, &[(320_000, 93)]);
    lone(100, &[(320_000, 121), (5_888_066, 52)]);
    lone(
        536,
        &[(320_000, 121), (5_888_066, 120), (11_424_132, 120), (16_960_198, 120), (22_496_264, 120), (28_032_330, 72)],
    );
}

#[test]
fn two_frames_that_begin_together_collide_as_in_ns3() {
    // saturated senders on both sides of the sink, 100 B a frame; the first one is followed and survives
    let spec = without_backoff(raw(circle(2)));
    let mut drive = Drive::new(&spec);
    [1, 2].into_iter().for_each(|station| drive.keep_busy(Time::ZERO, (station, 0), 100));
    // the first station has found the channel busy by then, and its backoffs are random from there on
    drive.until(Time::us(8_865));
    let expected: [Seen; 9] = [
        (320_000, true, 1, 111, false),
        (320_000, true, 2, 111, false),
        (4_064_033, false, 0, 111, false),
        (4_256_033, true, 0, 5, true),
        (4_608_066, false, 1, 5, true),
        (4_608_066, false, 2, 5, true),
        (4_928_066, true, 2, 111, false),
        (8_672_099, false, 0, 111, false),
        (8_864_099, true, 0, 5, true),
    ];
    assert_eq!(seen(&drive), expected);
}
