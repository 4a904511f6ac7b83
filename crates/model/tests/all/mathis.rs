//! TCP under random losses.

use incast_model::mathis::Mathis;

#[test]
fn the_constant_is_that_of_periodic_losses() {
    let of = |p, acked| Mathis { p, acked, ..Mathis::default() }.solve().unwrap();
    assert!((of(1e-4, 1.0).constant - 1.5f64.sqrt()).abs() < 1e-12);
    assert!((of(1e-4, 2.0).constant - 0.75f64.sqrt()).abs() < 1e-12);
    // 1460-byte segments, 100 us, one loss in a hundred: 1460 * 8 / 100e-6 * 12.247
    assert!((of(0.01, 1.0).throughput_bps / 1e9 - 1.43050).abs() < 1e-5);
    // a window from 8.16 to 16.33 packets, growing for 8.16 round trips
    let tcp = of(0.01, 1.0);
    assert!((tcp.peak_window_packets - 16.3299).abs() < 1e-4);
    assert!((tcp.round_trips - tcp.peak_window_packets / 2.0).abs() < 1e-9);
    assert!((tcp.mean_window_packets - 0.75 * tcp.peak_window_packets).abs() < 1e-9);
}

#[test]
fn windows_below_four_packets_are_refused() {
    let of = |p, acked| Mathis { p, acked, ..Mathis::default() }.solve().map(|t| t.peak_window_packets);
    assert!(of(1.0 / 6.0, 1.0).unwrap() >= 4.0);
    assert_eq!(
        of(0.2, 1.0).unwrap_err().to_string(),
        "p = 0.2: expected at most 0.1666: a window below four packets brings no three duplicate ACKs"
    );
    assert!(of(0.1, 2.0).unwrap_err().to_string().contains("at most 0.0833"));
    for p in [0.0, -0.1, 1.0, f64::NAN] {
        assert!(of(p, 1.0).unwrap_err().to_string().contains("expected a number above 0, below 1"));
    }
}
