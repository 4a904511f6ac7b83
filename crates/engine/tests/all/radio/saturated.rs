//! Saturated stations against ns-3.43's means over five seeds: a circle of 10 m, MSDU 100 B.

use super::{Drive, circle, raw};
use incast_cc::Time;
use incast_engine::hash;
use incast_engine::spec::{CellSpec, MacSpec};

/// Stations; kb/s with acknowledgements and without; transmissions per acknowledged frame, and successful accesses,
/// both with acknowledgements.
const NS3: [(u16, f64, f64, f64, f64); 5] = [
    (1, 125.6, 137.4, 1.000, 1.000),
    (2, 131.2, 148.0, 1.131, 0.928),
    (5, 132.5, 162.0, 1.447, 0.696),
    (10, 122.2, 163.3, 2.014, 0.493),
    (20, 99.84, 140.2, 3.634, 0.350),
];
const DURATION: u64 = 40;

/// Drives `n` saturated stations that begin within the first second.
fn drive(n: u16, acknowledged: bool) -> Drive {
    let spec = raw(circle(n as u32));
    let spec = CellSpec { mac: MacSpec { acknowledged, ..spec.mac }, ..spec };
    let mut drive = Drive::new(&spec);
    drive.cell.sightings = None;
    let mut starts: Vec<(Time, u16)> =
        (1..=n).map(|s| (Time(hash::bits(3, 99, s as u64, 0) % Time::s(1).0), s)).collect();
    starts.sort();
    for (at, station) in starts {
        drive.until(at);
        drive.keep_busy(at, (station, 0), 100);
    }
    drive.until(Time::s(1 + DURATION));
    drive
}

/// Goodput of frames that arrived for the first time after the first second, kb/s. Repeated ones are at most a percent.
fn goodput(drive: &Drive) -> f64 {
    let late = drive.arrived.iter().filter(|(at, ..)| *at >= 1_000_000_000).count() as f64;
    (late - drive.again as f64) * 0.8 / DURATION as f64
}

#[test]
fn saturated_stations_get_as_much_as_in_ns3() {
    let near = |got: f64, expected: f64| (got / expected - 1.0).abs() <= 0.03;
    for (n, acknowledged, unacknowledged, tries, granted) in NS3 {
        let with = drive(n, true);
        let (counts, _) = with.cell.counts();
        let sum = |of: fn(&incast_record::RadioCounts) -> u64| counts.iter().map(of).sum::<u64>() as f64;
        let got = (goodput(&with), sum(|c| c.tries) / sum(|c| c.delivered), sum(|c| c.tries) / sum(|c| c.accesses));
        assert!(near(got.0, acknowledged) && near(got.1, tries) && near(got.2, granted), "{n} stations: {got:?}");
        let without = goodput(&drive(n, false));
        assert!(near(without, unacknowledged), "{n} stations without acknowledgements: {without}");
    }
}
