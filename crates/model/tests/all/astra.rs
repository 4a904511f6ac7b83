//! ASTRA-sim's analytical networks: times of its own runs.

use incast_model::astra::{Astra, Times};

fn of(change: impl FnOnce(&mut Astra)) -> Times {
    let mut model = Astra::default();
    change(&mut model);
    model.solve().unwrap()
}

fn ns(seconds: f64) -> f64 {
    (seconds * 1e12).round() / 1e3
}

/// 1 MiB, 50 GB/s and 500 ns a link, NPU 1 to NPU 4: its programs print these, and 704,116 for the all-gather of 16.
#[test]
fn times_are_those_of_its_programs() {
    let times = of(|_| ());
    assert_eq!((ns(times.ring_s), ns(times.switch_s), ns(times.full_mesh_s)), (21_031.0, 20_531.0, 20_031.0));
    assert_eq!((ns(times.aware_ring_s), ns(times.aware_switch_s)), (60_093.0, 40_062.0));
    assert_eq!(ns(times.aware_full_mesh_s), 20_031.0);
    assert_eq!(ns(times.aware_all_gather_s), 704_116.0);
}

/// Clockwise links have 1 + 2 + .. + n/2 chunks of each source, and the last arrives behind two latencies or more.
#[test]
fn an_all_gather_is_bounded_by_its_busiest_link() {
    for npus in [2.0, 3.0, 4.0, 7.0, 16.0, 64.0] {
        let farthest = (npus / 2.0f64).floor();
        let chunks = farthest * (farthest + 1.0) / 2.0;
        let end = ns(of(|model| model.npus = npus).aware_all_gather_s);
        assert!(end >= chunks * 19_531.0 + 500.0 && end <= chunks * 19_531.0 + farthest * 20_031.0, "{npus}: {end}");
    }
}

#[test]
fn absurd_numbers_are_refused_or_end() {
    for (npus, latency_s, size_bytes) in [(129.0, 1e-6, 1.0), (2.5, 1e-6, 1.0), (16.0, -1.0, 1.0), (16.0, 1e-6, 0.0)] {
        assert!(Astra { npus, latency_s, size_bytes, ..Astra::default() }.solve().is_err());
    }
    assert!(of(|model| model.size_bytes = 1e300).aware_all_gather_s.is_finite());
}
