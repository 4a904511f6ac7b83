//! DX against vectors computed by hand.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, round, segments, timeout, us};
use incast_cc::dx::{Dx, Params};
use incast_cc::{Ack, Controller, Time};
use proptest::prelude::*;

/// A sender whose window is always full.
struct Pipe {
    cc: Dx,
    acked: u64,
    sent: u64,
}

impl Pipe {
    /// With a threshold that leaves slow start out.
    fn avoiding(params: Params, window: f64) -> Pipe {
        Pipe::new(changed(params, |p| p.window.initial_ssthresh = Some(window)), window)
    }

    fn new(params: Params, window: f64) -> Pipe {
        Pipe { cc: Dx::new(&params, &env(MSS, window)), acked: 0, sent: (window * f64::from(MSS)) as u64 }
    }

    /// The ACKs of all that is in flight, the `i`-th of a packet that took `rtt(i)` microseconds; the window afterwards,
    /// in segments. The first ACK ends the window before.
    fn trip(&mut self, rtt: impl Fn(u64) -> f64) -> f64 {
        let (begin, end) = (self.acked, self.sent);
        while self.acked < end {
            let delay = us(rtt((self.acked - begin) / segments(1)));
            self.acked += segments(1);
            // hosts take 50 us, which do not count
            let rtt = us(50.0) + delay;
            let event = Ack { fabric_delay: Some(delay), ..ack(us(100.0), segments(1), rtt) };
            self.cc.on_ack(&Ack { round: round(self.acked, self.sent), ..event });
            self.sent = self.sent.max(self.acked + segments(self.cwnd() as u64));
        }
        self.cwnd()
    }

    fn cwnd(&self) -> f64 {
        self.cc.cwnd() / f64::from(MSS)
    }
}

#[test]
fn without_queues_a_window_grows_by_a_packet_a_round_trip() {
    let mut pipe = Pipe::avoiding(Params::default(), 10.0);
    let windows: Vec<f64> = (0..4).map(|_| pipe.trip(|_| 100.0)).collect();
    assert_eq!(windows, [10.0, 11.0, 12.0, 13.0]);
}

#[test]
fn one_packet_too_many_is_given_back_whatever_the_number_of_senders() {
    // N senders with W - 1 packets each fill the link; with W each packet waits R / (W - 1)
    for window in [2.0, 11.0, 51.0] {
        let mut pipe = Pipe::avoiding(Params::default(), window);
        pipe.trip(|i| if i == 0 { 100.0 } else { 100.0 + 100.0 / (window - 1.0) });
        // the first packet has told the empty path's delay, and counts for nothing further
        pipe.trip(|_| 100.0 + 100.0 / (window - 1.0));
        assert!((pipe.cwnd() - (window - 1.0)).abs() < 1e-6, "{window}: {}", pipe.cwnd());
    }
}

#[test]
fn the_average_over_the_window_counts() {
    // W = 10: V = 100 * 10/9 us. Five of ten packets wait 20 us, Q = 10: 10 (1 - 0.09) = 9.1
    let mut pipe = Pipe::avoiding(changed(Params::default(), |p| p.base_rtt = Some(us(100.0))), 10.0);
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
    let mut pipe = Pipe::avoiding(noisy, 10.0);
    pipe.trip(|_| 110.0);
    assert_eq!(pipe.trip(|_| 110.0), 11.0);
    pipe.trip(|_| 111.0);
    assert!(pipe.trip(|_| 111.0) < 12.0);
}

#[test]
fn the_window_is_never_below_a_packet() {
    let mut pipe = Pipe::avoiding(changed(Params::default(), |p| p.base_rtt = Some(us(10.0))), 4.0);
    for _ in 0..5 {
        pipe.trip(|_| 1000.0);
    }
    assert_eq!(pipe.cwnd(), 1.0);
}

#[test]
fn slow_start_ends_with_the_first_packets_that_wait() {
    let mut pipe = Pipe::new(Params::default(), 4.0);
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
    /// What waits is given back in proportion: the more, the smaller the window, and never below one packet.
    #[test]
    fn a_longer_wait_leaves_a_smaller_window(window in 2u32..200, least in 0.1..100.0f64, more in 0.1..100.0f64) {
        let left = |wait: f64| {
            let params = changed(Params::default(), |p| p.base_rtt = Some(Time::us(100)));
            let mut pipe = Pipe::avoiding(params, f64::from(window));
            pipe.trip(|_| 100.0 + wait);
            pipe.trip(|_| 100.0 + wait);
            pipe.cwnd()
        };
        let (one, other) = (left(least), left(least + more));
        prop_assert!(other <= one && one < f64::from(window) && other >= 1.0, "{one} {other}");
    }
}
