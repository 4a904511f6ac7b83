//! Who sends what to whom: patterns with seeded placement, applications, and flows from a file.
//!
//! Placement is keyed by (seed, number of the traffic entry, draw), never by the controller: under
//! one seed all controllers see the same senders and receivers, so comparisons are paired.

use crate::arrivals::Arrivals;
use crate::build::Flows;
use crate::connection_matrix::{self, StartUnit};
use crate::controller::Controller;
use crate::document::zero;
use crate::problem::Problem;
use crate::quantity::{LineRate, PartOrRate, Rate, Size, Time};
use crate::rows::{Row, Rows};
use crate::traffic_matrix;
use crate::transport::Transport;
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::{ideal, spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most flows of a scenario. State and record of a flow take about a kilobyte, so this many need
/// some 4 GB.
pub const MAX_FLOWS: u64 = 4_000_000;

/// Most bytes of one flow: what counts them has room for a send buffer beyond.
const MOST_BYTES: u64 = u64::MAX / 2;

/// Longest cycle of ON and OFF time: half of what a time can hold.
const LONGEST_CYCLE: cc::Time = cc::Time::s(9_000_000);

/// One traffic entry: a set of flows that share everything but their ends and start times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Name in results and in `--set traffic.NAME.key`; the pattern's where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who sends to whom.
    pub pattern: Pattern,
    /// Name of the entry before this one whose flows `elephants` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Which flows `elephants` takes.
    #[serde(default)]
    pub placement: Placement,
    /// Hosts that take part in `all-to-all` and `ring-allreduce`: so many are drawn, in the order drawn; all, in the order of
    /// their numbers, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub members: Option<u32>,
    /// When the flows of `all-to-all` open.
    #[serde(default)]
    pub order: Order,
    /// Packets of a flow, and its ACKs, keep to the path that `ecmp` would give them, whatever `[routing]` says; `false`
    /// unless given, but for `elephants`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_path: Option<bool>,
    /// Number of flows. `permutation`: one a host unless given; `pairs`: one a sender unless
    /// given; `file` and `connection-matrix`: as many as the file has unless given, otherwise its first ones;
    /// `poisson`: all that arrive unless given, otherwise the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub flows: Option<u64>,
    /// Receiver of `hotspot` and `incast`: a host's name or number, `last` or `random`; `last`
    /// unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<HostRef>,
    /// `hotspot`: what becomes of a flow whose sender would be the receiver.
    #[serde(default)]
    pub to_itself: ToItself,
    /// CSV file of the patterns `file` and `matrix`, matrix of `connection-matrix`, or parts of the load of `poisson`, relative to the scenario file; or `builtin:` and the name of one that comes with the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Unit of the starts in the file of the pattern `connection-matrix`; must be given, htsim's programs disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_unit: Option<StartUnit>,
    /// Load and sizes of the pattern `poisson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// When the first flow opens. Of a file, `start`, `stagger` and `jitter` are added to its times.
    #[serde(default = "zero")]
    pub start: Time,
    /// Time between the openings of one flow and the next.
    #[serde(default = "zero")]
    pub stagger: Time,
    /// Random part of a flow's opening, uniform from 0 to this.
    #[serde(default = "zero")]
    pub jitter: Time,
    /// When the applications stop; never, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// What happens at `stop` to bytes the transport has accepted.
    #[serde(default)]
    pub at_stop: AtStop,
    /// When the receiving applications close; never, unless given. A flow with bytes beyond a hole
    /// is then reset; otherwise the receiver says FIN, and the sender is closed by the first ACK after its own FIN, as in ns-3. Not with `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sink_stop: Option<Time>,
    /// Rate at which receiving applications read; `inf` reads at once.
    #[serde(default = "unbounded")]
    pub read_rate: Rate,
    /// Traffic class, where ports have queues for classes.
    #[serde(default)]
    pub class: u8,
    /// Traffic class of its acknowledgements; that of its data unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_class: Option<u8>,
    /// What sending applications do.
    #[serde(default)]
    pub app: App,
    /// Controller, where it is not the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Transport values that differ from `[transport]`; a preset here replaces all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
}

fn unbounded() -> Rate {
    Rate(cc::Rate::INFINITE)
}

/// Who sends to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// All to one host, the last unless `receiver` says otherwise; flow i comes from host i modulo
    /// the number of hosts, or from the next host where that is the receiver.
    Hotspot,
    /// All to one host drawn by the seed; every sender is drawn among the others, with
    /// replacement.
    RandomHotspot,
    /// Every flow's receiver is drawn, then its sender among the others, with replacement.
    RandomPairs,
    /// Every host sends one flow and receives one, no host to itself, drawn uniformly among all
    /// such assignments; with more flows than hosts, one assignment after another.
    Permutation,
    /// Many senders to one receiver at once: distinct hosts in random order, again from the first
    /// when there are more flows than hosts.
    Incast,
    /// Sender i to receiver i; on a star, source i to the sink. Dumbbell and star only.
    Pairs,
    /// Flows from a CSV file.
    File,
    /// Flows that arrive at random, at a load, of sizes from a table: every host is a Poisson process of its own, and
    /// sends each flow to one of the others, all alike. `arrivals` has the load and the table.
    Poisson,
    /// A flow for every cell above 0 of a traffic matrix, a CSV file with a row a source, a column a destination and bytes
    /// in the cells.
    Matrix,
    /// Flows from a connection matrix of htsim (`.cm`): `file` names it, `start_unit` says what its starts are in. A size
    /// of 0 is without end; failures and priorities are refused.
    ConnectionMatrix,
    /// Some flows of another entry (`of`), turned into flows of this one: same ends and numbers, but application,
    /// controller, transport and times of this entry, and a single path. `placement` says which.
    Elephants,
    /// Every member sends `app.size` to every other; in round r the i-th sends to the one r places after it.
    AllToAll,
    /// Ring all-reduce of a buffer of `app.size` that every member has: in each of 2 (n - 1) steps every one of n members
    /// sends an n-th of it to the next member, what it has received in the step before.
    RingAllreduce,
}

