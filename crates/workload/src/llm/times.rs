//! Times of calculations.

use incast_cc::Time;

/// Times of the calculations of a rank for one micro-batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// Forward pass of a layer.
    pub forward: Time,
    /// Backward pass of a layer, without a second forward pass.
    pub backward: Time,
    /// Forward pass of the head.
    pub head_forward: Time,
    /// Backward pass of the head.
    pub head_backward: Time,
    /// Part of the passes of a layer that is attention; the rest is the feed-forward layer.
    pub attention: f64,
    /// Part of a backward pass that is gradients of weights, which `zero-bubble` separates.
    pub weights: f64,
}

impl Default for Times {
    fn default() -> Times {
        let none = Time::ZERO;
        Times { forward: none, backward: none, head_forward: none, head_backward: none, attention: 0.5, weights: 0.5 }
    }
}

impl Times {
    /// Times by the names of their keys.
    pub(super) fn named(&self) -> [(&'static str, Time); 4] {
        [
            ("forward", self.forward),
            ("backward", self.backward),
            ("head_forward", self.head_forward),
            ("head_backward", self.head_backward),
        ]
    }
}

/// Part of a time, to the nearest picosecond.
pub(super) fn part(time: Time, part: f64) -> Time {
    Time((time.0 as f64 * part).round() as u64)
}
