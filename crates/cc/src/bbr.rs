//! BBR version 1: paces at the largest delivery rate of the last rounds and keeps about two
//! bandwidth-delay products in flight (Cardwell et al., BBR: Congestion-Based Congestion Control, ACM
//! Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00; Linux, net/ipv4/tcp_bbr.c).
//!
//! ```text
//! bw = the largest delivery rate of bw_rounds round trips,  rtprop = the smallest RTT of rtt_window
//! pacing rate = pacing_gain bw (1 - margin),  cwnd towards cwnd_gain bw rtprop
//! STARTUP    both gains 2 / ln 2, until bw grew less than a quarter in three rounds
//! DRAIN      pacing at ln 2 / 2, until what is in flight is one bw rtprop
//! PROBE_BW   pacing gains 1.25, 0.75, 1, 1, 1, 1, 1, 1, one rtprop each; cwnd gain 2
//! PROBE_RTT  when rtprop is older than rtt_window: four packets for 200 ms and a round trip
//! ```
//!
//! Delivery rates are sampled by the transport as Linux does it ([`crate::Delivery`]).

use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Delivery, Env, Pacing, Phase, Profile, Time, Timeout};
use alloc::boxed::Box;

params! {
    /// Gain of STARTUP, of the pacing rate and of the window.
    high_gain: f64 = "2.885", "", "2 / ln 2: the draft, section 4.3.2; Linux 2.89", "a number above 1" => |x| *x > 1.0;
    /// Gain of the window in PROBE_BW.
    cwnd_gain: f64 = "2.0", "", "the draft, section 4.2.3", "a number of at least 1" => |x| *x >= 1.0;
    /// Pacing gain of the first phase of PROBE_BW; the second drains what it queued, at 2 less this.
    probe_gain: f64 = "1.25", "", "the draft, section 4.3.4", "a number above 1, below 2" => |x| *x > 1.0 && *x < 2.0;
    /// Round trips whose largest delivery rate counts.
    bw_rounds: u32 = "10", "round trips", "Linux; the draft: 6 to 10", "a whole number of at least 1" => |n| *n >= 1;
    /// Age at which the smallest RTT is measured again.
    rtt_window: Time = "10s", "", "the draft, section 4.1.2", "a time above 0" => |t| *t > Time::ZERO;
    /// Shortest stay in PROBE_RTT.
    probe_rtt: Time = "200ms", "", "the draft, section 4.3.5";
    /// Smallest window; also the window of PROBE_RTT.
    min_cwnd: f64 = "4.0", "packets", "the draft, section 4.2.3", "a number of at least 1" => |x| *x >= 1.0;
    /// Share of the bandwidth that pacing leaves free.
    margin: f64 = "0.01", "", "Linux", "a number of at least 0, below 1" => |x| *x >= 0.0 && *x < 1.0;
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "bbr",
    title: "BBR",
    source: "Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016; \
             draft-cardwell-iccrg-bbr-congestion-control-00; Linux, net/ipv4/tcp_bbr.c (version 1)",
    what: "Models the path by its largest delivery rate and its smallest round-trip time, paces at that rate and \
           bounds the bytes in flight by the product of both.",
    differences: &[
        "Linux' long-term rate of policed paths and its allowance for aggregated ACKs are left out.",
        "The phase in which PROBE_BW begins is drawn from the flow's time; it is never the phase with a gain below 1.",
        "A loss limits the window to the bytes in flight for a round trip; Linux also subtracts each lost packet.",
        "Real arithmetic; no allowance for segments that a NIC splits.",
    ],
    state: &[
        ("bandwidth_bps", "largest delivery rate of the latest rounds, bits per second; 0 before the first"),
        ("rtprop_s", "smallest RTT, seconds; not a number before the first"),
        ("pacing_gain", "gain of the pacing rate"),
        ("mode", "0 STARTUP, 1 DRAIN, 2 PROBE_BW, 3 PROBE_RTT"),
    ],
    profile: Profile { own_recovery: true, delivery: true, ..Profile::TCP },
    params: Params::PARAMS,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Largest value of the last rounds: the best three, each later than the one before.
#[derive(Clone, Debug, Default)]
struct MaxFilter([(u64, f64); 3]);

impl MaxFilter {
    fn max(&self) -> f64 {
        self.0[0].1
    }

    /// Adds `value` of `round`; values older than `window` rounds expire.
    fn update(&mut self, window: u64, round: u64, value: f64) {
        let best = &mut self.0;
        if value >= best[0].1 || round - best[2].0 > window {
            *best = [(round, value); 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = ((round, value), (round, value));
        } else if value >= best[2].1 {
            best[2] = (round, value);
        }
        let age = round - best[0].0;
        if age > window {
            *best = [best[1], best[2], (round, value)];
            if round - best[0].0 > window {
                *best = [best[1], best[2], (round, value)];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            (best[1], best[2]) = ((round, value), (round, value));
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = (round, value);
        }
    }
}

/// A BBR sender.
#[derive(Clone, Debug)]
pub struct Bbr(Box<State>);

/// Windows in bytes, rates in bytes a picosecond, times in picoseconds as real numbers.
#[derive(Clone, Debug)]
struct State {
    mode: Mode,
    cwnd: f64,
    rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    bandwidth: MaxFilter,
    rtprop: Option<f64>,
    rtprop_at: Time,
    rtprop_expired: bool,
    /// Number of rounds so far; the current one ends when this much has been delivered.
    round: u64,
    round_end: u64,
    round_begins: bool,
    full_bw: f64,
    full_rounds: u32,
    full: bool,
    phase: u32,
    phase_at: Time,
    /// PROBE_RTT: the time at which it may end, known once few enough packets are in flight; whether a round has
    /// passed since.
    probe_done: Option<Time>,
    probe_round: bool,
    /// Bytes delivered when PROBE_RTT last ended: packets sent before are no sample of the path.
    probed_to: u64,
    /// Window to return to.
    prior_cwnd: f64,
    /// True in the first round after a loss.
    conserving: bool,
    seen_rtt: bool,
    lost: bool,
    delivered: u64,
    flow: u32,
    mss: f64,
    initial: f64,
    p: Params,
}

/// RTT that the pacing rate begins with (Linux).
const FIRST_RTT: f64 = 1e9;

impl Bbr {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Bbr {
        Bbr(Box::new(State {
            mode: Mode::Startup,
            cwnd: env.initial_window,
            rate: params.high_gain * env.initial_window / FIRST_RTT,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            bandwidth: MaxFilter::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            rtprop_expired: false,
            round: 0,
            round_end: 0,
            round_begins: false,
            full_bw: 0.0,
            full_rounds: 0,
            full: false,
            phase: 0,
            phase_at: Time::ZERO,
            probe_done: None,
            probe_round: false,
            probed_to: 0,
            flow: env.flow,
            prior_cwnd: 0.0,
            conserving: false,
            seen_rtt: false,
            lost: false,
            delivered: 0,
            mss: f64::from(env.mss),
            initial: env.initial_window,
            p: *params,
        }))
    }
}

impl State {
    /// `gain` bandwidth-delay products; the initial window before there is an RTT.
    fn inflight(&self, gain: f64) -> f64 {
        self.rtprop.map_or(self.initial, |rtprop| gain * self.bandwidth.max() * rtprop)
    }

    /// A round ends when a packet is acknowledged that was sent after the round began.
    fn update_bandwidth(&mut self, sample: &Delivery) {
        self.delivered = sample.total;
        self.round_begins = false;
        let Some(rate) = sample.rate() else { return };
        self.round_begins = sample.prior >= self.round_end;
        if self.round_begins {
            self.round_end = sample.total;
            self.round += 1;
            self.conserving = false;
        }
        // four packets a round trip do not measure the path: samples of PROBE_RTT count as application-limited
        let limited = sample.app_limited || self.mode == Mode::ProbeRtt || sample.prior < self.probed_to;
        if !limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(u64::from(self.p.bw_rounds), self.round, rate);
        }
    }

    fn check_full(&mut self, app_limited: bool) {
        if self.full || !self.round_begins || app_limited {
            return;
        }
        if self.bandwidth.max() >= 1.25 * self.full_bw {
            (self.full_bw, self.full_rounds) = (self.bandwidth.max(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= 3;
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // any phase except the second
        let word = now.0 ^ now.0 >> 17 ^ u64::from(self.flow) << 40;
        let draw = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        self.phase = [0, 2, 3, 4, 5, 6, 7][(draw % 7) as usize];
        self.phase_at = now;
    }

    fn cycle(&mut self, now: Time, in_flight: f64) {
        let stayed = now.saturating_sub(self.phase_at).0 as f64 > self.rtprop.unwrap_or(0.0);
        let over = match self.phase {
            0 => stayed && (self.lost || in_flight >= self.inflight(self.p.probe_gain)),
            1 => stayed || in_flight <= self.inflight(1.0),
            _ => stayed,
        };
        if over {
            self.phase = (self.phase + 1) % 8;
            self.phase_at = now;
        }
    }

    fn update_rtprop(&mut self, ack: &Ack) {
        self.rtprop_expired = self.rtprop.is_some() && ack.now > self.rtprop_at.saturating_add(self.p.rtt_window);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.0.max(1) as f64;
            if self.rtprop_expired || self.rtprop.is_none_or(|least| rtt <= least) {
                (self.rtprop, self.rtprop_at) = (Some(rtt), ack.now);
            }
        }
    }

    fn check_probe_rtt(&mut self, now: Time, in_flight: f64) {
        if self.rtprop_expired && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.prior_cwnd = if self.conserving { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
            self.probe_done = None;
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        match self.probe_done {
            None if in_flight <= self.p.min_cwnd * self.mss => {
                self.probe_done = Some(now.saturating_add(self.p.probe_rtt));
                self.probe_round = false;
                self.round_end = self.delivered;
            }
            None => {}
            Some(done) => {
                self.probe_round |= self.round_begins;
                if self.probe_round && now > done {
                    self.rtprop_at = now;
                    self.probed_to = self.delivered;
                    self.cwnd = self.cwnd.max(self.prior_cwnd);
                    if self.full {
                        self.enter_probe_bw(now);
                    } else {
                        self.mode = Mode::Startup;
                    }
                }
            }
        }
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.p.high_gain, self.p.high_gain),
            Mode::Drain => (1.0 / self.p.high_gain, self.p.high_gain),
            Mode::ProbeRtt => (1.0, 1.0),
            Mode::ProbeBw => {
                let gain = match self.phase {
                    0 => self.p.probe_gain,
                    1 => 2.0 - self.p.probe_gain,
                    _ => 1.0,
                };
                (gain, self.p.cwnd_gain)
            }
        };
    }

    fn set_rate(&mut self, srtt: Time) {
        if !self.seen_rtt && srtt > Time::ZERO {
            self.seen_rtt = true;
            self.rate = self.p.high_gain * self.initial / srtt.0 as f64;
        }
        let rate = self.pacing_gain * self.bandwidth.max() * (1.0 - self.p.margin);
        if rate > 0.0 {
            self.rate = if self.full { rate } else { self.rate.max(rate) };
        }
    }

    /// `repaired`: no data assumed lost by a timeout is outstanding.
    fn set_cwnd(&mut self, newly: f64, in_flight: f64, repaired: bool) {
        let target = self.inflight(self.cwnd_gain);
        if newly > 0.0 {
            if self.conserving {
                self.cwnd = self.cwnd.max(in_flight);
            } else {
                if self.mode != Mode::ProbeRtt && repaired {
                    self.cwnd = self.cwnd.max(core::mem::take(&mut self.prior_cwnd).min(target.max(self.cwnd)));
                }
                if self.full {
                    self.cwnd = (self.cwnd + newly).min(target);
                } else if self.cwnd < target || (self.delivered as f64) < self.initial {
                    self.cwnd += newly;
                }
            }
            self.cwnd = self.cwnd.max(self.p.min_cwnd * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.p.min_cwnd * self.mss);
        }
    }
}

impl Controller for Bbr {
    fn on_delivery(&mut self, sample: &Delivery) {
        let s = &mut *self.0;
        s.update_bandwidth(sample);
        s.check_full(sample.app_limited);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let s = &mut *self.0;
        let in_flight = ack.in_flight.saturating_sub(ack.delivered) as f64;
        if s.mode == Mode::ProbeBw {
            s.cycle(ack.now, ack.in_flight as f64);
        }
        if s.mode == Mode::Startup && s.full {
            s.mode = Mode::Drain;
        }
        if s.mode == Mode::Drain && in_flight <= s.inflight(1.0) {
            s.enter_probe_bw(ack.now);
        }
        s.update_rtprop(ack);
        s.check_probe_rtt(ack.now, in_flight);
        s.set_gains();
        s.set_rate(ack.srtt);
        s.set_cwnd(ack.delivered as f64, in_flight + ack.delivered as f64, ack.phase != Phase::Loss);
        (s.round_begins, s.lost) = (false, false);
    }

    fn on_loss(&mut self, event: &Congestion) {
        let s = &mut *self.0;
        s.lost = true;
        if !s.conserving && s.mode != Mode::ProbeRtt {
            s.prior_cwnd = s.prior_cwnd.max(s.cwnd);
            s.conserving = true;
            s.round_end = s.delivered;
            s.cwnd = s.cwnd.min((event.in_flight as f64).max(s.p.min_cwnd * s.mss));
        }
    }

    /// BBR version 1 ignores ECN marks.
    fn on_ecn(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {
        let s = &mut *self.0;
        s.prior_cwnd = s.prior_cwnd.max(s.cwnd);
        s.full_bw = 0.0;
        s.conserving = false;
        s.cwnd = s.mss;
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    fn in_slow_start(&self) -> bool {
        self.0.mode == Mode::Startup
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Rate(self.0.rate * 8e12)
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let s = &*self.0;
        visit("bandwidth_bps", s.bandwidth.max() * 8e12);
        visit("rtprop_s", s.rtprop.map_or(f64::NAN, |ps| ps * 1e-12));
        visit("pacing_gain", s.pacing_gain);
        visit("mode", f64::from(s.mode as u8));
    }
}
