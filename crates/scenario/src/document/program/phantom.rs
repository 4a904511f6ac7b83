//! Keys of phantom queues.

use super::kind::{Around, NodeProgram, connects, switches};
use crate::text::default::bytes;
use crate::text::problem::Report;
use crate::text::quantity::Size;
use incast_cc as cc;
use incast_engine::spec::{self, LinkSpec, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Phantom queues.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Phantom {
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Drain rate of a phantom queue, as a share of its link's rate.
    #[serde(default = "most_of_it")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub drain: f64,
    /// Length of the phantom queue, the packet included, above which the packet is marked. Below a packet's size all
    /// packets of that size are marked.
    #[serde(default = "bytes::<6000>")]
    pub mark: Size,
}

fn most_of_it() -> f64 {
    0.95
}

impl NodeProgram for Phantom {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Phantom(spec::Phantom { drain: self.drain, mark: self.mark.0.0 })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if !(self.drain > 0.0 && self.drain <= 1.0) {
            at.value("drain", self.drain, "expected a share of the link's rate above 0 and at most 1");
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        let capable = |flow: &spec::FlowSpec| {
            let (transport, controller) = (&spec.transports[flow.transport as usize], flow.controller as usize);
            connects(flow) && transport.marks.ecn.unwrap_or(spec.controllers[controller].profile().ecn) != cc::Ecn::Off
        };
        (!spec.flows.iter().any(capable)).then_some("no flow is ECN-capable, and other packets are not marked")
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        let own = |l: &&LinkSpec| nodes.binary_search(&l.from).is_ok();
        let other = |l: &&LinkSpec| spec.is_explicit(l) || l.bucket > 0 || l.rate == cc::Rate::INFINITE;
        if let Some(link) = spec.links.iter().filter(own).find(other) {
            let message = format!(
                "counts what leaves ports whose departures follow from the arrivals, and {} is another: expected one \
                 FIFO queue that marks no departures, in no shared buffer, and a link of a finite rate without a burst",
                link.name
            );
            at.text("kind", "phantom", message);
        }
    }
}