/// When flows of an all-to-all open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A member begins a round when its flow of the round before is acknowledged.
    #[default]
    Rounds,
    /// All at once.
    AtOnce,
}

/// A host by number or name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HostRef {
    /// Number.
    Number(u32),
    /// Name, `last` or `random`.
    Name(String),
}

/// Which flows become elephants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Drawn uniformly.
    #[default]
    Random,
    /// Drawn uniformly until the most affected 1 % of the other flows (rounded up) are as the paper on MSwift reports
    /// them (section IV.B): with 1 elephant they share a leaf with it at one end and nothing at the other, with 2 or 3 a
    /// leaf at one end and a pod at the other, with 6 leaves at both ends. Sources are compared with sources,
    /// destinations with destinations.
    Paper,
}

/// A flow of `hotspot` whose sender would be its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToItself {
    /// It comes from the next host.
    #[default]
    NextHost,
    /// It is left out, and there are fewer flows.
    Skip,
}

/// After an application's stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AtStop {
    /// They are still delivered, then the flow closes.
    #[default]
    Drain,
    /// The flow is reset: nothing more is sent.
    Reset,
}

/// What a sending application does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum App {
    /// One transfer as fast as the transport takes it, of a size or without end.
    Bulk(Bulk),
    /// Writes at a rate during ON times. A write that does not fit into the send buffer is tried
    /// again at the next tick of the rate, as ns-3's OnOffApplication does.
    OnOff(OnOff),
    /// Writes at a constant rate, without pause.
    Cbr(Cbr),
    /// The receiver asks and the senders answer, over persistent two-way connections: a query
    /// sends a request on every connection in the same instant, a worker that has its request
    /// answers at once, and the query ends with the last byte of the last answer. A think time
    /// later comes the next. Connections of an entry with the same receiver make one query.
    Query(Query),
    /// Keeps a number of writes under way: a think time after one is acknowledged comes the next.
    ClosedLoop(ClosedLoop),
    /// Full segments at a constant pace, without a transport: no ACKs, nothing is sent again, no controller, no ECN.
    Udp(Udp),
}

/// Datagrams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Udp {
    /// Rate on the sender's link, headers and the link's overhead included.
    pub rate: LineRate,
}

/// Requests and responses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Query {
    /// Bytes of a request.
    #[serde(default = "small_request")]
    pub request: Size,
    /// Bytes of a worker's response; this or `total` must be given, except where a file has sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Size>,
    /// Bytes of all responses of a query together, split evenly among the workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Size>,
    /// When the first query begins; the entry's `start` unless given. A request waits for its
    /// connection to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Time>,
    /// Time from the end of a query to the beginning of the next.
    #[serde(default = "zero")]
    pub think: Time,
    /// Number of queries; without end (or until the entry's `stop`) where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
}

/// Closed-loop writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClosedLoop {
    /// Bytes a write.
    pub write: Size,
    /// Writes under way at a time. A flow keeps some 50 bytes for each.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// Time from the acknowledgement of a write to the next.
    #[serde(default = "zero")]
    pub think: Time,
    /// Number of writes of a flow, which then closes; without end where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
}

/// A bulk transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Bulk {
    /// Bytes; without end where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Bytes a write.
    #[serde(default = "bulk_write")]
    pub write: Size,
}

/// On and off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct OnOff {
    /// Rate during ON times.
    pub rate: Rate,
    /// Length of an ON time.
    #[serde(default = "second")]
    pub on: Time,
    /// Length of an OFF time.
    #[serde(default = "second")]
    pub off: Time,
    /// Bytes a write.
    #[serde(default = "small_write")]
    pub write: Size,
    /// Begin with an OFF time, counted from the end of the handshake, as ns-3 does.
    #[serde(default)]
    pub off_first: bool,
}

/// Constant rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Cbr {
    /// Rate.
    pub rate: Rate,
    /// Bytes a write.
    #[serde(default = "small_write")]
    pub write: Size,
}

fn small_request() -> Size {
    Size(cc::Bytes(100))
}
fn one() -> u32 {
    1
}
fn bulk_write() -> Size {
    Size(cc::Bytes(64_000))
}
fn small_write() -> Size {
    Size(cc::Bytes(1_000))
}
fn second() -> Time {
    Time(cc::Time::s(1))
}

impl Default for App {
    fn default() -> App {
        App::Bulk(Bulk { size: None, write: bulk_write() })
    }
}

impl App {
    fn spec(&self) -> spec::App {
        match self {
            App::Bulk(b) => spec::App::Bulk { size: b.size.map(|s| s.0.0), write: b.write.0.0 },
            App::OnOff(o) => spec::App::OnOff {
                rate: o.rate.0,
                on: o.on.0,
                off: o.off.0,
                write: o.write.0.0,
                off_first: o.off_first,
            },
            App::Cbr(c) => {
                let second = cc::Time::s(1);
                spec::App::OnOff {
                    rate: c.rate.0,
                    on: second,
                    off: cc::Time::ZERO,
                    write: c.write.0.0,
                    off_first: false,
                }
            }
            App::Query(_) => spec::App::Messages,
            App::ClosedLoop(c) => spec::App::ClosedLoop {
                write: c.write.0.0,
                outstanding: c.outstanding,
                think: c.think.0,
                count: c.count,
            },
            // the pace follows from the sender's link ([`Traffic::paced`])
            App::Udp(_) => spec::App::Datagrams { gap: cc::Time::ZERO },
        }
    }

