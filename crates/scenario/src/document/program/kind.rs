//! Interface of all kinds of programs.

use crate::document::group::path_of;
use crate::text::problem::Report;
use crate::text::quantity::Time;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_cc::Asks;
use incast_engine::spec::{self, Spec};

/// Environment of a program.
pub struct Around<'a> {
    /// Largest segment of the run's transports, bytes.
    pub mss: u32,
    /// The network.
    pub network: &'a Network,
    /// Nodes that run it, in ascending order.
    pub nodes: &'a [u32],
}

/// A kind of program.
pub trait NodeProgram {
    /// Nodes that run it, as written by the user.
    fn on(&self) -> &str;
    /// Specification for the engine.
    fn spec(&self, around: &Around) -> spec::Program;
    /// Reports contradictions between its keys, and invalid values that types allow.
    fn check(&self, _around: &Around, _at: &mut Report) {}
    /// Reports conflicts with the run, if `nodes` run it.
    fn check_run(&self, _spec: &Spec, _nodes: &[u32], _at: &mut Report) {}
    /// Reason why it has no effect in a run, if any.
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

/// Default nodes of programs of switches: all switches.
pub(super) fn switches() -> String {
    "switches".into()
}

/// True if a flow is a connection.
pub(super) fn connects(flow: &spec::FlowSpec) -> bool {
    flow.app.datagram_gap().is_none()
}

/// Request that a flow's packets carry to switches.
pub(super) fn asks(spec: &Spec, flow: &spec::FlowSpec) -> Asks {
    let asks = spec.controllers[flow.controller as usize].profile().asks;
    if connects(flow) { asks } else { Asks::Nothing }
}

/// True if any flow has this request to switches.
pub(super) fn is_asked(spec: &Spec, what: Asks) -> bool {
    spec.flows.iter().any(|flow| asks(spec, flow) == what)
}

/// Key path of the first traffic entry or job whose connections begin without a handshake.
pub(super) fn without_handshake(spec: &Spec) -> Option<String> {
    let lacks = |f: &&spec::FlowSpec| connects(f) && !spec.transports[f.transport as usize].connection.handshake;
    spec.flows.iter().find(lacks).map(|flow| path_of(spec, flow.group))
}
