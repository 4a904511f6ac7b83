//! Parameters of ExpressPass.

use super::facts::Facts;
use crate::spec::PathChoice;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use crate::spec::words::words;

keys! {
    $ expresspass_keys
    /// ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017).
    /// Credits have class 0 and all other packets class 1; flows and ports on their paths have these two classes.
    expresspass: ExpressPass {
        /// Smallest credit, in IP bytes; the size of each credit is random.
        credit_min: u32 as Size,
        /// Largest credit, in IP bytes.
        credit_max: u32 as Size,
        /// Initial credit rate of a receiver, as a share of the largest rate. At the largest rate the data sent for
        /// credits fills the link of its host.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        alpha: f64,
        /// A request for fewer packets than this starts more slowly, in proportion to its packets.
        ramp: u32,
        /// Reaction of the rate to losses of credits, once a round trip.
        feedback: Feedback as Word<Feedback>,
        /// Target share of lost credits. With `feedback = "ns2"` it is multiplied by the unused share of the largest
        /// rate.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        target_loss: f64,
        /// Weight of the largest rate in the first increase.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        weight: f64,
        /// Smallest weight: losses halve it.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        min_weight: f64,
        /// Random variation of the time to the next credit: at most this share of it.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        jitter: f64,
        /// A sender stops requesting once a round trip has delivered as many credits as it has packets left;
        /// otherwise when nothing is left.
        early_stop: bool,
    }
}

impl ExpressPass {
    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        let (min, max) = (self.credit_min, self.credit_max);
        for (key, size) in [("credit_min", min), ("credit_max", max)] {
            to.expect((1..=u16::MAX as u32).contains(&size), key, size, "expected 1B to 65535B, a packet");
        }
        to.expect(min <= max, "credit_min", min, format!("expected at most credit_max, {max}B"));
        let (min, weight) = (self.min_weight, self.weight);
        to.expect(min <= weight, "min_weight", min, format!("expected at most weight, {weight}"));
    }

    /// Reason to refuse a choice of paths.
    pub fn refused(choice: &PathChoice) -> Option<&'static str> {
        let text = "expected true, with routing.kind = \"ecmp\": credits of expresspass take the links of their data \
                    in reverse";
        (!choice.is_symmetric()).then_some(text)
    }

    /// Mean size of a credit, in IP bytes.
    pub fn mean_credit(&self) -> u32 {
        (self.credit_min + self.credit_max) / 2
    }
}

words! {
    /// Reaction of a receiver's credit rate to losses of credits.
    Feedback {
        /// As in the authors' simulator: with few losses the rate approaches the largest one, by a weight that grows
        /// by 0.05 up to 0.5; above the target it falls to the rate at which credits arrived, times 1 plus the
        /// target.
        Code = "ns2",
        /// As printed: with few losses the rate approaches the largest one times 1 plus the target, by a weight that
        /// approaches 0.5; above the target it falls by the lost share, times 1 plus the target.
        Paper = "paper",
    }
}

impl ExpressPass {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { waits_for_nic: false, needs_credit_shaping: true, ..Facts::of("expresspass") }
    }
}
