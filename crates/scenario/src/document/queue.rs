//! Queue disciplines: treatment of arriving packets at a port. A kind is a struct of its keys that implements
//! [`Discipline`], and a line in the list of [`Queue`], which `kinds!` creates.

use crate::document::credit_shaping::Credits;
use crate::document::ecn_ramp::{Ramp, ramp};
pub use crate::document::queue_words::{Cuts, Leaving, MarkAt, NonEct};
use crate::document::red::RedKeys;
use crate::document::whole::Aggregate;
use crate::text::default::{bytes, number, thousandths};
use crate::text::problem::{self, Report};
use crate::text::quantity::{QueueLimit, Size};
use crate::text::words::kinds;
use incast_engine::spec::{self, Limit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interface of all kinds of queues.
pub trait Discipline {
    /// Port of a kind with one queue.
    fn fifo(&self) -> Option<&FifoPort> {
        None
    }
    /// Settings of the port; a fair NIC has none.
    fn port(&self) -> Option<&Port> {
        self.fifo().map(|fifo| &fifo.port)
    }
    /// Queues by traffic class; `None` if one queue serves all.
    fn classes(&self) -> Option<&[ClassQueue]> {
        None
    }
    /// Largest queue; for classes, all together.
    fn limit(&self) -> Option<QueueLimit> {
        self.limit_of_whole().or_else(|| limit_of_all(self.classes()?))
    }
    /// Joint limit of all classes.
    fn limit_of_whole(&self) -> Option<QueueLimit> {
        None
    }
    /// Specification for the engine.
    fn discipline(&self) -> spec::Discipline;
    /// Reports contradictions between its keys, and invalid values that types allow.
    fn check_keys(&self, _at: &mut Report) {}
}

kinds! {
    /// Queue of a port. `[queue]` applies to all ports; `[queue.host]` replaces it at hosts' NICs.
    Queue: Discipline {
        /// First in, first out; an arrival that does not fit is dropped.
        DropTail = "drop-tail",
        /// Marks arrivals that find at least `mark` queued: DCTCP's switch.
        EcnThreshold = "ecn-threshold",
        /// Marks departures at random between two thresholds of the queue that they leave behind: the switch of DCQCN.
        EcnRamp = "ecn-ramp",
        /// Random early detection with the semantics and parameter names of ns-3's RedQueueDisc.
        Red = "red",
        /// Drop-tail with random drops of some arrivals close to its limit: htsim's switch.
        RandomDrop = "random-drop",
        /// A queue for every traffic class; the lowest non-empty class is served first.
        StrictPriority = "strict-priority",
        /// A queue for every traffic class, served by deficit round robin, each with a weight.
        Weighted = "weighted",
        /// Data that does not fit is trimmed to its header, and headers overtake data: NDP's switch, as in htsim.
        Trimming = "trimming",
        /// Serves the flow whose packet has the lowest rank (`transport.rank`), in order; a full queue drops the
        /// packet with the highest rank: pFabric's switch.
        Pfabric = "pfabric",
        /// Credits wait in a short queue of their own and leave at the rate at which the data sent for them fills the
        /// link in the other direction; excess credits are dropped: ExpressPass' switch.
        CreditShaping = "credit-shaping",
        /// Hosts only: a queue per flow, served round robin, with at most `per_flow` packets of a flow at a time; the
        /// transport holds the rest. htsim's NIC.
        FairNic = "fair-nic",
    }
}

kinds! {
    /// Queue of one traffic class of a port.
    ClassQueue: Discipline {
        /// First in, first out; an arrival that does not fit is dropped.
        DropTail = "drop-tail",
        /// Marks arrivals that find at least `mark` queued: DCTCP's switch.
        EcnThreshold = "ecn-threshold",
        /// Marks departures at random between two thresholds of the queue that they leave behind: the switch of DCQCN.
        EcnRamp = "ecn-ramp",
        /// Random early detection with the semantics and parameter names of ns-3's RedQueueDisc.
        Red = "red",
        /// Drop-tail with random drops of some arrivals close to its limit: htsim's switch.
        RandomDrop = "random-drop",
    }
}

/// Settings of a port with any kind of queue.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Port {
    /// The packet being transmitted counts as queued (htsim) or not (ns-3, Linux).
    #[serde(default)]
    pub count_in_service: bool,
    /// Bytes include the link's overhead: Linux counts Ethernet's 14 bytes in limits and thresholds.
    #[serde(default)]
    pub count_overhead: bool,
    /// Queue of hosts' NICs, if different.
    pub host: Option<Box<Queue>>,
}

