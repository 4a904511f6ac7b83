//! Match-action tables (`docs/programs/table.md`): general programs, given as data.
//!
//! The tables of a pipeline process a packet one after another. In each table, the matching entry with the highest
//! priority counts the packet and applies its actions. Keys are packed ([`key`]), formulas are evaluated without
//! allocation ([`formula`]), and the expiry of an entry is checked when a packet arrives: nothing happens between
//! packets, except for answers of the controller ([`controller`]).

mod check;
mod controller;
mod formula;
mod key;
mod meter;
mod number;
mod registers;
mod stage;

use super::rule::{At, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Ext, Packet};
use crate::ids::{LinkId, NodeId};
use crate::spec::Spec;
use crate::spec::table::{Above, Action, Miss, Table, Template};
use controller::{Channel, Waiting};
use incast_cc::Time;
use incast_record::EntryRecord;
use key::Key;
use meter::Meter;
use registers::{Registers, mark};
use stage::{Act, Stage};
use std::sync::Arc;

pub use check::check;

/// Maximum number of links that a packet may have crossed when a table redirects it: IP's usual time to live, which
/// ends loops.
const MAX_HOPS: u8 = 64;

/// Pipeline of one node, with its state.
#[derive(Clone, Debug)]
pub struct Pipeline {
    rule: Table,
    stages: Vec<Stage>,
    /// Number of the first egress table.
    egress: usize,
    state: State,
    /// True if an entry matches fields that are known only from the packet's flow.
    third: bool,
    channel: Option<Box<Channel>>,
}

/// State that actions read and write.
#[derive(Clone, Debug)]
struct State {
    registers: Registers,
    meters: Vec<Meter>,
    /// Host at the other end of each local port, if any.
    hosts: Vec<Option<NodeId>>,
}

/// Next step of a packet after an entry, or after tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Stage(usize),
    Drop,
    /// Request to the controller by this table.
    Ask(usize),
}

impl Pipeline {
    /// Pipeline of a node with this number of ports. [`SwitchProgram::placed`] installs its entries.
    pub fn new(rule: &Table, ports: usize) -> Pipeline {
        Pipeline {
            rule: rule.clone(),
            stages: Vec::new(),
            egress: rule.stages.iter().take_while(|stage| !stage.egress).count(),
            state: State {
                registers: Registers::new(rule.registers.len(), ports),
                meters: rule.meters.iter().map(Meter::new).collect(),
                hosts: vec![None; ports],
            },
            third: false,
            channel: rule.controller.as_ref().map(|controller| Box::new(Channel::new(controller))),
        }
    }

    /// Passes a packet through the tables from `first` up to `end`. At table `answered`, which has the controller's
    /// answer, a packet without a matching entry does not ask again.
    #[inline]
    fn pass(
        &mut self,
        (first, end): (usize, usize),
        answered: Option<usize>,
        at: &mut At,
        packet: &mut Packet,
    ) -> Next {
        let mut number = first;
        let mut key = Key::of(at, packet, self.third);
        while number < end {
            let Pipeline { stages, state, .. } = self;
            let stage = &mut stages[number];
            let Some(row) = stage.match_row(&key, at, packet, &state.registers) else {
                match stage.miss {
                    Miss::Pass => number += 1,
                    Miss::Drop => return Next::Drop,
                    // packets for the node's own stack do not wait
                    Miss::Controller if at.egress.is_none() => number += 1,
                    Miss::Controller if answered == Some(number) => match self.drops_unmatched() {
                        true => return Next::Drop,
                        false => number += 1,
                    },
                    Miss::Controller => return Next::Ask(number),
                }
                continue;
            };
            let row = stage.row(row);
            match state.act(number, &row.acts, at, packet) {
                Next::Stage(next) => number = next,
                other => return other,
            }
            if row.changes && number < end {
                key = Key::of(at, packet, self.third);
            }
        }
        Next::Stage(end)
    }

    fn drops_unmatched(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.rule().drops)
    }

    /// Lets a packet wait until the controller answers table `stage`. Returns whether there is room for it.
    #[cold]
    fn ask(
        &mut self,
        stage: usize,
        (planned, at): (Option<usize>, &At),
        packet: &mut Packet,
        ext: impl FnOnce() -> Option<Ext>,
    ) -> bool {
        if at.egress != planned {
            packet.leave_path();
        }
        let key = Key::of(at, packet, true);
        match self.channel.as_deref_mut().filter(|channel| channel.has_room()) {
            Some(channel) => {
                let (way, ext) = ((at.ingress, at.egress), ext());
                channel.ask(at.now, Waiting { due: Time::ZERO, packet: *packet, ext, way, stage, key });
                true
            }
            None => false,
        }
    }

    /// Handles the controller's answer to a packet: installs entries, and the packet continues at the table where it
    /// waited.
    fn answer(&mut self, at: &At, waiting: Waiting, templates: &[Template], effects: &mut SideEffects) {
        for (number, template) in templates.iter().enumerate() {
            self.stages[template.stage].install(number, &waiting.key, at.now);
        }
        let Waiting { mut packet, mut ext, way: (ingress, planned), stage, .. } = waiting;
        let mut at = At { ingress, egress: planned, ..*at };
        let egress = match self.pass((stage, self.egress), Some(stage), &mut at, &mut packet) {
            Next::Stage(_) => at.egress,
            Next::Drop => None,
            Next::Ask(stage) => match self.ask(stage, (planned, &at), &mut packet, || ext.take()) {
                true => return,
                false => None,
            },
        };
        if egress != planned {
            packet.leave_path();
        }
        effects.release((packet, ext), ingress, egress);
    }
}

