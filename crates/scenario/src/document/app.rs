//! What sending applications do.

use crate::files::connection_matrix::MOST_BYTES;
use crate::text::problem::Problem;
use crate::text::quantity::{LineRate, Rate, Size, Time, zero};
use incast_cc as cc;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest cycle of ON and OFF time: half of what a time can hold.
const LONGEST_CYCLE: cc::Time = cc::Time::s(9_000_000);

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
pub(crate) fn bulk_write() -> Size {
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
    pub(crate) fn spec(&self) -> spec::App {
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
            App::Udp(_) => spec::App::Udp { gap: cc::Time::ZERO },
        }
    }

    pub(crate) fn check(&self, path: &str, out: &mut Vec<Problem>) {
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
