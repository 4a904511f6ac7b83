//! Figures of radio cells.

use incast_record::summary::summarize;
use incast_record::table::{Values, radios};
use incast_record::{Outcome, RadioCounts, RadioRecord};

const S: u64 = 1_000_000_000_000;

/// Ten seconds of two stations of a cell.
fn outcome() -> Outcome {
    let busy = RadioRecord {
        station: "source0".into(),
        cell: "air".into(),
        counts: RadioCounts {
            delivered: 6,
            access_failures: 3,
            unacknowledged: 1,
            tries: 12,
            accesses: 15,
            assessments: 30,
            lost: 2,
            service_ps: 3 * S,
            transmitting_ps: 2 * S,
            ..RadioCounts::default()
        },
        receiving_ps: S,
        channel_busy_ps: 4 * S,
        power_mw: [50.0, 60.0, 40.0],
        ..RadioRecord::default()
    };
    let none =
        RadioCounts { delivered: 0, access_failures: 0, unacknowledged: 0, tries: 0, service_ps: 0, ..busy.counts };
    let idle = RadioRecord { station: "sink".into(), counts: none, ..busy.clone() };
    Outcome { end_ps: 10 * S, measure_to_ps: 10 * S, radios: vec![busy, idle], ..Outcome::default() }
}

#[test]
fn shares_are_of_frames_that_ended_and_energy_follows_from_times() {
    let summary = summarize(&outcome(), "s", "v");
    let of = |key: &str| summary["radios"][key].as_f64().unwrap();
    assert_eq!(of("frames"), 10.0);
    assert_eq!((of("access_failures_share"), of("no_acks_share")), (0.3, 0.1));
    assert_eq!((of("tries_per_delivered"), of("granted_share")), (2.0, 0.4));
    assert_eq!((of("assessments_per_access"), of("packets_lost"), of("channel_busy")), (2.0, 4.0, 0.4));
    // 2 s at 50 mW, 1 s at 60 mW, 7 s at 40 mW, twice
    assert!((of("energy_j") - 0.88).abs() < 1e-12);
}

#[test]
fn a_station_that_delivers_nothing_has_no_service_time() {
    let columns = radios(&outcome());
    let service = columns.iter().find(|c| c.name == "service_mean_s").map(|c| &c.values);
    assert_eq!(service, Some(&Values::OptF64(vec![Some(0.5), None])));
}

#[test]
fn without_cells_there_are_no_figures() {
    let summary = summarize(&Outcome::default(), "s", "v");
    assert!(summary["radios"].as_object().unwrap().values().all(serde_json::Value::is_null));
}

#[test]
fn counts_of_an_interval_are_what_was_added_in_it() {
    let before = RadioCounts { tries: 3, lost: 1, ..RadioCounts::default() };
    let after = RadioCounts { tries: 7, lost: 1, service_ps: 5, ..RadioCounts::default() };
    assert_eq!(after.since(&before), RadioCounts { tries: 4, service_ps: 5, ..RadioCounts::default() });
}
