//! Programs of switches and hosts: `[[program]]`. A kind is a struct of its keys that is a [`NodeProgram`], and a line
//! in the list of [`Program`].

use super::node_program::{Around, NodeProgram};
use super::table::Table;
use crate::text::default::{bytes, microseconds, number, thousandths};
use crate::text::pattern::fits;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Size, Time};
use crate::text::words::kinds;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{self, LinkSpec, Spec};
use incast_engine::{FlowId, LinkId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

kinds! {
    /// Code of switches and hosts that sees every packet of a node, and may change it.
    Program: NodeProgram {
        /// Windows set by switches that count flows (SCCP). Each port counts the flows that have opened and not closed
        /// through it: a segment with SYN that leaves by it adds one, a segment with FIN takes one. Segments that come
        /// in by it have their window lowered to an equal share of what its link holds in `common_rtt`.
        Sccp = "sccp",
        /// Flows that are idle. A host tells the programs on a flow's way when it has sent nothing for `timeout`, and
        /// when it sends again, by packets of 64 bytes that go where the flow's do: a port that counts flows counts
        /// those that send.
        Idle = "idle",
        /// Phantom queues (HULL). Each port counts what would wait for a link a little slower than its own, and marks
        /// packets by that: senders that go by marks leave the rest of the link's rate unused, and its real queue
        /// nearly empty.
        Phantom = "phantom",
        /// Explicit rates (RCP). Each port grants one rate to all flows that leave by it, and changes it once a round
        /// trip by what came and what waits. Senders with `controller = "rcp"` pace at the least of their way.
        Rcp = "rcp",
        /// Match-action tables: what an OpenFlow switch does with packets, as data. Packets meet the tables in order.
        /// In each the entry of the highest priority that matches counts the packet and acts: on registers, on the
        /// packet's window and mark, on its way.
        Table = "table",
    }
}

fn switches() -> String {
    "switches".into()
}

/// SCCP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Sccp {
    /// Nodes that run it: `switches`, `hosts`, or names with `*` for any letters, apart by commas, such as
    /// `"edge*, core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// The round trip that all flows are taken to have. The share of a flow is the link's rate times it, divided by the
    /// number of flows.
    #[serde(default = "microseconds::<300>")]
    pub common_rtt: Time,
    /// No window is set below it; `mss` is a full segment. With a `scale` a floor above a byte is rounded up to whole
    /// units.
    #[serde(default)]
    pub floor: Floor,
    /// When a segment with SYN or FIN counts: when it comes to the switch, or once the queue has taken it.
    #[serde(default)]
    pub counts: Counts,
    /// What a segment with RST does: nothing, or it takes the flow from the ports of both directions.
    #[serde(default)]
    pub rst: Reset,
    /// A segment with SYN or FIN that is sent again counts once: the switch remembers the flows that are open.
    #[serde(default)]
    pub dedupe: bool,
    /// Windows count in units of two to this power, as connections have agreed (RFC 7323); those of segments with SYN
    /// in bytes.
    #[serde(default = "number::<0>")]
    #[schemars(range(max = 14))]
    pub scale: u32,
    /// What becomes of a share that is no whole number of units: rounded down or up; or the switch does not know of
    /// units and writes the share's bytes in their place.
    #[serde(default)]
    pub rounding: Rounding,
}

/// The least window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Floor {
    /// A full segment.
    Segment(Segment),
    /// Bytes.
    Bytes(Size),
}

/// The word `"mss"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Segment {
    /// A full segment.
    Mss,
}

impl Default for Floor {
    fn default() -> Floor {
        Floor::Bytes(bytes::<1>())
    }
}

/// When a segment counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// When it comes to the switch, whether its queue takes it or not.
    #[default]
    Arrived,
    /// Once its queue has taken it.
    Queued,
}

/// What RST does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// Nothing: the flow stays counted.
    #[default]
    Ignore,
    /// It takes the flow from the ports of both directions.
    Decrement,
}

/// Shares that are no whole number of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Rounded down: a share below a unit shuts the window.
    #[default]
    Down,
    /// Rounded up.
    Up,
    /// Bytes are written where units belong.
    Ignorant,
}

