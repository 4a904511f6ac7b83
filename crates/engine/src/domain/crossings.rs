//! Flows that crossed a failure of a link.
//!
//! A packet crosses a failure if it is lost to it, or is in transmission while the link is degraded. A flow crosses one
//! if one of its packets does, data or acknowledgement; or if the flow was under way when the link failed, and all its
//! packets of one direction took the link until then (by their hash, or by a prescribed path): the flow is then
//! rerouted, even if it loses nothing. Paths are those without failures.

use crate::ids::{FlowId, LinkId};
use crate::map::ideal::Fabric;
use crate::spec::Spec;
use incast_cc::Time;
use incast_record::{FlowRecord, Name};

/// Smallest share of a flow's packets that counts as all: a sum of equal parts may be a little off.
const ALL: f64 = 1.0 - 1e-9;

/// Names of the links that fail before `end`, of each cable the direction that fails first.
pub fn failed_links(spec: &Spec, end: Time) -> Vec<Name> {
    let mut links: Vec<u32> = Vec::new();
    for failure in spec.failures.iter().filter(|f| f.from < end) {
        let ends = |l: u32| (spec.links[l as usize].from, spec.links[l as usize].to);
        let (from, to) = ends(failure.link);
        if !links.iter().any(|l| *l == failure.link || ends(*l) == (to, from)) {
            links.push(failure.link);
        }
    }
    links.into_iter().map(|l| spec.links[l as usize].name.clone()).collect()
}

/// Marks the flows that crossed a failure: those of `packets`, and those under way on a link that fails, in a run that
/// ends at `end`.
pub fn mark(spec: &Spec, packets: impl Iterator<Item = FlowId>, flows: &mut [FlowRecord], end: Time) {
    if spec.failures.is_empty() {
        return;
    }
    for flow in packets {
        if let Some(record) = flows.get_mut(flow.0 as usize) {
            record.crossed_failure = true;
        }
    }
    let fabric = Fabric::new(spec);
    let began: Vec<(LinkId, Time)> =
        spec.failures.iter().filter(|f| f.from < end).map(|f| (LinkId(f.link), f.from)).collect();
    for record in flows.iter_mut().filter(|r| !r.crossed_failure && !r.unopened) {
        let ended = record.finish_ps.or(record.stopped_ps).unwrap_or(end.0);
        let under_way = |at: Time| record.start_ps < at.0 && at.0 < ended;
        let mut hit = began.iter().filter(|(_, at)| under_way(*at)).peekable();
        if hit.peek().is_none() {
            continue;
        }
        let flow = FlowId(record.flow);
        let takes = |reverse| fabric.shares(flow, reverse).into_iter().filter(|(_, share)| *share >= ALL);
        // nothing answers datagrams
        let directions = [false, true].into_iter().take(if record.datagrams { 1 } else { 2 });
        let path: Vec<LinkId> = directions.flat_map(takes).map(|(link, _)| link).collect();
        record.crossed_failure = hit.any(|(link, _)| path.contains(link));
    }
}
