//! Keys of SCCP.

use super::kind::{Around, NodeProgram, connects, switches, without_handshake};
use crate::text::default::{bytes, microseconds, number};
use crate::text::problem::Report;
use crate::text::quantity::{Size, Time};
use incast_cc as cc;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{self, Spec};
use incast_engine::{FlowId, LinkId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// SCCP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Sccp {
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Round-trip time assumed for all flows. The share of a flow is the link's rate times it, divided by the number
    /// of flows.
    #[serde(default = "microseconds::<300>")]
    pub common_rtt: Time,
    /// Smallest window; `mss` is a full segment. With a `scale` a floor above a byte is rounded up to whole units.
    #[serde(default)]
    pub floor: Floor,
    /// Time at which a segment with SYN or FIN counts: its arrival at the switch, or its acceptance by the queue.
    #[serde(default)]
    pub counts: Counts,
    /// Effect of a segment with RST: none, or the flow is subtracted from the ports of both directions.
    #[serde(default)]
    pub rst: Reset,
    /// Counts a retransmitted segment with SYN or FIN only once: the switch remembers the open flows.
    #[serde(default)]
    pub dedupe: bool,
    /// Windows count in units of two to this power, as agreed by connections (RFC 7323); those of segments with SYN
    /// in bytes.
    #[serde(default = "number::<0>")]
    #[schemars(range(max = 14))]
    pub scale: u32,
    /// Rounding of a share that is not a whole number of units: down or up; or the switch ignores units and writes
    /// the share's bytes in their place.
    #[serde(default)]
    pub rounding: Rounding,
}

/// Smallest window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Floor {
    /// A full segment.
    Segment(Segment),
    /// Bytes.
    Bytes(Size),
}

/// The word `"mss"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Segment {
    /// A full segment.
    Mss,
}

impl Default for Floor {
    fn default() -> Floor {
        Floor::Bytes(bytes::<1>())
    }
}

/// Time at which a segment counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Arrival at the switch, accepted by its queue or not.
    #[default]
    Arrived,
    /// Acceptance by its queue.
    Queued,
}

/// Effect of RST.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// None: the flow stays counted.
    #[default]
    Ignore,
    /// The flow is subtracted from the ports of both directions.
    Decrement,
}

/// Rounding of shares that are not a whole number of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Down: a share below a unit closes the window.
    #[default]
    Down,
    /// Up.
    Up,
    /// Bytes are written in place of units.
    Ignorant,
}

impl NodeProgram for Sccp {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, around: &Around) -> spec::Program {
        spec::Program::Sccp(spec::Sccp {
            common_rtt: self.common_rtt.0,
            floor: match self.floor {
                Floor::Segment(Segment::Mss) => around.mss as u64,
                Floor::Bytes(size) => size.0.0,
            },
            accepted: self.counts == Counts::Queued,
            reset: self.rst == Reset::Decrement,
            remembers: self.dedupe,
            scale: self.scale as u8,
            up: self.rounding == Rounding::Up,
            ignorant: self.rounding == Rounding::Ignorant,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if self.common_rtt.0 == cc::Time::ZERO {
            at.text("common_rtt", self.common_rtt, "expected a time above 0: no flow could have any bytes in flight");
        }
        if self.floor == Floor::Bytes(bytes::<0>()) {
            at.text("floor", "0B", "expected at least 1B: a share of zero closes every window for good");
        }
        if self.scale > 14 {
            at.value("scale", self.scale, "expected 0 to 14, the largest that connections agree on");
        }
        if self.scale == 0 && self.rounding != Rounding::Down {
            let message = "expected a scale above 0 with it: without one a share is a whole number of units";
            at.text("rounding", crate::text::words::word_of(&self.rounding), message);
        }
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        if let Some(entry) = without_handshake(spec) {
            let message = format!(
                "counts flows by SYN and FIN, which {entry} does not send; expected transport.handshake = true"
            );
            return at.text("kind", "sccp", message);
        }
        if spec.choice.spreads() {
            let message = "counts the flows of each port, and routing.kind sends packets of one flow by several; \
                           expected a routing that keeps a flow to one path";
            return at.text("kind", "sccp", message);
        }
        let fabric = Fabric::new(spec);
        let flows = (0..).map(FlowId).zip(&spec.flows).filter(|(_, f)| connects(f));
        for (f, flow) in flows {
            let (data, acks) = (fabric.path(f, false), fabric.path(f, true));
            // the directions of a link are adjacent
            let mirrored = data.iter().rev().map(|l| LinkId(l.0 ^ 1)).eq(acks.iter().copied());
            let touches = |l: &LinkId| nodes.binary_search(&spec.links[*l].from).is_ok();
            if !mirrored && (data.iter().any(touches) || acks.iter().any(touches)) {
                let name = |node: u32| &spec.node_names[node as usize];
                let message = format!(
                    "sets windows by ACKs at the switches of their data, and ACKs from {} to {} come back another way; \
                     expected routing.symmetric = true",
                    name(flow.dst),
                    name(flow.src),
                );
                return at.text("kind", "sccp", message);
            }
        }
    }
}
