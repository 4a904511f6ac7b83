//! Earliest possible end of a run. The frames of a timeline start at the length that fits this end.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::ideal::Fabric;
use crate::spec::{FlowSpec, Spec};
use incast_cc::Time;

/// Maximum number of flows whose paths are followed. With more flows, or with spread packets, only the hosts' own links
/// count. The result is still a lower bound, and the build does not wait for the paths of millions of flows.
const FOLLOWED: usize = 100_000;

/// A lower bound of the time at which the run of `spec` ends: the time at which the links have carried all packets of
/// flows of known size, one flow after the other in order of start, without headers. The run's duration, if an endless
/// flow goes on until then. A run in which a connection is given up may end earlier, unless it waits for all flows to
/// finish. Costs as much as the paths of the flows, of 100,000 at most.
pub fn earliest_end(spec: &Spec) -> Time {
    // a trigger may never fire, and a stopped flow ends early
    let goes_on = |flow: &FlowSpec| flow.trigger.is_none() && [flow.stop, flow.sink_stop] == [Time::NEVER; 2];
    let endless = |flow: &FlowSpec| goes_on(flow) && !flow.app.is_finite() && !flow.app.is_messages();
    if !spec.ends_when_finished && spec.flows.iter().any(|flow| endless(flow) && flow.start < spec.duration) {
        return spec.duration;
    }
    let (fabric, incoming) = (Fabric::new(spec), Adjacency::incoming(spec));
    let mut flows: Vec<FlowId> = (0..spec.flows.len() as u32).map(FlowId).collect();
    flows.retain(|f| spec.flows[*f].app.is_finite() && goes_on(&spec.flows[*f]));
    flows.sort_by_key(|f| spec.flows[*f].start);
    let followed = flows.len() <= FOLLOWED;
    let mut free_at = vec![Time::ZERO; spec.links.len()];
    let mut end = Time::ZERO;
    for f in flows {
        let flow = &spec.flows[f];
        end = end.max(flow.start);
        // packets answered or gathered by programs need not pass
        let Some(size) = flow.app.size().filter(|_| spec.programs.is_empty()) else { continue };
        let one_path = flow.path.is_some() || !spec.choice.spreads();
        let mut links = match followed && one_path && spec.failures.is_empty() {
            true => fabric.path(f, false),
            // a few links that all its packets pass anyway
            false => [fabric.ports(NodeId(flow.src)), incoming.of(NodeId(flow.dst))]
                .into_iter()
                .filter_map(|links| if let [only] = links { Some(*only) } else { None })
                .collect(),
        };
        // the channel of a cell has rates of its own, and saved-up tokens of a bucket take no time
        links.retain(|l: &LinkId| spec.links[*l].cell.is_none() && spec.links[*l].bucket == 0);
        for link in links {
            let free_at = &mut free_at[link.ix()];
            *free_at = (*free_at).max(flow.start).saturating_add(spec.links[link].rate.serialize(size));
            end = end.max(*free_at);
        }
    }
    end.min(spec.duration)
}
