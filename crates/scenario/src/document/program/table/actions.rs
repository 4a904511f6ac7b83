//! Actions of entries.

use super::value::{Value, way};
use crate::document::program::kind::Around;
use crate::text::expression::number;
use crate::text::problem::Report;
use incast_engine::spec::table::{self, Formula, Register, Side, Target, Way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Action on a packet: one of `add`, `set`, `lower`, `raise`, `mark`, `drop`, `output`, `class`, `goto`, `meter`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Action {
    /// Adds a number or an expression to the register named by `to`.
    pub add: Option<Value>,
    /// Sets a register, the window (`"wnd"`), or the mark of an ECN-capable packet (`"ce"`; 0 clears it) to the value
    /// of `to`.
    pub set: Option<String>,
    /// Lowers a register or the window to the value of `to` if it is larger.
    pub lower: Option<String>,
    /// Raises a register or the window to the value of `to` if it is smaller.
    pub raise: Option<String>,
    /// With `add` a register; otherwise a number, or an expression such as `"wnd / 2"`.
    pub to: Option<Value>,
    /// Port of the register, for registers of ports.
    pub port: Option<Port>,
    /// `true` marks the packet (CE), if it is ECN-capable.
    pub mark: Option<bool>,
    /// `true` drops the packet.
    pub drop: Option<bool>,
    /// Port through which the packet leaves: that of a link (`"s>h3"`), the one to a node (`"h3"`), or `"ingress"`,
    /// the one through which it arrived. Packets for the node itself stay there, and nodes without such a port do
    /// nothing.
    pub output: Option<String>,
    /// Traffic class of the packet from here on.
    pub class: Option<u8>,
    /// Later table to which the packet goes; `"end"` is the end of all tables.
    pub goto: Option<String>,
    /// Meter that checks the packet.
    pub meter: Option<String>,
}

/// A port of the node, relative to the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// The port through which it arrived.
    Ingress,
    /// The port through which it will leave.
    Egress,
}

impl From<Port> for Side {
    fn from(port: Port) -> Side {
        match port {
            Port::Ingress => Side::Ingress,
            Port::Egress => Side::Egress,
        }
    }
}

/// Names available to actions.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub registers: &'a [Register],
    pub meters: &'a [&'a str],
    pub tables: &'a [String],
    /// True for each table of leaving packets.
    pub egress: &'a [bool],
    /// Number of the current table.
    pub number: usize,
}

impl Action {
    /// Compiles the action for the engine; problems go to `at`.
    pub(super) fn compiled(&self, around: &Around, known: &Known, at: &mut Report) -> Option<table::Action> {
        let writes = [("add", self.add.is_some()), ("set", self.set.is_some()), ("lower", self.lower.is_some())];
        let says = [("mark", self.mark.is_some()), ("drop", self.drop.is_some()), ("output", self.output.is_some())];
        let more = [("class", self.class.is_some()), ("goto", self.goto.is_some()), ("meter", self.meter.is_some())];
        let all = writes.into_iter().chain([("raise", self.raise.is_some())]).chain(says).chain(more);
        let given: Vec<&str> = all.filter(|(_, given)| *given).map(|(key, _)| key).collect();
        let [verb] = given[..] else {
            let message = match given[..] {
                [] => "says nothing".into(),
                _ => format!("says {} at once", given.join(" and ")),
            };
            let expected = "add, set, lower, raise, mark, drop, output, class, goto, meter";
            at.key("", format!("{message}; expected one of {expected} for each action"));
            return None;
        };
        if !matches!(verb, "add" | "set" | "lower" | "raise") {
            for (key, given) in [("to", self.to.is_some()), ("port", self.port.is_some())] {
                if given {
                    at.key(key, format!("goes with add, set, lower and raise; expected nothing beside {verb}"));
                }
            }
        }
        if known.egress[known.number] && matches!(verb, "drop" | "output" | "class" | "meter") {
            at.key(verb, "expected add, set, lower, raise, mark or goto: a packet at egress is already routed");
        }
        match verb {
            "add" | "set" | "lower" | "raise" => self.write(verb, known, at),
            "mark" | "drop" => {
                let (said, action) = match verb {
                    "mark" => (self.mark, table::Action::Mark),
                    _ => (self.drop, table::Action::Drop),
                };
                if said != Some(true) {
                    at.value(verb, false, "expected true; without it leave the action out");
                }
                Some(action)
            }
            "output" => self.output.as_ref().and_then(|text| match text.as_str() {
                "ingress" => Some(table::Action::Back),
                _ => match way(text, "output", around, at)? {
                    Way::Links(links) => Some(table::Action::Output(links)),
                    Way::Stack => {
                        at.text("output", text, "expected a port: packets go to the stack of their own host alone");
                        None
                    }
                },
            }),
            "class" => {
                let most = 6;
                let class = self.class?;
                if class > most {
                    at.value("class", class, format!("packets have room for classes up to {most}"));
                }
                Some(table::Action::Class(class.min(most)))
            }
            "goto" => self.later(known, at).map(table::Action::Goto),
            _ => {
                let name = self.meter.as_ref()?;
                let meter = known.meters.iter().position(|known| known == name);
                if meter.is_none() {
                    let message = match known.meters {
                        [] => "there is no meter; expected one of this name in meters".into(),
                        meters => format!("no meter has this name; expected one of {}", meters.join(", ")),
                    };
                    at.text("meter", name, message);
                }
                meter.map(table::Action::Meter)
            }
        }
    }

