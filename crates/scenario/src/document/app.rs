//! What sending applications do.

use crate::files::connection_matrix::MOST_BYTES;
use crate::text::default::{bytes, microseconds, number};
use crate::text::problem::Report;
use crate::text::quantity::{LineRate, Rate, Size, Time};
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
    /// The receiver asks and the senders answer, over persistent two-way connections. A query sends a request on every
    /// connection in the same instant; a worker that has its request answers at once; the query ends with the last byte
    /// of the last response. The next query begins a think time later. Connections of an entry with the same receiver
    /// make one query.
    Query(Query),
    /// Keeps a number of writes in flight: the next write comes a think time after one is acknowledged.
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
    #[serde(default = "bytes::<100>")]
    pub request: Size,
    /// Bytes of a worker's response; this or `total` must be given, except where a file has sizes.
    pub response: Option<Size>,
    /// Bytes of all responses of a query together, split evenly among the workers.
    pub total: Option<Size>,
    /// When the first query begins; the entry's `start` unless given. A request waits for its
    /// connection to open.
    pub first: Option<Time>,
    /// Time from the end of a query to the beginning of the next.
    #[serde(default = "microseconds::<0>")]
    pub think: Time,
    /// Number of queries; without end (or until the entry's `stop`) unless given.
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
}

/// Closed-loop writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClosedLoop {
    /// Bytes a write.
    pub write: Size,
    /// Writes in flight at a time. A flow stores some 50 bytes for each.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// Time from the acknowledgement of a write to the next.
    #[serde(default = "microseconds::<0>")]
    pub think: Time,
    /// Number of writes of a flow, which then closes; without end unless given.
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
}

/// A bulk transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Bulk {
    /// Bytes; without end unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Bytes a write.
    #[serde(default = "bytes::<64_000>")]
    pub write: Size,
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
    /// Bytes a write.
    #[serde(default = "bytes::<1_000>")]
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
    #[serde(default = "bytes::<1_000>")]
    pub write: Size,
}

/// What a bulk application writes at a time, unless it is said.
pub(crate) const BULK_WRITE: Size = Size(cc::Bytes(64_000));

impl Default for App {
    fn default() -> App {
        App::Bulk(Bulk { size: None, write: BULK_WRITE })
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
            App::Cbr(c) => spec::App::OnOff {
                rate: c.rate.0,
                on: cc::Time::s(1),
                off: cc::Time::ZERO,
                write: c.write.0.0,
                off_first: false,
            },
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

    pub(crate) fn check(&self, at: &mut Report) {
        let (write, rate) = match self {
            App::Bulk(b) => (Some(b.write), None),
            App::OnOff(o) => (Some(o.write), Some(o.rate)),
            App::Cbr(c) => (Some(c.write), Some(c.rate)),
            App::Query(_) | App::Udp(_) => (None, None),
            App::ClosedLoop(c) => (Some(c.write), None),
        };
        let no_bytes = |size: Option<Size>| size.is_some_and(|size| size.0.0 == 0);
        if no_bytes(write) {
            at.text("write", "0B", ONE_BYTE);
        }
        if rate.is_some_and(|r| r.0 == cc::Rate::INFINITE) {
            let message = "expected a finite rate; kind = \"bulk\" writes as fast as the transport takes it";
            at.text("rate", "inf", message);
        }
        match self {
            App::Bulk(Bulk { size, .. }) if no_bytes(*size) => at.text("size", "0B", ONE_BYTE),
            App::Bulk(Bulk { size: Some(size), .. }) if size.0.0 > MOST_BYTES => {
                at.text("size", size, format!("expected at most {MOST_BYTES}B"));
            }
            App::OnOff(o) if o.on.0 == cc::Time::ZERO => at.text("on", o.on, "expected a time above 0"),
            App::OnOff(o) if o.on.0.saturating_add(o.off.0) > LONGEST_CYCLE => {
                let message = format!("expected at most {LONGEST_CYCLE} together with on, which is {}", o.on);
                at.text("off", o.off, message);
            }
            App::ClosedLoop(ClosedLoop { write, count: Some(count), .. })
                if write.0.0 > 0 && count.checked_mul(write.0.0).is_none_or(|bytes| bytes > MOST_BYTES) =>
            {
                let most = MOST_BYTES / write.0.0;
                let message =
                    format!("expected at most {most} with write = \"{write}\": a flow has at most {MOST_BYTES} bytes");
                at.value("count", count, message);
            }
            App::Query(q) => {
                for (name, size) in [("request", Some(q.request)), ("response", q.response), ("total", q.total)] {
                    if no_bytes(size) {
                        at.text(name, "0B", ONE_BYTE);
                    }
                }
                if let (Some(_), Some(total)) = (q.response, q.total) {
                    let message = "expected either response, the bytes of every worker, or total, split among them";
                    at.text("total", total, message);
                }
            }
            _ => {}
        }
    }
}

const ONE_BYTE: &str = "expected at least 1 byte";
