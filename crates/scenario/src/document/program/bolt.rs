//! Keys of sub-RTT control.

use super::kind::{Around, NodeProgram, is_asked, switches};
use crate::text::default::{number, yes};
use crate::text::problem::Report;
use crate::text::quantity::Size;
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sub-RTT control.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Bolt {
    /// Nodes that run it: `switches`, `hosts`, or names with `*` for any letters, apart by commas, such as
    /// `"edge*, core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// A packet that meets so many bytes at a port meets a queue. Without it two full packets, with what the link adds.
    pub threshold: Option<Size>,
    /// Room that a link saves up at most, of what it could have sent. Without it two full packets, with what the link
    /// adds; below one nothing is given.
    pub supply: Option<Size>,
    /// Packets at most that flows about to end are known not to send.
    #[serde(default = "number::<256>")]
    pub tokens: u32,
    /// A port with a queue tells the senders by packets of its own (the paper's SRC). Otherwise their ACKs tell it.
    #[serde(default = "yes")]
    pub src: bool,
    /// Each packet of a last window but of a first lets another add one: its flow leaves room behind (the paper's PRU).
    #[serde(default = "yes")]
    pub pru: bool,
    /// Packets may add one where the link has room for one (the paper's SM).
    #[serde(default = "yes")]
    pub sm: bool,
}

impl NodeProgram for Bolt {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Bolt(spec::Bolt {
            threshold: self.threshold.map(|size| size.0.0),
            supply: self.supply.map(|size| size.0.0),
            tokens: self.tokens,
            src: self.src,
            pru: self.pru,
            sm: self.sm,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        for (key, size) in [("threshold", self.threshold), ("supply", self.supply)] {
            if let Some(size) = size.filter(|size| size.0.0 == 0) {
                at.text(key, size, "expected at least 1B");
            }
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        (!is_asked(spec, cc::Asks::Room)).then_some("no flow claims room, as those with controller = \"bolt\" do")
    }
}