impl NodeProgram for Sccp {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, around: &Around) -> spec::Program {
        spec::Program::Sccp(spec::Sccp {
            common_rtt: self.common_rtt.0,
            floor: match self.floor {
                Floor::Segment(Segment::Mss) => around.mss as u64,
                Floor::Bytes(size) => size.0.0,
            },
            accepted: self.counts == Counts::Queued,
            reset: self.rst == Reset::Decrement,
            remembers: self.dedupe,
            scale: self.scale as u8,
            up: self.rounding == Rounding::Up,
            ignorant: self.rounding == Rounding::Ignorant,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if self.common_rtt.0 == cc::Time::ZERO {
            at.text("common_rtt", self.common_rtt, "expected a time above 0: no flow could have anything under way");
        }
        if self.floor == Floor::Bytes(bytes::<0>()) {
            at.text("floor", "0B", "expected at least 1B: a share of nothing shuts every window for good");
        }
        if self.scale > 14 {
            at.value("scale", self.scale, "expected 0 to 14, the largest that connections agree on");
        }
        if self.scale == 0 && self.rounding != Rounding::Down {
            let message = "expected a scale above 0 with it: without one a share is a whole number of units";
            at.text("rounding", crate::text::words::word_of(&self.rounding), message);
        }
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        if let Some(entry) = without_handshake(spec) {
            let message = format!(
                "counts flows by SYN and FIN, which traffic.{entry} does not send; expected transport.handshake = true"
            );
            return at.text("kind", "sccp", message);
        }
        if spec.choice.spreads() {
            let message = "counts the flows of each port, and routing.kind sends packets of one flow by several; \
                           expected a routing that keeps a flow to one path";
            return at.text("kind", "sccp", message);
        }
        let fabric = Fabric::new(spec);
        let flows = (0..).map(FlowId).zip(&spec.flows).filter(|(_, f)| connects(f));
        for (f, flow) in flows {
            let (data, acks) = (fabric.path(f, false), fabric.path(f, true));
            // both directions of a link lie side by side
            let mirrored = data.iter().rev().map(|l| LinkId(l.0 ^ 1)).eq(acks.iter().copied());
            let touches = |l: &LinkId| nodes.binary_search(&spec.links[*l].from).is_ok();
            if !mirrored && (data.iter().any(touches) || acks.iter().any(touches)) {
                let name = |node: u32| &spec.node_names[node as usize];
                let message = format!(
                    "sets windows by ACKs at the switches of their data, and ACKs from {} to {} come back another way; \
                     expected routing.symmetric = true",
                    name(flow.dst),
                    name(flow.src),
                );
                return at.text("kind", "sccp", message);
            }
        }
    }
}

/// Phantom queues.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Phantom {
    /// Nodes that run it: `switches`, `hosts`, or names with `*` for any letters, apart by commas, such as
    /// `"edge*, core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Rate at which a phantom queue drains, as a share of its link's.
    #[serde(default = "most_of_it")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub drain: f64,
    /// A packet with which the phantom queue is longer than this is marked. Below a packet's size all of that size are.
    #[serde(default = "bytes::<6000>")]
    pub mark: Size,
}

fn most_of_it() -> f64 {
    0.95
}

impl NodeProgram for Phantom {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Phantom(spec::Phantom { drain: self.drain, mark: self.mark.0.0 })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if !(self.drain > 0.0 && self.drain <= 1.0) {
            at.value("drain", self.drain, "expected a share of the link's rate above 0 and at most 1");
        }
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        let own = |l: &&LinkSpec| nodes.binary_search(&l.from).is_ok();
        let other = |l: &&LinkSpec| spec.is_explicit(l) || l.bucket > 0 || l.rate == cc::Rate::INFINITE;
        if let Some(link) = spec.links.iter().filter(own).find(other) {
            let message = format!(
                "counts what leaves ports whose departures follow from the arrivals, and {} is another: expected one \
                 FIFO queue that marks no departures, in no shared buffer, and a link of a finite rate without a burst",
                link.name
            );
            at.text("kind", "phantom", message);
        }
    }
}

/// Explicit rates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Rcp {
    /// Nodes that run it: `switches`, `hosts`, or names with `*` for any letters, apart by commas, such as
    /// `"edge*, core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Gain of the rate that is left over.
    #[serde(default = "thousandths::<400>")]
    pub alpha: f64,
    /// Gain of the queue.
    #[serde(default = "thousandths::<400>")]
    pub beta: f64,
    /// Share of the link's rate that is granted in all.
    #[serde(default = "thousandths::<1000>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub utilisation: f64,
    /// The longest time between two changes of a port's rate; without it the mean round-trip time.
    pub period: Option<Time>,
    /// The mean round-trip time at the beginning; without it the first that a packet tells, and the rate does not
    /// change before.
    pub rtt: Option<Time>,
    /// Rate at the beginning, as a share of the link's.
    #[serde(default = "thousandths::<50>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial: f64,
    /// The least rate: so much in a mean round-trip time.
    #[serde(default = "bytes::<1500>")]
    pub least: Size,
}

impl NodeProgram for Rcp {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Rcp(spec::Rcp {
            alpha: self.alpha,
            beta: self.beta,
            utilisation: self.utilisation,
            period: self.period.map_or(cc::Time::NEVER, |period| period.0),
            rtt: self.rtt.map(|rtt| rtt.0),
            initial: self.initial,
            least: self.least.0.0,
        })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            at.value("alpha", self.alpha, "expected a number above 0: a rate would never rise");
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            at.value("beta", self.beta, "expected a number of at least 0");
        }
        for (key, share) in [("utilisation", self.utilisation), ("initial", self.initial)] {
            if !(share > 0.0 && share <= 1.0) {
                at.value(key, share, "expected a share of the link's rate above 0 and at most 1");
            }
        }
        for (key, time) in [("period", self.period), ("rtt", self.rtt)] {
            if let Some(time) = time.filter(|time| time.0 == cc::Time::ZERO) {
                at.text(key, time, "expected a time above 0");
            }
        }
        if self.least.0.0 == 0 {
            at.text("least", self.least, "expected at least 1B: a rate of nothing never rises again");
        }
    }
}

