//! Keys of explicit rates.

use super::kind::{Around, NodeProgram, check_step, is_asked, switches};
use crate::text::default::{bytes, thousandths};
use crate::text::problem::Report;
use crate::text::quantity::{Size, Time};
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explicit rates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Rcp {
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Gain of the unused rate.
    #[serde(default = "thousandths::<400>")]
    pub alpha: f64,
    /// Gain of the queue.
    #[serde(default = "thousandths::<400>")]
    pub beta: f64,
    /// Share of the link's rate granted in total.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub utilisation: f64,
    /// Longest time between two changes of a port's rate; default: the mean round-trip time.
    pub period: Option<Time>,
    /// Initial mean round-trip time; default: the first one carried by a packet, and the rate does not change before.
    pub rtt: Option<Time>,
    /// Initial rate, as a share of the link's rate.
    #[serde(default = "thousandths::<50>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial: f64,
    /// Smallest rate: this many bytes per mean round-trip time.
    #[serde(default = "bytes::<1500>")]
    pub least: Size,
}

impl NodeProgram for Rcp {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Rcp(spec::Rcp {
            alpha: self.alpha,
            beta: self.beta,
            utilisation: self.utilisation,
            period: self.period.map_or(cc::Time::NEVER, |period| period.0),
            rtt: self.rtt.map(|rtt| rtt.0),
            initial: self.initial,
            least: self.least.0.0,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            at.value("alpha", self.alpha, "expected a number above 0: a rate would never rise");
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            at.value("beta", self.beta, "expected a number of at least 0");
        }
        for (key, share) in [("utilisation", self.utilisation), ("initial", self.initial)] {
            if !(share > 0.0 && share <= 1.0) {
                at.value(key, share, "expected a share of the link's rate above 0 and at most 1");
            }
        }
        for (key, time) in [("period", self.period), ("rtt", self.rtt)] {
            check_step(key, time, "every port changes its rate once in it", at);
        }
        if self.least.0.0 == 0 {
            at.text("least", self.least, "expected at least 1B: a rate of zero never rises again");
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        (!is_asked(spec, cc::Asks::Rate)).then_some("no flow requests a rate, as flows with controller = \"rcp\" do")
    }
}
