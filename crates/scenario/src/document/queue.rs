//! Queue disciplines: what a port does with an arriving packet.

use crate::text::problem::{self, Problem};
use crate::text::quantity::{Limit, QueueLimit, Size};
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
    /// A queue for every traffic class, the lowest class that has something served first.
    StrictPriority(StrictPriority),
    /// A queue for every traffic class, served by deficit round robin, each with a weight.
    Weighted(Weighted),
    /// Data that does not fit is cut to its header, and headers overtake data: NDP's switch, as htsim has it.
    Trimming(Trimming),
    /// Hosts only: a queue per flow, served round robin, that takes at most `per_flow` packets of
    /// a flow at a time; the transport holds the rest. htsim's NIC.
    FairNic(FairNic),
}

/// Queue of one traffic class of a port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ClassQueue {
    /// First in, first out; an arrival that does not fit is dropped.
    DropTail(DropTail),
    /// Marks arrivals that find at least `mark` queued: DCTCP's switch.
    EcnThreshold(EcnThreshold),
    /// Random early detection with the semantics and parameter names of ns-3's RedQueueDisc.
    Red(Red),
    /// Drop-tail that also drops some arrivals at random close to its limit: htsim's switch.
    RandomDrop(RandomDrop),
}

impl From<&ClassQueue> for Queue {
    fn from(class: &ClassQueue) -> Queue {
        match class.clone() {
            ClassQueue::DropTail(q) => Queue::DropTail(q),
            ClassQueue::EcnThreshold(q) => Queue::EcnThreshold(q),
            ClassQueue::Red(q) => Queue::Red(q),
            ClassQueue::RandomDrop(q) => Queue::RandomDrop(q),
        }
    }
}

/// What a port has whatever waits in it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Port {
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

/// A port of one queue.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FifoPort {
    /// Packets in a device queue below this one, which it does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// The rest.
    #[serde(flatten)]
    pub port: Port,
}

/// Drop-tail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DropTail {
    /// Largest queue.
    pub limit: QueueLimit,
    /// Its port.
    #[serde(flatten)]
    pub port: FifoPort,
}

/// ECN threshold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EcnThreshold {
    /// Largest queue; beyond it arrivals are dropped.
    pub limit: QueueLimit,
    /// Threshold K: an ECN-capable arrival that finds this much queued is marked. At most `limit` where both are
    /// packets or both are bytes; a mixture is not compared.
    pub mark: QueueLimit,
    /// When the queue is compared with K: at a packet's arrival, or at the end of its transmission.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// What happens above K to packets that are not ECN-capable.
    #[serde(default)]
    pub non_ect: NonEct,
    /// ECN-capable packets that find no room count as marked too (ns-3's RED marks before it looks at the limit). Only
    /// the count differs.
    #[serde(default)]
    pub count_dropped_marks: bool,
    /// Its port.
    #[serde(flatten)]
    pub port: FifoPort,
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
    /// An arrival with which the queue would exceed this may be dropped (htsim: the limit less three full packets). In
    /// the unit of the limit.
    pub threshold: QueueLimit,
    /// Probability that it is.
    #[serde(default = "random_drop")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Its port.
    #[serde(flatten)]
    pub port: FifoPort,
}

// htsim's RandomQueue.
fn random_drop() -> f64 {
    0.1
}

/// Packet trimming.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Trimming {
    /// Largest queue of data; beyond it payload is cut off.
    pub limit: QueueLimit,
    /// Largest queue of headers and control packets; beyond it they are dropped. Twice `limit` unless given (htsim).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_limit: Option<QueueLimit>,
    /// What is left of a packet. One that carries no more than that goes with the headers as it is.
    #[serde(default = "header")]
    pub header: Size,
    /// Headers served for one data packet where both wait (NDP: 10; htsim: 100000).
    #[serde(default = "headers_per_data")]
    #[schemars(range(min = 1))]
    pub headers_per_data: u32,
    /// Its port.
    #[serde(flatten)]
    pub port: Port,
}

