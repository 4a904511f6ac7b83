//! Keys of pacers.

use super::kind::{Around, NodeProgram, check_step, connects};
use crate::text::default::{microseconds, thousandths};
use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size, Time};
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pacer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Pacer {
    /// Hosts that run it: `hosts`, or names separated by commas, with `*` for any text, such as `"h0, h1*"`.
    #[serde(default = "hosts")]
    pub on: String,
    /// Interval between changes of the rate.
    #[serde(default = "microseconds::<64>")]
    pub period: Time,
    /// Weight of the data that arrived in that interval.
    #[serde(default = "thousandths::<125>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub eta: f64,
    /// Gain of the waiting data: Mb/s per kilobyte.
    #[serde(default = "thousandths::<16_000>")]
    pub beta: f64,
    /// Most tokens saved up. Default: a full packet, overhead of the host's link included.
    pub burst: Option<Size>,
    /// Smallest rate; the largest, and the first, is that of the host's link.
    #[serde(default = "slow")]
    pub least: Rate,
    /// Probability that an ACK with an echoed mark starts the pacing of its flow.
    #[serde(default = "thousandths::<125>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Time without a mark after which a flow is no longer paced.
    #[serde(default = "microseconds::<10_000>")]
    pub timeout: Time,
}

fn hosts() -> String {
    "hosts".into()
}

fn slow() -> Rate {
    Rate(cc::Rate::mbps(10))
}

impl NodeProgram for Pacer {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Pacer(spec::Pacer {
            period: self.period.0,
            eta: self.eta,
            beta: self.beta * 1e3,
            burst: self.burst.map(|size| size.0.0),
            least: self.least.0,
            share: self.share,
            timeout: self.timeout.0,
        })
    }

    fn check(&self, around: &Around, at: &mut Report) {
        if around.nodes.iter().any(|node| *node >= around.network.hosts) {
            at.text("on", &self.on, "expected hosts: only packets of a host's own stack wait");
        }
        for (key, share) in [("eta", self.eta), ("share", self.share)] {
            if !(0.0..=1.0).contains(&share) {
                at.value(key, share, "expected a number from 0 to 1");
            }
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            at.value("beta", self.beta, "expected a number of at least 0");
        }
        check_step("period", Some(self.period), "waiting packets read the rate once a period", at);
        if let Some(burst) = self.burst.filter(|burst| burst.0.0 == 0) {
            at.text("burst", burst, "expected at least 1B");
        }
        if self.least.0 == cc::Rate(0) || self.least.0 == cc::Rate::INFINITE {
            at.text("least", self.least, "expected a finite rate above 0: waiting packets would never leave");
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        let capable = |flow: &spec::FlowSpec| {
            let (transport, controller) = (&spec.transports[flow.transport as usize], flow.controller as usize);
            connects(flow) && transport.marks.ecn.unwrap_or(spec.controllers[controller].profile().ecn) != cc::Ecn::Off
        };
        (!spec.flows.iter().any(capable))
            .then_some("no flow is ECN-capable, and only flows that receive marks are paced")
    }
}
