//! Keys of explicit windows.

use super::kind::{Around, NodeProgram, check_step, is_asked, switches};
use crate::text::default::thousandths;
use crate::text::problem::Report;
use crate::text::quantity::Time;
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explicit windows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Xcp {
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Gain of the unused rate.
    #[serde(default = "thousandths::<400>")]
    pub alpha: f64,
    /// Gain of the queue.
    #[serde(default = "thousandths::<226>")]
    pub beta: f64,
    /// Share of the traffic moved from flow to flow per round trip if nothing else changes.
    #[serde(default = "thousandths::<100>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub shuffle: f64,
    /// Share of the link's rate distributed in total, above 0.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub utilisation: f64,
    /// Shortest control interval; otherwise it is the mean round-trip time.
    pub interval: Option<Time>,
    /// Share of a round trip (above 0) over which the shortest queue met by packets is taken, without those that
    /// waited in it.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub queue_share: f64,
    /// Shortest time over which the queue is taken.
    pub queue_interval: Option<Time>,
    /// Initial mean round-trip time; default: the first one carried by a packet, and windows do not change before.
    pub rtt: Option<Time>,
}

impl NodeProgram for Xcp {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        let time = |time: Option<Time>| time.map_or(cc::Time::ZERO, |time| time.0);
        spec::Program::Xcp(spec::Xcp {
            alpha: self.alpha,
            beta: self.beta,
            shuffle: self.shuffle,
            utilisation: self.utilisation,
            interval: time(self.interval),
            queue_share: self.queue_share,
            queue_interval: time(self.queue_interval),
            rtt: self.rtt.map(|rtt| rtt.0),
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            at.value("alpha", self.alpha, "expected a number above 0: windows would never grow");
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            at.value("beta", self.beta, "expected a number of at least 0");
        }
        if !(0.0..=1.0).contains(&self.shuffle) {
            at.value("shuffle", self.shuffle, "expected a share of the traffic from 0 to 1");
        }
        if !(self.utilisation > 0.0 && self.utilisation <= 1.0) {
            at.value("utilisation", self.utilisation, "expected a share of the link's rate above 0 and at most 1");
        }
        if !(self.queue_share > 0.0 && self.queue_share <= 1.0) {
            at.value("queue_share", self.queue_share, "expected a share of the round trip above 0 and at most 1");
        }
        check_step("rtt", self.rtt, "every port distributes its capacity once in it", at);
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        (!is_asked(spec, cc::Asks::Window))
            .then_some("no flow requests changes of its window, as flows with controller = \"xcp\" do")
    }
}
