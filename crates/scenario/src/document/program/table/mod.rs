//! Match-action tables: `[[program]] kind = "table"`.

mod actions;
mod controller;
mod entry;
mod matches;
mod value;

use crate::document::program::kind::{Around, NodeProgram};
use crate::text::expression::RESERVED;
use crate::text::name::interned;
use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size};
use actions::{Action, Known};
use controller::Controller;
use entry::Entry;
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
    /// Nodes that run it: `switches`, `hosts`, or names separated by commas, with `*` for any text, such as `"edge*,
    /// core0"`.
    #[serde(default = "switches")]
    pub on: String,
    /// Integers that entries read and write, initially 0, by name: one for each `"port"` of a node, or one for the
    /// node (`"switch"`).
    #[serde(default)]
    pub registers: BTreeMap<String, Scope>,
    /// Meters used by actions.
    #[serde(default)]
    pub meters: Vec<Meter>,
    /// The tables, in the order in which packets pass them.
    pub tables: Vec<Stage>,
    /// Controller for packets without an entry in a table with `miss = "controller"`.
    pub controller: Option<Controller>,
}

fn switches() -> String {
    "switches".into()
}

/// Owner of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every port of a node.
    Port,
    /// The node.
    Switch,
}

/// A token bucket, initially full. A packet takes as many bytes as it has, or is above the meter and takes none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Meter {
    /// Name, for the action `meter`.
    pub name: String,
    /// Fill rate, IP bytes.
    pub rate: Rate,
    /// Size of the bucket.
    pub burst: Size,
    /// Treatment of packets above it.
    #[serde(default)]
    pub above: Above,
}

/// Treatment of packets above a meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Above {
    /// Dropped.
    #[default]
    Drop,
    /// Marked (CE), if ECN-capable.
    Mark,
}

/// One table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Stage {
    /// Name in results and for the action `goto`; default: its number.
    pub name: Option<String>,
    /// Entries. Of those that match a packet the one of the highest priority acts.
    #[serde(default)]
    pub entries: Vec<Entry>,
    /// Treatment of packets that match no entry.
    #[serde(default)]
    pub miss: Miss,
    /// Time at which packets pass it.
    #[serde(default)]
    pub at: Point,
}

/// Time at which packets pass a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// Arrival at the node, before their queue.
    #[default]
    Ingress,
    /// End of their transmission, at ports with explicit queues. Such tables come last, and do not drop packets or
    /// change their path.
    Egress,
}

/// Treatment of packets that match no entry of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Miss {
    /// Go on to the next table.
    #[default]
    Pass,
    /// Dropped.
    Drop,
    /// Wait at the node until the controller answers. Packets for the node's own stack go on.
    Controller,
}

/// Name of an item of a list: its own, or its number.
fn name_of(own: &Option<String>, number: usize) -> String {
    own.clone().unwrap_or_else(|| number.to_string())
}

