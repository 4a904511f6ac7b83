//! Match-action tables: `[[program]] kind = "table"`.

mod actions;
mod matches;
mod value;

use super::node_program::{Around, NodeProgram};
use crate::text::expression::{RESERVED, condition};
use crate::text::name::interned;
use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size, Time};
use actions::{Action, Known};
use incast_cc as cc;
use incast_engine::spec::{self, Spec, table};
use matches::{Match, overlap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Match-action tables.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Table {
    /// Nodes that run it: `switches`, `hosts`, or names with `*` for any letters, apart by commas, such as
    /// `"edge*, core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Integers that entries read and write, 0 at the beginning, by name: every `"port"` of a node has one, or the node
    /// itself (`"switch"`).
    #[serde(default)]
    pub registers: BTreeMap<String, Scope>,
    /// Meters that actions name.
    #[serde(default)]
    pub meters: Vec<Meter>,
    /// The tables, in the order in which packets meet them.
    pub tables: Vec<Stage>,
}

fn switches() -> String {
    "switches".into()
}

/// What has a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every port of a node.
    Port,
    /// The node.
    Switch,
}

/// A token bucket. It is full at the beginning; a packet takes as many bytes as it has, or is above it and takes none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Meter {
    /// Name, for the action `meter`.
    pub name: String,
    /// Rate at which it fills, IP bytes.
    pub rate: Rate,
    /// What it holds.
    pub burst: Size,
    /// What becomes of packets above it.
    #[serde(default)]
    pub above: Above,
}

/// What becomes of packets above a meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Above {
    /// They are dropped.
    #[default]
    Drop,
    /// They are marked (CE), if they are ECN-capable.
    Mark,
}

/// One table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Stage {
    /// Name in results and for the action `goto`; its number unless given.
    pub name: Option<String>,
    /// Its entries. Of those that match a packet the one of the highest priority acts.
    #[serde(default)]
    pub entries: Vec<Entry>,
    /// What becomes of packets that no entry matches.
    #[serde(default)]
    pub miss: Miss,
}

/// What becomes of packets that no entry of a table matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Miss {
    /// They go on to the next table.
    #[default]
    Pass,
    /// They are dropped.
    Drop,
}

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

/// The name of one of a list: its own, or its number.
fn name_of(own: &Option<String>, number: usize) -> String {
    own.clone().unwrap_or_else(|| number.to_string())
}

/// Reports names that two of a list have.
fn twice<'n>(names: impl Iterator<Item = &'n String>, of: &str, at: &mut Report) {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            at.text(format!("{of}.{name}.name"), name, "has this name a second time; expected another");
        }
        seen.push(name);
    }
}

impl Table {
    /// As the engine has it; what is wrong goes to `at`.
    fn compiled(&self, around: &Around, at: &mut Report) -> table::Table {
        let registers = self.compiled_registers(at);
        let meters = self.compiled_meters(at);
        let names: Vec<String> = self.tables.iter().zip(0..).map(|(stage, i)| name_of(&stage.name, i)).collect();
        twice(names.iter(), "tables", at);
        if self.tables.is_empty() {
            at.key("tables", "expected at least one table");
        }
        let mut stages = Vec::new();
        for ((number, stage), name) in self.tables.iter().enumerate().zip(&names) {
            if name == "end" {
                at.text(format!("tables.{name}.name"), name, "is the word for the end of all tables; expected another");
            }
            let meters: Vec<&str> = self.meters.iter().map(|meter| meter.name.as_str()).collect();
            let known = Known { registers: &registers, meters: &meters, tables: &names, number };
            let at = &mut at.below(format!("tables.{name}"));
            let entries = stage.compiled(around, &known, at);
            let miss = match stage.miss {
                Miss::Pass => table::Miss::Pass,
                Miss::Drop => table::Miss::Drop,
            };
            stages.push(table::Stage { name: name.clone(), entries, miss });
        }
        table::Table { registers: registers.into(), meters, stages: stages.into() }
    }

