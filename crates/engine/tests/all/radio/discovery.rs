//! Neighbour discovery, as in ns-3.43.

use super::{Drive, circle, discovering, framing};
use incast_cc::Time;
use incast_engine::spec::CellSpec;
use incast_engine::testing::What;

const MS: u64 = 1_000_000;

fn drive(senders: u32) -> Drive {
    Drive::new(&discovering(CellSpec { framing: framing(), ..circle(senders) }))
}

/// PSDUs of the frames sent, without acknowledgements, by station.
fn frames(drive: &Drive) -> Vec<(u16, u8)> {
    let sightings = drive.cell.sightings.iter().flatten().filter(|s| s.begins);
    let data = sightings.filter(|s| matches!(s.frame.what, What::Data(_)));
    data.map(|s| (s.station, s.frame.psdu)).collect()
}

#[test]
fn the_first_packet_waits_for_its_neighbour() {
    let mut drive = drive(1);
    drive.submit(Time::ZERO, (1, 0), 48 + 40);
    drive.submit(Time::ms(1), (1, 0), 48 + 100);
    drive.until(Time::ms(500));
    // a solicitation to all, an advertisement to one, and then the packets, in order
    assert_eq!(frames(&drive), [(1, 71), (0, 81), (1, 93), (1, 121), (1, 52)]);
    let ids: Vec<u16> = drive.arrived.iter().map(|a| a.2).collect();
    assert_eq!((ids, drive.losses.len()), (vec![1, 2], 0));
    // the sink knows the sender from its solicitation, and answers without soliciting
    drive.submit(Time::ms(500), (0, 1), 48 + 40);
    drive.until(Time::s(1));
    assert_eq!(frames(&drive)[5..], [(0, 93)]);
    let (counts, _) = drive.cell.counts();
    assert_eq!((counts[0].discovery, counts[1].discovery), (1, 1));
}

#[test]
fn a_neighbour_that_does_not_answer_is_unreachable_after_four_solicitations() {
    let mut spec = discovering(CellSpec { framing: framing(), ..circle(1) });
    spec.stations[1].at = (100.0, 0.0);
    let mut drive = Drive::new(&spec);
    // packets 1 to 4: three wait, and the oldest is dropped
    for i in 0..4 {
        drive.until(Time::ms(i * 10));
        drive.submit(Time::ms(i * 10), (1, 0), 48 + 40);
    }
    drive.until(Time::s(10));
    assert_eq!(frames(&drive), [(1, 71); 4]);
    assert_eq!(drive.losses[0].1, 1);
    assert!(!drive.losses[0].2);
    // the oldest waiting packet returns 4 s after the first packet's solicitation, the others are lost silently
    assert_eq!(drive.losses[1..], [(4000 * MS, 2, true), (4000 * MS, 3, false), (4000 * MS, 4, false)]);
    // the next packet starts again
    drive.submit(Time::s(10), (1, 0), 48 + 40);
    drive.until(Time::s(20));
    assert_eq!(frames(&drive).len(), 8);
    assert_eq!(drive.losses[4], (14_000 * MS, 5, true));
}

#[test]
fn a_neighbour_that_is_silent_for_long_is_probed() {
    let mut drive = drive(1);
    drive.submit(Time::ZERO, (1, 0), 48 + 40);
    // no traffic returns: stale at 30 s, and used at once; probed 5 s later
    drive.until(Time::s(31));
    drive.submit(Time::s(31), (1, 0), 48 + 40);
    drive.until(Time::s(35));
    assert_eq!(frames(&drive), [(1, 71), (0, 81), (1, 93), (1, 93)]);
    drive.until(Time::s(37));
    assert_eq!(frames(&drive)[4..], [(1, 71), (0, 81)]);
    // traffic from it keeps it reachable
    for s in [50, 70, 90] {
        drive.submit(Time::s(s), (0, 1), 48 + 40);
        drive.until(Time::s(s + 1));
        drive.submit(Time::s(s + 1), (1, 0), 48 + 40);
        drive.until(Time::s(s + 10));
    }
    // the sink knows the sender only from its solicitations: stale, and probed in turn
    let (counts, _) = drive.cell.counts();
    assert_eq!(counts[1].discovery, 2 + 1, "two solicitations, one advertisement");
    assert_eq!(drive.arrived.len(), 8);
}

#[test]
fn stations_claim_addresses_and_look_for_routers_as_in_ns3() {
    let mut spec = discovering(CellSpec { framing: framing(), ..circle(10) });
    if let Some(discovery) = spec.framing.adaptation.as_mut().and_then(|a| a.discovery.as_mut()) {
        (discovery.addresses, discovery.router_solicitations) = (2, 5);
    }
    let mut drive = Drive::new(&spec);
    drive.until(Time::s(60));
    let (counts, _) = drive.cell.counts();
    assert!(counts.iter().all(|c| c.discovery == 2 + 5));
    // ns-3.43, eleven nodes: 16 to 18 of the 22 are transmitted at 0 s
    let sightings: Vec<_> = drive.cell.sightings.iter().flatten().filter(|s| s.begins).collect();
    let claims = sightings.iter().filter(|s| s.frame.psdu == 55).count();
    assert!((14..=20).contains(&claims), "{claims}");
    // bursts near 1.0, 1.9 to 2.1, 3.6 to 4.1, 7.2 to 8.7, 14 to 18 s
    let mut routers = sightings.iter().filter(|s| s.frame.psdu == 34).map(|s| s.time.0 as f64 / 1e12);
    let bursts = [(1.0, 1.1), (1.85, 2.25), (3.5, 4.6), (6.8, 9.5), (13.0, 19.9)];
    assert!(routers.all(|t| bursts.iter().any(|(from, to)| (*from..*to).contains(&t))));
}
