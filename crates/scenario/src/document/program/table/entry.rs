//! One entry of a table.

use super::actions::{Action, Known};
use super::matches::Match;
use crate::document::program::kind::Around;
use crate::text::expression::condition;
use crate::text::problem::Report;
use crate::text::quantity::Time;
use incast_cc as cc;
use incast_engine::spec::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry of a table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Entry {
    /// Name in results; default: its number in the table.
    pub name: Option<String>,
    /// Priority: of several entries that match a packet the one of the highest priority acts. Entries of one priority
    /// may not overlap.
    #[serde(default)]
    pub priority: u16,
    /// Packets matched by the entry; default: all.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// Further condition of a match, such as `"flows[ingress] > 0"`.
    pub when: Option<String>,
    /// Actions on a packet, in order. Then it goes to the next table.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// Idle timeout: the entry ends after this time without a packet; default: never.
    pub idle: Option<Time>,
    /// Hard timeout: the entry ends this long after its installation; default: never.
    pub hard: Option<Time>,
}

impl Entry {
    /// Compiles it for the engine; problems go to `at`.
    pub(super) fn compiled(&self, name: String, around: &Around, known: &Known, at: &mut Report) -> table::Entry {
        let when = self.when.as_ref().and_then(|text| match condition(text, known.registers) {
            Ok(formula) => Some(formula),
            Err(message) => {
                at.text("when", text, message);
                None
            }
        });
        for (key, time) in [("idle", self.idle), ("hard", self.hard)] {
            if let Some(time) = time.filter(|time| time.0 == cc::Time::ZERO) {
                at.text(key, time, "expected a time above 0; without the key the entry stays");
            }
        }
        let matches = self.matches.compiled(around, &mut at.below("match"));
        let mut actions = Vec::new();
        for (i, action) in self.actions.iter().enumerate() {
            actions.extend(action.compiled(around, known, &mut at.below(format!("actions.{i}"))));
        }
        table::Entry {
            name,
            priority: self.priority,
            matches,
            when,
            actions,
            idle: self.idle.map(|time| time.0),
            hard: self.hard.map(|time| time.0),
        }
    }
}