/// A port with one queue.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FifoPort {
    /// Packets in a device queue below this queue, which the discipline does not count (ns-3: 100).
    #[serde(default)]
    pub device: u32,
    /// Other settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

/// Drop-tail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DropTail {
    /// Largest queue.
    pub limit: QueueLimit,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: FifoPort,
}

/// Implements port and limit of a kind with one queue.
macro_rules! one_queue {
    () => {
        fn fifo(&self) -> Option<&FifoPort> {
            Some(&self.port)
        }
        fn limit(&self) -> Option<QueueLimit> {
            Some(self.limit)
        }
    };
}

impl Discipline for DropTail {
    one_queue!();

    fn discipline(&self) -> spec::Discipline {
        spec::Discipline::DropTail
    }
}

/// ECN threshold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EcnThreshold {
    /// Largest queue; beyond it arrivals are dropped.
    pub limit: QueueLimit,
    /// Threshold K: an ECN-capable arrival that finds this much queued is marked. At most `limit` if both are packets
    /// or both are bytes; mixed units are not compared.
    #[schemars(extend("pattern" = r"^[0-9._]+ *(p|B|kB|MB|GB|KiB|MiB|GiB)$"))]
    pub mark: QueueLimit,
    /// Time at which the queue is compared with K: a packet's arrival, or the end of its transmission.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// Treatment of packets that are not ECN-capable above K.
    #[serde(default)]
    pub non_ect: NonEct,
    /// Counts dropped ECN-capable packets as marked too (ns-3's RED marks before it checks the limit). Affects only
    /// the count.
    #[serde(default)]
    pub count_dropped_marks: bool,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: FifoPort,
}

impl Discipline for EcnThreshold {
    one_queue!();

    fn discipline(&self) -> spec::Discipline {
        let mark = self.mark.0;
        match self.mark_at {
            MarkAt::Arrival => spec::Discipline::EcnThreshold(spec::EcnThreshold {
                mark,
                drop_not_ect: self.non_ect == NonEct::Drop,
                count_dropped: self.count_dropped_marks,
            }),
            MarkAt::Departure => spec::Discipline::EcnAtDeparture(spec::EcnAtDeparture { mark }),
        }
    }

    fn check_keys(&self, at: &mut Report) {
        if self.mark.is_above(self.limit) {
            let message = format!("expected at most the limit, {}: a queue never grows beyond it", self.limit);
            at.text("mark", self.mark, message);
        }
        if self.mark_at == MarkAt::Departure {
            if self.non_ect == NonEct::Drop {
                let message = "expected \"pass\" with mark_at = \"departure\": a departing packet cannot be dropped";
                at.text("non_ect", "drop", message);
            }
            if self.port.device > 0 {
                let message = "expected 0 with mark_at = \"departure\", which counts all packets in the port";
                at.value("device", self.port.device, message);
            }
            if self.count_dropped_marks {
                let message = "expected false with mark_at = \"departure\": a dropped packet never departs";
                at.value("count_dropped_marks", true, message);
            }
            if self.port.port.count_overhead {
                let message = "expected false with mark_at = \"departure\", which counts packets without it";
                at.value("count_overhead", true, message);
            }
        }
        if self.mark.amount().is_none() {
            at.text("mark", self.mark, "expected packets such as \"250p\" or bytes such as \"30kB\"");
        }
    }
}

/// RED. Its defaults are those of ns-3's RedQueueDisc (3.43).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Red {
    /// Largest queue; thresholds are in the same unit.
    pub limit: QueueLimit,
    /// Thresholds and average.
    #[serde(flatten)]
    pub keys: RedKeys,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: FifoPort,
}

/// Marks at departure between two thresholds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EcnRamp {
    /// Largest queue.
    pub limit: QueueLimit,
    /// Thresholds.
    #[serde(flatten)]
    pub ramp: Ramp,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: FifoPort,
}

impl Discipline for EcnRamp {
    one_queue!();

    fn discipline(&self) -> spec::Discipline {
        self.ramp.discipline()
    }

    fn check_keys(&self, at: &mut Report) {
        self.ramp.check(self.port.device, at);
    }
}

impl Discipline for Red {
    one_queue!();

    fn discipline(&self) -> spec::Discipline {
        self.keys.discipline()
    }

    fn check_keys(&self, at: &mut Report) {
        self.keys.check(self.limit, at);
    }
}

/// Random drops close to the limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RandomDrop {
    /// Largest queue.
    pub limit: QueueLimit,
    /// An arrival that would make the queue exceed this may be dropped (htsim: the limit minus three full packets).
    /// In the unit of the limit.
    pub threshold: QueueLimit,
    /// Probability of such a drop.
    #[serde(default = "thousandths::<100>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: FifoPort,
}

