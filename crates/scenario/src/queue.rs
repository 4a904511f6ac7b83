//! Queue disciplines: what a port does with an arriving packet.

use crate::problem::Problem;
use crate::quantity::{Limit, QueueLimit};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queue of a port. `[queue]` holds for all ports; `[queue.host]` replaces it at hosts' NICs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Queue {
    /// First in, first out; an arrival that does not fit is dropped.
    DropTail(DropTail),
    /// Marks arrivals that find at least `mark` queued: DCTCP's switch.
    EcnThreshold(EcnThreshold),
    /// Random early detection with the semantics and parameter names of ns-3's RedQueueDisc.
    Red(Red),
    /// Drop-tail that also drops some arrivals at random close to its limit: htsim's switch.
    RandomDrop(RandomDrop),
    /// Hosts only: a queue per flow, served round robin, that takes at most `per_flow` packets of
    /// a flow at a time; the transport holds the rest. htsim's NIC.
    FairNic(FairNic),
}

/// Drop-tail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DropTail {
    /// Largest queue.
    pub limit: QueueLimit,
    /// Packets in a device queue below this one, which it does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    #[serde(default)]
    pub count_in_service: bool,
    /// Bytes include the link's overhead: Linux counts Ethernet's 14 bytes in limits and thresholds.
    #[serde(default)]
    pub count_overhead: bool,
    /// Queue of hosts' NICs, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<Queue>>,
}

/// ECN threshold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EcnThreshold {
    /// Largest queue; beyond it arrivals are dropped.
    pub limit: QueueLimit,
    /// Threshold K: an ECN-capable arrival that finds this much queued is marked. At most `limit` where both are packets or both are bytes; a mixture is not compared.
    pub mark: QueueLimit,
    /// When the queue is compared with K: at a packet's arrival, or at the end of its transmission.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// What happens above K to packets that are not ECN-capable.
    #[serde(default)]
    pub non_ect: NonEct,
    /// ECN-capable packets that find no room count as marked too (ns-3's RED marks before it looks at the limit). Only the count differs.
    #[serde(default)]
    pub count_dropped_marks: bool,
    /// Packets in a device queue below this one, which it does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    #[serde(default)]
    pub count_in_service: bool,
    /// Bytes include the link's overhead: Linux counts Ethernet's 14 bytes in limits and thresholds.
    #[serde(default)]
    pub count_overhead: bool,
    /// Queue of hosts' NICs, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<Queue>>,
}

/// When a packet is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// It arrives and finds at least K queued.
    #[default]
    Arrival,
    /// It leaves, and the queue that it leaves, itself included, exceeds K (htsim).
    Departure,
}

/// Packets that cannot be marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// They pass; only the limit drops them.
    #[default]
    Pass,
    /// They are dropped, as RED hardware with equal thresholds does.
    Drop,
}

/// Random drops close to the limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RandomDrop {
    /// Largest queue.
    pub limit: QueueLimit,
    /// An arrival with which the queue would exceed this may be dropped (htsim: the limit less three full packets). In the unit of the limit.
    pub threshold: QueueLimit,
    /// Probability that it is.
    #[serde(default = "random_drop")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Packets in a device queue below this one, which it does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    #[serde(default)]
    pub count_in_service: bool,
    /// Bytes include the link's overhead: Linux counts Ethernet's 14 bytes in limits and thresholds.
    #[serde(default)]
    pub count_overhead: bool,
    /// Queue of hosts' NICs, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<Queue>>,
}

// htsim's RandomQueue.
fn random_drop() -> f64 {
    0.1
}

/// RED.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Red {
    /// Largest queue; thresholds are in the same unit.
    pub limit: QueueLimit,
    /// Lower threshold on the average queue.
    pub min_th: QueueLimit,
    /// Upper threshold.
    pub max_th: QueueLimit,
    /// Weight of a new value in the average queue; 1 is the queue itself, 0 derives
    /// 1 - exp(-1/C) from the link's packets per second C.
    #[serde(default = "qw")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub qw: f64,
    /// Inverse of the drop probability at `max_th`.
    #[serde(default = "l_interm")]
    #[schemars(range(min = 1.0))]
    pub l_interm: f64,
    /// Mean packet size in bytes, for idle times and thresholds in bytes.
    #[serde(default = "mean_pkt_size")]
    #[schemars(range(min = 1))]
    pub mean_pkt_size: u32,
    /// The probability rises to 1 between `max_th` and twice `max_th`, instead of jumping.
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Drops are spread out: none until as many packets have passed as the probability asks for.
    #[serde(default = "yes")]
    pub wait: bool,
    /// ECN-capable packets are marked where others would be dropped early.
    #[serde(default)]
    pub use_ecn: bool,
    /// Above the upper threshold even ECN-capable packets are dropped.
    #[serde(default = "yes")]
    pub use_hard_drop: bool,
    /// Packets in a device queue below this one, which it does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    #[serde(default)]
    pub count_in_service: bool,
    /// Bytes include the link's overhead: Linux counts Ethernet's 14 bytes in limits and thresholds.
    #[serde(default)]
    pub count_overhead: bool,
    /// Queue of hosts' NICs, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<Queue>>,
}

