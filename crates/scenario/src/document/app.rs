//! Sending applications. A kind is a struct of its keys that implements [`Application`], and a line in the list of
//! [`App`].

use crate::files::connection_matrix::MAX_BYTES;
use crate::text::default::{bytes, microseconds, number};
use crate::text::problem::Report;
use crate::text::quantity::{LineRate, Rate, Size, Time};
use crate::text::words::{Word, kinds, words};
use incast_cc as cc;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest cycle of ON and OFF time: half of what a time can hold.
const LONGEST_CYCLE: cc::Time = cc::Time::s(9_000_000);

/// Interface of all kinds of applications.
pub trait Application {
    /// Specification for the engine.
    fn spec(&self) -> spec::App;
    /// Reports contradictions between its keys, and invalid values that types allow.
    fn check(&self, _at: &mut Report) {}
}

kinds! {
    /// Behaviour of a sending application.
    App: Application {
        /// One transfer as fast as the transport allows, with a size or endless.
        Bulk = "bulk",
        /// Writes at a rate during ON times. A write that does not fit into the send buffer is retried at the next
        /// tick of the rate, as in ns-3's OnOffApplication.
        OnOff = "on-off",
        /// Writes at a constant rate, without pause.
        Cbr = "cbr",
        /// Requests of the receiver and responses of the senders, over two-way connections. A query sends a request
        /// on every connection in the same instant; a worker responds as soon as it has its request; the query ends
        /// with the last byte of the last response. The next query begins a think time later. Connections of an entry
        /// with the same receiver form one query.
        Query = "query",
        /// Keeps a number of writes in flight: the next write comes a think time after one is acknowledged.
        ClosedLoop = "closed-loop",
        /// Full segments at a constant or random pace, without a transport: no ACKs, no retransmissions, no
        /// controller, no ECN.
        Udp = "udp",
    }
}

/// Datagrams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Udp {
    /// Rate on the sender's link, headers and link overhead included.
    pub rate: LineRate,
    /// Times between datagrams.
    #[serde(default)]
    pub gaps: Word<Gaps>,
}

/// Times between datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gaps {
    /// Constant.
    #[default]
    Constant,
    /// Exponentially distributed.
    Poisson,
}

words! {
    /// Times between datagrams.
    "Gaps" Gaps {
        /// Constant.
        "constant" => Gaps::Constant,
        /// Exponentially distributed: a Poisson process of the same rate.
        "poisson" => Gaps::Poisson,
    }
}

impl Udp {
    /// True if the times between its datagrams are random.
    pub(crate) fn is_random(&self) -> bool {
        self.gaps.0 == Gaps::Poisson
    }
}

impl Application for Udp {
    fn spec(&self) -> spec::App {
        // the pace follows from the sender's link ([`Traffic::paced`])
        spec::App::Udp(spec::Udp { gap: cc::Time::ZERO, random: self.is_random() })
    }
}

/// Requests and responses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Query {
    /// Bytes of a request.
    #[serde(default = "bytes::<100>")]
    pub request: Size,
    /// Bytes of a worker's response. Give this or `total`, unless a file has sizes.
    pub response: Option<Size>,
    /// Bytes of all responses of a query together, split evenly among the workers.
    pub total: Option<Size>,
    /// Start of the first query; default: the entry's `start`. A request waits for its connection to open.
    pub first: Option<Time>,
    /// Time from the end of a query to the start of the next.
    #[serde(default = "microseconds::<0>")]
    pub think: Time,
    /// Number of queries; default: no limit (or until the entry's `stop`).
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Lifetime of connections.
    #[serde(default)]
    pub connections: Word<Connections>,
    /// With `connections = "per-query"`: the end that closes a connection first, and the way it closes; default:
    /// `"worker"`.
    pub close: Option<Word<spec::Close>>,
}

/// Lifetime of connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Connections {
    /// The whole run.
    #[default]
    Persistent,
    /// One query.
    PerQuery,
}

words! {
    /// Lifetime of connections.
    "Connections" Connections {
        /// Connections open at the entry's `start` and stay open from query to query, with their windows and RTT
        /// estimates.
        "persistent" => Connections::Persistent,
        /// Every query opens new connections, with fresh state, and closes them.
        "per-query" => Connections::PerQuery,
    }
}

words! {
    /// End of a connection that closes it first.
    "Close" spec::Close {
        /// The worker sends FIN with its response (with `transport.fin_with_data`) or after it, and then the root
        /// sends FIN.
        "worker" => spec::Close::Worker,
        /// The root sends FIN when it has the whole response, and the worker when it has the root's FIN.
        "root" => spec::Close::Root,
        /// The root resets the connection when it has the whole response. No FIN is sent.
        "rst" => spec::Close::Reset,
    }
}

impl Query {
    /// End that closes connections of one query.
    pub(crate) fn close(&self) -> Option<spec::Close> {
        let close = self.close.map_or(spec::Close::Worker, |close| close.0);
        (self.connections.0 == Connections::PerQuery).then_some(close)
    }
}

impl Application for Query {
    fn spec(&self) -> spec::App {
        spec::App::Messages(spec::Messages)
    }

    fn check(&self, at: &mut Report) {
        for (name, size) in [("request", Some(self.request)), ("response", self.response), ("total", self.total)] {
            some_bytes(name, size, at);
        }
        if let (Some(_), Some(total)) = (self.response, self.total) {
            let message = "expected either response, the bytes of every worker, or total, split among them";
            at.text("total", total, message);
        }
        if let Some(close) = self.close.filter(|_| self.connections.0 == Connections::Persistent) {
            let message = "expected connections = \"per-query\" beside it: persistent connections are not closed";
            at.text("close", close.word(), message);
        }
    }
}

