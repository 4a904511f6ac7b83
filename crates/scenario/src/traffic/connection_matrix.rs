//! Flows and failures of a connection matrix.

use super::flows::Flows;
use super::place::check_two_hosts;
use crate::document::failures::{Line, LinkFailure};
use crate::document::traffic::Traffic;
use crate::files::connection_matrix::{Connection, Failed, StartUnit, read, wrong};
use crate::files::read_named;
use crate::text::problem::{Errors, Problem};
use incast_engine::spec::Triggered;
use std::rc::Rc;

impl Failed {
    /// Failure of that link in a network.
    fn of(&self, name: &str, flows: &Flows) -> Result<LinkFailure, Problem> {
        let Failed { switch, link, line } = *self;
        let named =
            |node: u32, kind: &str| flows.network.names[node as usize].strip_prefix(kind).is_some_and(is_number);
        let switches = flows.network.names.iter().filter(|n| n.strip_prefix("agg").is_some_and(is_number)).count();
        if switches == 0 {
            let message = "the topology has no aggregation switches; expected a fat tree, or no failures";
            return Err(wrong(name, line, "failure", message));
        }
        let Some(agg) = flows.node(&format!("agg{switch}")) else {
            let message = format!("expected an aggregation switch, 0 to {}", switches - 1);
            return Err(wrong(name, line, &format!("switch_id {switch}"), message));
        };
        let up = || flows.network.links.iter().filter(|l| l.from == agg && named(l.to, "core"));
        match up().nth(link as usize) {
            Some(l) => Ok(LinkFailure::from_the_beginning(
                format!("agg{switch}>{}", flows.network.names[l.to as usize]),
                Line { place: format!("{name}, line {line}"), words: format!("switch_id {switch} link_id {link}") },
            )),
            None => {
                let message =
                    format!("expected a link of agg{switch} to a core switch, 0 to {}", up().count().max(1) - 1);
                Err(wrong(name, line, &format!("link_id {link}"), message))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

impl Traffic {
    /// Checks that ports have a class for every priority.
    fn check_priorities(&self, name: &str, found: &[Connection], flows: &Flows) -> Result<(), Errors> {
        let Some((key, classes)) = &flows.classes else { return Ok(()) };
        let beyond = found.iter().filter_map(|c| Some((c, c.class.filter(|class| *class as usize >= *classes)?)));
        let message = format!("expected 0 to {}, the classes of {key}", classes - 1);
        let problems: Vec<Problem> =
            beyond.map(|(c, class)| wrong(name, c.line, &format!("prio {class}"), &message)).collect();
        Errors::unless_none(problems, ())
    }

    /// Adds flows of a connection matrix; the entry's start, stagger and jitter are added to their own.
    pub(crate) fn add_matrix(&self, name: &str, unit: StartUnit, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let text = read_named(&format!("{}.file", flows.path), flows.beside, name)?;
        let mut matrix = read(name, &text, unit, flows.network.hosts)?;
        let failures = matrix.failures.iter().map(|f| f.of(name, flows)).collect::<Result<Vec<_>, _>>();
        flows.failures.extend(failures?);
        let found = &mut matrix.connections;
        let has = found.len() as u64;
        self.check_most(has, format_args!("the file has {has} connections"), flows)?;
        if let Some(n) = self.flows.filter(|n| *n < has && found.iter().any(|c| c.started_by.is_some())) {
            let message = format!("connections wait for each other; expected all {has} of them");
            return Err(Problem::with_value(format!("{}.flows", flows.path), n, message).into());
        }
        found.truncate(self.flows.map_or(usize::MAX, |n| n as usize));
        self.check_priorities(name, found, flows)?;
        let (first, first_trigger) = (flows.len(), flows.triggers.len() as u32);
        for activations in matrix.triggers {
            let there = activations.into_iter().filter(|(flow, _)| (*flow as usize) < found.len());
            flows.add_trigger(there.map(|(flow, done)| (first + flow, done)).collect());
        }
        let file: Rc<str> = name.into();
        let own = self.begin(entry, found.len() as u64, flows)?;
        for (i, c) in (0u64..).zip(&*found) {
            let start = c.start.saturating_add(self.opening(entry, i, flows.seed));
            self.check_stop(start, flows, format_args!("the connection on line {} of {name} opens", c.line))?;
            let mut flow = own.transfer((c.src, c.dst), start, c.size);
            flow.trigger = c.started_by.map(|t| Triggered { trigger: first_trigger + t.trigger, ..t });
            if let Some(class) = c.class {
                (flow.class, flow.ack_class) = (class, self.ack_class.unwrap_or(class));
            }
            self.check_write(&flow, flows)?;
            let waits = flow.trigger.is_some();
            let number = flows.push(flow);
            if waits {
                flows.listed.insert(number, (file.clone(), c.line as u64));
            }
        }
        Ok(())
    }
}
