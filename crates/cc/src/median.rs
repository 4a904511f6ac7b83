//! Median feedback: decisions by the median of the last signals in place of the latest one (Gerstein, Silberstein and
//! Keslassy, arXiv 2025, section III).
//!
//! ```text
//! H      = max(min(alpha W, K), 3), rounded down; W the window in packets
//! signal = median of the last H signals, or of as many as there are
//! ```
//!
//! If the packets of a flow take many paths, a minority of congested ones then changes nothing. Signals are numbers:
//! delays ([`crate::mswift`]), waits of a hop ([`crate::poseidon`]), or marks of 0 and 1 ([`crate::dctcp`],
//! [`crate::dcqcn`]), whose median is the majority's.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

choice! {
    /// The signal that decides.
    Feedback {
        /// The latest one.
        Latest = "latest",
        /// The median of the last ones.
        Median = "median",
    }
}

choice! {
    /// Number of signals in the median.
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
    /// The median of an even number of signals.
    Even {
        /// The lower of the two in the middle.
        Lower = "lower",
        /// Mean of the two.
        Mean = "mean",
    }
}

/// Largest number of signals in a median.
const LONGEST: f64 = 100_000.0;

params! {
    /// The signal that decides: the "latest", or the "median" of the last ones.
    feedback: Feedback = "latest", "", "the median: Gerstein et al., arXiv 2025, section III";
    /// Number of signals in the median: a "constant" number, history_size; history_alpha times the "window" in
    /// packets, from history_min to 100000; or that "bounded" by history_max. Timeouts and idle times keep the
    /// signals.
    history: History = "bounded", "", "Gerstein et al. section III";
    /// Number of signals of history = "constant"; one is the latest alone.
    history_size: u32 = "10", "signals", "Gerstein et al. section IV, figure 6", "a whole number from 1 to 100000" =>
        |n| *n >= 1 && *n <= 100_000;
    /// Number of signals per packet of the window.
    history_alpha: f64 = "0.5", "", "Gerstein et al. section IV, figures 9 and 17", "a number above 0" => |x| *x > 0.0;
    /// Smallest number of signals of history = "window" or "bounded".
    history_min: u32 = "3", "signals", "Gerstein et al. section III; version 2 of the paper has 1",
        "a whole number from 1 to 100000" => |n| *n >= 1 && *n <= 100_000;
    /// Largest number of signals of history = "bounded".
    history_max: u32 = "10", "signals", "Gerstein et al. section IV, figure 18", "a whole number from 1 to 100000" =>
        |n| *n >= 1 && *n <= 100_000;
    /// The median of an even number of signals: the "lower" of the two in the middle, or their "mean".
    even: Even = "lower", "", "own choice; not published";
    together { "history_min": "at most history_max" => |p| p.history_min <= p.history_max; }
}

impl Params {
    /// The median, if `feedback` asks for it.
    pub(crate) fn filter(&self) -> Option<Box<Median>> {
        (self.feedback == Feedback::Median).then(|| Box::new(Median::new(self)))
    }
}

/// The last signals, in order of arrival and of size, and their median.
#[derive(Clone, Debug)]
pub struct Median {
    arrived: VecDeque<f64>,
    sorted: Vec<f64>,
    value: f64,
    history: History,
    size: f64,
    alpha: f64,
    min: f64,
    max: f64,
    even: Even,
}

impl Median {
    /// An empty median, which is not a number.
    pub fn new(p: &Params) -> Median {
        Median {
            arrived: VecDeque::new(),
            sorted: Vec::new(),
            value: f64::NAN,
            history: p.history,
            size: f64::from(p.history_size),
            alpha: p.history_alpha,
            min: f64::from(p.history_min),
            max: f64::from(p.history_max),
            even: p.even,
        }
    }

    /// Adds a signal, which must be a number, with a window of `w` packets, and returns the median.
    pub fn hear(&mut self, signal: f64, w: f64) -> f64 {
        self.arrived.push_back(signal);
        self.sorted.insert(self.sorted.partition_point(|s| *s < signal), signal);
        let most = self.length(w);
        while self.arrived.len() > most
            && let Some(oldest) = self.arrived.pop_front()
        {
            self.sorted.remove(self.sorted.partition_point(|s| *s < oldest));
        }
        self.value = self.middle();
        self.value
    }

    /// Adds a mark; true if most signals are marks.
    pub fn hear_mark(&mut self, marked: bool, w: f64) -> bool {
        self.hear(f64::from(u8::from(marked)), w);
        self.is_marked()
    }

    /// True if most signals so far are marks.
    pub fn is_marked(&self) -> bool {
        self.value > 0.5
    }

    /// The latest median; not a number before the first signal.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Section III: number of signals with a window of `w` packets.
    fn length(&self, w: f64) -> usize {
        let length = match self.history {
            History::Constant => self.size,
            History::Window => (self.alpha * w).min(LONGEST).max(self.min),
            History::Bounded => (self.alpha * w).min(self.max).max(self.min),
        };
        length as usize
    }

    fn middle(&self) -> f64 {
        let n = self.sorted.len();
        let lower = self.sorted[(n - 1) / 2];
        match self.even {
            Even::Lower => lower,
            // of an odd number both middle signals are the same
            Even::Mean => (lower + self.sorted[n / 2]) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_ends_at_100_000_signals() {
        for (history, length) in [(History::Window, 100_000), (History::Bounded, 10)] {
            let endless = Params { history, history_alpha: 1e9, ..Params::default() };
            assert_eq!(Median::new(&endless).length(30.0), length);
        }
    }
}
