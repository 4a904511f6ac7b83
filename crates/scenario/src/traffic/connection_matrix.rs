//! Flows and failures of a connection matrix.

use super::flows::Flows;
use super::place::check_two_hosts;
use crate::document::app::{App, Bulk};
use crate::document::failures::{Failure, Listed};
use crate::document::traffic::Traffic;
use crate::files::connection_matrix::{Connection, Failed, StartUnit, read, wrong};
use crate::files::read_named;
use crate::text::problem::Problem;
use incast_engine::spec::{self, Triggered};
use std::rc::Rc;

impl Failed {
    /// The failure of that link in a network.
    fn of(&self, name: &str, flows: &Flows) -> Result<Failure, Problem> {
        let Failed { switch, link, line } = *self;
        let named =
            |node: u32, kind: &str| flows.network.names[node as usize].strip_prefix(kind).is_some_and(is_number);
        let switches = flows.network.names.iter().filter(|n| n.strip_prefix("agg").is_some_and(is_number)).count();
        if switches == 0 {
            let message = "the topology has no aggregation switches; expected a fat tree, or no failures";
            return Err(wrong(name, line, "failure", message));
        }
        let Some(agg) = flows.names.get(format!("agg{switch}").as_str()) else {
            let message = format!("expected an aggregation switch, 0 to {}", switches - 1);
            return Err(wrong(name, line, &format!("switch_id {switch}"), message));
        };
        let up = || flows.network.links.iter().filter(|l| l.from == *agg && named(l.to, "core"));
        match up().nth(link as usize) {
            Some(l) => Ok(Failure::from_the_beginning(
                format!("agg{switch}>{}", flows.network.names[l.to as usize]),
                Listed { place: format!("{name}, line {line}"), words: format!("switch_id {switch} link_id {link}") },
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
    /// Priorities for which ports have no class.
    fn check_priorities(&self, name: &str, found: &[Connection], flows: &Flows) -> Result<(), Vec<Problem>> {
        let Some((key, classes)) = flows.classes else { return Ok(()) };
        let beyond = found.iter().filter_map(|c| Some((c, c.class.filter(|class| *class as usize >= classes)?)));
        let message = format!("expected 0 to {}, the classes of {key}", classes - 1);
        let problems: Vec<Problem> =
            beyond.map(|(c, class)| wrong(name, c.line, &format!("prio {class}"), &message)).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Flows of a connection matrix; the entry's start, stagger and jitter are added to their own.
    pub(crate) fn add_matrix(&self, unit: StartUnit, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let name = self.file.clone().unwrap_or_default();
        let text = read_named(&format!("{}.file", flows.path), flows.dir, &name).map_err(|p| vec![p])?;
        let mut matrix = read(&name, &text, unit, flows.network.hosts)?;
        let failures = matrix.failures.iter().map(|f| f.of(&name, flows)).collect::<Result<Vec<_>, _>>();
        flows.failures.extend(failures.map_err(|p| vec![p])?);
        let found = &mut matrix.connections;
        let has = found.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the file has {has} connections; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        if let Some(n) = self.flows.filter(|n| *n < has && found.iter().any(|c| c.started_by.is_some())) {
            let message = format!("connections wait for each other; expected all {has} of them");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        found.truncate(self.flows.map_or(usize::MAX, |n| n as usize));
        self.check_priorities(&name, found, flows)?;
        let first = flows.len();
        let first_trigger = flows.first_trigger();
        for activations in matrix.triggers {
            let there = activations.into_iter().filter(|(flow, _)| (*flow as usize) < found.len());
            flows.add_trigger(there.map(|(flow, done)| (first + flow, done)).collect());
        }
        let file: Rc<str> = name.as_str().into();
        flows.reserve(found.len() as u64).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, c) in (0u64..).zip(&*found) {
            let start = c.start.saturating_add(self.opening(entry, i, flows.seed));
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message =
                    format!("the connection on line {} of {name} opens at {start}; expected a later stop", c.line);
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: c.size, write: write.0.0 };
            let trigger = c.started_by.map(|t| Triggered { trigger: first_trigger + t.trigger, ..t });
            let mut flow =
                spec::FlowSpec { app, trigger, ..self.flow(c.src, c.dst, start, transport, controller, entry) };
            if let Some(class) = c.class {
                (flow.class, flow.ack_class) = (class, self.ack_class.unwrap_or(class));
            }
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            let number = flows.push(flow);
            if trigger.is_some() {
                flows.list(number, &file, c.line as u64);
            }
        }
        Ok(())
    }
}