    fn check(&self, path: &str, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.app.{k}");
        let (write, rate) = match self {
            App::Bulk(b) => (Some(b.write), None),
            App::OnOff(o) => (Some(o.write), Some(o.rate)),
            App::Cbr(c) => (Some(c.write), Some(c.rate)),
            App::Query(_) | App::Udp(_) => (None, None),
            App::ClosedLoop(c) => (Some(c.write), None),
        };
        if write.is_some_and(|w| w.0.0 == 0) {
            out.push(Problem::with_value(key("write"), "\"0B\"", "expected at least 1 byte"));
        }
        if rate.is_some_and(|r| r.0 == cc::Rate::INFINITE) {
            let message = "expected a finite rate; kind = \"bulk\" writes as fast as the transport takes it";
            out.push(Problem::with_value(key("rate"), "\"inf\"", message));
        }
        match self {
            App::Bulk(Bulk { size: Some(size), .. }) if size.0.0 == 0 => {
                out.push(Problem::with_value(key("size"), "\"0B\"", "expected at least 1 byte"));
            }
            App::Bulk(Bulk { size: Some(size), .. }) if size.0.0 > MOST_BYTES => {
                let message = format!("expected at most {MOST_BYTES}B");
                out.push(Problem::with_value(key("size"), format!("\"{size}\""), message));
            }
            App::OnOff(o) if o.on.0 == cc::Time::ZERO => {
                out.push(Problem::with_value(key("on"), format!("\"{}\"", o.on), "expected a time above 0"));
            }
            App::OnOff(o) if o.on.0.saturating_add(o.off.0) > LONGEST_CYCLE => {
                let message = format!("expected at most {LONGEST_CYCLE} together with on, which is {}", o.on);
                out.push(Problem::with_value(key("off"), format!("\"{}\"", o.off), message));
            }
            App::ClosedLoop(ClosedLoop { write, count: Some(count), .. })
                if write.0.0 > 0 && count.checked_mul(write.0.0).is_none_or(|bytes| bytes > MOST_BYTES) =>
            {
                let most = MOST_BYTES / write.0.0;
                let message =
                    format!("expected at most {most} with write = \"{write}\": a flow has at most {MOST_BYTES} bytes");
                out.push(Problem::with_value(key("count"), count, message));
            }
            App::Query(q) => {
                for (name, size) in [("request", Some(q.request)), ("response", q.response), ("total", q.total)] {
                    if size.is_some_and(|s| s.0.0 == 0) {
                        out.push(Problem::with_value(key(name), "\"0B\"", "expected at least 1 byte"));
                    }
                }
                if let (Some(_), Some(total)) = (q.response, q.total) {
                    let message = "expected either response, the bytes of every worker, or total, split among them";
                    out.push(Problem::with_value(key("total"), format!("\"{total}\""), message));
                }
            }
            _ => {}
        }
    }
}

/// Problems of one flow file that are kept.
const MOST_PROBLEMS: usize = 100_000;

/// Columns of a flow file.
const COLUMNS: [&str; 8] = ["start", "source", "destination", "size", "controller", "path", "reverse_path", "after"];

