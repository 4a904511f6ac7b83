//! Note on messages of pHost with too few tokens.

use super::rule::PacketTransport;
use super::tables::PHost;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec;

impl PacketTransport for PHost {
    /// A note on messages that may have fewer tokens than an idle round trip needs.
    fn note(run: &spec::Spec) -> Option<String> {
        let own = run.transports.iter().any(|t| t.protocol.of::<spec::PHost>().is_some());
        let fabric = own.then(|| Fabric::new(run))?;
        // the first thousand suffice: a fabric has few path lengths
        let pauses = (0u32..).zip(&run.flows).take(1000).find_map(|(i, flow)| {
            let t = &run.transports[flow.transport as usize];
            let phost = t.protocol.of::<spec::PHost>().filter(|_| flow.app.datagram_gap().is_none())?;
            let link = run.links.iter().find(|l| l.from == flow.dst)?;
            let one = link.rate.serialize((t.sizes.mss + t.sizes.header) as u64).as_secs_f64() * phost.gap;
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
}
