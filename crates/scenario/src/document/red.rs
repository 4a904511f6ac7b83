//! Thresholds and average of RED, `queue.kind = "red"`.

use crate::text::default::{number, thousandths, yes};
use crate::text::problem::Report;
use crate::text::quantity::QueueLimit;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RED's keys, named as in ns-3's RedQueueDisc (3.43), whose defaults they have.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RedKeys {
    /// Lower threshold on the average queue.
    pub min_th: QueueLimit,
    /// Upper threshold.
    pub max_th: QueueLimit,
    /// Weight of a new value in the average queue; 1 is the queue itself, 0 derives
    /// 1 - exp(-1/C) from the link's packets per second C.
    #[serde(default = "thousandths::<2>")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub qw: f64,
    /// Inverse of the drop probability at `max_th`.
    #[serde(default = "thousandths::<50_000>")]
    #[schemars(range(min = 1.0))]
    pub l_interm: f64,
    /// Mean packet size in bytes, for idle times and thresholds in bytes.
    #[serde(default = "number::<500>")]
    #[schemars(range(min = 1))]
    pub mean_pkt_size: u32,
    /// The probability rises to 1 between `max_th` and twice `max_th`, instead of jumping.
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Spreads drops: none until as many packets have passed as the probability requires.
    #[serde(default = "yes")]
    pub wait: bool,
    /// Marks ECN-capable packets instead of dropping them early.
    #[serde(default)]
    pub use_ecn: bool,
    /// Above the upper threshold even ECN-capable packets are dropped.
    #[serde(default = "yes")]
    pub use_hard_drop: bool,
}

impl RedKeys {
    /// Discipline for the engine.
    pub(super) fn discipline(&self) -> spec::Discipline {
        spec::Discipline::Red(spec::Red {
            min_th: self.min_th.amount().unwrap_or(0) as f64,
            max_th: self.max_th.amount().unwrap_or(0) as f64,
            qw: self.qw,
            l_interm: self.l_interm,
            mean_pkt_size: self.mean_pkt_size,
            gentle: self.gentle,
            wait: self.wait,
            use_ecn: self.use_ecn,
            use_hard_drop: self.use_hard_drop,
        })
    }

    /// Reports thresholds that contradict each other or the `limit`.
    pub(super) fn check(&self, limit: QueueLimit, at: &mut Report) {
        for (name, th) in [("min_th", self.min_th), ("max_th", self.max_th)] {
            if th.amount().is_none() || (limit.amount().is_some() && !th.same_unit(limit)) {
                at.text(name, th, format!("expected the unit of the limit, {limit}"));
            }
        }
        if self.min_th.is_above(self.max_th) {
            at.text("min_th", self.min_th, format!("expected at most max_th, {}", self.max_th));
        }
    }
}
