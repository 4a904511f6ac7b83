//! Symmetric routing: packets back take the links of packets there, the other way.
//!
//! A flow's way is that of ECMP, from its source. Where a packet that goes back has several next hops, the switch walks
//! that way from the source until it comes to itself, and takes the link over which the way came, backwards. So no
//! state is kept for flows, and around failures the mirror image follows what routing knows at that time. A switch that
//! is not on the way, or no more, chooses by ECMP's hash: a packet was under way there when routes changed.
//!
//! The two flows of a two-way connection have one way, that of the requests: data of the one carries ACKs of the other.

use crate::hash;
use crate::ids::{FlowId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::back;
use crate::map::paths::{Hops, hops, hops_at};
use crate::spec::Spec;
use incast_cc::Time;

/// Ways and links backwards.
#[derive(Clone, Debug)]
pub struct Mirror {
    outgoing: Adjacency,
    /// Local port of the other direction of every link, at its sending end; none where it has no other direction.
    back: Vec<Option<u32>>,
    /// By flow, the flow whose way it takes; empty where there are no connections.
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

    /// Which of the next hops `hops` of `node` a packet of (flow, direction) takes at `time`; without a time nothing
    /// has failed.
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

    /// Local port by which `node` sends back what has come on the way of `flow`; none where it does not come by.
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