    fn compiled_registers(&self, at: &mut Report) -> Vec<table::Register> {
        for name in self.registers.keys() {
            let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
            let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !begins || !name.chars().all(letters) {
                at.key(format!("registers.{name}"), "expected a name of small letters, digits and _");
            } else if RESERVED.contains(&name.as_str()) || name == "ce" {
                at.key(format!("registers.{name}"), "has a meaning in expressions; expected another name");
            }
        }
        let register = |(name, scope): (&String, &Scope)| table::Register {
            name: interned(name),
            per_port: *scope == Scope::Port,
        };
        self.registers.iter().map(register).collect()
    }

    fn compiled_meters(&self, at: &mut Report) -> Vec<table::Meter> {
        twice(self.meters.iter().map(|meter| &meter.name), "meters", at);
        for meter in &self.meters {
            let at = &mut at.below(format!("meters.{}", meter.name));
            if meter.rate.0 == cc::Rate::INFINITE {
                at.text("rate", meter.rate, "expected a finite rate: nothing is above an infinite one");
            }
            if meter.burst.0.0 == 0 {
                at.text("burst", meter.burst, "expected at least 1B: every packet would be above it");
            }
        }
        let meter = |meter: &Meter| table::Meter {
            rate: meter.rate.0,
            burst: meter.burst.0.0,
            above: match meter.above {
                Above::Drop => table::Above::Drop,
                Above::Mark => table::Above::Mark,
            },
        };
        self.meters.iter().map(meter).collect()
    }
}

impl Stage {
    /// Its entries, the highest priority first.
    fn compiled(&self, around: &Around, known: &Known, at: &mut Report) -> Vec<table::Entry> {
        let names: Vec<String> = self.entries.iter().zip(0..).map(|(entry, i)| name_of(&entry.name, i)).collect();
        twice(names.iter(), "entries", at);
        let mut entries: Vec<table::Entry> = Vec::new();
        for (entry, name) in self.entries.iter().zip(names) {
            let at = &mut at.below(format!("entries.{name}"));
            let compiled = entry.compiled(name, around, known, at);
            let rival = |other: &&table::Entry| {
                other.priority == compiled.priority && overlap(&other.matches, &compiled.matches)
            };
            if let Some(other) = entries.iter().find(rival) {
                let message = format!(
                    "overlaps entry {} of the same priority: a packet may match both; expected another priority, or \
                     matches that no packet shares",
                    other.name
                );
                at.value("priority", entry.priority, message);
            }
            entries.push(compiled);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
        entries
    }
}

impl Entry {
    fn compiled(&self, name: String, around: &Around, known: &Known, at: &mut Report) -> table::Entry {
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

impl NodeProgram for Table {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, around: &Around) -> spec::Program {
        spec::Program::Table(self.compiled(around, &mut Report::new("", &mut Vec::new())))
    }

    fn check(&self, around: &Around, at: &mut Report) {
        self.compiled(around, at);
    }

    fn check_run(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        let own = spec.links.iter().filter(|link| nodes.binary_search(&link.from).is_ok());
        let classes = own.map(|link| spec.queues[link.queue as usize].classes().len()).max().unwrap_or(0);
        for (number, stage) in self.tables.iter().enumerate() {
            for (i, entry) in stage.entries.iter().enumerate() {
                for (j, class) in entry.actions.iter().enumerate().filter_map(|(j, a)| Some((j, a.class?))) {
                    if usize::from(class) >= classes {
                        let (stage, entry) = (name_of(&stage.name, number), name_of(&entry.name, i));
                        let message = match classes {
                            0 => "no port of these nodes has queues for classes; expected queue.kind = \"classes\""
                                .into(),
                            n => format!("the ports of these nodes have {n} classes; expected at most {}", n - 1),
                        };
                        at.value(format!("tables.{stage}.entries.{entry}.actions.{j}.class"), class, message);
                    }
                }
            }
        }
    }
}