/// Reports duplicate names in a list.
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
    /// Compiles it for the engine; problems go to `at`.
    fn compiled(&self, around: &Around, at: &mut Report) -> table::Table {
        let registers = self.compiled_registers(at);
        let meters = self.compiled_meters(at);
        let names: Vec<String> = self.tables.iter().zip(0..).map(|(stage, i)| name_of(&stage.name, i)).collect();
        twice(names.iter(), "tables", at);
        if self.tables.is_empty() {
            at.key("tables", "expected at least one table");
        }
        let egress: Vec<bool> = self.tables.iter().map(|stage| stage.at == Point::Egress).collect();
        let meter_names: Vec<&str> = self.meters.iter().map(|meter| meter.name.as_str()).collect();
        let known = Known { registers: &registers, meters: &meter_names, tables: &names, egress: &egress, number: 0 };
        let asks = |(i, stage): (usize, &Stage)| (stage.miss == Miss::Controller).then_some(i);
        let asking: Vec<usize> = self.tables.iter().enumerate().filter_map(asks).collect();
        let controller = self.controller.as_ref().map(|controller| {
            let compiled = controller.compiled(around, &known, &asking, &mut at.below("controller"));
            (controller, compiled)
        });
        let mut stages = Vec::new();
        for ((number, stage), name) in self.tables.iter().enumerate().zip(&names) {
            if name == "end" {
                at.text(format!("tables.{name}.name"), name, "is the word for the end of all tables; expected another");
            }
            let at = &mut at.below(format!("tables.{name}"));
            let install = controller.iter().flat_map(|(_, compiled)| compiled.install.iter());
            let installed: Vec<&table::Entry> = install.filter(|t| t.stage == number).map(|t| &t.entry).collect();
            let entries = stage.compiled(around, &Known { number, ..known }, &installed, at);
            let miss = match stage.miss {
                Miss::Pass => table::Miss::Pass,
                Miss::Drop => table::Miss::Drop,
                Miss::Controller => table::Miss::Controller,
            };
            stage.check_place(egress[..number].contains(&true), self.controller.is_some(), at);
            stages.push(table::Stage { name: name.clone(), entries, miss, egress: egress[number] });
        }
        let controller = controller.map(|(_, compiled)| compiled);
        table::Table { registers: registers.into(), meters, stages: stages.into(), controller }
    }

    fn compiled_registers(&self, at: &mut Report) -> Vec<table::Register> {
        for name in self.registers.keys() {
            let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
            let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !begins || !name.chars().all(letters) {
                at.key(format!("registers.{name}"), "expected a name of small letters, digits and _");
            } else if RESERVED.contains(&name.as_str()) || name == "ce" {
                at.key(format!("registers.{name}"), "has a meaning in expressions; expected another name");
            } else if name.starts_with("queue_") {
                at.key(format!("registers.{name}"), "is a variable of a port's time series; expected another name");
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
    /// Reports conflicts with the time at which packets pass it; `after`: a table of leaving packets comes before it.
    fn check_place(&self, after: bool, answered: bool, at: &mut Report) {
        if self.at == Point::Ingress && after {
            at.text("at", "ingress", "comes after a table of packets that leave; expected it before");
        }
        let egress = self.entries.iter().enumerate().filter(|_| self.at == Point::Egress);
        for (i, entry) in egress {
            let name = name_of(&entry.name, i);
            let none = "a packet at egress has no ingress; expected none in a table with at = \"egress\"";
            if entry.matches.ingress.is_some() {
                at.key(format!("entries.{name}.match.ingress"), none);
            }
            if entry.when.as_ref().is_some_and(|when| when.contains("[ingress]")) {
                at.key(format!("entries.{name}.when"), none);
            }
        }
        if self.at == Point::Egress && self.miss != Miss::Pass {
            let word = crate::text::words::word_of(&self.miss);
            at.text("miss", word, "expected pass: a packet at egress is already routed, and does not wait");
        } else if self.miss == Miss::Controller && !answered {
            at.text("miss", "controller", "no controller answers; expected a table controller beside tables");
        }
    }

    /// Compiles its entries, the highest priority first. The controller installs further entries.
    fn compiled(
        &self,
        around: &Around,
        known: &Known,
        installed: &[&table::Entry],
        at: &mut Report,
    ) -> Vec<table::Entry> {
        let names: Vec<String> = self.entries.iter().zip(0..).map(|(entry, i)| name_of(&entry.name, i)).collect();
        twice(names.iter(), "entries", at);
        let mut entries: Vec<table::Entry> = Vec::new();
        for (entry, name) in self.entries.iter().zip(names) {
            let at = &mut at.below(format!("entries.{name}"));
            let compiled = entry.compiled(name, around, known, at);
            rivals(&compiled, entries.iter().chain(installed.iter().copied()), at);
            entries.push(compiled);
        }
        for (i, entry) in installed.iter().enumerate() {
            rivals(entry, installed[..i].iter().copied(), &mut at.below(format!("installed.{}", entry.name)));
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
        entries
    }
}

/// Reports that an entry overlaps one of `others` of its priority.
fn rivals<'e>(entry: &table::Entry, others: impl IntoIterator<Item = &'e table::Entry>, at: &mut Report) {
    let rival = |other: &&table::Entry| other.priority == entry.priority && overlap(&other.matches, &entry.matches);
    if let Some(other) = others.into_iter().find(rival) {
        let message = format!(
            "overlaps entry {} of the same priority: a packet may match both; expected another priority, or matches \
             that no packet shares",
            other.name
        );
        at.value("priority", entry.priority, message);
    }
}

impl Table {
    /// Reports tables of leaving packets at ports without explicit queues.
    fn check_egress(&self, spec: &Spec, nodes: &[u32], at: &mut Report) {
        let own = |link: &&spec::LinkSpec| nodes.binary_search(&link.from).is_ok();
        let Some(number) = self.tables.iter().position(|stage| stage.at == Point::Egress) else { return };
        if let Some(link) = spec.links.iter().filter(own).find(|link| !spec.is_explicit(link)) {
            let message = format!(
                "needs ports with explicit queues, and {} settles its departures when packets arrive; expected queues \
                 for classes, marks at departure or a shared buffer at all ports of its nodes",
                link.name
            );
            at.text(format!("tables.{}.at", name_of(&self.tables[number].name, number)), "egress", message);
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
        self.check_egress(spec, nodes, at);
        let own = spec.links.iter().filter(|link| nodes.binary_search(&link.from).is_ok());
        let classes = own.map(|link| spec.queues[link.queue as usize].classes().len()).max().unwrap_or(0);
        let mut found: Vec<(String, &Match, &[Action])> = Vec::new();
        for (number, stage) in self.tables.iter().enumerate() {
            for (i, entry) in stage.entries.iter().enumerate() {
                let (stage, entry_name) = (name_of(&stage.name, number), name_of(&entry.name, i));
                found.push((format!("tables.{stage}.entries.{entry_name}"), &entry.matches, &entry.actions));
            }
        }
        for (i, template) in self.controller.iter().flat_map(|controller| controller.install.iter().enumerate()) {
            let place = format!("controller.install.{}", name_of(&template.name, i));
            found.push((place, &template.matches, &template.actions));
        }
        for (place, matches, _) in &found {
            matches.check_run(spec, &mut at.below(format!("{place}.match")));
        }
        let actions = found.iter().flat_map(|(place, _, actions)| (0..).zip(*actions).map(move |own| (place, own)));
        for (place, j, class) in actions.filter_map(|(place, (j, action))| Some((place, j, action.class?))) {
            let message = match classes {
                _ if spec.pfc().is_some() => {
                    "expected no class beside priority flow control, which pauses the class that a packet came in"
                        .into()
                }
                0 => "no port of these nodes has queues for classes; expected queue.kind = \"classes\"".into(),
                n if usize::from(class) >= n => {
                    format!("the ports of these nodes have {n} classes; expected at most {}", n - 1)
                }
                _ => continue,
            };
            at.value(format!("{place}.actions.{j}.class"), class, message);
        }
    }
}
