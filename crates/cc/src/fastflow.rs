//! FastFlow, first published as SMaRTT: four cases of ECN mark and delay for every ACK; after a loss the window is
//! set to the bytes delivered (Bonato et al., FASTFLOW, arXiv 2404.01630).
//!
//! With `p` the bytes an ACK newly delivers, `rtt` its delay, `brtt` the idle round trip, `trtt` the
//! target `target_factor brtt`, and the window `w` in bytes:
//!
//! ```text
//! no mark, rtt <  trtt:  w += min(p, mi (trtt - rtt) / rtt  p mss / w)  +  fi p / w
//! no mark, rtt >= trtt:  w += fi p / w
//! mark,    rtt <= trtt:  w -= fd (w / BDP) p
//! mark,    rtt >  trtt:  w -= min(p, md (rtt - trtt) / rtt  p  +  fd (w / BDP) p)
//! ```
//!
//! Marks reduce the window only while their average is above `wtd_threshold` ("wait to decrease"). After a whole
//! window of unmarked ACKs without delay every ACK adds `k` packets instead ("fast increase"). A loss removes a
//! packet from the window and requests QuickAdapt: at the end of the current target round trip the window becomes the
//! bytes delivered in it. Marks of the packets then in flight are ignored, because they belong to the previous
//! window.
//!
//! With trimming switches a trimmed header reports a loss. Here losses found by the transport stand in for it, and
//! come about a round trip later.

use crate::registry::{Kind, ParamSet};
use crate::{Ack, Congestion, Controller, Ecn, Env, Profile, Time, Timeout};

choice! {
    /// The unit of `fi`.
    IncreaseOf {
        /// A packet.
        Packet = "packet",
        /// The bandwidth-delay product.
        Bdp = "bdp",
    }
}