impl Discipline for RandomDrop {
    one_queue!();

    fn discipline(&self) -> spec::Discipline {
        spec::Discipline::RandomDrop(spec::RandomDrop { threshold: self.threshold.0, probability: self.probability })
    }

    fn check_keys(&self, at: &mut Report) {
        let (limit, threshold) = (self.limit, self.threshold);
        if limit.amount().is_none() {
            at.text("limit", limit, "expected a limit: arrivals are dropped close to it");
        } else if !threshold.same_unit(limit) {
            at.text("threshold", threshold, format!("expected the unit of the limit, {limit}"));
        } else if threshold.is_above(limit) {
            let message = format!("expected at most the limit, {limit}, beyond which all are dropped");
            at.text("threshold", threshold, message);
        }
    }
}

/// Packet trimming. The default header is that of htsim's NDP packets, the ratio that of NDP's paper.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Trimming {
    /// Largest queue of data; beyond it payload is trimmed.
    pub limit: QueueLimit,
    /// Largest queue of headers and control packets; beyond it they are dropped, or returned with `return_to_sender`.
    /// Default: twice `limit` (htsim).
    pub header_limit: Option<QueueLimit>,
    /// Size of a trimmed packet. A packet with no more payload than this travels with the headers, untrimmed.
    #[serde(default = "bytes::<64>")]
    pub header: Size,
    /// Headers served per data packet if both wait (NDP: 10; htsim: 100000).
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1))]
    pub headers_per_data: u32,
    /// Packet that is trimmed if an arrival does not fit.
    #[serde(default)]
    pub cuts: Cuts,
    /// Marking of data at its departure (uet-htsim); default: none.
    pub ecn: Option<Leaving>,
    /// Returns a header of NDP's data that does not fit to its sender, by the link over which it arrived, instead of
    /// dropping it (NDP; in htsim implemented but never on). At switches.
    #[serde(default)]
    pub return_to_sender: bool,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

impl Trimming {
    /// Largest queue of headers, by default twice that of data.
    pub(crate) fn header_limit(&self) -> Limit {
        let twice = match self.limit.0 {
            Limit::Packets(n) => Limit::Packets(n.saturating_mul(2)),
            Limit::Bytes(n) => Limit::Bytes(n.saturating_mul(2)),
            Limit::None => Limit::None,
        };
        self.header_limit.map_or(twice, |limit| limit.0)
    }
}

impl Discipline for Trimming {
    fn port(&self) -> Option<&Port> {
        Some(&self.port)
    }

    fn limit(&self) -> Option<QueueLimit> {
        Some(self.limit)
    }

    fn discipline(&self) -> spec::Discipline {
        spec::Discipline::Trimming(spec::Trimming {
            header: self.header.0.0 as u16,
            header_limit: self.header_limit(),
            headers_per_data: self.headers_per_data,
            draws: self.cuts != Cuts::Arrival,
            drops: self.cuts == Cuts::None,
            returns: self.return_to_sender,
            ecn: self.ecn.map(|ecn| ramp((ecn.min, ecn.max), 1.0, false)),
        })
    }

    fn check_keys(&self, at: &mut Report) {
        if !(20..=1000).contains(&self.header.0.0) {
            at.text("header", self.header, "expected 20B to 1000B, an IP header and less than a full packet");
        }
        if let Some(limit) = self.header_limit.filter(|limit| limit.amount() == Some(0)) {
            at.text("header_limit", limit, "expected room for at least one packet");
        }
        if let Some(ecn) = self.ecn.filter(|ecn| ecn.min.0 > ecn.max.0) {
            at.text("ecn.min", ecn.min, format!("expected at most ecn.max, {}", ecn.max));
        }
        if self.limit.amount().is_none() {
            at.text("limit", self.limit, "expected a limit: nothing is trimmed without");
        }
        if self.cuts == Cuts::None && self.return_to_sender {
            at.value("return_to_sender", true, "expected false with cuts = \"none\": there are no headers to go back");
        }
    }
}

/// pFabric.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Pfabric {
    /// Largest queue; beyond it the packet with the highest rank is dropped. (The authors: two bandwidth-delay
    /// products.)
    pub limit: QueueLimit,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

impl Discipline for Pfabric {
    fn port(&self) -> Option<&Port> {
        Some(&self.port)
    }

    fn limit(&self) -> Option<QueueLimit> {
        Some(self.limit)
    }

    fn discipline(&self) -> spec::Discipline {
        spec::Discipline::Pfabric
    }
}

