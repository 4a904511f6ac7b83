//! Max-min fair shares of the fabric's links, as goodput of the flows.
//!
//! Every flow counts as active from the beginning to the end and always has data, or sends at its application's rate;
//! headers, fragments and the links' overhead count, ACKs and losses do not. The result is what flows that share
//! links fairly get, not a bound: if one is held elsewhere or gets less, others get more. Times of the empty network
//! are the engine's ([`incast_engine::map::ideal`]).

use incast_engine::map::ideal::Fabric;
use incast_engine::spec::Spec;
use incast_engine::{FlowId, LinkId};
use incast_model::Invalid;
use incast_model::fair::{Demand, max_min};

/// Fair share of a flow, bits per second of payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// Over the links used by its packets under the scenario's routing; if switches spread packets, evenly over all
    /// shortest paths.
    pub routed_bps: f64,
    /// As if only the links of hosts could be full, as in a fabric that no routing can fill.
    pub edge_bps: f64,
}

/// Fair shares of all flows, in their order; 0 for a flow without a path.
pub fn fair_shares(spec: &Spec) -> Result<Vec<Share>, Invalid> {
    let fabric = Fabric::new(spec);
    let mut routed = Vec::with_capacity(spec.flows.len());
    let mut edge = Vec::with_capacity(spec.flows.len());
    for (number, flow) in (0..).map(FlowId).zip(&spec.flows) {
        let transport = &spec.transports[flow.transport as usize];
        let links = fabric.path(number, false);
        let most = if links.is_empty() { 0.0 } else { flow.app.rate(transport.sizes.mss) };
        // seconds of a link per bit of payload; a link has one second per second
        let payload = 8.0 * f64::from(transport.sizes.mss);
        let takes = |(link, share): (LinkId, f64)| {
            (link.0 as usize, share * fabric.period(link, &transport.sizes).as_secs_f64() / payload)
        };
        let ends = [links.first(), links.last()].into_iter().flatten().map(|l| takes((*l, 1.0))).collect();
        routed.push(Demand { takes: fabric.shares(number, false).into_iter().map(takes).collect(), most });
        edge.push(Demand { takes: ends, most });
    }
    let seconds = vec![1.0; spec.links.len()];
    let (routed, edge) = (max_min(&seconds, &routed)?, max_min(&seconds, &edge)?);
    Ok(routed.into_iter().zip(edge).map(|(routed_bps, edge_bps)| Share { routed_bps, edge_bps }).collect())
}
