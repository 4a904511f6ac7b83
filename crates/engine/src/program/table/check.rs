//! What a pipeline says that no run can do: whoever built it has made a mistake.

use super::formula::fault;
use super::key::MOST_PORTS;
use crate::event::packet::Packet;
use crate::spec::table::{Action, Entry, Table, Target};
use crate::spec::{ProgramSpec, Spec};

/// Checks a pipeline and the nodes that run it.
pub fn check(own: &ProgramSpec, table: &Table, spec: &Spec) -> Result<(), String> {
    let mut ports = vec![0; spec.node_names.len()];
    spec.links.iter().for_each(|link| ports[link.from as usize] += 1);
    if let Some(node) = own.nodes.iter().find(|node| ports[**node as usize] > MOST_PORTS) {
        return Err(format!("node {node} has more than {MOST_PORTS} ports, which tables do not tell apart"));
    }
    for (number, stage) in table.stages.iter().enumerate() {
        if !stage.entries.is_sorted_by(|a, b| a.priority >= b.priority) {
            return Err(format!("table {}: expected the entries of the highest priority first", stage.name));
        }
        for entry in &stage.entries {
            if let Some(what) = wrong(table, number, entry) {
                return Err(format!("table {}, entry {}: {what}", stage.name, entry.name));
            }
        }
    }
    Ok(())
}

/// What is wrong with an entry of table `number`.
fn wrong(table: &Table, number: usize, entry: &Entry) -> Option<&'static str> {
    let known = |register: u16, per_port: bool| {
        table.registers.get(register as usize).is_some_and(|own| own.per_port == per_port)
    };
    let of_action = |action: &Action| {
        let (target, formula) = match action {
            Action::Add(target, formula) | Action::Set(target, formula) => (target, formula),
            Action::Lower(target, formula) | Action::Raise(target, formula) => (target, formula),
            Action::Goto(later) => return (*later <= number).then_some("it goes to a table that is no later one"),
            Action::Meter(meter) => return (*meter >= table.meters.len()).then_some("it has a meter that is none"),
            Action::Class(class) => {
                return (*class > Packet::MOST_CLASS).then_some("it sets a class that packets have no room for");
            }
            Action::Mark | Action::Drop | Action::Back | Action::Output(_) => return None,
        };
        let is_there = match *target {
            Target::Node(register) => known(register, false),
            Target::Port(register, _) => known(register, true),
            Target::Window | Target::Mark => true,
        };
        if is_there { fault(formula, known) } else { Some("it writes a register that is none") }
    };
    let of_condition = entry.when.as_ref().and_then(|when| fault(when, known));
    of_condition.or_else(|| entry.actions.iter().find_map(of_action))
}
