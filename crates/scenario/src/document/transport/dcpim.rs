//! Keys of dcPIM, the links that it needs, and whether its rounds leave room for other packets.

use super::rule::{Around, PacketTransport, table};
use crate::text::problem::{Problem, Report};
use crate::text::quantity::Time;
use incast_cc::Rate;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// dcPIM. The unit of `window_timeout` and `reissue` is the transmission time of a full packet on the host's link.
    DcPim {
        /// Rounds of a matching.
        #[schemars(range(min = 1, max = 64))]
        rounds: u32,
        /// Channels of a host: each takes an equal share of its link.
        #[schemars(range(min = 1, max = 64))]
        channels: u32,
        /// Round-trip time of control packets over the longest path, without queues.
        control_rtt: Time,
        /// Length of a round in `control_rtt`s: what is above 1 is for waiting behind other packets.
        #[schemars(range(min = 1))]
        beta: f64,
        /// Length of a data phase in matching phases.
        #[schemars(range(min = 1))]
        alpha: f64,
        /// Largest number of packets of a message that goes without matching. (About a bandwidth-delay product.)
        #[schemars(range(max = 65535))]
        short_packets: u32,
        /// First rounds of a matching in which the message with the fewest missing packets comes first; the order of
        /// later ones is random.
        #[schemars(range(max = 64))]
        shortest_first: u32,
        /// Largest number of tokens of a message not yet answered by data, with all channels; a link of fewer has its
        /// share. (About a bandwidth-delay product.)
        #[schemars(range(min = 1, max = 65535))]
        window: u32,
        /// With a full window a message gets more tokens this long after its last.
        #[schemars(extend("exclusiveMinimum" = 0))]
        window_timeout: f64,
        /// Time after the last token of a message at which tokens for missing packets are sent again, once all have
        /// been sent.
        #[schemars(extend("exclusiveMinimum" = 0))]
        reissue: f64,
        /// Number of priorities: control packets, and data by message size.
        #[schemars(range(min = 2, max = 7))]
        levels: u32,
    }
}

impl PacketTransport for DcPim {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        Some(spec::Protocol::DcPim(spec::DcPim {
            rounds: self.rounds?,
            channels: self.channels?,
            control_rtt: self.control_rtt?.0,
            beta: self.beta?,
            alpha: self.alpha?,
            short_packets: self.short_packets?,
            shortest_first: self.shortest_first?,
            window: self.window?,
            window_timeout: self.window_timeout?,
            reissue: self.reissue?,
            levels: self.levels?.min(u8::MAX as u32) as u8,
        }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        let most = spec::DcPim::MAX_PACKETS;
        let counts = [
            ("rounds", self.rounds, 1, spec::DcPim::MAX_ROUNDS),
            ("channels", self.channels, 1, spec::DcPim::MAX_CHANNELS),
            ("short_packets", self.short_packets, 0, most),
            ("shortest_first", self.shortest_first, 0, spec::DcPim::MAX_ROUNDS),
            ("window", self.window, 1, most),
            ("levels", self.levels, 2, 7),
        ];
        for (key, n, least, most) in counts {
            if let Some(n) = n.filter(|n| !(least..=most).contains(n)) {
                at.value(key, n, format!("expected {least} to {most}"));
            }
        }
        for (key, factor) in [("beta", self.beta), ("alpha", self.alpha)] {
            if let Some(factor) = factor.filter(|factor| !(1.0..=spec::DcPim::MAX_FACTOR).contains(factor)) {
                at.value(key, factor, "expected at least 1 and at most a million");
            }
        }
        for (key, time) in [("window_timeout", self.window_timeout), ("reissue", self.reissue)] {
            if let Some(time) = time.filter(|time| !(*time > 0.0 && *time <= most as f64)) {
                at.value(key, time, format!("expected a time of more than 0 and at most {most} packets"));
            }
        }
        let range = incast_cc::Time::ns(1)..=incast_cc::Time::s(1);
        if let Some(time) = self.control_rtt.filter(|time| !range.contains(&time.0)) {
            at.text("control_rtt", time, "expected 1ns to 1s");
        }
    }

    fn check_network(around: &Around, problems: &mut Vec<Problem>) {
        let of_host = |from: u32| from < around.network.hosts;
        if around.transports.iter().any(|t| t.protocol.of::<spec::DcPim>().is_some())
            && let Some(link) = around.network.links.iter().find(|l| l.rate == Rate::INFINITE && of_host(l.from))
        {
            let message = format!(
                "expected all links of hosts with a finite rate, unlike {}: a channel is a share of a link",
                link.name
            );
            problems.push(Problem::new("transport.dcpim", message));
        }
    }

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
