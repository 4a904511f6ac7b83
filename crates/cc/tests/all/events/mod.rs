//! Events as a transport would report them, said in segments and microseconds.
#![allow(dead_code)] // each test file uses some of these

use incast_cc::{Ack, Congestion, Controller, Env, Phase, Rate, Round, TcpAck, Time, Timeout};

/// Payload of a full segment in these tests.
pub const MSS: u32 = 1000;

/// `n` segments in bytes.
pub fn segments(n: u64) -> u64 {
    n * u64::from(MSS)
}

/// Microseconds, to the picosecond.
pub fn us(t: f64) -> Time {
    Time::from_secs_f64(t * 1e-6)
}

/// A rack of hosts at 1 Gb/s and 10 us a link, packets of about 1500 B: a path of two links has
/// an idle RTT of 65 us.
pub fn env(mss: u32, initial_segments: f64) -> Env {
    Env {
        flow: 0,
        mss,
        initial_window: initial_segments * f64::from(mss),
        packet_time: us(12.0),
        shortest_rtt: us(65.0),
        shortest_hops: 2,
        hop_rtt: us(32.5),
        base_rtt: us(65.0),
        line_rate: Rate::gbps(1),
        line_packet_time: us(12.0),
    }
}

/// The parameters with a change.
pub fn changed<P: Copy>(params: P, change: impl FnOnce(&mut P)) -> P {
    let mut params = params;
    change(&mut params);
    params
}

/// `acked` bytes acknowledged without a gap, `sent` bytes sent.
pub fn round(acked: u64, sent: u64) -> Round {
    Round { acked, sent }
}

/// An ACK for `acked` bytes at `now` which saw `rtt` all of it in the fabric, over six links.
pub fn ack(now: Time, acked: u64, rtt: Time) -> Ack {
    Ack {
        now,
        acked,
        delivered: acked,
        rtt: Some(rtt),
        srtt: rtt,
        fabric_delay: Some(rtt),
        endpoint_delay: Some(Time::ZERO),
        hops: 6,
        in_flight: acked,
        round: round(acked, 2 * acked),
        tcp: TcpAck { sent_to: 2 * acked },
        ..Ack::default()
    }
}

/// A loss or the first ECN-Echo of a window, with so many bytes in flight.
pub fn congestion(now: Time, in_flight: u64) -> Congestion {
    Congestion { now, in_flight, window: in_flight as f64, rtt: us(100.0), srtt: us(100.0) }
}

/// The `consecutive`-th timeout in a row.
pub fn timeout(now: Time, in_flight: u64, consecutive: u32) -> Timeout {
    Timeout {
        now,
        in_flight,
        window: in_flight as f64,
        rtt: us(100.0),
        sent: 0,
        consecutive,
        emptying: 0,
        phase: Phase::Open,
    }
}

/// Equal to the digits in which a reference was printed: half a unit of its last place.
pub fn assert_printed(value: f64, reference: f64, last_place: f64) {
    assert!((value - reference).abs() <= last_place / 2.0 * (1.0 + 1e-9), "{value} is not {reference} as printed");
}

/// Equal up to the rounding of a few double-precision operations.
pub fn assert_close(value: f64, reference: f64) {
    assert!((value - reference).abs() <= 1e-12 * reference.abs().max(1.0), "{value} is not {reference}");
}

/// A sender whose window is always full.
pub struct Pipe<C> {
    pub cc: C,
    pub acked: u64,
    pub sent: u64,
    /// Time in hosts, which is part of round trips and not of the fabric's delays.
    pub hosts: Time,
}

impl<C: Controller> Pipe<C> {
    pub fn new(cc: C) -> Pipe<C> {
        Pipe { sent: cc.cwnd() as u64, cc, acked: 0, hosts: Time::ZERO }
    }

    /// The ACKs of all that is in flight, the `i`-th of a packet that took `delay(i)` microseconds; the window
    /// afterwards, in segments. The first ACK ends the window before.
    pub fn trip(&mut self, delay: impl Fn(u64) -> f64) -> f64 {
        let (begin, end) = (self.acked, self.sent);
        while self.acked < end {
            let delay = us(delay((self.acked - begin) / segments(1)));
            self.acked += segments(1);
            let event = Ack { fabric_delay: Some(delay), ..ack(us(100.0), segments(1), self.hosts + delay) };
            self.cc.on_ack(&Ack { round: round(self.acked, self.sent), ..event });
            self.sent = self.sent.max(self.acked + segments(self.cwnd() as u64));
        }
        self.cwnd()
    }

    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd() / f64::from(MSS)
    }

    pub fn state(&self, wanted: &str) -> f64 {
        let mut found = f64::NAN;
        self.cc.state(&mut |name, value| {
            if name == wanted {
                found = value;
            }
        });
        found
    }
}
