//! DCTCP's queue: values worked out from the paper's formulas for 10 Gb/s, 100 us, 1500-byte packets and K = 40.

use incast_model::dctcp_queue::{DctcpQueue, Oscillation};

fn of(flows: f64) -> Oscillation {
    DctcpQueue { flows, ..DctcpQueue::default() }.solve().unwrap()
}

fn assert_printed(value: f64, reference: f64, last_place: f64) {
    assert!((value - reference).abs() <= last_place / 2.0 * (1.0 + 1e-9), "{value} is not {reference} as printed");
}

#[test]
fn figure_12_by_the_approximation() {
    let printed = [
        (1.0, 123.33, 41.0, 7.85, 33.15, 7.85),
        (2.0, 61.67, 42.0, 11.11, 30.89, 5.55),
        (10.0, 12.33, 50.0, 24.83, 25.17, 2.48),
        (40.0, 3.08, 80.0, 49.67, 30.33, 1.24),
    ];
    for (flows, w, q_max, amplitude, q_min, period) in printed {
        let found = of(flows);
        assert_printed(found.critical_window_packets, w, 0.01);
        assert_eq!(found.queue_max_packets, q_max);
        assert_printed(found.approximate_amplitude_packets, amplitude, 0.01);
        assert_printed(found.approximate_queue_min_packets, q_min, 0.01);
        assert_printed(found.approximate_period_round_trips, period, 0.01);
    }
}

#[test]
fn figure_12_by_the_equation_of_alpha() {
    for (flows, alpha) in [(1.0, 0.1287), (2.0, 0.1821), (10.0, 0.4006), (40.0, 0.7245)] {
        let found = of(flows);
        assert_printed(found.alpha, alpha, 1e-4);
        let (w, a) = (found.critical_window_packets, found.alpha);
        assert!((a * a * (1.0 - a / 4.0) - (2.0 * w + 1.0) / (w + 1.0).powi(2)).abs() < 1e-14);
        assert!((found.amplitude_packets - flows * found.period_round_trips).abs() < 1e-9);
        assert!((found.period_s - found.period_round_trips * 100e-6).abs() < 1e-15);
    }
    assert_printed(of(40.0).amplitude_packets, 59.17, 0.01);
    assert_printed(of(40.0).queue_min_packets, 20.83, 0.01);
}

#[test]
fn bounds_on_threshold_and_gain() {
    assert_printed(of(1.0).least_threshold_packets, 11.90, 0.01);
    let gigabit = DctcpQueue { rate_bps: 1e9, flows: 1.0, threshold_packets: 20.0, ..DctcpQueue::default() };
    assert_printed(gigabit.solve().unwrap().least_threshold_packets, 1.19, 0.01);
    assert_printed(gigabit.solve().unwrap().most_gain, 0.184, 1e-3);
    let ten = DctcpQueue { flows: 1.0, threshold_packets: 65.0, ..DctcpQueue::default() };
    assert_printed(ten.solve().unwrap().most_gain, 0.0805, 1e-4);
    // at that threshold the worst number of flows, (C RTT + K)/8, empties the queue and no other does
    let k = 83.333_333_333_333_33 / 7.0;
    let at = |flows: f64| DctcpQueue { flows, threshold_packets: k, ..DctcpQueue::default() }.solve().unwrap();
    let worst = (83.333_333_333_333_33 + k) / 8.0;
    assert!(at(worst).approximate_queue_min_packets.abs() < 1e-9);
    assert!(at(worst * 1.2).approximate_queue_min_packets > 0.0 && at(worst / 1.2).approximate_queue_min_packets > 0.0);
}

#[test]
fn windows_below_a_packet_are_refused() {
    assert_eq!(of(123.0).queue_max_packets, 163.0);
    assert!(of(123.3).alpha <= 1.0);
    let error = DctcpQueue { flows: 124.0, ..DctcpQueue::default() }.solve().unwrap_err();
    assert_eq!(error.to_string(), "flows = 124: expected at most 123: a window of at least one packet each");
    let error = DctcpQueue { flows: 2.0, rate_bps: -1e9, ..DctcpQueue::default() }.solve().unwrap_err();
    assert_eq!(error.to_string(), "rate = -1Gbps: expected a rate above 0");
}
