//! Keys of idle flows.

use super::kind::{Around, NodeProgram, without_handshake};
use crate::text::default::microseconds;
use crate::text::problem::Report;
use crate::text::quantity::Time;
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Idle flows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Idle {
    /// Hosts that run it: `hosts`, or names separated by commas, with `*` for any text, such as `"h0, h1*"`.
    #[serde(default = "hosts")]
    pub on: String,
    /// Time without sending after which a direction of a connection is idle.
    #[serde(default = "microseconds::<50_000>")]
    pub timeout: Time,
}

fn hosts() -> String {
    "hosts".into()
}

impl NodeProgram for Idle {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Idle(spec::Idle { timeout: self.timeout.0 })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if self.timeout.0 == cc::Time::ZERO {
            at.text("timeout", self.timeout, "expected a time above 0: every flow would be idle at once");
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        let counts = |own: &spec::ProgramSpec| matches!(own.program, spec::Program::Sccp(_) | spec::Program::Table(_));
        (!spec.programs.iter().any(counts)).then_some("no program counts flows, as sccp and tables do")
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        if let Some(switch) = nodes.iter().find(|node| **node >= spec.hosts) {
            let message = format!(
                "expected hosts: {} is a switch, which does not know of its flows' pauses",
                spec.node_names[*switch as usize]
            );
            return at.text("on", &self.on, message);
        }
        if let Some(entry) = without_handshake(spec) {
            let message =
                format!("knows flows by their SYN, which {entry} does not send; expected transport.handshake = true");
            return at.text("kind", "idle", message);
        }
        let counts_resets =
            |p: &&spec::ProgramSpec| matches!(&p.program, spec::Program::Sccp(s) if s.reset && !s.remembers);
        if spec.programs.iter().any(|p| counts_resets(&p)) {
            let message = "subtracts reset flows from ports, and so does sccp with rst = \"decrement\" does, too: \
                           expected dedupe = true there, or rst = \"ignore\"";
            return at.text("kind", "idle", message);
        }
        let earlier = spec.programs.iter().take_while(|p| !matches!(p.program, spec::Program::Idle(_)));
        let shares = |p: &spec::ProgramSpec| p.nodes.iter().any(|node| nodes.binary_search(node).is_ok());
        if let Some((i, _)) = earlier.enumerate().find(|(_, p)| shares(p)) {
            let message = format!(
                "expected it before program.{i}, which runs at some of these hosts too: what it sends is seen by \
                 programs that come after it"
            );
            at.text("kind", "idle", message);
        }
    }
}
