//! Symmetric routing: packets of the reverse direction take the links of the forward path, in the opposite direction.
//!
//! The path of a flow is that of ECMP, from its source. Where a packet of the reverse direction has several next hops,
//! the switch follows that path from the source until it reaches itself, and takes the link over which the path
//! arrived, in the opposite direction. So no per-flow state is kept, and around failures the mirror image follows the
//! routes known at that time. A switch off the path chooses by ECMP's hash: the packet was in flight when routes
//! changed.
//!
//! The two flows of a two-way connection share one path, that of the requests: data of one carries ACKs of the other.

use crate::hash;
use crate::ids::{FlowId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::back;
use crate::map::paths::{Hops, hops, hops_at};
use crate::spec::Spec;
use incast_cc::Time;

/// Forward paths and opposite links.
#[derive(Clone, Debug)]
pub struct Mirror {
    outgoing: Adjacency,
    /// Local port of the opposite direction of every link, at its sending end; none if it has none.
    back: Vec<Option<u32>>,
    /// By flow: the flow whose path it takes. Empty where there are no connections.
    leads: Vec<FlowId>,
}

impl Mirror {
    /// For `spec`, if its routing is symmetric.
    pub fn new(spec: &Spec) -> Option<Mirror> {
        if !spec.choice.is_symmetric() {
            return None;
        }
        let outgoing = Adjacency::outgoing(spec);
        let mut leads = Vec::new();
        if !spec.queries.is_empty() {
            leads = (0..spec.flows.len() as u32).map(FlowId).collect();
            for c in spec.queries.iter().flat_map(|query| &query.connections) {
                if let Some(lead) = leads.get_mut(c.response as usize) {
                    *lead = FlowId(c.request);
                }
            }
        }
        let back = back::links(spec).into_iter().map(|other| {
            let other = other?;
            let port = outgoing.of(NodeId(spec.links[other].from)).iter().position(|l| *l == other)?;
            Some(port as u32)
        });
        Some(Mirror { back: back.collect(), outgoing, leads })
    }

    /// Index into `hops`, the next hops of `node`, for a packet of (flow, direction) at `time`; `None`: without
    /// failures.
    pub fn choose(
        &self,
        spec: &Spec,
        node: NodeId,
        (flow, reverse): (FlowId, bool),
        hops: Hops,
        time: Option<Time>,
    ) -> u32 {
        let lead = self.leads.get(flow.ix()).copied().unwrap_or(flow);
        let back = reverse != (lead != flow);
        let mirrored = if back { self.port_back(spec, node, lead, time) } else { None };
        let place = mirrored.and_then(|port| hops.iter().position(|p| p == port));
        place.map_or_else(|| hash::pick(hash::ecmp(spec.seed, lead, back, node), hops.len()), |i| i as u32)
    }

    /// Local port by which `node` returns packets of `flow` along its path; none if the path does not pass the node.
    fn port_back(&self, spec: &Spec, node: NodeId, flow: FlowId, time: Option<Time>) -> Option<u32> {
        let (src, dst) = (spec.flows[flow].src, NodeId(spec.flows[flow].dst));
        let mut link = *self.outgoing.of(NodeId(src)).first()?;
        for _ in 0..spec.routers.len() {
            let at = NodeId(spec.links[link].to);
            if at == node {
                return self.back[link];
            }
            let router = spec.routers.get(at.0.checked_sub(spec.hosts)? as usize)?;
            let next = time.map_or_else(|| hops(router, dst), |time| hops_at(router, dst, time));
            if next.is_empty() {
                return None;
            }
            let i = hash::pick(hash::ecmp(spec.seed, flow, false, at), next.len());
            link = *self.outgoing.of(at).get(next.get(i) as usize)?;
        }
        None
    }
}
