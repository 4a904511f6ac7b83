//! The sawtooth of additive increase and multiplicative decrease.
//!
//! A window grows by `ai` packets per round trip and falls by the share `d` of itself once per `n` packets that make
//! it grow. With `W` the window before the fall, dW/dpacket = ai/W and hence
//!
//! ```text
//! W^2 - (1 - d)^2 W^2 = 2 ai n        mean = W (1 - d/2) = sqrt((1/d - 1/2) ai n)
//! ```

/// A sawtooth, in packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sawtooth {
    /// Window before a reduction.
    pub peak: f64,
    /// Share of the window removed by a reduction.
    pub cut: f64,
}

impl Sawtooth {
    /// Sawtooth of a window reduced by the share `cut` after every `packets` that make it grow.
    pub fn new(ai: f64, cut: f64, packets: f64) -> Sawtooth {
        Sawtooth { peak: (2.0 * ai * packets / (cut * (2.0 - cut))).sqrt(), cut }
    }

    /// Mean over a period, in time.
    pub fn mean(&self) -> f64 {
        self.peak * (1.0 - self.cut / 2.0)
    }

    /// Window after a reduction.
    pub fn lowest(&self) -> f64 {
        self.peak * (1.0 - self.cut)
    }
}
