//! Match-action tables (`docs/programs/table.md`): the general form of a program, given as data.
//!
//! The tables of a pipeline meet a packet one after another. In each the entry of the highest priority that matches
//! counts the packet and acts. Keys are packed ([`key`]), formulas are computed without an allocation ([`formula`]),
//! and the end of an entry's time is seen when a packet comes: nothing happens between packets.

mod check;
mod formula;
mod key;
mod meter;
mod registers;

use super::rule::{At, Beside, SwitchProgram, Verdict};
use crate::event::packet::Packet;
use crate::ids::{LinkId, NodeId};
use crate::spec::Spec;
use crate::spec::table::{Above, Action, Entry, Formula, Miss, Table};
use incast_cc::Time;
use incast_record::EntryRecord;
use key::{Key, local};
use meter::Meter;
use registers::{Registers, mark};

pub use check::check;

/// Links that a packet may have crossed when a table chooses its way: IP's usual time to live, which ends circles.
const MOST_HOPS: u8 = 64;

/// The pipeline of one node, with its state.
#[derive(Clone, Debug)]
pub struct Pipeline {
    rule: Table,
    stages: Vec<Stage>,
    registers: Registers,
    meters: Vec<Meter>,
    /// By local port: the host that it leads to, if it leads to one.
    hosts: Vec<Option<NodeId>>,
    /// An entry matches, or asks for, what only the packet's flow says.
    third: bool,
}

/// One table.
#[derive(Clone, Debug)]
struct Stage {
    entries: Vec<Installed>,
    miss: Miss,
}

/// An entry at one node.
#[derive(Clone, Debug)]
struct Installed {
    value: Key,
    mask: Key,
    /// After it the entry no longer matches: for want of packets, and whatever comes.
    idle_until: Time,
    until: Time,
    idle: Option<Time>,
    when: Option<Formula>,
    acts: Box<[Act]>,
    /// Its place in the specification.
    number: u32,
    packets: u64,
    bytes: u64,
}

/// An action at one node.
#[derive(Clone, Debug)]
enum Act {
    Does(Action),
    /// Leaves by this local port.
    Output(usize),
}

/// How a packet goes on after an entry, or a table.
enum Next {
    Stage(usize),
    Drop,
}

impl Pipeline {
    /// At a node of so many ports. [`SwitchProgram::placed`] installs its entries.
    pub fn new(rule: &Table, ports: usize) -> Pipeline {
        Pipeline {
            rule: rule.clone(),
            stages: Vec::new(),
            registers: Registers::new(rule.registers.len(), ports),
            meters: rule.meters.iter().map(Meter::new).collect(),
            hosts: vec![None; ports],
            third: false,
        }
    }

    /// What an entry does with a packet.
    #[inline]
    fn act(&mut self, (stage, entry): (usize, usize), at: &mut At, packet: &mut Packet) -> Next {
        let Pipeline { stages, registers, meters, hosts, .. } = self;
        let mut next = stage + 1;
        for act in &stages[stage].entries[entry].acts {
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
                // resolved when it was installed; a node without such a port goes on as if nothing were said
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

    /// The entry of a table that a packet meets.
    #[inline]
    fn find(&self, stage: &Stage, key: &Key, at: &At, packet: &Packet) -> Option<usize> {
        stage.entries.iter().position(|entry| {
            key.fits(&entry.value, &entry.mask)
                && at.now < entry.idle_until
                && at.now < entry.until
                && entry.when.as_ref().is_none_or(|when| {
                    formula::value(when, at, packet, &self.registers).is_some_and(|value| value != 0)
                })
        })
    }
}

/// A packet is to leave by `port`: whether it does. What would reach another host than its own, or has come too far,
/// ends here.
#[cold]
fn leave(at: &mut At, packet: &Packet, port: usize, hosts: &[Option<NodeId>]) -> bool {
    if at.egress.is_none() {
        // what is for the node's own stack stays there
        return true;
    }
    at.egress = Some(port);
    packet.hop < MOST_HOPS && hosts[port].is_none_or(|host| host == packet.dst)
}

impl Installed {
    /// An entry at a node whose ports feed `links`; `None` where it can match nothing.
    fn new(entry: &Entry, number: u32, links: &[u32]) -> Option<Installed> {
        let (value, mask) = Key::of_match(&entry.matches, links)?;
        let act = |action: &Action| match action {
            Action::Output(to) => local(to, links).map(Act::Output),
            other => Some(Act::Does(other.clone())),
        };
        Some(Installed {
            value,
            mask,
            idle_until: entry.idle.unwrap_or(Time::NEVER),
            until: entry.hard.unwrap_or(Time::NEVER),
            idle: entry.idle,
            when: entry.when.clone(),
            acts: entry.actions.iter().filter_map(act).collect(),
            number,
            packets: 0,
            bytes: 0,
        })
    }
}

impl SwitchProgram for Pipeline {
    fn placed(&mut self, spec: &Spec, links: &[LinkId]) {
        let own: Vec<u32> = links.iter().map(|link| link.0).collect();
        let host = |link: &LinkId| Some(spec.links[*link].to).filter(|to| *to < spec.hosts).map(NodeId);
        self.hosts = links.iter().map(host).collect();
        let stages = self.rule.stages.iter().map(|stage| Stage {
            entries: (0..).zip(&stage.entries).filter_map(|(i, entry)| Installed::new(entry, i, &own)).collect(),
            miss: stage.miss,
        });
        self.stages = stages.collect();
        self.third = self.stages.iter().flat_map(|stage| &stage.entries).any(|entry| entry.mask.asks_third());
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, _beside: &mut Beside) -> Verdict {
        let (mut at, planned) = (*at, at.egress);
        let mut number = 0;
        let mut key = Key::of(&at, packet, self.third);
        while let Some(stage) = self.stages.get(number) {
            let Some(entry) = self.find(stage, &key, &at, packet) else {
                match stage.miss {
                    Miss::Pass => number += 1,
                    Miss::Drop => return Verdict::Drop,
                }
                continue;
            };
            let met = &mut self.stages[number].entries[entry];
            met.packets += 1;
            met.bytes += packet.size as u64;
            if let Some(idle) = met.idle {
                met.idle_until = at.now.saturating_add(idle);
            }
            match self.act((number, entry), &mut at, packet) {
                Next::Stage(next) => number = next,
                Next::Drop => return Verdict::Drop,
            }
            if number < self.stages.len() {
                key = Key::of(&at, packet, self.third);
            }
        }
        match at.egress {
            Some(port) if at.egress != planned => Verdict::To(port),
            _ => Verdict::Pass,
        }
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        self.registers.observe(&self.rule.registers, port, visit);
    }

    fn report(&self, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
        for (stage, own) in self.stages.iter().zip(&*self.rule.stages) {
            for entry in &stage.entries {
                let of = &own.entries[entry.number as usize];
                visit(EntryRecord {
                    table: own.name.clone(),
                    entry: of.name.clone(),
                    priority: of.priority.into(),
                    ended_ps: Some(entry.idle_until.min(entry.until)).filter(|ended| *ended <= end).map(|t| t.0),
                    packets: entry.packets,
                    bytes: entry.bytes,
                    ..EntryRecord::default()
                });
            }
        }
    }
}
