//! Marks at departure between two thresholds, of `queue.kind = "ecn-ramp"` and of trimming ports.

use crate::text::default::thousandths;
use crate::text::problem::{self, Report};
use crate::text::quantity::Size;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thresholds of marks at departure (Zhu et al., SIGCOMM 2015, section 5.1).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Ramp {
    /// Bytes left behind up to which no packet is marked.
    pub min: Size,
    /// Bytes left behind above which every packet is marked.
    pub max: Size,
    /// Probability of a mark just below `max`; it rises from 0 at `min`.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// Thresholds of marks for the engine. `at_start`: a packet is marked when its transmission begins.
pub(super) fn ramp((min, max): (Size, Size), probability: f64, at_start: bool) -> spec::EcnRamp {
    spec::EcnRamp { min: min.0.0, max: max.0.0, probability, at_start, key: (0, 0) }
}

impl Ramp {
    /// Discipline for the engine.
    pub(super) fn discipline(&self) -> spec::Discipline {
        spec::Discipline::EcnRamp(ramp((self.min, self.max), self.probability, true))
    }

    /// Reports contradictions, also with a device queue of so many packets.
    pub(super) fn check(&self, device: u32, at: &mut Report) {
        if self.min.0 > self.max.0 {
            at.text("min", self.min, format!("expected at most max, {}", self.max));
        }
        if !(0.0..=1.0).contains(&self.probability) {
            at.value("probability", problem::number(self.probability), "expected 0 to 1");
        }
        if device > 0 {
            at.value("device", device, "expected 0: marks are decided when a packet leaves this queue");
        }
    }
}
