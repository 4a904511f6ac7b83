//! What kinds of programs answer, each in its own words.

use crate::text::problem::Report;
use crate::text::quantity::Time;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_cc::Asks;
use incast_engine::spec::{self, Spec};

/// Where a program is to run.
pub struct Around<'a> {
    /// Largest segment of the run's transports, bytes.
    pub mss: u32,
    /// The network.
    pub network: &'a Network,
    /// The nodes that run it, rising.
    pub nodes: &'a [u32],
}

/// A kind of program.
pub trait NodeProgram {
    /// The nodes that run it, in the words of the user.
    fn on(&self) -> &str;
    /// As the engine has it.
    fn spec(&self, around: &Around) -> spec::Program;
    /// Contradictions between its keys, and values that types allow.
    fn check(&self, _around: &Around, _at: &mut Report) {}
    /// What of a run does not go with it, where `nodes` run it.
    fn check_run(&self, _spec: &Spec, _nodes: &[u32], _at: &mut Report) {}
    /// Why it can do nothing in a run, if it cannot.
    fn without_effect(&self, _spec: &Spec) -> Option<&'static str> {
        None
    }
}

/// Shortest time between two steps of a program.
const SHORTEST_STEP: cc::Time = cc::Time::ns(100);

/// Reports a time between two steps of a program, of key `key`, that is too short; `why` says what a step is.
pub(super) fn check_step(key: &str, time: Option<Time>, why: &str, at: &mut Report) {
    if let Some(time) = time.filter(|time| time.0 < SHORTEST_STEP) {
        at.text(key, time, format!("expected {SHORTEST_STEP} or more: {why}"));
    }
}

/// Programs of switches run at all of them unless the user says where.
pub(super) fn switches() -> String {
    "switches".into()
}

/// Whether a flow is a connection.
pub(super) fn connects(flow: &spec::FlowSpec) -> bool {
    flow.app.datagram_gap().is_none()
}

/// What the packets of a flow ask of switches.
pub(super) fn asks(spec: &Spec, flow: &spec::FlowSpec) -> Asks {
    let asks = spec.controllers[flow.controller as usize].profile().asks;
    if connects(flow) { asks } else { Asks::Nothing }
}

/// Whether any flow asks that of switches.
pub(super) fn is_asked(spec: &Spec, what: Asks) -> bool {
    spec.flows.iter().any(|flow| asks(spec, flow) == what)
}

/// The first entry of traffic whose connections begin without a handshake.
pub(super) fn without_handshake(spec: &Spec) -> Option<&str> {
    let lacks = |f: &&spec::FlowSpec| connects(f) && !spec.transports[f.transport as usize].handshake;
    spec.flows.iter().find(lacks).map(|flow| spec.groups[flow.group as usize].as_ref())
}