/// Closed-loop writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClosedLoop {
    /// Bytes per write.
    pub write: Size,
    /// Writes in flight at a time. A flow stores some 50 bytes for each.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// Time from the acknowledgement of a write to the next write.
    #[serde(default = "microseconds::<0>")]
    pub think: Time,
    /// Number of writes of a flow, which then closes; default: no limit.
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
}

impl Application for ClosedLoop {
    fn spec(&self) -> spec::App {
        let ClosedLoop { write, outstanding, think, count } = *self;
        spec::App::ClosedLoop(spec::ClosedLoop { write: write.0.0, outstanding, think: think.0, count })
    }

    fn check(&self, at: &mut Report) {
        let ClosedLoop { write, count, .. } = *self;
        some_bytes("write", Some(write), at);
        if let (Some(most), Some(count)) = (MAX_BYTES.checked_div(write.0.0), count)
            && count > most
        {
            let message =
                format!("expected at most {most} with write = \"{write}\": a flow has at most {MAX_BYTES} bytes");
            at.value("count", count, message);
        }
    }
}

/// A bulk transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Bulk {
    /// Bytes; default: endless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Bytes per write.
    #[serde(default = "bytes::<64_000>")]
    pub write: Size,
    /// Allows a write larger than the send buffer: with `transport.whole_writes` the buffer refuses it for ever, and
    /// a flow without a size opens and closes at once (ns-3's BulkSendApplication). Otherwise such a write is an
    /// error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Application for Bulk {
    fn spec(&self) -> spec::App {
        spec::App::Bulk(spec::Bulk { size: self.size.map(|s| s.0.0), write: self.write.0.0 })
    }

    fn check(&self, at: &mut Report) {
        some_bytes("write", Some(self.write), at);
        some_bytes("size", self.size, at);
        if let Some(size) = self.size.filter(|size| size.0.0 > MAX_BYTES) {
            at.text("size", size, format!("expected at most {MAX_BYTES}B"));
        }
    }
}

/// On and off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct OnOff {
    /// Rate during ON times.
    pub rate: Rate,
    /// Length of an ON time.
    #[serde(default = "microseconds::<1_000_000>")]
    pub on: Time,
    /// Length of an OFF time.
    #[serde(default = "microseconds::<1_000_000>")]
    pub off: Time,
    /// Bytes per write.
    #[serde(default = "bytes::<1_000>")]
    pub write: Size,
    /// Starts with an OFF time, counted from the end of the handshake, as in ns-3.
    #[serde(default)]
    pub off_first: bool,
}

impl Application for OnOff {
    fn spec(&self) -> spec::App {
        let OnOff { rate, on, off, write, off_first } = *self;
        let begin = if off_first { spec::Begin::Off } else { spec::Begin::Open };
        spec::App::OnOff(spec::OnOff { rate: rate.0, on: on.0, off: off.0, write: write.0.0, begin })
    }

    fn check(&self, at: &mut Report) {
        check_writes(self.write, self.rate, at);
        if self.on.0 == cc::Time::ZERO {
            at.text("on", self.on, "expected a time above 0");
        } else if self.on.0.saturating_add(self.off.0) > LONGEST_CYCLE {
            let message = format!("expected at most {LONGEST_CYCLE} together with on, which is {}", self.on);
            at.text("off", self.off, message);
        }
    }
}

/// Constant rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Cbr {
    /// Rate.
    pub rate: Rate,
    /// Bytes per write.
    #[serde(default = "bytes::<1_000>")]
    pub write: Size,
    /// Start of the writes.
    #[serde(default)]
    pub from: Word<WritesFrom>,
}

/// Start of the writes of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WritesFrom {
    /// The opening of its connection.
    #[default]
    Open,
    /// The call of connect().
    Connect,
}

words! {
    /// Start of the writes of an application.
    "WritesFrom" WritesFrom {
        /// One write interval after its connection is open.
        "open" => WritesFrom::Open,
        /// The call of connect(): data written before the connection is open waits in the send buffer.
        "connect" => WritesFrom::Connect,
    }
}

impl Application for Cbr {
    fn spec(&self) -> spec::App {
        let (on, off) = (cc::Time::s(1), cc::Time::ZERO);
        let begin = match self.from.0 {
            WritesFrom::Open => spec::Begin::Open,
            WritesFrom::Connect => spec::Begin::Connect,
        };
        spec::App::OnOff(spec::OnOff { rate: self.rate.0, on, off, write: self.write.0.0, begin })
    }

    fn check(&self, at: &mut Report) {
        check_writes(self.write, self.rate, at);
    }
}

fn some_bytes(key: &str, size: Option<Size>, at: &mut Report) {
    if size.is_some_and(|size| size.0.0 == 0) {
        at.text(key, "0B", "expected at least 1 byte");
    }
}

fn check_writes(write: Size, rate: Rate, at: &mut Report) {
    some_bytes("write", Some(write), at);
    if rate.0 == cc::Rate::INFINITE {
        at.text("rate", "inf", "expected a finite rate; kind = \"bulk\" writes as fast as the transport takes it");
    }
}

/// Default size of a write of a bulk application.
pub(crate) const BULK_WRITE: Size = Size(cc::Bytes(64_000));

impl Default for App {
    fn default() -> App {
        App::Bulk(Bulk { size: None, write: BULK_WRITE, refused: false })
    }
}