params! {
    form of {
        /// Constants of the authors' simulator, whose comment says that those of the paper's submission make the
        /// window oscillate.
        "spcl" = "the SMaRTT sender of SPCL's fork of htsim (sim/uec.cpp)" {
            k = "1.0", fi = "0.02", fi_of = "bdp", fd = "0.5", md = "1.0", max_cwnd = "1.5"
        }
    }
    /// Idle round-trip time of the path (brtt); auto is that of the flow's own path.
    base_rtt: Option<Time> = "auto", "", "own choice: the authors' simulator knows the path's too";
    /// Target round-trip time (trtt) in idle round trips.
    target_factor: f64 = "1.5", "", "the paper's experiments, arXiv 2509.07907 section IV",
        "a number above 1" => |x| *x > 1.0;
    /// Multiplicative increase, for each unit of (trtt - rtt) / rtt.
    mi: f64 = "2.0", "", "the paper: brtt / (trtt - brtt)", "a number above 0" => |x| *x > 0.0;
    /// Multiplicative decrease, for each unit of (rtt - trtt) / rtt.
    md: f64 = "2.0", "", "the paper; its authors' simulator 1", "a number above 0" => |x| *x > 0.0;
    /// Fair increase per round trip, in units of fi_of.
    fi: f64 = "0.25", "", "the paper, as arXiv 2509.07907 states it; its authors' simulator 0.02 of the BDP",
        "a number above 0" => |x| *x > 0.0;
    /// Unit of fi: a "packet", or the bandwidth-delay product, "bdp".
    fi_of: IncreaseOf = "packet", "", "arXiv 2509.07907; the authors' simulator takes bdp";
    /// Fair decrease: the share of the marked bytes subtracted from a window of one bandwidth-delay product.
    fd: f64 = "0.8", "", "the paper; its authors' simulator 0.5",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Fast increase per ACK.
    k: f64 = "2.0", "packets", "the paper; its authors' simulator 1", "a number of at least 0" => |x| *x >= 0.0;
    /// Largest delay above brtt of an ACK that counts towards fast increase.
    idle_within: Time = "1us", "", "the authors' simulator";
    /// Gain of the moving average of marks.
    wtd_gain: f64 = "0.125", "", "the paper: 1/8", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Average above which marks reduce the window.
    wtd_threshold: f64 = "0.25", "", "the paper", "a number from 0 to 1" => |x| *x >= 0.0 && *x <= 1.0;
    /// QuickAdapt: new window as a share of the bytes delivered in the last target round trip.
    qa_scaling: f64 = "1.0", "", "the authors' simulator; 0.8 in an earlier version",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Largest window, in bandwidth-delay products; a flow starts with it.
    max_cwnd: f64 = "1.25", "bandwidth-delay products", "the paper; its authors' simulator 1.5",
        "a number of at least 1" => |x| *x >= 1.0;
    together {
        "base_rtt": "a time above 0" => |p| p.base_rtt != Some(Time::ZERO);
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "fastflow",
    title: "FastFlow",
    source: "Bonato et al., FASTFLOW: Flexible Adaptive Congestion Control for High-Performance Datacenters, \
             arXiv 2404.01630; the SMaRTT sender of its authors' simulator, SPCL's fork of htsim",
    what: "Classifies each ACK by ECN mark and delay into four cases; after losses sets its window to the bytes \
           delivered in the last round trip (QuickAdapt).",
    differences: &[
        "Losses replace trimmed packets: QuickAdapt begins when the transport finds a hole, about a round trip after a \
         trimmed header would have reported it, and each ACK that reveals losses reduces the window by one packet.",
        "Real arithmetic: the authors' simulator truncates the steps of the window and an RTT to 32 bits.",
        "A delay equal to the target counts towards the fair steps; in the authors' simulator it does nothing at all.",
        "The bandwidth-delay product is the sending link's rate times the idle round trip of the flow's own path, \
         headers included.",
        "The initial window of the transport is not used: a flow starts with its largest window, as in the source.",
    ],
    state: &[("avg_ecn", "moving average of marks, 0 to 1"), ("quick_adapts", "windows set by QuickAdapt so far")],
    profile: Profile { ecn: Ecn::Dctcp, own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A FastFlow sender. Windows in bytes, delays in picoseconds as real numbers.
#[derive(Clone, Debug)]
pub struct FastFlow {
    cwnd: f64,
    avg_ecn: f64,
    /// Consecutive unmarked bytes without delay, and the window that they have to reach.
    good: f64,
    good_enough: f64,
    increasing: bool,
    /// End of the target round trip in which delivered bytes are counted; zero before the first.
    qa_end: Time,
    achieved: f64,
    need_qa: bool,
    /// Bytes whose marks are still ignored.
    to_ignore: f64,
    quick_adapts: u32,
    mss: f64,
    bdp: f64,
    max: f64,
    brtt: f64,
    trtt: f64,
    fair: f64,
    p: Factors,
}

/// Parameters used directly in the equations.
#[derive(Clone, Debug)]
struct Factors {
    mi: f64,
    md: f64,
    fd: f64,
    k: f64,
    idle: f64,
    wtd_gain: f64,
    wtd_threshold: f64,
    qa_scaling: f64,
}

impl FastFlow {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> FastFlow {
        let brtt = params.base_rtt.unwrap_or(env.base_rtt);
        let mss = f64::from(env.mss);
        let bdp = (env.line_rate.as_f64() * brtt.0 as f64 / 8e12).max(mss);
        let max = params.max_cwnd * bdp;
        let brtt = brtt.0 as f64;
        FastFlow {
            cwnd: max,
            avg_ecn: 0.0,
            good: 0.0,
            good_enough: max,
            increasing: false,
            qa_end: Time::ZERO,
            achieved: 0.0,
            need_qa: false,
            to_ignore: 0.0,
            quick_adapts: 0,
            mss,
            bdp,
            max,
            brtt,
            trtt: params.target_factor * brtt,
            fair: params.fi
                * match params.fi_of {
                    IncreaseOf::Packet => mss,
                    IncreaseOf::Bdp => bdp,
                },
            p: Factors {
                mi: params.mi,
                md: params.md,
                fd: params.fd,
                k: params.k,
                idle: params.idle_within.0 as f64,
                wtd_gain: params.wtd_gain,
                wtd_threshold: params.wtd_threshold,
                qa_scaling: params.qa_scaling,
            },
        }
    }

    /// Counts towards fast increase; an interruption sets a new window to reach.
    fn count_good(&mut self, marked: bool, rtt: f64, p: f64) {
        if !marked && rtt <= self.brtt + self.p.idle {
            self.good += p;
        } else {
            self.good = 0.0;
            self.good_enough = self.cwnd;
            self.increasing = false;
        }
    }

    /// Ends a target round trip: if a loss requested it, the window becomes the bytes delivered in it. Marks of the
    /// next `in_flight` bytes are ignored.
    fn quick_adapt(&mut self, now: Time, in_flight: f64) {
        if now < self.qa_end {
            return;
        }
        let counted = core::mem::take(&mut self.achieved);
        let first = self.qa_end == Time::ZERO;
        self.qa_end = now.saturating_add(Time(self.trtt as u64));
        if self.need_qa && !first {
            self.need_qa = false;
            self.cwnd = self.p.qa_scaling * counted;
            self.to_ignore = in_flight;
            self.quick_adapts += 1;
        }
    }

    fn lose_packet(&mut self, now: Time, in_flight: u64) {
        if self.to_ignore > 0.0 {
            return;
        }
        self.cwnd -= self.mss;
        self.need_qa = true;
        self.quick_adapt(now, in_flight as f64);
        self.clamp();
    }

    /// Applies the four cases.
    fn adjust(&mut self, marked: bool, rtt: f64, p: f64) {
        let w = self.cwnd;
        let fair_decrease = self.p.fd * (w / self.bdp) * p;
        if !marked {
            if rtt < self.trtt {
                // infinite without any delay, and therefore p
                self.cwnd += (self.p.mi * (self.trtt - rtt) / rtt * p * self.mss / w).min(p);
            }
            self.cwnd += self.fair * p / w;
        } else if self.avg_ecn > self.p.wtd_threshold {
            self.cwnd -= if rtt <= self.trtt {
                fair_decrease
            } else {
                (self.p.md * (rtt - self.trtt) / rtt * p + fair_decrease).min(p)
            };
        }
    }

    fn clamp(&mut self) {
        self.cwnd = self.cwnd.min(self.max).max(self.mss);
    }
}

impl Controller for FastFlow {
    fn on_ack(&mut self, ack: &Ack) {
        let p = ack.delivered as f64;
        self.achieved += p;
        let Some(rtt) = ack.rtt.filter(|_| ack.delivered > 0) else { return };
        let rtt = rtt.0 as f64;
        self.avg_ecn += self.p.wtd_gain * (f64::from(u8::from(ack.ece)) - self.avg_ecn);
        self.count_good(ack.ece, rtt, p);
        let was_ignoring = self.to_ignore > 0.0;
        self.to_ignore = (self.to_ignore - p).max(0.0);
        if !was_ignoring {
            self.quick_adapt(ack.now, ack.in_flight.saturating_sub(ack.delivered) as f64);
        }
        let ignoring = was_ignoring || self.to_ignore > 0.0;
        if !(ignoring && ack.ece) {
            if self.increasing || self.good > self.good_enough {
                self.increasing = true;
                self.cwnd += if ignoring { 0.0 } else { self.p.k * self.mss };
            } else {
                self.adjust(ack.ece, rtt, p);
            }
        }
        self.clamp();
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.lose_packet(event.now, event.in_flight);
    }

    /// `on_ack` has already handled the mark of every ACK.
    fn on_ecn(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, event: &Timeout) {
        self.lose_packet(event.now, event.in_flight);
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("avg_ecn", self.avg_ecn);
        visit("quick_adapts", f64::from(self.quick_adapts));
    }
}
