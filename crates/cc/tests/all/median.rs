//! Median of recent signals against hand-computed histories; its use is tested with each controller.

use incast_cc::median::{Even, Feedback, History, Median, Params};
use incast_cc::registry::ParamSet;
use proptest::prelude::*;

/// The median of the last of these signals, at a window of `w`.
fn median_of(params: &Params, w: f64, signals: &[f64]) -> f64 {
    let mut median = Median::new(params);
    signals.iter().fold(f64::NAN, |_, signal| median.hear(*signal, w))
}

/// Number of the newest signals that decide at a window of `w`: after many signals of 10, the number of signals of 20
/// until 20 is the median.
fn deciding(params: &Params, w: f64) -> usize {
    (1..2000)
        .find(|n| {
            let signals = [vec![10.0; 2000], vec![20.0; *n]].concat();
            median_of(params, w, &signals) == 20.0
        })
        .expect("a median that moves")
}

#[test]
fn vector_the_history_follows_the_window_within_bounds() {
    // W = 8: H = 4; W = 30: 10; W = 2: 3. Of H signals with the lower median H / 2 + 1 decide.
    for (w, h) in [(8.0, 4), (30.0, 10), (2.0, 3), (0.01, 3), (9.9, 4), (19.0, 9), (1000.0, 10)] {
        assert_eq!(deciding(&Params::default(), w), h / 2 + 1, "a window of {w} has {h} signals");
    }
    let unbounded = Params { history: History::Window, ..Params::default() };
    for (w, h) in [(8.0, 4), (30.0, 15), (2.0, 3), (300.0, 150)] {
        assert_eq!(deciding(&unbounded, w), h / 2 + 1);
    }
    for h in [1, 5, 40] {
        let constant = Params { history: History::Constant, history_size: h, ..Params::default() };
        for w in [0.5, 8.0, 300.0] {
            assert_eq!(deciding(&constant, w), h as usize / 2 + 1);
        }
    }
}

#[test]
fn vector_medians() {
    let lower = Params::default();
    let mean = Params { even: Even::Mean, ..lower };
    // H = 4 at a window of 8
    let four = [14.0, 14.0, 30.0, 14.0];
    assert_eq!((median_of(&lower, 8.0, &four), median_of(&mean, 8.0, &four)), (14.0, 14.0));
    // two and two: the readings part
    let split = [14.0, 30.0, 30.0, 14.0];
    assert_eq!((median_of(&lower, 8.0, &split), median_of(&mean, 8.0, &split)), (14.0, 22.0));
    // H = 3
    assert_eq!(median_of(&lower, 2.0, &[14.0, 30.0, 30.0]), 30.0);
    // fewer than H so far
    assert_eq!(median_of(&lower, 30.0, &[14.0]), 14.0);
    assert_eq!((median_of(&lower, 30.0, &[14.0, 30.0]), median_of(&mean, 30.0, &[14.0, 30.0])), (14.0, 22.0));
}

#[test]
fn vector_marks_go_by_the_majority_and_a_tie_is_no_mark() {
    for even in [Even::Lower, Even::Mean] {
        let mut median =
            Median::new(&Params { history: History::Constant, history_size: 4, even, ..Params::default() });
        assert!(!median.is_marked(), "nothing was heard");
        let heard = [true, false, true, true, true, false, false, false].map(|mark| median.hear_mark(mark, 1.0));
        assert_eq!(heard, [true, false, true, true, true, true, false, false]);
        assert!(!median.is_marked());
    }
}

#[test]
fn vector_a_smaller_window_keeps_the_newest() {
    let mut median = Median::new(&Params::default());
    for signal in [20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 50.0, 50.0, 50.0] {
        assert_eq!(median.hear(signal, 30.0), 20.0);
    }
    // H = 3: two of 50 and the new one, where six of 20 would still rule
    assert_eq!(median.hear(20.0, 2.0), 50.0);
    assert_eq!(median.value(), 50.0);
}

#[test]
fn bad_histories_are_refused() {
    let mut params = Params::default();
    assert_eq!(params.feedback, Feedback::Latest, "nobody pays for it unasked");
    for (key, value) in [
        ("feedback", "mean"),
        ("history_size", "0"),
        ("history_min", "0"),
        ("history_max", "0"),
        ("history_alpha", "0"),
        ("history_alpha", "-1"),
        ("history", "radix"),
        ("even", "upper"),
    ] {
        assert!(params.set(key, value).is_err(), "{key} = {value}");
    }
    params.set("history_min", "20").unwrap();
    assert_eq!(params.check().unwrap_err().key, "history_min");
}

proptest! {
    /// The median is that of a sorted copy of the newest signals.
    #[test]
    fn the_median_is_the_median(signals in proptest::collection::vec(1u32..40, 1..60), h in 1u32..12, mean: bool) {
        let even = if mean { Even::Mean } else { Even::Lower };
        let params = Params { history: History::Constant, history_size: h, even, ..Params::default() };
        let signals: Vec<f64> = signals.into_iter().map(f64::from).collect();
        let mut newest = signals[signals.len().saturating_sub(h as usize)..].to_vec();
        newest.sort_by(f64::total_cmp);
        let (n, k) = (newest.len(), newest.len() / 2);
        let expected = match n % 2 {
            1 => newest[k],
            _ if mean => (newest[k - 1] + newest[k]) / 2.0,
            _ => newest[k - 1],
        };
        prop_assert_eq!(median_of(&params, 10.0, &signals), expected);
    }
}
