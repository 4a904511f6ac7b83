//! Keys of pHost, the links that it needs, and whether a message has enough tokens.

use super::rule::{Around, PacketTransport, table};
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, Size};
use crate::text::words::{Word, words};
use incast_cc::Rate;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// pHost. The unit of times is the transmission time of a full packet on the host's link.
    PHost {
        /// Messages that have tokens from the start.
        free: Word<spec::Free>,
        /// Largest number of unscheduled packets of a message. (About a bandwidth-delay product.)
        #[schemars(range(max = 65535))]
        free_packets: u32,
        /// Time from one token of a host to its next. The authors' simulator has 1.027: a packet of 1500 bytes and a
        /// header of 40.
        #[schemars(extend("exclusiveMinimum" = 0))]
        gap: f64,
        /// Lifetime of a token after its arrival.
        #[schemars(extend("exclusiveMinimum" = 0))]
        expiry: f64,
        /// Largest number of tokens of a message not yet answered by data.
        #[schemars(range(min = 1))]
        window: u32,
        /// With `window` unanswered tokens a message gets one more token this long after its last.
        #[schemars(extend("exclusiveMinimum" = 0))]
        skip: f64,
        /// Time after the last token of a message at which tokens for missing packets are sent again, once all have
        /// been sent.
        #[schemars(extend("exclusiveMinimum" = 0))]
        reissue: f64,
        /// Number of priorities: control packets, data, and with 3 data of large messages.
        #[schemars(range(min = 2, max = 3))]
        levels: u32,
        /// Messages larger than this are large. `auto`: those above `free_packets`.
        large: Auto<Size>,
    }
}

words! {
    /// Messages of pHost that have tokens from the start.
    "Free" spec::Free {
        /// Messages of up to `free_packets` packets, for all of them; others have none: as in the authors' simulator.
        "short" => spec::Free::Short,
        /// All messages, for their first `free_packets` packets: as in the paper, at second hand.
        "all" => spec::Free::All,
    }
}

impl PacketTransport for PHost {
    fn spec(&self, mss: u32) -> Option<spec::Protocol> {
        let free_packets = self.free_packets?;
        let large = self.large?.given().map_or((free_packets as u64 * mss as u64).max(1), |size| size.0.0);
        Some(spec::Protocol::PHost(spec::PHost {
            free: self.free?.0,
            free_packets,
            gap: self.gap?,
            expiry: self.expiry?,
            window: self.window?,
            skip: self.skip?,
            reissue: self.reissue?,
            large: (self.levels? > 2).then_some(large),
        }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        let times = [("gap", self.gap), ("expiry", self.expiry), ("skip", self.skip), ("reissue", self.reissue)];
        for (key, time) in times {
            if let Some(time) = time.filter(|time| !(*time > 0.0 && *time <= spec::PHost::MAX_PACKETS as f64)) {
                let most = spec::PHost::MAX_PACKETS;
                at.value(key, time, format!("expected a time of more than 0 and at most {most} packets"));
            }
        }
        if let Some(n) = self.free_packets.filter(|n| *n > spec::PHost::MAX_PACKETS) {
            let message = format!("expected at most {}: they go at once", spec::PHost::MAX_PACKETS);
            at.value("free_packets", n, message);
        }
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 token");
        }
        if let Some(levels) = self.levels.filter(|levels| !(2..=3).contains(levels)) {
            at.value("levels", levels, "expected 2 or 3");
        }
        if let Some(size) = self.large.and_then(Auto::given).filter(|size| size.0.0 == 0) {
            at.text("large", size, "expected at least 1B: no message is shorter");
        }
    }

    fn check_network(around: &Around, problems: &mut Vec<Problem>) {
        let of_host = |from: u32| from < around.network.hosts;
        if around.transports.iter().any(|t| t.protocol.of::<spec::PHost>().is_some())
            && let Some(link) = around.network.links.iter().find(|l| l.rate == Rate::INFINITE && of_host(l.from))
        {
            let message = format!(
                "expected all links of hosts with a finite rate, unlike {}: a host sends one token per packet time",
                link.name
            );
            problems.push(Problem::new("transport.phost", message));
        }
    }

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
