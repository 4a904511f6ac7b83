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
    /// Name in results; its number in the table unless given.
    pub name: Option<String>,
    /// Of several entries that match a packet the one of the highest priority acts. Entries of one priority may not
    /// overlap.
    #[serde(default)]
    pub priority: u16,
    /// The packets that it matches: all, unless something is said.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// Condition without which it does not match, such as `"flows[ingress] > 0"`.
    pub when: Option<String>,
    /// What is done with a packet, in order. Then it goes to the next table.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// It ends after so long without a packet; never, unless given.
    pub idle: Option<Time>,
    /// It ends so long after it was installed; never, unless given.
    pub hard: Option<Time>,
}

impl Entry {
    /// As the engine has it; what is wrong goes to `at`.
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
