//! DX against vectors computed by hand.

use crate::events::{MSS, Pipe, ack, assert_close, changed, congestion, env, round, segments, timeout, us};
use incast_cc::dx::{Dx, KIND, Params};
use incast_cc::{Ack, Controller, Time};
use proptest::prelude::*;

/// With a threshold that leaves slow start out.
fn avoiding(params: Params, window: f64) -> Pipe<Dx> {
    pipe(changed(params, |p| p.window.initial_ssthresh = Some(window)), window)
}

/// Hosts take 50 us, which do not count.
fn pipe(params: Params, window: f64) -> Pipe<Dx> {
    Pipe { hosts: us(50.0), ..Pipe::new(Dx::new(&params, &env(MSS, window))) }
}

#[test]
fn without_queues_a_window_grows_by_a_packet_a_round_trip() {
    let mut pipe = avoiding(Params::default(), 10.0);
    let windows: Vec<f64> = (0..4).map(|_| pipe.trip(|_| 100.0)).collect();
    assert_eq!(windows, [10.0, 11.0, 12.0, 13.0]);
}

#[test]
fn one_packet_too_many_is_given_back_whatever_the_number_of_senders() {
    // N senders with W - 1 packets each fill the link; with W each packet waits R / (W - 1)
    for window in [2.0, 11.0, 51.0] {
        let mut pipe = avoiding(Params::default(), window);
        pipe.trip(|i| if i == 0 { 100.0 } else { 100.0 + 100.0 / (window - 1.0) });
        // the first packet has told the empty path's delay, and counts for nothing further
        pipe.trip(|_| 100.0 + 100.0 / (window - 1.0));
        assert!((pipe.cwnd() - (window - 1.0)).abs() < 1e-6, "{window}: {}", pipe.cwnd());
    }
}

#[test]
fn the_average_over_the_window_counts() {
    // W = 10: V = 100 * 10/9 us. Five of ten packets wait 20 us, Q = 10: 10 (1 - 0.09) = 9.1
    let mut pipe = avoiding(changed(Params::default(), |p| p.base_rtt = Some(us(100.0))), 10.0);
    pipe.trip(|i| if i % 2 == 1 { 120.0 } else { 100.0 });
    pipe.trip(|_| 100.0); // its first ACK ends the window of 9 of those ACKs and itself
    assert_close(pipe.cwnd(), 9.1);
    let mut state = vec![];
    pipe.cc.state(&mut |_, value| state.push(value));
    assert_close(state[0] * 1e6, 10.0);
    assert_close(state[1] * 1e6, 1000.0 / 9.0);
}

#[test]
fn what_counts_as_noise_does_not_shrink_the_window() {
    let noisy = changed(Params::default(), |p| (p.noise, p.base_rtt) = (us(10.0), Some(us(100.0))));
    let mut pipe = avoiding(noisy, 10.0);
    pipe.trip(|_| 110.0);
    assert_eq!(pipe.trip(|_| 110.0), 11.0);
    pipe.trip(|_| 111.0);
    assert!(pipe.trip(|_| 111.0) < 12.0);
}

#[test]
fn a_short_packet_does_not_make_full_ones_wait() {
    let mut pipe = avoiding(Params::default(), 10.0);
    let short = |acked, sent| {
        let event = Ack { fabric_delay: Some(us(80.0)), ..ack(us(100.0), 100, us(130.0)) };
        Ack { round: round(acked, sent), ..event }
    };
    pipe.trip(|_| 100.0);
    pipe.cc.on_ack(&short(pipe.acked, pipe.sent));
    assert_eq!(pipe.trip(|_| 100.0), 11.0, "80 us are those of 100 B");
    assert_eq!(pipe.state("queuing_s"), 0.0);
    // ten full packets wait 11 us each, and a short one, which still takes 80 us, does not
    pipe.cc.on_ack(&short(pipe.acked, pipe.sent));
    pipe.trip(|i| if i == 0 { 100.0 } else { 111.0 });
    pipe.trip(|_| 100.0);
    assert_close(pipe.state("queuing_s") * 1e6, 10.0);
    assert!(KIND.profile.ack_every_packet, "a delayed ACK's wait would count");
}

#[test]
fn the_window_is_never_below_a_packet() {
    let mut pipe = avoiding(changed(Params::default(), |p| p.base_rtt = Some(us(10.0))), 4.0);
    for _ in 0..5 {
        pipe.trip(|_| 1000.0);
    }
    assert_eq!(pipe.cwnd(), 1.0);
}

#[test]
fn slow_start_ends_with_the_first_packets_that_wait() {
    let mut pipe = pipe(Params::default(), 4.0);
    assert_eq!(pipe.trip(|_| 100.0), 8.0);
    assert_eq!(pipe.trip(|_| 100.0), 16.0);
    assert!(pipe.cc.in_slow_start());
    pipe.trip(|_| 120.0); // 16 in flight: the window before had none that waited but its last
    pipe.trip(|_| 120.0);
    assert!(!pipe.cc.in_slow_start());
}

#[test]
fn losses_halve_and_timeouts_begin_again() {
    let mut cc = Dx::new(&Params::default(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(100.0), segments(20)));
    assert_eq!(cc.cwnd(), 10_000.0);
    cc.on_undo();
    assert_eq!(cc.cwnd(), 20_000.0);
    cc.on_timeout(&timeout(us(200.0), segments(20), 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 10_000.0));
}

proptest! {
    /// A longer wait leaves a smaller window, and never less than one packet.
    #[test]
    fn a_longer_wait_leaves_a_smaller_window(window in 2u32..200, least in 0.1..100.0f64, more in 0.1..100.0f64) {
        let left = |wait: f64| {
            let params = changed(Params::default(), |p| p.base_rtt = Some(Time::us(100)));
            let mut pipe = avoiding(params, f64::from(window));
            pipe.trip(|_| 100.0 + wait);
            pipe.trip(|_| 100.0 + wait);
            pipe.cwnd()
        };
        let (one, other) = (left(least), left(least + more));
        prop_assert!(other <= one && one < f64::from(window) && other >= 1.0, "{one} {other}");
    }
}