/// Credit shaping.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct CreditShaping {
    /// Largest queue of all packets except credits; beyond it arrivals are dropped. (The authors: 250 packets of 1538
    /// bytes.)
    pub limit: QueueLimit,
    /// The credits.
    #[serde(flatten)]
    pub credits: Credits,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

impl Discipline for CreditShaping {
    fn port(&self) -> Option<&Port> {
        Some(&self.port)
    }

    fn limit(&self) -> Option<QueueLimit> {
        Some(self.limit)
    }

    fn discipline(&self) -> spec::Discipline {
        self.credits.with_data_limit(self.limit)
    }

    fn check_keys(&self, at: &mut Report) {
        self.credits.check(at);
    }
}

/// Strict priority.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct StrictPriority {
    /// Queues by class, class 0 first, each with its limit and thresholds.
    pub classes: Vec<ClassQueue>,
    /// Joint settings of all classes.
    #[serde(flatten)]
    pub whole: Aggregate,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

impl Discipline for StrictPriority {
    fn port(&self) -> Option<&Port> {
        Some(&self.port)
    }

    fn classes(&self) -> Option<&[ClassQueue]> {
        Some(&self.classes)
    }

    fn discipline(&self) -> spec::Discipline {
        classes(spec::Scheduler::Strict, &self.classes, &self.whole)
    }

    fn limit_of_whole(&self) -> Option<QueueLimit> {
        self.whole.limit
    }

    fn check_keys(&self, at: &mut Report) {
        self.whole.check(at);
    }
}

/// Weighted queues.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Weighted {
    /// Queues by class, class 0 first, each with its limit and thresholds.
    pub classes: Vec<ClassQueue>,
    /// Weight of each class, above 0; default: equal.
    pub weights: Option<Vec<f64>>,
    /// Bytes that a class of weight 1 may send per round.
    #[serde(default = "bytes::<1500>")]
    pub quantum: Size,
    /// Joint settings of all classes.
    #[serde(flatten)]
    pub whole: Aggregate,
    /// Settings of the port.
    #[serde(flatten)]
    pub port: Port,
}

impl Discipline for Weighted {
    fn port(&self) -> Option<&Port> {
        Some(&self.port)
    }

    fn classes(&self) -> Option<&[ClassQueue]> {
        Some(&self.classes)
    }

    fn discipline(&self) -> spec::Discipline {
        let even = vec![1.0; self.classes.len()];
        let weights = self.weights.as_ref().unwrap_or(&even);
        let quanta = weights.iter().map(|w| (w * self.quantum.0.0 as f64).round() as u32).collect();
        classes(spec::Scheduler::Weighted { quanta }, &self.classes, &self.whole)
    }

    fn limit_of_whole(&self) -> Option<QueueLimit> {
        self.whole.limit
    }

    fn check_keys(&self, at: &mut Report) {
        self.whole.check(at);
        let n = self.classes.len();
        let weights = self.weights.as_deref().unwrap_or(&[]);
        if self.weights.is_some() && weights.len() != n {
            at.value("weights", format!("{weights:?}"), format!("expected a weight for each of the {n} classes"));
        }
        if self.quantum.0.0 == 0 || self.quantum.0.0 > 1 << 20 {
            return at.text("quantum", self.quantum, "expected 1B to 1MiB");
        }
        let fits = |w: f64| w * self.quantum.0.0 as f64 >= 1.0 && w <= 1000.0;
        for (i, w) in weights.iter().enumerate().filter(|(_, w)| !fits(**w)) {
            let message = "expected a weight from a byte a round (1 / quantum) to 1000";
            at.value(format_args!("weights.{i}"), problem::number(*w), message);
        }
    }
}

/// Sum of the limits of all classes, if they have the same unit.
fn limit_of_all(classes: &[ClassQueue]) -> Option<QueueLimit> {
    let limits = classes.iter().filter_map(|class| Some(class.limit()?.0));
    let sum = limits.reduce(|sum, limit| match (sum, limit) {
        (Limit::Packets(a), Limit::Packets(b)) => Limit::Packets(a.saturating_add(b)),
        (Limit::Bytes(a), Limit::Bytes(b)) => Limit::Bytes(a.saturating_add(b)),
        _ => Limit::None,
    });
    sum.map(QueueLimit)
}

fn classes(scheduler: spec::Scheduler, classes: &[ClassQueue], whole: &Aggregate) -> spec::Discipline {
    let classes = classes.iter().map(|class| class.spec()).collect();
    spec::Discipline::Classes { scheduler, classes, aggregate: whole.spec() }
}

/// Per-flow fair NIC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FairNic {
    /// Packets of one flow in the NIC (htsim: 3).
    #[serde(default = "number::<3>")]
    #[schemars(range(min = 1))]
    pub per_flow: u32,
}

