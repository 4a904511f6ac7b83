//! The congestion window when it does not limit sending, and after idle times (RFC 7661).

use super::*;

#[test]
fn the_first_flight_is_the_initial_window() {
    for segments in [1, 2, 10, 15] {
        let transport = changed!(plain(), windows.initial_window = segments as f64);
        let outcome = run(&wire(Rate::gbps(1), Time::ms(1), transport, "newreno", bulk(0, 1, Some(200_000))));
        let first = data_sent(&outcome, "h0").iter().filter(|e| e.time_ps == 0).count();
        assert_eq!(first, segments);
    }
}

#[test]
fn slow_start_doubles_a_round_trip() {
    // 4 segments, 8, 16, 32, in bursts of a round trip of 40 ms
    let transport = changed!(plain(), windows.initial_window = 4.0);
    let outcome = run(&wire(Rate::gbps(10), Time::ms(10), transport, "newreno", bulk(0, 1, Some(60_000))));
    let mut bursts = [0; 4];
    for e in data_sent(&outcome, "h0") {
        bursts[(e.time_ps / (40 * MS)) as usize] += 1;
    }
    assert_eq!(bursts, [4, 8, 16, 32]);
}

#[test]
fn a_window_grows_only_while_it_limits_sending() {
    // 1000 B a millisecond against a round trip of 20.1 ms: some 21 segments in flight
    let slow =
        App::OnOff(OnOff { rate: Rate::mbps(8), on: Time::s(1), off: Time::ZERO, write: 1000, begin: Begin::Open });
    for (limited, most) in [(true, 44.0), (false, f64::INFINITY)] {
        let transport = changed!(plain(), windows.cwnd_limited = limited, windows.initial_window = 40.0);
        let mut spec =
            wire(Rate::gbps(1), Time::ms(5), transport, "newreno", FlowSpec { app: slow, ..bulk(0, 1, None) });
        run_for(&mut spec, Time::s(2));
        spec.observe.flows = vec![0];
        spec.observe.trace.clear();
        let outcome = run(&spec);
        let cwnd = series(&outcome, "flow 0", "cwnd_bytes").last().unwrap().1 / 1000.0;
        // in slow start a window of twice the data in flight is enough (Linux)
        assert!(cwnd <= most, "{cwnd}");
        if !limited {
            assert!(cwnd > 1000.0, "{cwnd}: without the test the window follows the ACKs");
        }
    }
}

#[test]
fn after_an_idle_timeout_the_window_is_the_initial_one() {
    for (restart, kind) in [(true, "newreno"), (true, "dctcp"), (false, "newreno")] {
        let transport = changed!(plain(), windows.idle_restart = restart, windows.initial_window = 10.0);
        // 124 kB in a burst, a pause of 2 s, and again
        let (on, off) = (Time::us(199), Time::s(2));
        let app = App::OnOff(OnOff { rate: Rate::gbps(5), on, off, write: 1000, begin: Begin::Open });
        let flow = FlowSpec { app, ..bulk(0, 1, None) };
        let mut bench = bench(transport, kind, flow);
        bench.open();
        bench.advance(40 * MS);
        // the first burst is acknowledged segment by segment, completely
        let mut acked = 0;
        while acked < bench.record().written {
            acked += 1000;
            bench.ack(acked, bench.now() - 20 * MS, 0, &[]);
        }
        let grown = bench.state("cwnd_bytes");
        assert!(grown > 40_000.0, "{grown}");
        let sent = bench.advance(2_100 * MS);
        let expected = if restart { 10 } else { (grown as usize / 1000).min(124) };
        assert_eq!(sent.len(), expected, "{kind}, restart {restart}");
    }
}

#[test]
fn a_pause_shorter_than_the_timeout_changes_nothing() {
    let transport = changed!(plain(), windows.idle_restart = true, windows.initial_window = 4.0);
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    bench.open();
    bench.advance(20 * MS);
    for n in 1..=20 {
        bench.ack(n * 1000, 0, 0, &[]);
    }
    assert_eq!(bench.state("cwnd_bytes"), 24_000.0);
}

#[test]
fn in_slow_start_a_window_may_be_twice_what_was_outstanding() {
    // the send buffer holds six segments of a window of ten
    for (cwnd_limited, window) in [(true, 12.0), (false, 50.0)] {
        let transport = changed!(initial_window(10.0), windows.cwnd_limited = cwnd_limited, windows.send_buffer = 6000);
        let mut bench = sender_at(transport, 20 * MS);
        (1..=40).for_each(|n| drop(dup(&mut bench, n)));
        assert_eq!(kb(&bench, "cwnd_bytes"), window);
    }
}

#[test]
fn in_avoidance_a_window_that_does_not_limit_stays() {
    for (send_buffer, grows) in [(6000, false), (1 << 30, true)] {
        let transport = changed!(initial_window(10.0), windows.cwnd_limited = true, windows.send_buffer = send_buffer);
        let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None));
        spec.controllers = vec![controller("newreno", &[("initial_ssthresh", "10")])];
        let mut bench = Bench::new(spec);
        bench.open();
        bench.advance(20 * MS);
        (1..=10).for_each(|n| drop(dup(&mut bench, n)));
        assert_eq!(kb(&bench, "cwnd_bytes") > 10.5, grows, "{}", kb(&bench, "cwnd_bytes"));
    }
}
