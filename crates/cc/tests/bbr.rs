//! BBR against hand-computed steps of its model, its modes and its targets: 1000 B packets, an RTT of
//! 100 us, and delivery rates in bytes over round trips.

mod events;

use events::{MSS, ack, assert_close, congestion, env, segments, timeout, us};
use incast_cc::bbr::{Bbr, Params};
use incast_cc::{Ack, Bytes, Config, Controller, Delivery, Env, Pacing, Phase};

fn state(cc: &Bbr, wanted: &str) -> f64 {
    let mut found = None;
    cc.state(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.expect("a declared state variable")
}

fn rate(cc: &Bbr) -> f64 {
    let Pacing::Rate(rate) = cc.pacing() else { panic!("BBR paces") };
    rate
}

/// A path that delivers so many packets in 100 us, one round trip after another.
struct Path {
    cc: Bbr,
    now: f64,
    total: u64,
}

impl Path {
    fn new(params: &Params) -> Path {
        Path { cc: Bbr::new(params, &env(MSS, 10.0)), now: 0.0, total: 0 }
    }

    /// A round trip that delivers `packets`, reported by one ACK, with `in_flight` before it.
    fn round(&mut self, packets: u64, in_flight: u64) {
        self.now += 100.0;
        let prior = self.total;
        self.total += segments(packets);
        self.cc.on_delivery(&Delivery {
            delivered: Bytes(segments(packets)),
            interval: us(100.0),
            prior,
            total: self.total,
            app_limited: false,
        });
        self.cc.on_ack(&Ack { in_flight: segments(in_flight), ..ack(us(self.now), segments(packets), us(100.0)) });
    }

    /// Until PROBE_BW: four round trips at 100 packets, and one with little in flight.
    fn probing() -> Path {
        let mut path = Path::new(&Params::default());
        (0..4).for_each(|_| path.round(100, 300));
        path.round(100, 150);
        assert_eq!(state(&path.cc, "mode"), 2.0);
        path
    }
}

#[test]
fn a_flow_starts_at_two_over_ln_two_times_its_initial_window_in_a_millisecond() {
    let cc = Bbr::new(&Params::default(), &env(MSS, 10.0));
    assert_close(rate(&cc), 2.885 * 80_000.0 / 1e-3);
    assert_eq!((cc.cwnd(), state(&cc, "bandwidth_bps")), (10_000.0, 0.0));
    // the first smoothed RTT takes the millisecond's place
    let mut cc = cc;
    cc.on_ack(&ack(us(100.0), 0, us(100.0)));
    assert_close(rate(&cc), 2.885 * 80_000.0 / 100e-6);
}

#[test]
fn startup_ends_when_three_rounds_brought_less_than_a_quarter_more() {
    let mut path = Path::new(&Params::default());
    for packets in [10, 20, 40, 80] {
        path.round(packets, 2 * packets);
        assert_eq!(state(&path.cc, "mode"), 0.0);
        assert_close(state(&path.cc, "bandwidth_bps"), packets as f64 * 80e6);
    }
    assert_close(rate(&path.cc), 2.885 * 0.99 * 6.4e9);
    // 99 is less than 1.25 80
    for mode in [0.0, 0.0, 1.0] {
        path.round(99, 400);
        assert_eq!(state(&path.cc, "mode"), mode);
    }
    assert_close(rate(&path.cc), 0.99 * 7.92e9 / 2.885);
    // drained when one bandwidth-delay product, 99 packets, is left in flight
    path.round(99, 199);
    assert_eq!(state(&path.cc, "mode"), 1.0);
    path.round(99, 198);
    assert_eq!(state(&path.cc, "mode"), 2.0);
}

#[test]
fn probe_bw_goes_through_eight_phases_of_a_round_trip_and_keeps_two_products_in_flight() {
    let mut path = Path::probing();
    let mut gains = Vec::new();
    for _ in 0..40 {
        path.now += 1.0;
        path.round(100, 200);
        gains.push(state(&path.cc, "pacing_gain"));
        assert_close(rate(&path.cc), gains[gains.len() - 1] * 0.99 * 8e9);
    }
    let first = gains.iter().position(|gain| *gain == 1.25).expect("a probe");
    assert_eq!(gains[first..first + 9], [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
    assert_close(path.cc.cwnd(), 200_000.0);
}

#[test]
fn the_largest_rate_of_ten_rounds_counts() {
    let mut path = Path::probing();
    path.round(120, 200);
    for _ in 0..10 {
        path.round(90, 200);
        assert_close(state(&path.cc, "bandwidth_bps"), 9.6e9);
    }
    path.round(90, 200);
    assert_close(state(&path.cc, "bandwidth_bps"), 7.2e9);
}

#[test]
fn a_rate_that_the_application_limited_counts_only_where_it_is_the_largest() {
    let mut path = Path::probing();
    for (packets, bandwidth) in [(10, 8e9), (110, 8.8e9)] {
        path.cc.on_delivery(&Delivery {
            delivered: Bytes(segments(packets)),
            interval: us(100.0),
            prior: path.total,
            total: path.total + segments(packets),
            app_limited: true,
        });
        assert_close(state(&path.cc, "bandwidth_bps"), bandwidth);
    }
}

#[test]
fn an_old_rtprop_is_measured_anew_with_four_packets_in_flight() {
    let mut path = Path::probing();
    let window = path.cc.cwnd();
    path.now += 10_000_100.0;
    path.round(100, 200);
    assert_eq!((state(&path.cc, "mode"), path.cc.cwnd()), (3.0, 4_000.0));
    // what is in flight falls to four packets, and stays there for 200 ms and a round trip
    path.round(4, 8);
    path.now += 199_000.0;
    path.round(4, 8);
    assert_eq!((state(&path.cc, "mode"), path.cc.cwnd()), (3.0, 4_000.0));
    path.now += 1_100.0;
    path.round(4, 8);
    assert_eq!(state(&path.cc, "mode"), 2.0);
    assert!(path.cc.cwnd() >= window);
}

#[test]
fn a_loss_bounds_the_window_by_the_flight_for_a_round_and_a_timeout_leaves_a_packet() {
    let mut path = Path::probing();
    (0..10).for_each(|_| path.round(100, 200));
    assert_close(path.cc.cwnd(), 200_000.0);
    path.cc.on_loss(&congestion(us(path.now), segments(150)));
    assert_eq!(path.cc.cwnd(), 150_000.0);
    path.round(100, 100);
    assert_close(path.cc.cwnd(), 200_000.0);
    path.cc.on_timeout(&timeout(us(path.now), segments(150), 1));
    assert_eq!(path.cc.cwnd(), 1_000.0);
    // what was lost is sent again under a window that grows by what arrives, from four packets up
    let acked = |path: &mut Path, phase| {
        let now = us(path.now);
        path.cc.on_ack(&Ack { phase, in_flight: segments(2), ..ack(now, segments(1), us(100.0)) });
        path.cc.cwnd()
    };
    assert_eq!([(); 3].map(|()| acked(&mut path, Phase::Loss)), [4_000.0, 5_000.0, 6_000.0]);
    // and with the last of it the window is what it was
    assert_close(acked(&mut path, Phase::Open), 200_000.0);
}

#[test]
fn a_long_probe_of_the_round_trip_leaves_the_bandwidth_alone() {
    let mut path = Path::probing();
    path.now += 10_000_100.0;
    path.round(100, 200);
    // 200 ms are 2000 round trips of four packets, far more than the ten whose largest rate counts
    while state(&path.cc, "mode") == 3.0 {
        path.round(4, 8);
        assert_close(state(&path.cc, "bandwidth_bps"), 8e9);
    }
    // the packets sent before its end tell no more than they
    let prior = path.total - segments(1);
    path.total += segments(4);
    path.cc.on_delivery(&Delivery {
        delivered: Bytes(segments(4)),
        interval: us(100.0),
        prior,
        total: path.total,
        app_limited: false,
    });
    assert_close(state(&path.cc, "bandwidth_bps"), 8e9);
    assert_close(path.cc.cwnd(), 200_000.0);
}

#[test]
fn flows_that_begin_to_probe_at_one_instant_are_in_different_phases() {
    let first = |flow: u32| {
        let mut path = Path { cc: Bbr::new(&Params::default(), &Env { flow, ..env(MSS, 10.0) }), now: 0.0, total: 0 };
        (0..4).for_each(|_| path.round(100, 300));
        path.round(100, 150);
        let mut rounds = 0;
        while state(&path.cc, "pacing_gain") != 1.25 {
            path.now += 1.0;
            path.round(100, 200);
            rounds += 1;
        }
        rounds
    };
    let found: std::collections::BTreeSet<u32> = (0..20).map(first).collect();
    assert!(found.len() >= 5, "{found:?}");
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("bbr").unwrap();
    assert!(config.profile().delivery);
    for (key, value, words) in [
        ("high_gain", "1", "expected a number above 1"),
        ("cwnd_gain", "0.9", "expected a number of at least 1"),
        ("probe_gain", "2", "expected a number above 1, below 2"),
        ("bw_rounds", "0", "expected a whole number of at least 1"),
        ("rtt_window", "0s", "expected a time above 0"),
        ("min_cwnd", "0", "expected a number of at least 1"),
        ("margin", "1", "expected a number of at least 0, below 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
}
