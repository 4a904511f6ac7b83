//! Controller of tables, and the entries it installs.

use super::actions::{Action, Known};
use super::entry::Entry;
use super::matches::Match;
use crate::document::program::kind::Around;
use crate::text::problem::Report;
use crate::text::quantity::Time;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::spec::table::{self, Exact, Field, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Controller that answers packets sent to it by tables with `miss = "controller"`. Every node has its own channel
/// and server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Controller {
    /// Latency of the channel, each way; required without `node`. The channel uses none of the network's links.
    #[serde(default = "nothing")]
    pub latency: Time,
    /// Location of the controller: the delays of the links on the fastest path to this node are added to `latency`.
    pub node: Option<String>,
    /// Processing time of the controller per packet; packets of a node are processed one after another.
    #[serde(default = "nothing")]
    pub processing: Time,
    /// Most packets waiting at a node, further ones are dropped; default: no limit.
    pub buffer: Option<u32>,
    /// Treatment of a packet that matches no entry of its table after the answer.
    #[serde(default)]
    pub otherwise: Otherwise,
    /// Entries installed for a packet: all whose `match` fits it.
    #[serde(default)]
    pub install: Vec<Template>,
}

fn nothing() -> Time {
    Time(cc::Time::ZERO)
}

/// Treatment of a packet that matches no entry after the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Otherwise {
    /// Goes on to the next table.
    #[default]
    Pass,
    /// Dropped.
    Drop,
}

/// An entry that the controller installs for a packet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Template {
    /// Name in results, with the values of `exact`; default: its number.
    pub name: Option<String>,
    /// Table in which it is installed; default: the asking table, if there is only one.
    pub table: Option<String>,
    /// Fields that installed entries take from the packet: of `flow`, `source`, `destination`, `kind`, `class`,
    /// `ingress`, `egress`.
    #[serde(default)]
    pub exact: Vec<Part>,
    /// Packets for which it is installed, and which the installed entry matches.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// As of an entry.
    #[serde(default)]
    pub priority: u16,
    /// As of an entry.
    pub when: Option<String>,
    /// As of an entry.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// As of an entry.
    pub idle: Option<Time>,
    /// As of an entry.
    pub hard: Option<Time>,
}

/// Field of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Flow.
    Flow,
    /// Sending host.
    Source,
    /// Destination host.
    Destination,
    /// Kind of packet.
    Kind,
    /// Traffic class.
    Class,
    /// Port through which it arrived.
    Ingress,
    /// Port through which it will leave.
    Egress,
}

impl Part {
    fn exact(self) -> Exact {
        match self {
            Part::Flow => Exact::Field(Field::Flow),
            Part::Source => Exact::Field(Field::Source),
            Part::Destination => Exact::Field(Field::Destination),
            Part::Kind => Exact::Field(Field::Kind),
            Part::Class => Exact::Field(Field::Class),
            Part::Ingress => Exact::Port(Side::Ingress),
            Part::Egress => Exact::Port(Side::Egress),
        }
    }
}

impl Controller {
    /// Compiles it for the engine; problems go to `at`. `asking`: numbers of the asking tables.
    pub(super) fn compiled(
        &self,
        around: &Around,
        known: &Known,
        asking: &[usize],
        at: &mut Report,
    ) -> table::Controller {
        if asking.is_empty() {
            at.key("", "no table asks it; expected miss = \"controller\" of one");
        }
        if self.buffer == Some(0) {
            at.value("buffer", 0, "expected at least 1: every packet that asks would be dropped");
        }
        if self.node.is_none() && self.latency.0 == cc::Time::ZERO {
            at.key("latency", "missing or 0s; expected a time above 0, or the node that the controller is at");
        }
        let ways = self.node.as_ref().map_or(Vec::new(), |node| ways(node, around, at));
        let mut install = Vec::new();
        for (i, template) in self.install.iter().enumerate() {
            let name = template.name.clone().unwrap_or_else(|| i.to_string());
            let at = &mut at.below(format!("install.{name}"));
            let Some(stage) = template.stage(known, asking, at) else { continue };
            let known = Known { number: stage, ..*known };
            let entry = template.entry().compiled(name, around, &known, at);
            install.push(table::Template {
                stage,
                entry,
                exact: template.exact.iter().map(|part| part.exact()).collect(),
            });
        }
        table::Controller {
            latency: self.latency.0,
            ways,
            processing: self.processing.0,
            buffer: self.buffer,
            drops: self.otherwise == Otherwise::Drop,
            install: install.into(),
        }
    }
}

/// For each asking node: the delays of the links on the fastest path to node `name`; other hosts do not forward.
fn ways(name: &str, around: &Around, at: &mut Report) -> Vec<(u32, cc::Time)> {
    let Network { names, hosts, links, .. } = around.network;
    let Some(end) = names.iter().position(|known| known == name) else {
        let some = names.first().map_or("", String::as_str);
        at.text("node", name, format!("no node has this name; expected one such as {some}"));
        return Vec::new();
    };
    let mut into = vec![Vec::new(); names.len()];
    links.iter().for_each(|link| into[link.to as usize].push((link.from as usize, link.delay)));
    let mut found = vec![None; names.len()];
    let mut next = BinaryHeap::from([Reverse((cc::Time::ZERO, end))]);
    while let Some(Reverse((delay, node))) = next.pop() {
        if found[node].is_some() {
            continue;
        }
        found[node] = Some(delay);
        if node == end || node >= *hosts as usize {
            next.extend(into[node].iter().map(|(from, more)| Reverse((delay.saturating_add(*more), *from))));
        }
    }
    let mut ways = Vec::new();
    for node in around.nodes {
        match found[*node as usize] {
            Some(delay) => ways.push((*node, delay)),
            None => {
                let asking = &names[*node as usize];
                at.text("node", name, format!("no way leads there from {asking}, which asks; expected one"));
                break;
            }
        }
    }
    ways
}

impl Template {
    /// Number of its table.
    fn stage(&self, known: &Known, asking: &[usize], at: &mut Report) -> Option<usize> {
        let Some(name) = &self.table else {
            if let [one] = asking {
                return Some(*one);
            }
            let message = format!("missing; expected one of the tables ({})", known.tables.join(", "));
            at.key("table", message);
            return None;
        };
        let stage = known.tables.iter().position(|table| table == name);
        let egress = stage.is_some_and(|stage| known.egress[stage]);
        if stage.is_none() || egress {
            let what = if egress { "meets packets that leave" } else { "no table has this name" };
            at.text("table", name, format!("{what}; expected a table of packets that arrive"));
            return None;
        }
        stage
    }

    fn entry(&self) -> Entry {
        Entry {
            name: None,
            priority: self.priority,
            matches: self.matches.clone(),
            when: self.when.clone(),
            actions: self.actions.clone(),
            idle: self.idle,
            hard: self.hard,
        }
    }
}