/// Idle flows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Idle {
    /// Hosts that run it: `hosts`, or names with `*` for any letters, apart by commas, such as `"h0, h1*"`.
    #[serde(default = "hosts")]
    pub on: String,
    /// A direction of a connection is idle when its host has sent nothing in it for so long.
    #[serde(default = "microseconds::<50_000>")]
    pub timeout: Time,
}

fn hosts() -> String {
    "hosts".into()
}

impl NodeProgram for Idle {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, _around: &Around) -> spec::Program {
        spec::Program::Idle(spec::Idle { timeout: self.timeout.0 })
    }

    fn check(&self, _around: &Around, at: &mut Report) {
        if self.timeout.0 == cc::Time::ZERO {
            at.text("timeout", self.timeout, "expected a time above 0: every flow would be idle at once");
        }
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        if let Some(switch) = nodes.iter().find(|node| **node >= spec.hosts) {
            let message = format!(
                "expected hosts: {} is a switch, which does not know of its flows' pauses",
                spec.node_names[*switch as usize]
            );
            return at.text("on", &self.on, message);
        }
        if let Some(entry) = without_handshake(spec) {
            let message = format!(
                "knows flows by their SYN, which traffic.{entry} does not send; expected transport.handshake = true"
            );
            return at.text("kind", "idle", message);
        }
        let earlier = spec.programs.iter().take_while(|p| !matches!(p.program, spec::Program::Idle(_)));
        let shares = |p: &spec::ProgramSpec| p.nodes.iter().any(|node| nodes.binary_search(node).is_ok());
        if let Some((i, _)) = earlier.enumerate().find(|(_, p)| shares(p)) {
            let message = format!(
                "expected it before program.{i}, which runs at some of these hosts too: what it sends is seen by \
                 programs that come after it"
            );
            at.text("kind", "idle", message);
        }
    }
}

/// Whether a flow is a connection.
fn connects(flow: &spec::FlowSpec) -> bool {
    flow.app.datagram_gap().is_none()
}

/// The first entry of traffic whose connections begin without a handshake.
fn without_handshake(spec: &Spec) -> Option<&str> {
    let lacks = |f: &&spec::FlowSpec| connects(f) && !spec.transports[f.transport as usize].handshake;
    spec.flows.iter().find(lacks).map(|flow| spec.groups[flow.group as usize].as_ref())
}

/// The nodes that the words of a user name; what is wrong goes to `at`.
fn nodes(on: &str, hosts: u32, names: &[String], at: &mut Report) -> Vec<u32> {
    let count = names.len() as u32;
    let mut nodes: Vec<u32> = Vec::new();
    for word in on.split(',').map(str::trim) {
        let before = nodes.len();
        match word {
            "switches" => nodes.extend(hosts..count),
            "hosts" => nodes.extend(0..hosts),
            _ => nodes.extend((0..).zip(names).filter(|(_, name)| fits(word, name)).map(|(node, _)| node)),
        }
        if nodes.len() == before {
            let some = |node: u32| names.get(node as usize).map_or("", String::as_str);
            let message = format!(
                "no node is named {word}; expected switches, hosts, or names such as {} and {}, with * for any letters",
                some(0),
                some(hosts)
            );
            at.text("on", on, message);
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The programs of a run on `network`; what is wrong goes to `problems`.
pub(crate) fn programs(
    list: &[Program],
    network: &Network,
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) -> Vec<spec::ProgramSpec> {
    let mss = transports.iter().map(|t| t.mss).max().unwrap_or(0);
    let mut programs = Vec::new();
    for (i, program) in list.iter().enumerate() {
        let at = &mut Report::new(format!("program.{i}"), problems);
        let nodes = nodes(program.on(), network.hosts, &network.names, at);
        let around = Around { mss, network, nodes: &nodes };
        program.check(&around, at);
        let same = |before: &usize| list[*before].word() == program.word();
        let shares = |before: &usize| programs_share(&programs, *before, &nodes);
        if let Some(before) = (0..i).filter(same).find(shares) {
            let message = format!("program.{before} is of this kind and runs at some of these nodes too; expected one");
            at.text("on", program.on(), message);
        }
        let program = program.spec(&around);
        programs.push(spec::ProgramSpec { nodes, program });
    }
    programs
}

/// Whether program `before` runs at one of `nodes`.
fn programs_share(programs: &[spec::ProgramSpec], before: usize, nodes: &[u32]) -> bool {
    programs[before].nodes.iter().any(|node| nodes.binary_search(node).is_ok())
}

/// What of a run does not go with its programs.
pub(crate) fn check_run(list: &[Program], spec: &Spec, problems: &mut Vec<Problem>) {
    for (i, (program, own)) in list.iter().zip(&spec.programs).enumerate() {
        program.check_run(spec, &own.nodes, &mut Report::new(format!("program.{i}"), problems));
    }
}