impl Discipline for FairNic {
    fn discipline(&self) -> spec::Discipline {
        spec::Discipline::FairNic { per_flow: self.per_flow }
    }
}

impl dyn Discipline {
    pub(crate) fn device(&self) -> u32 {
        self.fifo().map_or(0, |fifo| fifo.device)
    }

    /// Queue of hosts' NICs, if it differs from that of switches.
    pub fn host(&self) -> Option<&Queue> {
        self.port()?.host.as_deref()
    }

    /// Specification for the engine.
    pub fn spec(&self) -> spec::QueueSpec {
        let port = self.port();
        spec::QueueSpec {
            discipline: self.discipline(),
            limit: self.limit().map_or(Limit::None, |limit| limit.0),
            device: self.device(),
            count_in_service: port.is_some_and(|port| port.count_in_service),
            count_overhead: port.is_some_and(|port| port.count_overhead),
            explicit: false,
        }
    }

    /// Reason why there is no largest queue, of which another could be a share, if so; `path` is its key.
    pub(crate) fn endless(&self, path: &str) -> Option<String> {
        let none = |limit: Option<QueueLimit>| limit.is_some_and(|limit| limit.0 == Limit::None);
        if !none(self.limit()) {
            return None;
        }
        let classes = self.classes().unwrap_or(&[]);
        Some(match classes.iter().position(|class| none(class.limit())) {
            Some(i) => format!("{path}.classes.{i}.limit is \"none\""),
            None if classes.is_empty() => format!("{path}.limit is \"none\""),
            None => format!("the limits of {path}.classes are not of one unit"),
        })
    }

    /// Reports contradictions between keys, for any network.
    pub(crate) fn check(&self, at_host: bool, at: &mut Report) {
        self.check_classes(at);
        let own = self.limit().filter(|_| self.classes().is_none());
        if let Some(limit) = own.filter(|limit| limit.amount() == Some(0)) {
            at.text("limit", limit, "expected room for at least one packet");
        }
        if !at_host && matches!(self.discipline(), spec::Discipline::FairNic { .. }) {
            let message = "expected at hosts only, in [queue.host]; switches have no flows of their own";
            at.text("kind", "fair-nic", message);
        }
        if at_host && self.spec().returns() {
            at.value("return_to_sender", true, "expected at switches only: a host's own sender would hear at once");
        }
        self.check_keys(at);
        match self.host() {
            Some(_) if at_host => at.key("host", "unknown key"),
            Some(host) => host.check(true, &mut at.below("host")),
            None => {}
        }
    }

    /// Reports contradictions in classes.
    fn check_classes(&self, at: &mut Report) {
        let Some(classes) = self.classes() else { return };
        let n = classes.len();
        if !(1..=256).contains(&n) {
            at.key("classes", format!("there are {n} classes; expected 1 to 256, a queue each"));
        }
        for (i, class) in classes.iter().enumerate() {
            let at = &mut at.below(format_args!("classes.{i}"));
            let port = class.port();
            let of_port = [
                ("count_in_service", port.is_some_and(|port| port.count_in_service)),
                ("count_overhead", port.is_some_and(|port| port.count_overhead)),
                ("host", class.host().is_some()),
            ];
            for (key, _) in of_port.into_iter().filter(|(_, given)| *given) {
                at.key(key, "expected beside the classes, not in one of them: it is of the whole port");
            }
            if class.device() > 0 {
                at.value("device", class.device(), "expected 0: there is no device queue below classes");
            }
            class.check(false, at);
        }
    }

    /// Reports limits in bytes, here and at hosts, that do not fit a full packet. `packet` is the largest IP packet
    /// of the transports in use, in bytes.
    pub(crate) fn check_packet(&self, packet: u64, at: &mut Report) {
        for (i, class) in self.classes().unwrap_or(&[]).iter().enumerate() {
            class.check_packet(packet, &mut at.below(format_args!("classes.{i}")));
        }
        let own = self.limit().filter(|_| self.classes().is_none());
        if let Some(limit) = own.filter(|l| matches!(l.0, Limit::Bytes(n) if (1..packet).contains(&n))) {
            at.text("limit", limit, format!("expected at least {packet}B, a full packet of the transport"));
        }
        if let Some(host) = self.host() {
            host.check_packet(packet, &mut at.below("host"));
        }
    }
}

impl Queue {
    /// Queues of switches and, if different, of hosts, with their keys.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &Queue)> {
        [("queue", self)].into_iter().chain(self.host().map(|host| ("queue.host", host)))
    }
}
