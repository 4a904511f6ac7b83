//! Parameters of ExpressPass.

use super::facts::Facts;

/// ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017). Credits
/// have class 0 and all other packets class 1; flows and ports on their paths have these two classes.
#[derive(Clone, PartialEq, Debug)]
pub struct ExpressPass {
    /// Size of a credit, in IP bytes, drawn uniformly from this inclusive range.
    pub credit: (u32, u32),
    /// Initial credit rate of a receiver as a share of the maximum credit rate, above 0 and at most 1.
    pub alpha: f64,
    /// Request size, in packets, below which the initial credit rate is reduced in proportion.
    pub ramp: u32,
    /// Credit feedback rule.
    pub feedback: Feedback,
    /// Target credit loss. [`Feedback::Code`] multiplies it by the unused share of the maximum rate;
    /// [`Feedback::Paper`] uses it as is.
    pub target_loss: f64,
    /// Initial weight of a rate increase.
    pub weight: f64,
    /// Minimum weight of a rate increase.
    pub min_weight: f64,
    /// Jitter of the credit interval as a share of the interval.
    pub jitter: f64,
    /// Early stop: a sender stops requesting credits once a round trip has brought as many credits as it has packets
    /// left.
    pub early_stop: bool,
}

impl ExpressPass {
    /// Mean size of a credit, in IP bytes.
    pub fn mean_credit(&self) -> u32 {
        (self.credit.0 + self.credit.1) / 2
    }
}

/// Credit feedback rule: response of a receiver's credit rate to credit losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Authors' simulator (kaist-ina/ns2-xpass f4e38bc).
    Code,
    /// Paper, as quoted by other sources.
    Paper,
}

impl ExpressPass {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { waits_for_nic: false, needs_credit_shaping: true, ..Facts::of("expresspass") }
    }
}
