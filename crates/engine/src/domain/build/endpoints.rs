//! Ends of flows at their hosts, their connections, trigger counts, and time series.

use crate::domain::late_ends::{receiver, sender};
use crate::domain::timeline::frame;
use crate::domain::{Domain, ranks};
use crate::host::messages::{Query, Tcb};
use crate::ids::{FlowId, QueryId, ReceiverIx, SenderIx};
use crate::map::fabric::{Ends, FabricMap};
use crate::map::groups::Groups;
use crate::threads::thread_pool::{ThreadPool, split};
use crate::transport::EndTable;
use incast_cc::Time;

/// Builds a sender and a receiver for every flow, unless `goes_on` returns false.
pub fn flows(
    net: &mut FabricMap,
    domains: &mut [Domain],
    thread_pool: &ThreadPool,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Option<()> {
    let (flows, place) = (&net.spec.flows, &net.place);
    let mut counts = vec![(0, 0); domains.len()];
    let next = |count: &mut u32| std::mem::replace(count, *count + 1);
    let (late, own): (Vec<FlowId>, Vec<FlowId>) =
        (0..flows.len() as u32).map(FlowId).partition(|f| net.jobs.is_late(net.spec, *f));
    net.ends = vec![Ends::default(); flows.len()];
    for f in own.iter().chain(&late) {
        let [sender_domain, receiver_domain] = [flows[*f].src, flows[*f].dst].map(|host| place[host as usize].domain);
        let sender = SenderIx(next(&mut counts[sender_domain].0));
        let receiver = ReceiverIx(next(&mut counts[receiver_domain].1));
        net.ends[*f] = Ends { sender_domain, sender, receiver_domain, receiver };
    }
    let sent = Groups::new(domains.len(), own.iter().map(|f| (net.ends[*f].sender_domain.ix(), *f)));
    let received = Groups::new(domains.len(), own.iter().map(|f| (net.ends[*f].receiver_domain.ix(), *f)));
    let net = &*net;
    let parts = split(domains, &thread_pool.short_ranges(domains.len()));
    let made = thread_pool.share_monitored(parts, goes_on, |(first, domains)| {
        for (d, domain) in (first..).zip(domains) {
            let (senders, receivers) = (sent.of(d).iter(), received.of(d).iter());
            domain.endpoints.senders = EndTable::new(senders.map(|f| sender(net, *f)).collect(), counts[d].0);
            domain.endpoints.receivers = EndTable::new(receivers.map(|f| receiver(net, *f)).collect(), counts[d].1);
        }
    });
    made.map(|_| ())
}

/// Builds ranks of jobs, queries, and both sides of each of their connections.
pub fn queries(net: &mut FabricMap, domains: &mut [Domain]) {
    ranks::place(net, |domain, change| change(domains[domain].endpoints.jobs.get_or_insert_default()));
    for (q, query) in (0..).map(QueryId).zip(&net.spec.queries) {
        let domain = &mut domains[net.place[query.root as usize].domain];
        net.queries.push(domain.endpoints.queries.len() as u32);
        domain.endpoints.queries.push(Query { spec: q, number: 0, waiting: 0, begun: Time::ZERO });
        for c in &query.connections {
            let (request, response) = (net.ends[c.request as usize], net.ends[c.response as usize]);
            let root = &mut domains[request.sender_domain];
            let tcb = root.nodes.tcbs.len() as u32;
            let wnd = root.endpoints.make_duplex(net, (request.sender, response.receiver), tcb, c.response_size, false);
            // without a handshake the root's first packet opens the worker's side
            let open = !net.transport(net.flow(FlowId(c.request)).transport).connection.handshake;
            root.nodes.tcbs.push(Tcb { wnd, open, ..Tcb::default() });
            let worker = &mut domains[response.sender_domain];
            let tcb = worker.nodes.tcbs.len() as u32;
            let wnd = worker.endpoints.make_duplex(net, (response.sender, request.receiver), tcb, c.request_size, true);
            worker.nodes.tcbs.push(Tcb { wnd, ..Tcb::default() });
        }
    }
}

/// Builds counts of triggers, and time series.
pub fn counts_and_probes(net: &mut FabricMap, domains: &mut [Domain]) {
    let spec = net.spec;
    for trigger in &mut net.triggers.list {
        let activations = &mut domains[net.place[trigger.home].domain].activations;
        trigger.count = activations.len() as u32;
        activations.push(0);
    }
    frame(domains, net);
    for f in &spec.observe.flows {
        let ends = net.ends[*f as usize];
        domains[ends.sender_domain].endpoints.probe(net, FlowId(*f));
    }
    for l in &spec.observe.ports {
        let at = net.place[spec.links[*l as usize].from as usize];
        let (domain, port) = (&mut domains[at.domain], net.port_of[*l as usize]);
        domain.nodes.ports[port].probe();
        if let Some(programs) = domain.programs(at.node) {
            programs.probe(port, &spec.links[*l as usize].name);
        }
    }
}
