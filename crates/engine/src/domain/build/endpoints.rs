//! Ends of flows at their hosts, the connections that join them, and who counts and watches them.

use crate::domain::Domain;
use crate::host::messages::{ConnectionSide, Query};
use crate::ids::{FlowId, QueryId, ReceiverIx, SenderIx};
use crate::map::fabric::{Ends, FabricMap};
use crate::transport::endpoints;
use incast_cc::Time;

/// A sender and a receiver for every flow.
pub fn flows(net: &mut FabricMap, domains: &mut [Domain]) {
    for f in (0..net.spec.flows.len() as u32).map(FlowId) {
        let flow = net.flow(f);
        let (src, dst) = (net.place[flow.src as usize], net.place[flow.dst as usize]);
        let (s, r) = endpoints(net, f, src.node.of_host(), dst.node.of_host());
        let senders = &mut domains[src.domain].endpoints.senders;
        let sender = SenderIx(senders.len() as u32);
        senders.push(s);
        let receivers = &mut domains[dst.domain].endpoints.receivers;
        let receiver = ReceiverIx(receivers.len() as u32);
        receivers.push(r);
        net.ends.push(Ends { sender_domain: src.domain, sender, receiver_domain: dst.domain, receiver });
    }
}

/// Queries, and the two sides of each of their connections.
pub fn queries(net: &mut FabricMap, domains: &mut [Domain]) {
    for (q, query) in (0..).map(QueryId).zip(&net.spec.queries) {
        let domain = &mut domains[net.place[query.root as usize].domain];
        net.queries.push(domain.endpoints.queries.len() as u32);
        domain.endpoints.queries.push(Query { spec: q, number: 0, waiting: 0, begun: Time::ZERO });
        for c in &query.connections {
            let (request, response) = (net.ends[c.request as usize], net.ends[c.response as usize]);
            let root = &mut domains[request.sender_domain];
            let side = root.nodes.sides.len() as u32;
            let wnd = root.endpoints.receivers[response.receiver].make_duplex(net, side, c.response_size);
            root.endpoints.senders[request.sender].make_duplex(side, false);
            // without a handshake the root's first packet opens the worker's side
            let open = !net.transport(net.flow(FlowId(c.request)).transport).handshake;
            root.nodes.sides.push(ConnectionSide { wnd, open, ..ConnectionSide::default() });
            let worker = &mut domains[response.sender_domain];
            let side = worker.nodes.sides.len() as u32;
            let wnd = worker.endpoints.receivers[request.receiver].make_duplex(net, side, c.request_size);
            worker.endpoints.senders[response.sender].make_duplex(side, true);
            worker.nodes.sides.push(ConnectionSide { wnd, ..ConnectionSide::default() });
        }
    }
}

/// Counts of triggers, and time series.
pub fn counts_and_probes(net: &mut FabricMap, domains: &mut [Domain]) {
    let spec = net.spec;
    for trigger in &mut net.triggers.list {
        let activations = &mut domains[net.place[trigger.home].domain].activations;
        trigger.count = activations.len() as u32;
        activations.push(0);
    }
    for f in &spec.observe.flows {
        let ends = net.ends[*f as usize];
        domains[ends.sender_domain].endpoints.probe(ends.sender);
    }
    for l in &spec.observe.ports {
        let at = net.place[spec.links[*l as usize].from as usize];
        domains[at.domain].nodes.ports[net.port_of[*l as usize]].probe();
    }
}
