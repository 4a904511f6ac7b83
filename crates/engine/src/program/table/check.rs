//! Validation of a pipeline: an error here is a mistake of whoever built it.

use super::formula::fault;
use super::key::MAX_PORTS;
use crate::event::packet::Packet;
use crate::spec::table::{Action, Entry, Miss, Table, Target};
use crate::spec::{LinkSpec, ProgramSpec, Spec};

/// Checks a pipeline and the nodes that run it.
pub fn check(own: &ProgramSpec, table: &Table, spec: &Spec) -> Result<(), String> {
    let mut ports = vec![0; spec.node_names.len()];
    spec.links.iter().for_each(|link| ports[link.from as usize] += 1);
    if let Some(node) = own.nodes.iter().find(|node| ports[**node as usize] > MAX_PORTS) {
        return Err(format!("node {node} has more than {MAX_PORTS} ports, which tables do not support"));
    }
    if !table.stages.is_sorted_by_key(|stage| stage.egress) {
        return Err("expected ingress tables before egress tables".into());
    }
    if table.stages.iter().any(|stage| stage.egress) {
        let own = |link: &&LinkSpec| own.nodes.binary_search(&link.from).is_ok();
        if let Some(link) = spec.links.iter().filter(own).find(|link| !spec.is_explicit(link)) {
            return Err(format!("egress tables need an explicit queue at link {}", link.name));
        }
    }
    for (number, stage) in table.stages.iter().enumerate() {
        if !stage.entries.is_sorted_by(|a, b| a.priority >= b.priority) {
            return Err(format!("table {}: expected entries in order of falling priority", stage.name));
        }
        if stage.miss == Miss::Controller && (table.controller.is_none() || stage.egress) {
            return Err(format!("table {}: miss = controller needs a controller, and an ingress table", stage.name));
        }
        stage.entries.iter().try_for_each(|entry| check_entry(table, number, entry))?;
    }
    for template in table.controller.iter().flat_map(|controller| controller.install.iter()) {
        if table.stages.get(template.stage).is_none_or(|stage| stage.egress) {
            return Err(format!(
                "entry {} is to be installed in table {}, expected an ingress table",
                template.entry.name, template.stage
            ));
        }
        check_entry(table, template.stage, &template.entry)?;
    }
    Ok(())
}

fn check_entry(table: &Table, number: usize, entry: &Entry) -> Result<(), String> {
    match wrong(table, number, entry) {
        Some(what) => Err(format!("table {}, entry {}: {what}", table.stages[number].name, entry.name)),
        None => Ok(()),
    }
}

/// Fault of an entry of table `number`, if any.
fn wrong(table: &Table, number: usize, entry: &Entry) -> Option<&'static str> {
    let known = |register: u16, per_port: bool| {
        table.registers.get(register as usize).is_some_and(|own| own.per_port == per_port)
    };
    let egress = table.stages[number].egress;
    let of_action = |action: &Action| {
        let (target, formula) = match action {
            Action::Add(target, formula) | Action::Set(target, formula) => (target, formula),
            Action::Lower(target, formula) | Action::Raise(target, formula) => (target, formula),
            Action::Meter(_) | Action::Class(_) if egress => {
                return Some("an egress table cannot redirect, drop, classify or meter a packet");
            }
            Action::Goto(later) => return (*later <= number).then_some("it goes to a table that is not a later one"),
            Action::Meter(meter) => return (*meter >= table.meters.len()).then_some("it uses an unknown meter"),
            Action::Class(class) => {
                return (*class > Packet::MAX_CLASS).then_some("it sets a class above the highest one");
            }
            Action::Drop | Action::Back | Action::Output(_) if egress => {
                return Some("an egress table cannot redirect, drop, classify or meter a packet");
            }
            Action::Mark | Action::Drop | Action::Back | Action::Output(_) => return None,
        };
        let is_there = match *target {
            Target::Node(register) => known(register, false),
            Target::Port(register, _) => known(register, true),
            Target::Window | Target::Mark => true,
        };
        if is_there { fault(formula, known) } else { Some("it writes an unknown register") }
    };
    let of_condition = entry.when.as_ref().and_then(|when| fault(when, known));
    of_condition.or_else(|| entry.actions.iter().find_map(of_action))
}
