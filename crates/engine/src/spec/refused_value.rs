//! Refused values of a transport's keys.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

/// A refused value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedValue {
    /// Key below the transport's: `rto_min`, or `homa.levels`.
    pub key: String,
    /// Value, in the units of the specification.
    pub value: String,
    /// Condition that it breaks: `expected ...`.
    pub message: String,
}

impl Display for RefusedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.message)
    }
}

/// Refused values found so far.
#[derive(Default)]
pub(crate) struct Refusals {
    /// Table of the keys; empty for the transport's own.
    pub table: &'static str,
    /// Values.
    pub found: Vec<RefusedValue>,
}

impl Refusals {
    /// Refuses the value of a key unless it holds.
    pub fn expect(&mut self, holds: bool, key: &str, value: impl Display, message: impl Into<String>) {
        if !holds {
            let key = if self.table.is_empty() { key.to_owned() } else { format!("{}.{key}", self.table) };
            self.found.push(RefusedValue { key, value: value.to_string(), message: message.into() });
        }
    }

    /// Refuses a number of entropies that is no power of two.
    pub fn entropies(&mut self, count: u32) {
        self.expect(count.is_power_of_two(), "entropies", count, "expected a power of two, 1 to 32768");
    }

    /// Refuses a number out of its bounds, or not finite.
    pub fn within(&mut self, key: &str, number: f64, bounds: (Bound<f64>, Bound<f64>)) {
        let least = match bounds.0 {
            Bound::Included(least) => Some(format!("at least {least}")),
            Bound::Excluded(least) => Some(format!("above {least}")),
            Bound::Unbounded => None,
        };
        let most = match bounds.1 {
            Bound::Included(most) => Some(format!("at most {most}")),
            Bound::Excluded(most) => Some(format!("below {most}")),
            Bound::Unbounded => None,
        };
        let both: Vec<String> = least.into_iter().chain(most).collect();
        let message = if number.is_finite() { both.join(" and ") } else { "a finite number".to_owned() };
        self.expect(number.is_finite() && bounds.contains(&number), key, number, format!("expected {message}"));
    }
}