impl State {
    /// Applies the actions of an entry in table `stage` to a packet.
    #[inline]
    fn act(&mut self, stage: usize, acts: &[Act], at: &mut At, packet: &mut Packet) -> Next {
        let State { registers, meters, hosts } = self;
        let mut next = stage + 1;
        for act in acts {
            let action = match act {
                Act::Does(action) => action,
                Act::Output(port) => match leave(at, packet, *port, hosts) {
                    true => continue,
                    false => return Next::Drop,
                },
            };
            match action {
                Action::Add(target, by) => {
                    if let Some(by) = formula::value(by, at, packet, registers) {
                        registers.change(*target, at, packet, |old| old.saturating_add(by));
                    }
                }
                Action::Set(target, to) => {
                    if let Some(to) = formula::value(to, at, packet, registers) {
                        registers.change(*target, at, packet, |_| to);
                    }
                }
                Action::Lower(target, to) => {
                    if let Some(to) = formula::value(to, at, packet, registers) {
                        registers.change(*target, at, packet, |old| old.min(to));
                    }
                }
                Action::Raise(target, to) => {
                    if let Some(to) = formula::value(to, at, packet, registers) {
                        registers.change(*target, at, packet, |old| old.max(to));
                    }
                }
                Action::Mark => mark(packet),
                Action::Drop => return Next::Drop,
                Action::Back => {
                    if let Some(port) = at.ingress
                        && !leave(at, packet, port, hosts)
                    {
                        return Next::Drop;
                    }
                }
                // resolved at installation; ignored at a node without such a port
                Action::Output(_) => {}
                Action::Class(class) => packet.set_class(*class),
                Action::Goto(later) => next = *later,
                Action::Meter(number) => {
                    let meter = &mut meters[*number];
                    if !meter.takes(at.now, packet.size as u64) {
                        match meter.above() {
                            Above::Drop => return Next::Drop,
                            Above::Mark => mark(packet),
                        }
                    }
                }
            }
        }
        Next::Stage(next)
    }
}

/// Redirects a packet to `port`. Returns false if it would reach a host other than its own, or has crossed too many
/// links.
#[cold]
fn leave(at: &mut At, packet: &Packet, port: usize, hosts: &[Option<NodeId>]) -> bool {
    if at.egress.is_none() {
        // packets for the node's own stack stay there
        return true;
    }
    at.egress = Some(port);
    packet.hop < MAX_HOPS && hosts[port].is_none_or(|host| host == packet.dst)
}

impl SwitchProgram for Pipeline {
    fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
        let own: Vec<u32> = links.iter().map(|link| link.0).collect();
        let host = |link: &LinkId| Some(spec.links[*link].to).filter(|to| *to < spec.hosts).map(NodeId);
        self.state.hosts = links.iter().map(host).collect();
        let templates = self.rule.controller.as_ref().map_or(&[][..], |controller| &controller.install);
        let stages = self.rule.stages.iter().enumerate();
        self.stages = stages.map(|(number, stage)| Stage::new(number, stage, templates, &own)).collect();
        self.third = self.stages.iter().any(Stage::asks_third);
        if let (Some(channel), Some(link)) = (&mut self.channel, links.first()) {
            channel.place(spec.links[*link].from);
        }
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let (mut at, planned) = (*at, at.egress);
        match self.pass((0, self.egress), None, &mut at, packet) {
            Next::Stage(_) => match at.egress {
                Some(port) if at.egress != planned => Verdict::To(port),
                _ => Verdict::Pass,
            },
            Next::Drop => Verdict::Drop,
            Next::Ask(stage) => match self.ask(stage, (planned, &at), packet, || effects.take_ext()) {
                true => Verdict::Keep,
                false => Verdict::Drop,
            },
        }
    }

    fn asks_egress(&self) -> bool {
        self.egress < self.rule.stages.len()
    }

    fn egress(&mut self, at: &At, packet: &mut Packet, _ext: Option<&mut Ext>) {
        let end = self.stages.len();
        self.pass((self.egress, end), None, &mut { *at }, packet);
    }

    fn has_timer(&self) -> bool {
        self.channel.is_some()
    }

    fn due(&self) -> Time {
        self.channel.as_ref().map_or(Time::NEVER, |channel| channel.due())
    }

    fn timer(&mut self, at: &At, effects: &mut SideEffects) {
        while let Some((waiting, templates)) = self.channel.as_mut().and_then(|channel| {
            let waiting = channel.answered(at.now)?;
            Some((waiting, Arc::clone(&channel.rule().install)))
        }) {
            self.answer(at, waiting, &templates, effects);
        }
    }

    fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.channel.iter().flat_map(|channel| channel.waiting()).for_each(visit);
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        self.state.registers.observe(&self.rule.registers, port, visit);
    }

    fn report(&self, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
        for (stage, own) in self.stages.iter().zip(&*self.rule.stages) {
            stage.report(end, &mut |entry| visit(EntryRecord { table: own.name.clone(), ..entry }));
        }
    }
}