// Defaults of ns-3's RedQueueDisc (3.43).
fn qw() -> f64 {
    0.002
}
fn l_interm() -> f64 {
    50.0
}
fn mean_pkt_size() -> u32 {
    500
}
fn yes() -> bool {
    true
}

/// Per-flow fair NIC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FairNic {
    /// Packets of one flow in the NIC (htsim: 3).
    #[serde(default = "per_flow")]
    #[schemars(range(min = 1))]
    pub per_flow: u32,
}

fn per_flow() -> u32 {
    3
}

impl Queue {
    /// Queue of hosts' NICs, where it differs from that of switches.
    pub fn host(&self) -> Option<&Queue> {
        match self {
            Queue::DropTail(q) => q.host.as_deref(),
            Queue::EcnThreshold(q) => q.host.as_deref(),
            Queue::Red(q) => q.host.as_deref(),
            Queue::RandomDrop(q) => q.host.as_deref(),
            Queue::FairNic(_) => None,
        }
    }

    /// As the engine has it.
    pub fn spec(&self) -> spec::QueueSpec {
        let (discipline, limit, device, count_in_service, count_overhead) = match self {
            Queue::DropTail(q) => (spec::Discipline::DropTail, q.limit, q.device, q.count_in_service, q.count_overhead),
            Queue::EcnThreshold(q) => {
                let mark = q.mark.spec();
                let d = match q.mark_at {
                    MarkAt::Arrival => spec::Discipline::EcnThreshold {
                        mark,
                        drop_not_ect: q.non_ect == NonEct::Drop,
                        count_dropped: q.count_dropped_marks,
                    },
                    MarkAt::Departure => spec::Discipline::EcnAtDeparture { mark },
                };
                (d, q.limit, q.device, q.count_in_service, q.count_overhead)
            }
            Queue::Red(q) => {
                let d = spec::Discipline::Red(spec::Red {
                    min_th: q.min_th.amount().unwrap_or(0) as f64,
                    max_th: q.max_th.amount().unwrap_or(0) as f64,
                    qw: q.qw,
                    l_interm: q.l_interm,
                    mean_pkt_size: q.mean_pkt_size,
                    gentle: q.gentle,
                    wait: q.wait,
                    use_ecn: q.use_ecn,
                    use_hard_drop: q.use_hard_drop,
                });
                (d, q.limit, q.device, q.count_in_service, q.count_overhead)
            }
            Queue::RandomDrop(q) => {
                let d = spec::Discipline::RandomDrop { threshold: q.threshold.spec(), probability: q.probability };
                (d, q.limit, q.device, q.count_in_service, q.count_overhead)
            }
            Queue::FairNic(q) => {
                (spec::Discipline::FairNic { per_flow: q.per_flow }, QueueLimit(Limit::None), 0, false, false)
            }
        };
        spec::QueueSpec { discipline, limit: limit.spec(), device, count_in_service, count_overhead, explicit: false }
    }

    /// Limits in bytes, here and at hosts, that no full packet fits into. `packet` is the largest
    /// IP packet of the transports in use, in bytes.
    pub fn check_packet(&self, path: &str, packet: u64, out: &mut Vec<Problem>) {
        let limit = self.limit();
        if limit.is_some_and(|l| matches!(l.0, Limit::Bytes(n) if (1..packet).contains(&n))) {
            let quoted = limit.map_or(String::new(), |l| format!("\"{l}\""));
            let message = format!("expected at least {packet}B, a full packet of the transport");
            out.push(Problem::with_value(format!("{path}.limit"), quoted, message));
        }
        if let Some(host) = self.host() {
            host.check_packet(&format!("{path}.host"), packet, out);
        }
    }

    /// What does not go with a token bucket: at switches' ports, at hosts' ports.
    pub fn check_buckets(&self, path: &str, at_switches: bool, at_hosts: bool, out: &mut Vec<Problem>) {
        if let Some(host) = self.host() {
            host.check_buckets(&format!("{path}.host"), at_hosts, false, out);
        }
        if !(at_switches || at_hosts && self.host().is_none()) {
            return;
        }
        let device = match self {
            Queue::DropTail(q) => q.device,
            Queue::EcnThreshold(q) => q.device,
            Queue::Red(q) => q.device,
            Queue::RandomDrop(q) => q.device,
            Queue::FairNic(_) => 0,
        };
        if device > 0 {
            let message = "expected 0 with the burst of a link: there is no device queue below a token bucket";
            out.push(Problem::with_value(format!("{path}.device"), device, message));
        }
        match self {
            Queue::EcnThreshold(q) if q.mark_at == MarkAt::Departure => {
                let message =
                    "expected \"arrival\" with the burst of a link: a token bucket has no departures to mark at";
                out.push(Problem::with_value(format!("{path}.mark_at"), "\"departure\"", message));
            }
            Queue::FairNic(_) => {
                let message = "expected another kind with the burst of a link: a fair NIC has a transmitter";
                out.push(Problem::with_value(format!("{path}.kind"), "\"fair-nic\"", message));
            }
            _ => {}
        }
    }

