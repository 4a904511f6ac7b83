//! Openings of flows that wait for the ends of others, as far as known before a run.

use incast_cc::Time;
use incast_engine::map::triggers::Triggers;
use incast_engine::spec::{AtStop, Done, FlowSpec, Spec};
use incast_engine::{FlowId, NodeId, OpeningId};
use std::collections::BTreeSet;

/// True if a flow ends: it has a size, or stops and drains.
pub(crate) fn ends(flow: &FlowSpec) -> bool {
    use incast_engine::spec::App;
    let stops = flow.stop != Time::NEVER && flow.at_stop == AtStop::Drain;
    flow.app.is_finite() || stops && !matches!(flow.app, App::Udp(_) | App::Messages(_))
}

/// Flows that never open if only flows with `ends` true end, in order.
pub(crate) fn never_open(spec: &Spec, triggers: &Triggers, ends: impl Fn(&FlowSpec) -> bool) -> Vec<u32> {
    if triggers.list.is_empty() {
        return Vec::new();
    }
    let mut opens: Vec<bool> = spec.flows.iter().map(|f| f.trigger.is_none()).collect();
    let mut counts = vec![0; triggers.list.len()];
    let mut open: Vec<FlowId> = (0..).map(FlowId).zip(&opens).filter(|(_, opens)| **opens).map(|(f, _)| f).collect();
    while let Some(f) = open.pop() {
        if !ends(&spec.flows[f]) {
            continue;
        }
        for trigger in [Done::Sent, Done::Received].into_iter().flat_map(|done| triggers.activated((f, done))) {
            counts[trigger] += 1;
            for opening in triggers.opened(trigger, counts[trigger]) {
                for flow in triggers.flows(opening) {
                    opens[*flow] = true;
                    open.push(*flow);
                }
            }
        }
    }
    (0u32..).zip(opens).filter(|(_, opens)| !opens).map(|(f, _)| f).collect()
}

/// A flow that waits for itself through others, if all flows end except those of `never`, in order, which never open.
pub(crate) fn circle(spec: &Spec, never: &[u32]) -> Option<u32> {
    // each waits for at least one of them: following them leads into a circle
    let next = |f: u32| {
        let waits = spec.triggers[spec.flows[f as usize].trigger?.trigger as usize].activations.iter();
        waits.map(|(flow, _)| *flow).find(|flow| never.binary_search(flow).is_ok())
    };
    let mut met = BTreeSet::new();
    let mut f = *never.first()?;
    while met.insert(f) {
        f = next(f)?;
    }
    Some(f)
}

/// Number of flows that learn from other hosts of the ends they wait for, and whether some learn through a third
/// host.
pub(crate) fn relayed(spec: &Spec, triggers: &Triggers) -> (usize, bool) {
    let (mut flows, mut by_a_third) = (0, false);
    for (trigger, at_work) in spec.triggers.iter().zip(&triggers.list) {
        let mut hosts: Vec<NodeId> = trigger.activations.iter().map(|end| NodeId(spec.host_of(*end))).collect();
        hosts.sort_unstable();
        hosts.dedup();
        for opening in at_work.openings.clone().map(OpeningId) {
            let host = triggers.openings[opening].host;
            if hosts != [host] {
                flows += triggers.flows(opening).len();
                by_a_third |= host != at_work.home && hosts != [at_work.home];
            }
        }
    }
    (flows, by_a_third)
}
