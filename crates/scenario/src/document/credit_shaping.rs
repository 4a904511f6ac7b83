//! Ports that shape credits (ExpressPass).

use crate::text::default::{bytes, number};
use crate::text::problem::Report;
use crate::text::quantity::{QueueLimit, Size};
use incast_engine::spec::{self, Limit, QueueSpec, Scheduler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Eight credits of 84 bytes.
fn eight() -> QueueLimit {
    QueueLimit(Limit::Bytes(8 * 84))
}

/// The credits of a port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Credits {
    /// Largest queue of credits; beyond it they are dropped. (The authors: eight of 84 bytes.)
    #[serde(default = "eight")]
    pub credit_limit: QueueLimit,
    /// IP bytes of a credit, on average.
    #[serde(default = "bytes::<84>")]
    pub credit_size: Size,
    /// IP bytes of the packet sent for a credit. The rate of credits is such that these packets fill the link in the
    /// other direction, together with credits.
    #[serde(default = "bytes::<1538>")]
    pub packet_size: Size,
    /// Credits sent at once after an idle time.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 1))]
    pub credit_burst: u32,
}

impl Credits {
    /// Reports credits and packets of a transport that are larger than the sizes assumed here.
    pub(crate) fn check_sizes(&self, own: &spec::ExpressPass, packet: u32, at: &mut Report) {
        let credit = own.mean_credit() as u64;
        if self.credit_size.0.0 < credit {
            let message = format!("expected {credit}B or more, the mean credit of transport.expresspass");
            at.text("credit_size", self.credit_size, message);
        }
        if self.packet_size.0.0 < packet as u64 {
            let message = format!(
                "expected {packet}B or more, transport.mss plus transport.header: with less, credits admit more data \
                 than the link carries"
            );
            at.text("packet_size", self.packet_size, message);
        }
    }

    /// Queues of a port where all other packets have this limit.
    pub(crate) fn with_data_limit(&self, limit: QueueLimit) -> spec::Discipline {
        let queue = |limit: QueueLimit| QueueSpec {
            discipline: spec::Discipline::DropTail,
            limit: limit.0,
            device: 0,
            count_in_service: false,
            count_overhead: false,
            explicit: false,
        };
        let size = |size: Size| size.0.0.min(u16::MAX as u64) as u32;
        let (credit, packet) = (size(self.credit_size), size(self.packet_size));
        let shaping = spec::CreditShaping { credit, packet, burst: self.credit_burst };
        spec::Discipline::Classes {
            scheduler: Scheduler::Credits(shaping),
            classes: vec![queue(self.credit_limit), queue(limit)],
            aggregate: spec::Aggregate::NONE,
        }
    }

    /// Reports invalid values that types allow.
    pub(crate) fn check(&self, at: &mut Report) {
        for (key, size) in [("credit_size", self.credit_size), ("packet_size", self.packet_size)] {
            if !(1..=u16::MAX as u64).contains(&size.0.0) {
                at.text(key, size, "expected 1B to 65535B, a packet");
            }
        }
        if self.credit_burst == 0 {
            at.value("credit_burst", 0, "expected at least 1 credit");
        }
        if self.credit_limit.amount() == Some(0) {
            at.text("credit_limit", self.credit_limit, "expected room for at least one credit");
        }
    }
}
