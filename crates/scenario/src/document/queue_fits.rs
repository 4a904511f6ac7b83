//! Checks of queues against the transports, links and buffers around them.

use crate::document::queue::Queue;
use crate::text::problem::Report;
use incast_engine::spec;

impl Queue {
    /// Reports transports whose segments cannot be trimmed.
    pub(crate) fn check_transports(&self, transports: &[spec::TransportSpec], at: &mut Report) {
        if let Some(host) = self.host() {
            host.check_transports(transports, &mut at.below("host"));
        }
        let Queue::Trimming(trimming) = self else { return };
        let takes_back = |t: &spec::TransportSpec| t.protocol.facts().takes_returned_headers;
        if trimming.return_to_sender && !transports.iter().any(takes_back) {
            let message = "expected a transport that takes headers back: transport.preset = \"ndp\"";
            at.value("return_to_sender", true, message);
        }
        // data with no more payload than a header joins the headers
        let data = u64::from(trimming.header.0.0 as u16);
        let largest = transports.iter().filter(|t| takes_back(t)).map(|t| data + u64::from(t.sizes.header)).max();
        if let (true, spec::Limit::Bytes(room), Some(largest)) =
            (trimming.return_to_sender, trimming.header_limit(), largest)
            && room < largest
        {
            let message = format!(
                "expected at least {largest}B with return_to_sender: data with no more payload than a header would \
                 go back for ever"
            );
            at.text("header_limit", format!("{room}B"), message);
        }
        if transports.iter().any(|t| t.sizes.mtu > 0 && t.sizes.mss + t.sizes.header > t.sizes.mtu) {
            let message = "expected segments within the MTU (transport.mss): fragments are not trimmed";
            at.text("kind", "trimming", message);
        }
        let blind = |t: &spec::TransportSpec| {
            !t.protocol.numbers_packets() && (!t.loss.sack || t.loss.scoreboard == spec::Rules::Ns3)
        };
        if transports.iter().any(blind) {
            let message =
                "expected transports with SACK, and not ns-3's scoreboard: the sender must distinguish segments";
            at.text("kind", "trimming", message);
        }
    }

    /// Reports keys that contradict a token bucket: at switches' ports, at hosts' ports.
    pub(crate) fn check_buckets(&self, at_switches: bool, at_hosts: bool, at: &mut Report) {
        if let Some(host) = self.host() {
            host.check_buckets(at_hosts, false, &mut at.below("host"));
        }
        if !(at_switches || at_hosts && self.host().is_none()) {
            return;
        }
        if self.device() > 0 {
            let message = "expected 0 with the burst of a link: there is no device queue below a token bucket";
            at.value("device", self.device(), message);
        }
        match self.discipline() {
            spec::Discipline::EcnAtDeparture(_) => {
                let message =
                    "expected \"arrival\" with the burst of a link: a token bucket has no departures to mark at";
                at.text("mark_at", "departure", message);
            }
            // all other kinds that need departures
            _ if self.spec().is_explicit() => {
                let message =
                    "expected one queue with the burst of a link: a token bucket sends in the order of arrival";
                at.text("kind", self.word(), message);
            }
            spec::Discipline::FairNic { .. } => {
                let message = "expected another kind with the burst of a link: a fair NIC has a transmitter";
                at.text("kind", self.word(), message);
            }
            _ => {}
        }
    }

    /// Reports a queue of switches that shares a buffer and drops by a limit of its own.
    pub(crate) fn check_shared(&self, at: &mut Report) {
        if let Queue::Pfabric(_) = self {
            let message = "expected another kind beside [buffer]: pFabric drops by a limit of its own";
            at.text("kind", self.word(), message);
        }
    }
}
