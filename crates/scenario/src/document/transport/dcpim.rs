//! Note on rounds of dcPIM without room for other packets.

use super::rule::PacketTransport;
use super::tables::DcPim;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec;

impl PacketTransport for DcPim {
    /// A note on rounds in which control packets may not wait for one full packet.
    fn note(run: &spec::Spec) -> Option<String> {
        let own = run.transports.iter().any(|t| t.protocol.of::<spec::DcPim>().is_some());
        let fabric = own.then(|| Fabric::new(run))?;
        // the first thousand suffice: a fabric has few path lengths
        (0u32..).zip(&run.flows).take(1000).find_map(|(i, flow)| {
            let t = &run.transports[flow.transport as usize];
            let dcpim = t.protocol.of::<spec::DcPim>().filter(|_| flow.app.datagram_gap().is_none())?;
            let links: Vec<_> = fabric.path(FlowId(i), false).iter().map(|link| &run.links[*link]).collect();
            let way = links
                .iter()
                .fold(incast_cc::Time::ZERO, |sum, link| sum.saturating_add(link.crossing(t.sizes.ack_size as u64)));
            let wait = links.iter().map(|link| link.rate.serialize((t.sizes.mss + t.sizes.header) as u64)).max()?;
            let needs = way.saturating_add(wait).saturating_mul(2);
            (needs > dcpim.round()).then(|| {
                format!(
                    "transport.dcpim.control_rtt and beta make rounds of {}, and control packets of flow {i} that wait \
                     for one full packet each way need {needs}: some matchings fail (docs/receiver-driven.md)",
                    dcpim.round()
                )
            })
        })
    }
}
