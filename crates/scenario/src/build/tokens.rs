//! Tokens (pHost): requirements on links, and whether a message has enough tokens.

use crate::text::problem::Problem;
use crate::topology::network::Network;
use incast_cc::Rate;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{Spec, TransportSpec};

/// Checks that hosts have a transmission time for a packet.
pub(super) fn check(network: &Network, transports: &[TransportSpec], problems: &mut Vec<Problem>) {
    let of_host = |from: u32| from < network.hosts;
    if transports.iter().any(|t| t.protocol.of::<incast_engine::spec::PHost>().is_some())
        && let Some(link) = network.links.iter().find(|l| l.rate == Rate::INFINITE && of_host(l.from))
    {
        let message = format!(
            "expected all links of hosts with a finite rate, unlike {}: a host sends one token per packet time",
            link.name
        );
        problems.push(Problem::new("transport.phost", message));
    }
}

/// A note on messages that may have fewer tokens than an idle round trip needs.
pub(super) fn short_of_a_round_trip(spec: &Spec) -> Option<String> {
    let own = spec.transports.iter().any(|t| t.protocol.of::<incast_engine::spec::PHost>().is_some());
    let fabric = own.then(|| Fabric::new(spec))?;
    // the first thousand suffice: a fabric has few path lengths
    let pauses = (0u32..).zip(&spec.flows).take(1000).find_map(|(i, flow)| {
        let t = &spec.transports[flow.transport as usize];
        let phost = t.protocol.of::<incast_engine::spec::PHost>().filter(|_| flow.app.datagram_gap().is_none())?;
        let link = spec.links.iter().find(|l| l.from == flow.dst)?;
        let one = link.rate.serialize((t.mss + t.header) as u64).as_secs_f64() * phost.gap;
        let rtt = fabric.ideal(FlowId(i)).idle_rtt;
        let needs = (rtt.as_secs_f64() / one).ceil();
        (needs > phost.window as f64).then_some((i, rtt, phost.window, needs))
    });
    pauses.map(|(flow, rtt, window, needs)| {
        format!(
            "transport.phost.window = {window} tokens, and the idle round trip of flow {flow}, {rtt}, has {needs}: \
             messages wait for answers (docs/receiver-driven.md)"
        )
    })
}