// htsim's NDP packets; the ratio of NDP's paper.
fn header() -> Size {
    Size(incast_cc::Bytes(64))
}
fn headers_per_data() -> u32 {
    10
}

impl Trimming {
    fn header_limit(&self) -> QueueLimit {
        let twice = match self.limit.0 {
            Limit::Packets(n) => Limit::Packets(n.saturating_mul(2)),
            Limit::Bytes(n) => Limit::Bytes(n.saturating_mul(2)),
            Limit::None => Limit::None,
        };
        self.header_limit.unwrap_or(QueueLimit(twice))
    }
}

/// Strict priority.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct StrictPriority {
    /// Queues by class, class 0 first, each with its limit and thresholds.
    pub classes: Vec<ClassQueue>,
    /// Its port.
    #[serde(flatten)]
    pub port: Port,
}

/// Weighted queues.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Weighted {
    /// Queues by class, class 0 first, each with its limit and thresholds.
    pub classes: Vec<ClassQueue>,
    /// Share of each class, above 0; all alike unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Bytes that a class of weight 1 may send a round.
    #[serde(default = "quantum")]
    pub quantum: Size,
    /// Its port.
    #[serde(flatten)]
    pub port: Port,
}

/// An Ethernet MTU.
fn quantum() -> Size {
    Size(incast_cc::Bytes(1500))
}

impl Weighted {
    /// Quantum of each class, bytes.
    fn quanta(&self) -> Vec<u32> {
        let even = vec![1.0; self.classes.len()];
        let weights = self.weights.as_ref().unwrap_or(&even);
        weights.iter().map(|w| (w * self.quantum.0.0 as f64).round() as u32).collect()
    }
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
    /// Its port.
    #[serde(flatten)]
    pub port: FifoPort,
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

impl EcnThreshold {
    /// Contradictions between keys.
    fn check(&self, path: &str, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let quoted = |l: QueueLimit| format!("\"{l}\"");
        if self.mark.same_unit(self.limit) && self.mark > self.limit {
            let message = format!("expected at most the limit, {}: a queue never grows beyond it", self.limit);
            out.push(Problem::with_value(key("mark"), quoted(self.mark), message));
        }
        if self.mark_at == MarkAt::Departure && self.non_ect == NonEct::Drop {
            let message = "expected \"pass\" with mark_at = \"departure\": what leaves is not dropped any more";
            out.push(Problem::with_value(key("non_ect"), "\"drop\"", message));
        }
        if self.mark_at == MarkAt::Departure && self.port.device > 0 {
            let message = "expected 0 with mark_at = \"departure\", which counts all that waits in the port";
            out.push(Problem::with_value(key("device"), self.port.device, message));
        }
        if self.mark_at == MarkAt::Departure && self.count_dropped_marks {
            let message = "expected false with mark_at = \"departure\": what is dropped never leaves";
            out.push(Problem::with_value(key("count_dropped_marks"), "true", message));
        }
        if self.mark_at == MarkAt::Departure && self.port.port.count_overhead {
            let message = "expected false with mark_at = \"departure\", which counts packets without it";
            out.push(Problem::with_value(key("count_overhead"), "true", message));
        }
        if self.mark.amount().is_none() {
            out.push(Problem::with_value(
                key("mark"),
                quoted(self.mark),
                "expected packets such as \"250p\" or bytes such as \"30kB\"",
            ));
        }
    }
}

impl Queue {
    /// What its port has; a fair NIC has nothing of it.
    fn port(&self) -> Option<&Port> {
        match self {
            Queue::StrictPriority(StrictPriority { port, .. })
            | Queue::Weighted(Weighted { port, .. })
            | Queue::Trimming(Trimming { port, .. }) => Some(port),
            Queue::FairNic(_) => None,
            _ => self.fifo().map(|fifo| &fifo.port),
        }
    }

