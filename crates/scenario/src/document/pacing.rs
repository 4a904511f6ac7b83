//! Pacing of senders.

use crate::text::default::infinite;
use crate::text::quantity::Rate;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pacing.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pacing {
    /// The controller's pacing.
    Controller(ControllerPacing),
    /// A multiple of cwnd / srtt.
    Window(WindowPacing),
}

/// The word `"controller"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ControllerPacing {
    /// The controller's pacing.
    Controller,
}

/// Pacing at a multiple of cwnd, or of the bytes in flight if larger, over srtt (Linux and ns-3: 2 in slow start, 1.2
/// afterwards). The initial window is not paced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct WindowPacing {
    /// Windows per round trip in slow start (Linux and ns-3: 2).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub slow_start: f64,
    /// Windows per round trip after slow start (Linux and ns-3: 1.2).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub avoidance: f64,
    /// Highest rate.
    #[serde(default = "infinite")]
    pub max: Rate,
    /// Paces after the first segment of a fast recovery, or after a timeout, as if the rate were `max`, as in the
    /// Swift of an ns-3 study (omarghara/DCTCP-SWIFT-YASOMAM).
    #[serde(default)]
    pub restart_at_max: bool,
}

impl From<Pacing> for spec::PacingSpec {
    fn from(pacing: Pacing) -> spec::PacingSpec {
        match pacing {
            Pacing::Controller(_) => spec::PacingSpec::Controller,
            Pacing::Window(w) => spec::PacingSpec::Window {
                slow_start: w.slow_start,
                avoidance: w.avoidance,
                max: w.max.0,
                restart_at_max: w.restart_at_max,
            },
        }
    }
}
