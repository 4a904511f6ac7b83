//! Joint settings of all classes of a port, in addition to those of each.

use crate::text::problem::Report;
use crate::text::quantity::QueueLimit;
use incast_engine::spec::{self, Limit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Joint settings of all classes of a port.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Aggregate {
    /// Marks ECN-capable arrivals that find this much queued in all classes together, in addition to the marking of
    /// their class; default: none.
    pub mark: Option<QueueLimit>,
    /// Largest queue of all classes together, in addition to the limits of each; default: none.
    pub limit: Option<QueueLimit>,
}

impl Aggregate {
    pub(crate) fn spec(&self) -> spec::Aggregate {
        let limit = |given: Option<QueueLimit>| given.map_or(Limit::None, |limit| limit.0);
        spec::Aggregate { mark: limit(self.mark), limit: limit(self.limit) }
    }

    pub(crate) fn check(&self, at: &mut Report) {
        if let (Some(mark), Some(limit)) = (self.mark, self.limit)
            && mark.is_above(limit)
        {
            at.text("mark", mark, format!("expected at most the limit, {limit}: a queue never grows beyond it"));
        }
        if let Some(limit) = self.limit.filter(|limit| limit.amount() == Some(0)) {
            at.text("limit", limit, "expected room for at least one packet");
        }
    }
}
