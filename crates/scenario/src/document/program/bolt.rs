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
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Bytes at a port that count as a queue for an arriving packet. Default: two full packets, link overhead
    /// included.
    pub threshold: Option<Size>,
    /// Most unused capacity that a link saves up. Default: two full packets, link overhead included; below one packet
    /// nothing is given.
    pub supply: Option<Size>,
    /// Most PRU tokens of a port; each stands for a packet that an ending flow will not send.
    #[serde(default = "number::<256>")]
    pub tokens: u32,
    /// A port with a queue notifies senders by its own packets (the paper's SRC). Otherwise their ACKs carry the
    /// notice.
    #[serde(default = "yes")]
    pub src: bool,
    /// Each packet of a last window, unless it is also the first window, allows another packet to add one, because
    /// its flow leaves room behind (the paper's PRU).
    #[serde(default = "yes")]
    pub pru: bool,
    /// Packets may add one to the window if the link has room for one (the paper's SM).
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
        (!is_asked(spec, cc::Asks::Bolt)).then_some("no flow requests room, as flows with controller = \"bolt\" do")
    }
}
