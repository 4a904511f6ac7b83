//! Keys of rates for deadlines.

use super::kind::{Around, NodeProgram, check_step, is_asked, switches};
use crate::text::default::{bytes, microseconds, thousandths};
use crate::text::problem::Report;
use crate::text::quantity::{Size, Time};
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rates for deadlines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct D3 {
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Gain of the unused rate, in the capacity that a port allocates.
    #[serde(default = "thousandths::<100>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Gain of the queue.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// Interval between updates of the capacity that a port allocates. A flow without a round-trip time asks once in
    /// it.
    #[serde(default = "microseconds::<100>")]
    pub period: Time,
    /// Base rate: this many bytes per round trip of the flow.
    #[serde(default = "bytes::<1500>")]
    pub least: Size,
    /// Time without a request after which a flow is over.
    #[serde(default = "microseconds::<10_000>")]
    pub forget: Time,
}

impl NodeProgram for D3 {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::D3(spec::D3 {
            alpha: self.alpha,
            beta: self.beta,
            period: self.period.0,
            least: self.least.0.0,
            forget: self.forget.0,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=1.0).contains(&gain) {
                at.value(key, gain, "expected a number from 0 to 1");
            }
        }
        check_step("period", Some(self.period), "every port updates its capacity to allocate once in it", at);
        check_step("forget", Some(self.forget), "a flow asks once a round trip", at);
        if !(1..=1 << 20).contains(&self.least.0.0) {
            at.text("least", self.least, "expected 1B to 1MiB: a flow without a rate never asks again");
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        (!is_asked(spec, cc::Asks::Rate)).then_some("no flow requests a rate, as flows with controller = \"d3\" do")
    }
}