    fn limit(&self) -> Option<QueueLimit> {
        match self {
            Queue::DropTail(q) => Some(q.limit),
            Queue::EcnThreshold(q) => Some(q.limit),
            Queue::Red(q) => Some(q.limit),
            Queue::RandomDrop(q) => Some(q.limit),
            Queue::FairNic(_) => None,
        }
    }

    /// Its ports hold whatever comes.
    pub(crate) fn is_endless(&self) -> bool {
        self.limit().is_some_and(|l| matches!(l.0, Limit::None))
    }

    /// Contradictions between keys.
    pub fn check(&self, path: &str, at_host: bool, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let quoted = |l: QueueLimit| format!("\"{l}\"");
        if let Some(l) = self.limit().filter(|l| l.amount() == Some(0)) {
            out.push(Problem::with_value(key("limit"), quoted(l), "expected room for at least one packet"));
        }
        match self {
            Queue::EcnThreshold(q) => {
                if q.mark.same_unit(q.limit) && q.mark > q.limit {
                    let message = format!("expected at most the limit, {}: a queue never grows beyond it", q.limit);
                    out.push(Problem::with_value(key("mark"), quoted(q.mark), message));
                }
                if q.mark_at == MarkAt::Departure && q.non_ect == NonEct::Drop {
                    let message = "expected \"pass\" with mark_at = \"departure\": what leaves is not dropped any more";
                    out.push(Problem::with_value(key("non_ect"), "\"drop\"", message));
                }
                if q.mark_at == MarkAt::Departure && q.device > 0 {
                    let message = "expected 0 with mark_at = \"departure\", which counts all that waits in the port";
                    out.push(Problem::with_value(key("device"), q.device, message));
                }
                if q.mark_at == MarkAt::Departure && q.count_dropped_marks {
                    let message = "expected false with mark_at = \"departure\": what is dropped never leaves";
                    out.push(Problem::with_value(key("count_dropped_marks"), "true", message));
                }
                if q.mark_at == MarkAt::Departure && q.count_overhead {
                    let message = "expected false with mark_at = \"departure\", which counts packets without it";
                    out.push(Problem::with_value(key("count_overhead"), "true", message));
                }
                if q.mark.amount().is_none() {
                    out.push(Problem::with_value(
                        key("mark"),
                        quoted(q.mark),
                        "expected packets such as \"250p\" or bytes such as \"30kB\"",
                    ));
                }
            }
            Queue::Red(q) => {
                for (name, th) in [("min_th", q.min_th), ("max_th", q.max_th)] {
                    if th.amount().is_none() || (q.limit.amount().is_some() && !th.same_unit(q.limit)) {
                        out.push(Problem::with_value(
                            key(name),
                            quoted(th),
                            format!("expected the unit of the limit, {}", q.limit),
                        ));
                    }
                }
                if q.min_th.same_unit(q.max_th) && q.min_th > q.max_th {
                    out.push(Problem::with_value(
                        key("min_th"),
                        quoted(q.min_th),
                        format!("expected at most max_th, {}", q.max_th),
                    ));
                }
            }
            Queue::RandomDrop(q) => {
                if q.threshold.amount().is_none() || !q.threshold.same_unit(q.limit) {
                    let message = format!("expected the unit of the limit, {}", q.limit);
                    out.push(Problem::with_value(key("threshold"), quoted(q.threshold), message));
                } else if q.threshold > q.limit {
                    let message = format!("expected at most the limit, {}, beyond which all are dropped", q.limit);
                    out.push(Problem::with_value(key("threshold"), quoted(q.threshold), message));
                }
            }
            Queue::FairNic(_) if !at_host => {
                out.push(Problem::with_value(
                    key("kind"),
                    "\"fair-nic\"",
                    "expected at hosts only, in [queue.host]; switches have no flows of their own",
                ));
            }
            Queue::DropTail(_) | Queue::FairNic(_) => {}
        }
        match self.host() {
            Some(_) if at_host => out.push(Problem::new(key("host"), "unknown key")),
            Some(host) => host.check(&key("host"), true, out),
            None => {}
        }
    }
}