impl Traffic {
    /// Name in results.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| pattern_word(self.pattern).to_owned())
    }

    /// Contradictions between keys, found before there is a network. `duration` is the run's.
    pub fn check(&self, path: &str, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let word = pattern_word(self.pattern);
        let to_one = matches!(self.pattern, Pattern::Hotspot | Pattern::Incast);
        if self.receiver.is_some() && !to_one {
            let message = format!("the pattern {word} draws its receivers; only hotspot and incast take one");
            out.push(Problem::new(key("receiver"), message));
        }
        if self.to_itself != ToItself::default() && self.pattern != Pattern::Hotspot {
            let message = format!("the pattern {word} has no flows to themselves; only hotspot takes it");
            out.push(Problem::new(key("to_itself"), message));
        }
        match (self.pattern, &self.file) {
            (Pattern::File, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a CSV file of flows"))
            }
            (Pattern::ConnectionMatrix, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a connection matrix (.cm)"))
            }
            (Pattern::Matrix, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a CSV file with a traffic matrix"))
            }
            (Pattern::File | Pattern::ConnectionMatrix | Pattern::Matrix | Pattern::Poisson, Some(_)) => {}
            (_, Some(_)) => out.push(Problem::new(
                key("file"),
                format!("not used by the pattern {word}; expected pattern = \"file\""),
            )),
            _ => {}
        }
        match (self.pattern, self.flows) {
            (
                Pattern::File
                | Pattern::Permutation
                | Pattern::Pairs
                | Pattern::Poisson
                | Pattern::ConnectionMatrix
                | Pattern::Matrix
                | Pattern::AllToAll
                | Pattern::RingAllreduce,
                None,
            )
            | (_, Some(_)) => {}
            (Pattern::Elephants, None) => {
                out.push(Problem::new(key("flows"), "missing; expected how many flows become elephants"))
            }
            (_, None) => out.push(Problem::new(key("flows"), "missing; expected a whole number >= 1")),
        }
        self.check_arrivals(path, duration, out);
        self.check_elephants(path, out);
        self.check_udp(path, out);
        self.check_collective(path, out);
        match (self.pattern, self.start_unit) {
            (Pattern::ConnectionMatrix, None) => {
                let message = "missing; expected \"us\", \"ns\" or \"ps\": htsim's programs disagree (main_swift: us)";
                out.push(Problem::new(key("start_unit"), message));
            }
            (Pattern::ConnectionMatrix, Some(_)) | (_, None) => {}
            (_, Some(_)) => {
                let message = format!("not used by the pattern {word}; expected pattern = \"connection-matrix\"");
                out.push(Problem::new(key("start_unit"), message));
            }
        }
        let of_a_matrix = matches!(self.pattern, Pattern::ConnectionMatrix | Pattern::Matrix);
        if of_a_matrix && !matches!(self.app, App::Bulk(Bulk { size: None, .. })) {
            let message = "expected kind = \"bulk\" without a size: the sizes are in the matrix";
            out.push(Problem::new(key("app"), message));
        }
        if let Some(stop) = self.stop.filter(|s| *s <= self.start) {
            let message = format!("expected a time after start, {}", self.start);
            out.push(Problem::with_value(key("stop"), format!("\"{stop}\""), message));
        }
        // A run of no length is refused for itself.
        let beyond = |t: cc::Time| duration > cc::Time::ZERO && t >= duration;
        if beyond(self.start.0) && matches!(self.app, App::Query(_)) {
            let message = format!("expected a time before the run ends, at run.duration, {duration}");
            out.push(Problem::with_value(key("start"), format!("\"{}\"", self.start), message));
        }
        if let App::Query(q) = &self.app {
            if let Some(first) = q.first.filter(|t| beyond(t.0)) {
                let message = format!("expected a time before the run ends, at run.duration, {duration}");
                out.push(Problem::with_value(key("app.first"), format!("\"{first}\""), message));
            }
            if let Some(stop) = self.sink_stop {
                let message = "expected none with app.kind = \"query\": both ends of its connections send and receive";
                out.push(Problem::with_value(key("sink_stop"), format!("\"{stop}\""), message));
            }
            if q.response.is_none() && q.total.is_none() && self.pattern != Pattern::File {
                let message = "missing; expected the bytes of a worker's response, or total for all workers together";
                out.push(Problem::new(key("app.response"), message));
            }
            if let (Some(first), Some(stop)) = (q.first, self.stop)
                && first >= stop
            {
                let message = format!("expected a time before the entry's stop, {stop}");
                out.push(Problem::with_value(key("app.first"), format!("\"{first}\""), message));
            }
        }
        if let Some(stop) = self.sink_stop.filter(|s| *s <= self.start) {
            let message = format!("expected a time after start, {}", self.start);
            out.push(Problem::with_value(key("sink_stop"), format!("\"{stop}\""), message));
        }
        self.app.check(path, out);
        if let Some(t) = &self.transport {
            t.check(&key("transport"), out);
        }
    }

    /// Arrivals belong to `poisson`, which takes nothing that would set sizes and times beside them.
    fn check_arrivals(&self, path: &str, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        match (self.pattern, &self.arrivals) {
            (Pattern::Poisson, Some(arrivals)) => arrivals.check(path, self.start, duration, out),
            (Pattern::Poisson, None) => {
                let message = "missing; expected a table such as { load = 0.5, sizes = \"builtin:websearch\" }";
                out.push(Problem::new(key("arrivals"), message));
                return;
            }
            (_, Some(_)) => {
                let word = pattern_word(self.pattern);
                let message = format!("not used by the pattern {word}; expected pattern = \"poisson\"");
                out.push(Problem::new(key("arrivals"), message));
                return;
            }
            (_, None) => return,
        }
        for (name, time) in [("stagger", self.stagger), ("jitter", self.jitter)] {
            if time.0 > cc::Time::ZERO {
                let message = "the pattern poisson has its own times; expected none";
                out.push(Problem::with_value(key(name), format!("\"{time}\""), message));
            }
        }
        match &self.app {
            App::Bulk(Bulk { size: None, .. }) => {}
            App::Bulk(Bulk { size: Some(size), .. }) => {
                let message = "sizes come from arrivals.sizes; expected no size here";
                out.push(Problem::with_value(key("app.size"), format!("\"{size}\""), message));
            }
            _ => out.push(Problem::new(key("app.kind"), "expected \"bulk\": flows of the pattern poisson have sizes")),
        }
    }

    /// What datagrams, which have no connection, have no use for.
    fn check_udp(&self, path: &str, out: &mut Vec<Problem>) {
        if !matches!(self.app, App::Udp(_)) {
            return;
        }
        let expected = "expected none with app.kind = \"udp\"";
        if let Some(stop) = self.sink_stop {
            let message = format!("{expected}: its receivers take what comes");
            out.push(Problem::with_value(format!("{path}.sink_stop"), format!("\"{stop}\""), message));
        }
        if self.read_rate != unbounded() {
            let message = format!("{expected}: its receivers take what comes");
            out.push(Problem::with_value(format!("{path}.read_rate"), format!("\"{}\"", self.read_rate), message));
        }
        if let Some(controller) = &self.controller {
            let message = format!("{expected}: no controller governs it");
            out.push(Problem::with_value(format!("{path}.controller"), format!("\"{}\"", controller.0), message));
        }
    }

    /// The flow with the pace of its datagrams, if it sends such.
    pub(crate) fn paced(&self, flow: spec::FlowSpec, flows: &Flows) -> Result<spec::FlowSpec, Problem> {
        let App::Udp(udp) = &self.app else { return Ok(flow) };
        let key = format!("{}.app.rate", flows.path);
        let wrong = |message: String| Problem::with_value(key, format!("\"{}\"", udp.rate), message);
        let Some(link) = flows.network.links.iter().find(|l| l.from == flow.src) else { return Ok(flow) };
        let name = &flows.network.names[flow.src as usize];
        let rate = match udp.rate.0 {
            PartOrRate::Part(_) if link.rate == cc::Rate::INFINITE => {
                return Err(wrong(format!(
                    "the link of {name} has no finite rate; expected a rate such as \"10Gbps\""
                )));
            }
            PartOrRate::Part(n) => cc::Rate((link.rate.0 as u128 * n as u128).div_ceil(1_000_000) as u64),
            PartOrRate::Rate(rate) if rate.0 > link.rate.0 => {
                return Err(wrong(format!("expected at most the rate of the link of {name}, {}", link.rate)));
            }
            PartOrRate::Rate(rate) => rate,
        };
        let gap = rate.serialize(ideal::wire_bytes(flows.settings(flow.transport), link.overhead));
        Ok(spec::FlowSpec { app: spec::App::Datagrams { gap: gap.max(cc::Time(1)) }, ..flow })
    }

    /// When flow number `i` of the entry opens: its start, stagger and jitter.
    pub(crate) fn opening(&self, entry: u32, i: u64, seed: u64) -> cc::Time {
        let jitter = hash::uniform(seed, purpose::JITTER, entry as u64, i) * self.jitter.0.0 as f64;
        cc::Time(self.stagger.0.0.saturating_mul(i))
            .saturating_add(self.start.0)
            .saturating_add(cc::Time(jitter as u64))
    }

    /// What moves the openings of flows, in words.
    fn moved_by(&self) -> String {
        let keys = [("start", self.start), ("stagger", self.stagger), ("jitter", self.jitter)];
        let moving = keys.iter().filter(|(_, t)| t.0 > cc::Time::ZERO);
        moving.map(|(key, t)| format!("{key}, {t}")).collect::<Vec<_>>().join(", and ")
    }

    /// Adds the flows of entry number `entry`.
    pub(crate) fn add(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        if self.pattern == Pattern::File {
            return self.add_file(entry, flows);
        }
        if let Some(arrivals) = &self.arrivals {
            return self.add_arrivals(arrivals, entry, flows);
        }
        if self.pattern == Pattern::Matrix {
            return self.add_cells(entry, flows);
        }
        if let (Pattern::ConnectionMatrix, Some(unit)) = (self.pattern, self.start_unit) {
            return self.add_matrix(unit, entry, flows);
        }
        if self.pattern == Pattern::Elephants {
            return self.add_elephants(entry, flows).map_err(|p| vec![p]);
        }
        if self.pattern.is_collective() {
            return self.add_collective(entry, flows).map_err(|p| vec![p]);
        }
        let path = flows.path.clone();
        let n = match (self.pattern, self.flows, flows.network.sides) {
            (_, Some(n), _) => n,
            (Pattern::Pairs, None, Some((senders, _))) => senders as u64,
            _ => flows.network.hosts as u64,
        };
        // a connection with requests and responses is two flows
        let flows_each = 1 + u64::from(matches!(self.app, App::Query(_)));
        flows.reserve(n.saturating_mul(flows_each)).map_err(|p| vec![p])?;
        let pairs = self.place(entry, n as u32, flows).map_err(|p| vec![p])?;
        let controller = self.governed_by(flows).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let mut connections = Vec::new();
        for (i, (src, dst)) in (0u64..).zip(pairs) {
            let start = self.opening(entry, i, flows.seed);
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message = format!("flow {i} of the entry opens at {start}; expected a later stop");
                return Err(vec![Problem::with_value(format!("{path}.stop"), format!("\"{stop}\""), message)]);
            }
            let flow = self.flow(src, dst, start, transport, controller, entry);
            let flow = self.paced(flow, flows).map_err(|p| vec![p])?;
            if i == 0 {
                self.check_write(&flow, flows).map_err(|p| vec![p])?;
            }
            match &self.app {
                App::Query(_) => connections.push((flow, None)),
                _ => _ = flows.push(flow),
            }
        }
        self.add_queries(entry, connections, flows).map_err(|p| vec![p])
    }

    /// Flows that arrive at random, of sizes from a table.
    fn add_arrivals(&self, arrivals: &Arrivals, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let parts = match &self.file {
            Some(file) => traffic_matrix::read(file, flows, traffic_matrix::part)?,
            None => Vec::new(),
        };
        let found = arrivals.flows(entry, self.start.0, self.flows, &parts, flows)?;
        flows.reserve(found.len() as u64).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, a) in found.iter().enumerate() {
            if let Some(stop) = self.stop.filter(|s| s.0 <= a.at) {
                let message = format!("flow {i} of the entry opens at {}; expected a later stop", a.at);
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: Some(a.size), write: write.0.0 };
            let flow = spec::FlowSpec { app, ..self.flow(a.src, a.dst, a.at, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }

    /// A flow for every cell of a traffic matrix, row by row.
    fn add_cells(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let cells = traffic_matrix::read(&self.file.clone().unwrap_or_default(), flows, traffic_matrix::bytes)?;
        let has = cells.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the matrix has {has} cells above 0; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        flows.reserve(self.flows.unwrap_or(has)).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, cell) in (0u64..).zip(&cells).take(self.flows.map_or(usize::MAX, |n| n as usize)) {
            let start = self.opening(entry, i, flows.seed);
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message = format!("flow {i} of the entry opens at {start}; expected a later stop");
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: Some(cell.value), write: write.0.0 };
            let flow = spec::FlowSpec { app, ..self.flow(cell.src, cell.dst, start, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }

    /// Flows of a connection matrix; the entry's start, stagger and jitter are added to their own.
    fn add_matrix(&self, unit: StartUnit, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let name = self.file.clone().unwrap_or_default();
        let text = crate::read_named(&format!("{}.file", flows.path), flows.dir, &name).map_err(|p| vec![p])?;
        let mut found = connection_matrix::read(&name, &text, unit, flows.network.hosts)?;
        let has = found.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the file has {has} connections; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        if let Some(n) = self.flows.filter(|n| *n < has && found.iter().any(|c| c.after.is_some())) {
            let message = format!("connections wait for each other; expected all {has} of them");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        found.truncate(self.flows.map_or(usize::MAX, |n| n as usize));
        let first = flows.len();
        flows.reserve(found.len() as u64).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, c) in (0u64..).zip(&found) {
            let start = c.start.saturating_add(self.opening(entry, i, flows.seed));
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message =
                    format!("the connection on line {} of {name} opens at {start}; expected a later stop", c.line);
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: c.size, write: write.0.0 };
            let after = c.after.as_ref().map(|(count, of)| {
                let of = of.iter().map(|(flow, done)| (first + flow, *done)).collect();
                Box::new(spec::After { count: *count, of })
            });
            let flow = spec::FlowSpec { app, after, ..self.flow(c.src, c.dst, start, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }

    /// Adds two-way connections, given by the flow of the responses and, from a file, their size;
    /// those to the same root are one query.
    fn add_queries(
        &self,
        entry: u32,
        connections: Vec<(spec::FlowSpec, Option<u64>)>,
        flows: &mut Flows,
    ) -> Result<(), Problem> {
        let App::Query(query) = &self.app else { return Ok(()) };
        let mut by_root: BTreeMap<u32, Vec<spec::ConnectionSpec>> = BTreeMap::new();
        for (response, size) in connections {
            let request = spec::FlowSpec {
                src: response.dst,
                dst: response.src,
                path: response.reverse_path.clone(),
                reverse_path: response.path.clone(),
                ..response.clone()
            };
            let root = request.src;
            let number = flows.push(request);
            flows.push(response);
            by_root.entry(root).or_default().push(spec::ConnectionSpec {
                request: number,
                response: number + 1,
                request_size: query.request.0.0,
                response_size: size.or(query.response.map(|s| s.0.0)).unwrap_or(0),
            });
        }
        for (root, mut connections) in by_root {
            if let Some(total) = query.total.map(|t| t.0.0) {
                let n = connections.len() as u64;
                if total < n {
                    let message = format!("expected at least {n} bytes, one for each of the {n} workers");
                    let value = format!("\"{}\"", Size(cc::Bytes(total)));
                    return Err(Problem::with_value(format!("{}.app.total", flows.path), value, message));
                }
                for (i, c) in (0u64..).zip(&mut connections) {
                    c.response_size = total / n + u64::from(i < total % n);
                }
            }
            flows.add_query(spec::QuerySpec {
                group: entry,
                root,
                first: query.first.map_or(self.start.0, |t| t.0),
                think: query.think.0,
                count: query.count,
                stop: self.stop.map_or(cc::Time::NEVER, |s| s.0),
                connections,
            });
        }
        Ok(())
    }

    /// Number of the controller of its flows; datagrams have none, and take any.
    pub(crate) fn governed_by(&self, flows: &mut Flows) -> Result<u32, Problem> {
        if matches!(self.app, App::Udp(_)) {
            Ok(flows.any_controller())
        } else {
            flows.controller(self.controller.as_ref())
        }
    }

    pub(crate) fn flow(
        &self,
        src: u32,
        dst: u32,
        start: cc::Time,
        transport: u32,
        controller: u32,
        group: u32,
    ) -> spec::FlowSpec {
        spec::FlowSpec {
            src,
            dst,
            start,
            stop: self.stop.map_or(cc::Time::NEVER, |s| s.0),
            at_stop: match self.at_stop {
                AtStop::Drain => spec::AtStop::Drain,
                AtStop::Reset => spec::AtStop::Reset,
            },
            sink_stop: self.sink_stop.map_or(cc::Time::NEVER, |s| s.0),
            transport,
            controller,
            group,
            class: self.class,
            ack_class: self.ack_class.unwrap_or(self.class),
            app: self.app.spec(),
            read_rate: self.read_rate.0,
            path: None,
            reverse_path: None,
            after: None,
        }
    }

    /// Whether its flows keep to one path.
    pub(crate) fn keeps_one_path(&self) -> bool {
        self.single_path.unwrap_or(self.pattern == Pattern::Elephants)
    }

    /// A write that enters the send buffer whole or not at all has to fit into it.
    pub(crate) fn check_write(&self, flow: &spec::FlowSpec, flows: &Flows) -> Result<(), Problem> {
        let t = flows.settings(flow.transport);
        let (write, because) = match flow.app {
            spec::App::OnOff { write, .. } => (write, "a write at a rate enters it whole or not at all"),
            // a flow of less has less to write
            spec::App::Bulk { size, write }
                if t.whole_writes
                    && size.is_none_or(|size| size + t.extra_packets as u64 * t.mss as u64 > t.send_buffer) =>
            {
                (write, "with transport.whole_writes = true it enters it whole or not at all")
            }
            _ => return Ok(()),
        };
        if write <= t.send_buffer {
            return Ok(());
        }
        let size = |n: u64| Size(cc::Bytes(n));
        let message = format!("expected at most transport.send_buffer, {}: {because}", size(t.send_buffer));
        Err(Problem::with_value(format!("{}.app.write", flows.path), format!("\"{}\"", size(write)), message))
    }

    /// Sender and receiver of every flow.
    fn place(&self, entry: u32, n: u32, flows: &Flows) -> Result<Vec<(u32, u32)>, Problem> {
        let hosts = flows.network.hosts;
        let path = &flows.path;
        check_two_hosts(flows)?;
        let draw =
            |counter: u64, n: u32| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, counter), n);
        // A draw among all hosts but one.
        let other = |counter: u64, not: u32| {
            let h = draw(counter, hosts - 1);
            h + u32::from(h >= not)
        };
        Ok(match self.pattern {
            Pattern::Hotspot => {
                let to = self.receiver(flows, draw(0, hosts))?;
                let from = |i| match self.to_itself {
                    _ if i % hosts != to => Some(i % hosts),
                    ToItself::NextHost => Some((i + 1) % hosts),
                    ToItself::Skip => None,
                };
                let flows: Vec<_> = (0..n).filter_map(from).map(|from| (from, to)).collect();
                if flows.is_empty() {
                    let message = "no flow is left; expected more flows, or \"next-host\"";
                    return Err(Problem::with_value(format!("{path}.to_itself"), "\"skip\"", message));
                }
                flows
            }
            Pattern::RandomHotspot => {
                let to = draw(0, hosts);
                (0..n).map(|i| (other(1 + i as u64, to), to)).collect()
            }
            Pattern::RandomPairs => (0..n as u64)
                .map(|i| {
                    let to = draw(2 * i, hosts);
                    (other(2 * i + 1, to), to)
                })
                .collect(),
            Pattern::Permutation => {
                let mut pairs = Vec::with_capacity(n as usize);
                for round in 0..n.div_ceil(hosts) as u64 {
                    // Shuffles with a fixed point are thrown away: what is left is uniform among
                    // those without, after e shuffles on average.
                    let to = (0u64..)
                        .map(|attempt| shuffled(hosts, |i, n| draw(((round << 20 | attempt) << 24) + i as u64, n)))
                        .find(|p| (0..hosts).zip(p).all(|(from, to)| from != *to))
                        .unwrap_or_default();
                    pairs.extend((0..hosts).zip(to));
                }
                pairs.truncate(n as usize);
                pairs
            }
            Pattern::Incast => {
                let to = self.receiver(flows, draw(0, hosts))?;
                let order = shuffled(hosts - 1, |i, n| draw(1 + i as u64, n));
                (0..n).map(|i| order[(i % (hosts - 1)) as usize]).map(|h| (h + u32::from(h >= to), to)).collect()
            }
            Pattern::Pairs => match flows.network.sides {
                Some((senders, receivers)) => (0..n).map(|i| (i % senders, senders + i % receivers)).collect(),
                None => {
                    let message = "expected a topology with senders and receivers: dumbbell or star";
                    return Err(Problem::with_value(format!("{path}.pattern"), "\"pairs\"", message));
                }
            },
            Pattern::File
            | Pattern::Poisson
            | Pattern::ConnectionMatrix
            | Pattern::Matrix
            | Pattern::Elephants
            | Pattern::AllToAll
            | Pattern::RingAllreduce => Vec::new(),
        })
    }

    fn receiver(&self, flows: &Flows, drawn: u32) -> Result<u32, Problem> {
        let key = format!("{}.receiver", flows.path);
        match &self.receiver {
            None => Ok(flows.network.hosts - 1),
            Some(HostRef::Number(h)) => host(&h.to_string(), flows, |m| Problem::with_value(&key, h, m)),
            Some(HostRef::Name(name)) if name == "last" => Ok(flows.network.hosts - 1),
            Some(HostRef::Name(name)) if name == "random" => Ok(drawn),
            Some(HostRef::Name(name)) => host(name, flows, |m| Problem::with_value(&key, format!("\"{name}\""), m)),
        }
    }

    fn add_file(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        let name = self.file.clone().unwrap_or_default();
        let key = format!("{}.file", flows.path);
        let text = crate::read_named(&key, flows.dir, &name).map_err(|p| vec![p])?;
        let rows = Rows::read(&name, &text, &COLUMNS, &["start", "source", "destination"])?;
        if rows.iter().next().is_none() {
            let message = "the file has no flows; expected at least one line after the header";
            return Err(vec![Problem::with_value(key, format!("\"{name}\""), message)]);
        }
        let mut problems = Vec::new();
        let mut connections = Vec::new();
        let has = rows.iter().count() as u64;
        let first = flows.len();
        let count = self.flows.unwrap_or(has).min(has) as u32;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message =
                format!("the file has {has} flow{}; expected at most as many", if has == 1 { "" } else { "s" });
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        for (i, row) in (0u64..).zip(rows.iter().take(self.flows.map_or(usize::MAX, |n| n as usize))) {
            // A file that is wrong in this many lines is the wrong file.
            if problems.len() > MOST_PROBLEMS {
                break;
            }
            if !row.fits(&mut problems) {
                continue;
            }
            flows.reserve(1 + u64::from(matches!(self.app, App::Query(_)))).map_err(|p| vec![p])?;
            let controller = match row.get("controller") {
                None => flows.controller(self.controller.as_ref()),
                Some(text) => crate::controller::parse(&toml::Value::String(text.into()), "controller")
                    .map_err(|p| Problem {
                        suggestion: p[0].suggestion.clone(),
                        ..row.wrong("controller", &p[0].message)
                    })
                    .and_then(|config| flows.controller(Some(&Controller(config)))),
            };
            let end = |column: &str, problems: &mut Vec<Problem>| match row.get(column) {
                None => {
                    problems.push(row.wrong(column, "expected a host's name or number"));
                    None
                }
                Some(text) => host(text, flows, |m| row.wrong(column, m)).map_err(|p| problems.push(p)).ok(),
            };
            let (src, dst) = (end("source", &mut problems), end("destination", &mut problems));
            let start = match row.get("start") {
                None => Err(row.wrong("start", "expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"")),
                Some(_) => Ok(row.quantity::<cc::Time>("start", "time", &mut problems)),
            };
            let start = start.map_err(|p| problems.push(p)).ok().flatten();
            // A bare number is bytes: lists of flow sizes are commonly written so.
            let size = |t: &str| match t.parse::<u64>().or_else(|_| t.parse::<cc::Bytes>().map(|b| b.0)) {
                Ok(n) if n > 0 && n <= MOST_BYTES => Ok(n),
                Ok(n) if n > 0 => Err(format!("expected at most {MOST_BYTES}B")),
                _ => Err("expected a size above 0, in bytes or with a unit, such as 2000000 or \"2MB\"".to_owned()),
            };
            let size = row.parse("size", size, &mut problems);
            let controller = controller.map_err(|p| problems.push(p)).ok();
            let (Some(src), Some(dst), Some(start), Some(controller)) = (src, dst, start, controller) else { continue };
            if src == dst {
                problems.push(row.wrong(
                    "destination",
                    format!("expected another host than the source, {}", flows.network.names[src as usize]),
                ));
                continue;
            }
            let transport = flows.transport(self.transport.as_ref(), controller);
            let listed = start;
            let start = listed.saturating_add(self.opening(entry, i, flows.seed));
            match self.stop {
                Some(stop) if stop.0 <= listed => {
                    problems.push(row.wrong("start", format!("expected a time before the entry's stop, {stop}")));
                }
                Some(stop) if stop.0 <= start => {
                    // one flow of those that the entry's own keys move beyond its stop says it for all
                    let message = format!(
                        "flow {i} of {name}, listed at {listed}, opens at {start} by the entry's {}; expected a later stop",
                        self.moved_by()
                    );
                    problems.push(Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message));
                    break;
                }
                _ => {}
            }
            let flow = self.flow(src, dst, start, transport, controller, entry);
            let mut flow = self.paced(flow, flows).map_err(|p| vec![p])?;
            match (&self.app, size) {
                (App::Udp(_), Some(_)) => {
                    problems.push(row.wrong("size", "datagrams have a rate and no size; expected no size here"));
                }
                (App::Query(q), Some(_)) if q.total.is_some() => {
                    problems.push(row.wrong("size", "the entry's app has a total to split; expected no size here"));
                }
                (App::Query(Query { response: None, total: None, .. }), None) => {
                    problems.push(
                        row.wrong("size", "expected the bytes of this worker's response: the entry's app has none"),
                    );
                }
                (App::ClosedLoop(_), Some(_)) => {
                    problems
                        .push(row.wrong("size", "closed-loop writes have a count and no size; expected no size here"));
                }
                _ => {}
            }
            if let Some(size) = size.filter(|_| !matches!(self.app, App::Query(_))) {
                let write = if let App::Bulk(b) = &self.app { b.write } else { bulk_write() };
                flow.app = spec::App::Bulk { size: Some(size), write: write.0.0 };
            }
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flow.path = given_path(&row, "path", src, dst, flows).map_err(|p| problems.push(p)).ok().flatten();
            flow.reverse_path =
                given_path(&row, "reverse_path", dst, src, flows).map_err(|p| problems.push(p)).ok().flatten();
            flow.after = waits_for(&row, i as u32, count, first).map_err(|p| problems.push(p)).ok().flatten();
            if let (Some(_), App::Query(_)) = (&flow.after, &self.app) {
                let message = "a two-way connection waits for no flow; expected none with app.kind = \"query\"";
                problems.push(row.wrong("after", message));
            }
            match &self.app {
                App::Query(_) => connections.push((flow, size)),
                _ => _ = flows.push(flow),
            }
        }
        if problems.is_empty() {
            self.add_queries(entry, connections, flows).map_err(|p| vec![p])
        } else {
            Err(problems)
        }
    }
}

pub(crate) fn check_two_hosts(flows: &Flows) -> Result<(), Problem> {
    if flows.network.hosts < 2 {
        let message = "the topology has one host; expected at least two to send between";
        return Err(Problem::new(format!("{}.pattern", flows.path), message));
    }
    Ok(())
}

/// What flow `own` of a file of `count` flows, which are numbered from `first` on, waits for: numbers of flows of the
/// file, for their ends at the sender, or with `:received` at the receiver.
fn waits_for(row: &Row, own: u32, count: u32, first: u32) -> Result<Option<Box<spec::After>>, Problem> {
    let Some(text) = row.get("after") else { return Ok(None) };
    let mut of = Vec::new();
    for word in text.split_whitespace() {
        let (number, done) = match word.split_once(':') {
            None => (word, Some(spec::Done::Sent)),
            Some((number, "sent")) => (number, Some(spec::Done::Sent)),
            Some((number, "received")) => (number, Some(spec::Done::Received)),
            Some((number, _)) => (number, None),
        };
        let flow = number.parse::<u32>().ok().filter(|n| *n < count && *n != own);
        let (Some(flow), Some(done)) = (flow, done) else {
            let message = format!(
                "{word} is no end of another flow of the file; expected numbers from 0 to {}, such as 0 or 0:received",
                count - 1
            );
            return Err(row.wrong("after", message));
        };
        of.push((first + flow, done));
    }
    Ok(Some(Box::new(spec::After { count: of.len() as u32, of })))
}

/// A list of node names, the ends included or not, as links.
fn given_path(row: &Row, column: &str, src: u32, dst: u32, flows: &Flows) -> Result<Option<Vec<u32>>, Problem> {
    let Some(text) = row.get(column) else { return Ok(None) };
    let mut nodes = Vec::new();
    for name in text.split_whitespace() {
        match flows.names.get(name) {
            Some(n) => nodes.push(*n),
            None => {
                let p = row.wrong(
                    column,
                    format!("no node is called {name}; expected names of switches from source to destination"),
                );
                return Err(p.suggest(name, flows.network.names.iter().map(String::as_str)));
            }
        }
    }
    if nodes.first() != Some(&src) {
        nodes.insert(0, src);
    }
    if nodes.last() != Some(&dst) {
        nodes.push(dst);
    }
    let named = |n: u32| &flows.network.names[n as usize];
    let inner = &nodes[1..nodes.len() - 1];
    if let Some(h) = inner.iter().find(|n| **n < flows.network.hosts) {
        return Err(row.wrong(column, format!("{} is a host; hosts do not forward", named(*h))));
    }
    if let Some(again) = nodes.iter().enumerate().find(|(i, n)| nodes[..*i].contains(n)).map(|(_, n)| *n) {
        let message = format!("passes {} twice; expected a path that goes round no circle", named(again));
        return Err(row.wrong(column, message));
    }
    nodes
        .windows(2)
        .map(|w| {
            let link = flows.link_between(w[0], w[1]);
            link.ok_or_else(|| row.wrong(column, format!("no link goes from {} to {}", named(w[0]), named(w[1]))))
        })
        .collect::<Result<Vec<u32>, Problem>>()
        .map(Some)
}

/// A host by name or number.
pub(crate) fn host(text: &str, flows: &Flows, wrong: impl Fn(String) -> Problem) -> Result<u32, Problem> {
    let hosts = flows.network.hosts;
    let found = flows.names.get(text).copied().or_else(|| text.parse().ok());
    match found {
        Some(h) if h < hosts => Ok(h),
        _ => {
            let names = &flows.network.names[..hosts as usize];
            let last = names.last().map_or("", String::as_str);
            let p = wrong(format!("expected a host: {} to {last}, or a number from 0 to {}", names[0], hosts - 1));
            // Among numbered names the nearest by letters means nothing.
            let numbered = text.bytes().any(|b| b.is_ascii_digit());
            Err(if numbered { p } else { p.suggest(text, names.iter().take(1000).map(String::as_str)) })
        }
    }
}

/// Fisher and Yates's shuffle of `0..n`; `draw(i, n)` is the i-th draw below n.
pub(crate) fn shuffled(n: u32, draw: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let mut items: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        items.swap(i as usize, draw(i, i + 1) as usize);
    }
    items
}

pub(crate) fn pattern_word(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Hotspot => "hotspot",
        Pattern::RandomHotspot => "random-hotspot",
        Pattern::RandomPairs => "random-pairs",
        Pattern::Permutation => "permutation",
        Pattern::Incast => "incast",
        Pattern::Pairs => "pairs",
        Pattern::File => "file",
        Pattern::Poisson => "poisson",
        Pattern::ConnectionMatrix => "connection-matrix",
        Pattern::Matrix => "matrix",
        Pattern::Elephants => "elephants",
        Pattern::AllToAll => "all-to-all",
        Pattern::RingAllreduce => "ring-allreduce",
    }
}