    /// Number of the table named by `goto`.
    fn later(&self, known: &Known, at: &mut Report) -> Option<usize> {
        let name = self.goto.as_ref()?;
        if name == "end" {
            return Some(known.tables.len());
        }
        let number = known.tables.iter().position(|table| table == name);
        let side = known.egress[known.number];
        if number.is_none_or(|number| number <= known.number || known.egress[number] != side) {
            let tables = known.tables.iter().zip(known.egress).skip(known.number + 1);
            let later: Vec<&str> =
                tables.filter(|(_, egress)| **egress == side).map(|(table, _)| table.as_str()).collect();
            let what =
                if number.is_none() { "no table has this name" } else { "is no later table: packets only go on" };
            let then = if later.is_empty() { String::new() } else { format!("{}, or ", later.join(", ")) };
            at.text("goto", name, format!("{what}; expected {then}end"));
            return None;
        }
        number
    }

    /// Compiles an action that writes.
    fn write(&self, verb: &str, known: &Known, at: &mut Report) -> Option<table::Action> {
        let Some(to) = &self.to else {
            let expected = if verb == "add" { "a register" } else { "a number or an expression" };
            at.key("to", format!("missing; expected {expected}"));
            return None;
        };
        let (name, key, value, value_key) = match verb {
            "add" => (to.to_string(), "to", self.add.as_ref()?, "add"),
            "set" => (self.set.clone()?, verb, to, "to"),
            "lower" => (self.lower.clone()?, verb, to, "to"),
            _ => (self.raise.clone()?, verb, to, "to"),
        };
        let target = self.target(&name, key, verb == "set", known, at);
        let formula = formula(value, value_key, known.registers, at);
        let (target, formula) = (target?, formula?);
        Some(match verb {
            "add" => table::Action::Add(target, formula),
            "set" => table::Action::Set(target, formula),
            "lower" => table::Action::Lower(target, formula),
            _ => table::Action::Raise(target, formula),
        })
    }

    /// Target of a write, by its name.
    fn target(&self, name: &str, key: &str, sets: bool, known: &Known, at: &mut Report) -> Option<Target> {
        let register = (0u16..).zip(known.registers).find(|(_, register)| register.name == name);
        let target = match (name, register) {
            ("wnd", _) => Target::Window,
            ("ce", _) if sets => Target::Mark,
            (_, Some((i, register))) if register.per_port => {
                let Some(port) = self.port else {
                    at.key("port", format!("missing: every port has {name}; expected \"ingress\" or \"egress\""));
                    return None;
                };
                return Some(Target::Port(i, port.into()));
            }
            (_, Some((i, _))) => Target::Node(i),
            (_, None) => {
                let own: Vec<&str> = known.registers.iter().map(|register| register.name).collect();
                let fields = if sets { "wnd, ce" } else { "wnd" };
                let message = format!("cannot be written; expected {fields} or a register ({})", listed(&own));
                at.text(key, name, message);
                return None;
            }
        };
        if self.port.is_some() {
            at.key("port", format!("ports have no {name} of their own; expected no port"));
        }
        Some(target)
    }
}

/// Names, or a note that there are none.
fn listed(names: &[&str]) -> String {
    if names.is_empty() { "there is none".into() } else { names.join(", ") }
}

/// Compiles a number or an expression.
fn formula(value: &Value, key: &str, registers: &[Register], at: &mut Report) -> Option<Formula> {
    match value {
        Value::Number(n) => Some([table::Op::Number(*n)].into()),
        Value::Text(text) => number(text, registers).map_err(|message| at.text(key, text, message)).ok(),
    }
}
