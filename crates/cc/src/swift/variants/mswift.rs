//! MSwift: LSwift by the median of recent delays, for traffic on many paths at once (Gerstein, Silberstein and
//! Keslassy, arXiv 2025, section III).
//!
//! ```text
//! H     = max(min(alpha W, K), 3), rounded down; W the fabric window in packets
//! delay = median of the last H fabric delays, or of as many as there are
//! ```
//!
//! That delay takes the place of the latest one in Swift's rule ([`crate::swift`]), for the comparison as for
//! the size of a decrease. Losses and late packets are LSwift's ([`crate::lswift`]).

use crate::registry::{Kind, ParamSet};
use crate::swift::emulation::Arithmetic;
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::target_delay::{self, TargetDelay};
use crate::swift::variants::patience;
use crate::swift::window::{self, Verdict};
use crate::swift::{STATE, endpoint};
use crate::units::ps;
use crate::{Ack, Env, Late, Profile, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

choice! {
    /// How many delays the median is of.
    History {
        /// `history_size`.
        Constant = "constant",
        /// `history_alpha` windows, at least `history_min`.
        Window = "window",
        /// The same, at most `history_max`.
        Bounded = "bounded",
    }
}

choice! {
    /// The median of an even number of delays.
    Even {
        /// The lower of the two in the middle.
        Lower = "lower",
        /// Their mean.
        Mean = "mean",
    }
}

params! {
    ..target_delay: target_delay::Params;
    /// How many delays the median is of: a "constant" number, history_size; history_alpha times the "window" in
    /// packets, at least history_min; or that "bounded" by history_max.
    history: History = "bounded", "", "section III";
    /// Delays of history = "constant"; one makes it LSwift.
    history_size: u32 = "10", "delays", "section IV, figure 6", "a whole number from 1 to 100000" =>
        |n| *n >= 1 && *n <= 100_000;
    /// Delays for each packet of the window.
    history_alpha: f64 = "0.5", "", "section IV, figures 9 and 17", "a number above 0" => |x| *x > 0.0;
    /// Fewest delays where the window decides.
    history_min: u32 = "3", "delays", "section III; version 2 of the paper has 1", "a whole number of at least 1" =>
        |n| *n >= 1;
    /// Most delays of history = "bounded".
    history_max: u32 = "10", "delays", "section IV, figure 18", "a whole number of at least 1" => |n| *n >= 1;
    /// The median of an even number of delays: the "lower" of the two in the middle, or their "mean".
    even: Even = "lower", "", "own choice; not published";
    then ..patience: patience::Params;
    then ..endpoint: endpoint::Params;
    then ..window: window::Params;
    together { "history_min": "at most history_max" => |p| p.history_min <= p.history_max; }
}

/// Its description, as `describe` prints it.
pub static KIND: Kind = Kind {
    name: "mswift",
    title: "MSwift",
    source: "Gerstein, Silberstein, Keslassy, Making congestion control robust to per-packet load balancing in \
             datacenters, section III",
    what: "LSwift that decides by the median of the last delays: what a minority of the paths says does not move the \
           window.",
    differences: &[
        "The median of an even number is not published (even); the history is rounded down to whole delays.",
        "The window in the history's length is the fabric window in packets.",
        "With target = \"min-rtt\" the smallest delay is that of the medians.",
        "Everything else as for lswift and swift.",
    ],
    state: &[
        ("target_delay_s", "target delay that the median was held against, seconds"),
        STATE[1],
        STATE[2],
        STATE[3],
        STATE[4],
        ("median_delay_s", "median of the recent fabric delays, seconds"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, late: Some(Late::LSWIFT), ..Profile::TCP },
    params: Params::PARAMS,
};

/// The last delays, in order of arrival and of size.
#[derive(Clone, Debug)]
struct Recent {
    arrived: VecDeque<Time>,
    sorted: Vec<Time>,
}

impl Recent {
    /// Takes `delay` in and leaves the newest `most` delays.
    fn push(&mut self, delay: Time, most: usize) {
        self.arrived.push_back(delay);
        self.sorted.insert(self.sorted.partition_point(|d| *d < delay), delay);
        while self.arrived.len() > most
            && let Some(oldest) = self.arrived.pop_front()
        {
            self.sorted.remove(self.sorted.partition_point(|d| *d < oldest));
        }
    }

    /// Median, ps; not a number of none.
    fn median(&self, even: Even) -> f64 {
        let n = self.sorted.len();
        if n == 0 {
            return f64::NAN;
        }
        let lower = ps(self.sorted[(n - 1) / 2]);
        match even {
            Even::Lower => lower,
            // of an odd number the two are one
            Even::Mean => (lower + ps(self.sorted[n / 2])) / 2.0,
        }
    }
}

/// The median of recent delays against the target.
#[derive(Clone, Debug)]
pub struct Median {
    target: TargetDelay,
    memory: Box<Memory>,
}

#[derive(Clone, Debug)]
struct Memory {
    recent: Recent,
    median: f64,
    history: History,
    size: f64,
    alpha: f64,
    min: f64,
    max: f64,
    even: Even,
}

impl Memory {
    /// Section III: so many delays with a window of `w` packets.
    fn length(&self, w: f64) -> usize {
        let length = match self.history {
            History::Constant => self.size,
            History::Window => (self.alpha * w).max(self.min),
            History::Bounded => (self.alpha * w).min(self.max).max(self.min),
        };
        length as usize
    }
}

impl DelaySignal for Median {
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let memory = &mut *self.memory;
        let most = memory.length(fcwnd);
        memory.recent.push(Time(delay as u64), most);
        memory.median = memory.recent.median(memory.even);
        let target = self.target.at(ack, memory.median, fcwnd);
        Judgement { verdict: Verdict::of(memory.median, target, beta), target }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("median_delay_s", self.memory.median * 1e-12);
    }
}

/// An MSwift sender.
pub type MSwift = Family<Median>;

impl MSwift {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> MSwift {
        let memory = Memory {
            recent: Recent { arrived: VecDeque::new(), sorted: Vec::new() },
            median: f64::NAN,
            history: p.history,
            size: f64::from(p.history_size),
            alpha: p.history_alpha,
            min: f64::from(p.history_min),
            max: f64::from(p.history_max),
            even: p.even,
        };
        let rule = Median {
            target: p.target_delay.of_path(p.window.emulation.arithmetic == Arithmetic::Integer, env),
            memory: Box::new(memory),
        };
        Family::start(rule, &p.window, Some(&p.endpoint), env)
    }
}