    /// The port of a kind with one queue.
    fn fifo(&self) -> Option<&FifoPort> {
        match self {
            Queue::DropTail(DropTail { port, .. })
            | Queue::EcnThreshold(EcnThreshold { port, .. })
            | Queue::Red(Red { port, .. })
            | Queue::RandomDrop(RandomDrop { port, .. }) => Some(port),
            _ => None,
        }
    }

    fn device(&self) -> u32 {
        self.fifo().map_or(0, |fifo| fifo.device)
    }

    /// Queue of hosts' NICs, where it differs from that of switches.
    pub fn host(&self) -> Option<&Queue> {
        self.port()?.host.as_deref()
    }

    /// Queues by traffic class; empty where one queue serves all.
    pub fn classes(&self) -> Vec<Queue> {
        match self {
            Queue::StrictPriority(StrictPriority { classes, .. }) | Queue::Weighted(Weighted { classes, .. }) => {
                classes.iter().map(Queue::from).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Fewest classes of ports that have queues for some, and the key of those ports.
    pub(crate) fn fewest_classes(&self) -> Option<(&'static str, usize)> {
        let queues = [("queue", Some(self)), ("queue.host", self.host())];
        let has = queues.into_iter().filter_map(|(key, q)| Some((key, q?.classes().len())));
        has.filter(|(_, n)| *n > 0).min_by_key(|(_, n)| *n)
    }

    /// The limits of all classes together, where they are of one unit.
    fn limit_of_all(&self) -> Option<QueueLimit> {
        let mut sum: Option<Limit> = None;
        for class in self.classes() {
            sum = match (sum, class.limit()?.0) {
                (None, limit) => Some(limit),
                (Some(Limit::Packets(a)), Limit::Packets(b)) => Some(Limit::Packets(a.saturating_add(b))),
                (Some(Limit::Bytes(a)), Limit::Bytes(b)) => Some(Limit::Bytes(a.saturating_add(b))),
                _ => Some(Limit::None),
            };
        }
        sum.map(QueueLimit)
    }

    /// As the engine has it.
    pub fn spec(&self) -> spec::QueueSpec {
        let (discipline, limit) = match self {
            Queue::DropTail(q) => (spec::Discipline::DropTail, q.limit),
            Queue::EcnThreshold(q) => {
                let mark = q.mark.spec();
                let d = match q.mark_at {
                    MarkAt::Arrival => spec::Discipline::EcnThreshold(spec::EcnThreshold {
                        mark,
                        drop_not_ect: q.non_ect == NonEct::Drop,
                        count_dropped: q.count_dropped_marks,
                    }),
                    MarkAt::Departure => spec::Discipline::EcnAtDeparture(spec::EcnAtDeparture { mark }),
                };
                (d, q.limit)
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
                (d, q.limit)
            }
            Queue::RandomDrop(q) => {
                let d = spec::Discipline::RandomDrop(spec::RandomDrop {
                    threshold: q.threshold.spec(),
                    probability: q.probability,
                });
                (d, q.limit)
            }
            Queue::StrictPriority(_) => {
                let classes = self.classes().iter().map(Queue::spec).collect();
                let d = spec::Discipline::Classes { scheduler: spec::Scheduler::Strict, classes };
                (d, self.limit_of_all().unwrap_or(QueueLimit(Limit::None)))
            }
            Queue::Weighted(q) => {
                let classes = self.classes().iter().map(Queue::spec).collect();
                let scheduler = spec::Scheduler::Weighted { quanta: q.quanta() };
                let d = spec::Discipline::Classes { scheduler, classes };
                (d, self.limit_of_all().unwrap_or(QueueLimit(Limit::None)))
            }
            Queue::Trimming(q) => {
                let d = spec::Discipline::Trimming(spec::Trimming {
                    header: q.header.0.0 as u16,
                    header_limit: q.header_limit().spec(),
                    headers_per_data: q.headers_per_data,
                });
                (d, q.limit)
            }
            Queue::FairNic(q) => (spec::Discipline::FairNic { per_flow: q.per_flow }, QueueLimit(Limit::None)),
        };
        let (count_in_service, count_overhead) =
            self.port().map_or((false, false), |p| (p.count_in_service, p.count_overhead));
        let (limit, device) = (limit.spec(), self.device());
        spec::QueueSpec { discipline, limit, device, count_in_service, count_overhead, explicit: false }
    }

    /// Limits in bytes, here and at hosts, that no full packet fits into. `packet` is the largest
    /// IP packet of the transports in use, in bytes.
    pub fn check_packet(&self, path: &str, packet: u64, out: &mut Vec<Problem>) {
        for (i, class) in self.classes().iter().enumerate() {
            class.check_packet(&format!("{path}.classes.{i}"), packet, out);
        }
        let limit = self.limit().filter(|_| self.classes().is_empty());
        if limit.is_some_and(|l| matches!(l.0, Limit::Bytes(n) if (1..packet).contains(&n))) {
            let quoted = limit.map_or(String::new(), |l| format!("\"{l}\""));
            let message = format!("expected at least {packet}B, a full packet of the transport");
            out.push(Problem::with_value(format!("{path}.limit"), quoted, message));
        }
        if let Some(host) = self.host() {
            host.check_packet(&format!("{path}.host"), packet, out);
        }
    }

    /// Transports whose segments cannot be trimmed.
    pub(crate) fn check_transports(&self, path: &str, transports: &[spec::TransportSpec], out: &mut Vec<Problem>) {
        if let Some(host) = self.host() {
            host.check_transports(&format!("{path}.host"), transports, out);
        }
        let Queue::Trimming(_) = self else { return };
        let key = format!("{path}.kind");
        if transports.iter().any(|t| t.mtu > 0 && t.mss + t.header > t.mtu) {
            let message = "expected segments within the MTU (transport.mss): fragments are not trimmed";
            out.push(Problem::with_value(&key, "\"trimming\"", message));
        }
        if transports.iter().any(|t| !t.sack || t.scoreboard == spec::Rules::Ns3) {
            let message =
                "expected transports with SACK, and not ns-3's scoreboard: the sender must know single segments";
            out.push(Problem::with_value(&key, "\"trimming\"", message));
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
        let device = self.device();
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
            Queue::StrictPriority(_) | Queue::Weighted(_) | Queue::Trimming(_) => {
                let message = "expected one queue with the burst of a link: a token bucket sends in the order of \
                               arrival";
                out.push(Problem::with_value(format!("{path}.kind"), format!("\"{}\"", self.word()), message));
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
            Queue::StrictPriority(_) | Queue::Weighted(_) => self.limit_of_all(),
            Queue::Trimming(q) => Some(q.limit),
            Queue::FairNic(_) => None,
        }
    }

    /// Why there is no largest queue of which another could be a share, if there is none; `path` is its key.
    pub(crate) fn endless(&self, path: &str) -> Option<String> {
        let none = |q: &Queue| q.limit().is_some_and(|l| matches!(l.0, Limit::None));
        if !none(self) {
            return None;
        }
        Some(match self.classes().iter().position(none) {
            Some(i) => format!("{path}.classes.{i}.limit is \"none\""),
            None if self.classes().is_empty() => format!("{path}.limit is \"none\""),
            None => format!("the limits of {path}.classes are not of one unit"),
        })
    }

    /// Contradictions between keys.
    pub fn check(&self, path: &str, at_host: bool, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let quoted = |l: QueueLimit| format!("\"{l}\"");
        self.check_classes(path, out);
        let own = self.limit().filter(|_| self.classes().is_empty());
        if let Some(l) = own.filter(|l| l.amount() == Some(0)) {
            out.push(Problem::with_value(key("limit"), quoted(l), "expected room for at least one packet"));
        }
        match self {
            Queue::EcnThreshold(q) => q.check(path, out),
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
                if q.limit.amount().is_none() {
                    let message = "expected a limit: arrivals are dropped close to it";
                    out.push(Problem::with_value(key("limit"), quoted(q.limit), message));
                } else if !q.threshold.same_unit(q.limit) {
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
            Queue::Trimming(q) => {
                if !(20..=1000).contains(&q.header.0.0) {
                    let message = "expected 20B to 1000B, an IP header and less than a full packet";
                    out.push(Problem::with_value(key("header"), format!("\"{}\"", q.header), message));
                }
                if let Some(l) = q.header_limit.filter(|l| l.amount() == Some(0)) {
                    out.push(Problem::with_value(
                        key("header_limit"),
                        quoted(l),
                        "expected room for at least one packet",
                    ));
                }
                if q.limit.amount().is_none() {
                    out.push(Problem::with_value(
                        key("limit"),
                        quoted(q.limit),
                        "expected a limit: nothing is trimmed without",
                    ));
                }
            }
            Queue::DropTail(_) | Queue::StrictPriority(_) | Queue::Weighted(_) | Queue::FairNic(_) => {}
        }
        match self.host() {
            Some(_) if at_host => out.push(Problem::new(key("host"), "unknown key")),
            Some(host) => host.check(&key("host"), true, out),
            None => {}
        }
    }

    /// The word for its kind.
    fn word(&self) -> &'static str {
        match self {
            Queue::DropTail(_) => "drop-tail",
            Queue::EcnThreshold(_) => "ecn-threshold",
            Queue::Red(_) => "red",
            Queue::RandomDrop(_) => "random-drop",
            Queue::StrictPriority(_) => "strict-priority",
            Queue::Weighted(_) => "weighted",
            Queue::Trimming(_) => "trimming",
            Queue::FairNic(_) => "fair-nic",
        }
    }

    /// Contradictions in and between classes.
    fn check_classes(&self, path: &str, out: &mut Vec<Problem>) {
        let n = self.classes().len();
        if matches!(self, Queue::StrictPriority(_) | Queue::Weighted(_)) && !(1..=256).contains(&n) {
            let message = format!("there are {n} classes; expected 1 to 256, a queue each");
            out.push(Problem::new(format!("{path}.classes"), message));
        }
        for (i, class) in self.classes().iter().enumerate() {
            let path = format!("{path}.classes.{i}");
            let q = class.spec();
            let at_port = "expected beside the classes, not in one of them: it is of the whole port";
            let own = [
                ("device", q.device > 0),
                ("count_in_service", q.count_in_service),
                ("count_overhead", q.count_overhead),
                ("host", class.host().is_some()),
            ];
            for (key, _) in own.into_iter().filter(|(key, given)| *given && *key != "device") {
                out.push(Problem::new(format!("{path}.{key}"), at_port));
            }
            if q.device > 0 {
                let message = "expected 0: there is no device queue below classes";
                out.push(Problem::with_value(format!("{path}.device"), q.device, message));
            }
            class.check(&path, false, out);
        }
        if let Queue::Weighted(q) = self {
            let weights = q.weights.as_deref().unwrap_or(&[]);
            if q.weights.is_some() && weights.len() != n {
                let message = format!("expected a weight for each of the {n} classes");
                out.push(Problem::with_value(format!("{path}.weights"), format!("{weights:?}"), message));
            }
            if q.quantum.0.0 == 0 || q.quantum.0.0 > 1 << 20 {
                let message = "expected 1B to 1MiB";
                out.push(Problem::with_value(format!("{path}.quantum"), format!("\"{}\"", q.quantum), message));
            } else {
                let fits = |w: f64| w * q.quantum.0.0 as f64 >= 1.0 && w <= 1000.0;
                for (i, w) in weights.iter().enumerate().filter(|(_, w)| !fits(**w)) {
                    let message = "expected a weight from a byte a round (1 / quantum) to 1000";
                    out.push(Problem::with_value(format!("{path}.weights.{i}"), problem::number(*w), message));
                }
            }
        }
    }
}
