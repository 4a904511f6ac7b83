//! Programs of switches and hosts: `[[program]]`. A kind is a struct of its keys that is a [`NodeProgram`], and a line
//! in the list of [`Program`].

mod bolt;
mod d3;
mod idle;
mod kind;
mod pacer;
mod phantom;
mod qjump;
mod rcp;
mod sccp;
mod table;
mod xcp;

use crate::text::pattern::fits;
use crate::text::problem::{Problem, Report};
use crate::text::words::kinds;
use crate::topology::network::Network;
use bolt::Bolt;
use d3::D3;
use idle::Idle;
use incast_cc::Asks;
use incast_engine::spec::{self, Spec};
use kind::{Around, NodeProgram, asks};
use pacer::Pacer;
use phantom::Phantom;
use qjump::Qjump;
use rcp::Rcp;
use sccp::Sccp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::Table;
use xcp::Xcp;

kinds! {
    /// Code of switches and hosts that sees every packet of a node, and may change it.
    Program: NodeProgram {
        /// Windows set by switches that count flows (SCCP). Each port counts the flows that have opened and not closed
        /// through it: a segment with SYN that leaves by it adds one, a segment with FIN takes one. Segments that come
        /// in by it have their window lowered to an equal share of what its link holds in `common_rtt`.
        Sccp = "sccp",
        /// Flows that are idle. A host tells the programs on a flow's way when it has sent nothing for `timeout`, and
        /// when it sends again, by packets of 64 bytes that go where the flow's do: a port that counts flows counts
        /// those that send.
        Idle = "idle",
        /// Phantom queues (HULL). Each port counts what would wait for a link a little slower than its own, and marks
        /// packets by that: senders that go by marks leave the rest of the link's rate unused, and its real queue
        /// nearly empty.
        Phantom = "phantom",
        /// A pacer in hosts (HULL). Packets of flows that hear of marks leave one by one, at a rate that follows what
        /// these flows send and what waits.
        Pacer = "pacer",
        /// Levels (QJUMP). A host may send so many packets of a traffic class in an epoch, after which further ones
        /// wait for its next. With one a host and epoch, and a queue that serves the class first, no packet of it waits
        /// longer than an epoch in the network.
        Qjump = "qjump",
        /// Explicit rates (RCP). Each port grants one rate to all flows that leave by it, and changes it once a round
        /// trip by what came and what waits. Senders with `controller = "rcp"` pace at the least of their way.
        Rcp = "rcp",
        /// Rates for deadlines (D3). Each port gives the flows that leave by it, first come, first served, the rate
        /// that meets their deadline, and a fair share of what is left. Senders with `controller = "d3"` ask, and pace
        /// at the least of their way.
        D3 = "d3",
        /// Explicit windows (XCP). Each port shares out, once a round trip, what is left over among the packets that
        /// leave by it, or takes from them what waits. Senders with `controller = "xcp"` change their windows by the
        /// least that the ports of their way allow.
        Xcp = "xcp",
        /// Sub-RTT control (Bolt). A port that has a queue tells the senders of what it meets at once, by packets
        /// straight back to them. Where there is none, it lets as many packets add one to their flow's window as it has
        /// room for. Senders have `controller = "bolt"`.
        Bolt = "bolt",
        /// Match-action tables: what an OpenFlow switch does with packets, as data. Packets meet the tables in order.
        /// In each the entry of the highest priority that matches counts the packet and acts: on registers, on the
        /// packet's window and mark, on its way.
        Table = "table",
    }
}

/// The nodes that the words of a user name; what is wrong goes to `at`.
fn nodes(on: &str, hosts: u32, names: &[String], at: &mut Report) -> Vec<u32> {
    let count = names.len() as u32;
    let mut nodes: Vec<u32> = Vec::new();
    for word in on.split(',').map(str::trim) {
        let before = nodes.len();
        match word {
            "switches" => nodes.extend(hosts..count),
            "hosts" => nodes.extend(0..hosts),
            _ => nodes.extend((0..).zip(names).filter(|(_, name)| fits(word, name)).map(|(node, _)| node)),
        }
        if nodes.len() == before {
            let asked = if word.is_empty() { "nothing" } else { word };
            let some = |node: u32| names.get(node as usize).map_or("", String::as_str);
            let message = format!(
                "no node is named {asked}; expected switches, hosts, or names such as {} and {}, with * for any \
                 letters",
                some(0),
                some(hosts)
            );
            at.text("on", on, message);
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The programs of a run on `network`; what is wrong goes to `problems`.
pub(crate) fn programs(
    list: &[Program],
    network: &Network,
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) -> Vec<spec::ProgramSpec> {
    let mss = transports.iter().map(|t| t.mss).max().unwrap_or(0);
    let mut programs = Vec::new();
    for (i, program) in list.iter().enumerate() {
        let at = &mut Report::new(format!("program.{i}"), problems);
        let nodes = nodes(program.on(), network.hosts, &network.names, at);
        let around = Around { mss, network, nodes: &nodes };
        program.check(&around, at);
        let same = |before: &usize| list[*before].word() == program.word();
        let shares = |before: &usize| programs_share(&programs, *before, &nodes);
        if let Some(before) = (0..i).filter(same).find(shares) {
            let message = format!("program.{before} is of this kind and runs at some of these nodes too; expected one");
            at.text("on", program.on(), message);
        }
        let program = program.spec(&around);
        programs.push(spec::ProgramSpec { nodes, program });
    }
    programs
}

/// Whether program `before` runs at one of `nodes`.
fn programs_share(programs: &[spec::ProgramSpec], before: usize, nodes: &[u32]) -> bool {
    programs[before].nodes.iter().any(|node| nodes.binary_search(node).is_ok())
}

/// What a program answers packets that ask.
fn answers(program: &spec::Program) -> Asks {
    match program {
        spec::Program::Rcp(_) | spec::Program::D3(_) => Asks::Rate,
        spec::Program::Xcp(_) => Asks::Window,
        spec::Program::Bolt(_) => Asks::Room,
        _ => Asks::Nothing,
    }
}

/// What of a run does not go with its programs.
pub(crate) fn check_run(list: &[Program], spec: &Spec, problems: &mut Vec<Problem>) {
    let unanswered = spec.flows.iter().find_map(|flow| {
        let (asks, goes, kind) = match asks(spec, flow) {
            Asks::Nothing => return None,
            Asks::Rate => {
                let deadlines = spec.controllers[flow.controller as usize].profile().deadlines;
                (
                    Asks::Rate,
                    "sends at the rate that switches grant, and none grants any",
                    if deadlines { "d3" } else { "rcp" },
                )
            }
            Asks::Window => (Asks::Window, "has the window that switches allow, and none allows any", "xcp"),
            Asks::Room => (Asks::Room, "adds what switches have room for, and none tells", "bolt"),
        };
        let answered = spec.programs.iter().any(|own| answers(&own.program) == asks);
        (!answered).then_some((flow, goes, kind))
    });
    if let Some((flow, goes, kind)) = unanswered {
        let controller = spec.controllers[flow.controller as usize].kind().name;
        let entry = &spec.groups[flow.group as usize];
        let message = format!("traffic.{entry} {goes}; expected a [[program]] with kind = \"{kind}\"");
        problems.push(Problem::quoted("controller", controller, message));
    }
    for (i, (program, own)) in list.iter().zip(&spec.programs).enumerate() {
        program.check_run(spec, &own.nodes, &mut Report::new(format!("program.{i}"), problems));
    }
}

/// Programs that can do nothing in a run, a sentence each.
pub(crate) fn without_effect(list: &[Program], spec: &Spec, found: &mut Vec<String>) {
    let idle = list.iter().enumerate().filter_map(|(i, program)| Some((i, program, program.without_effect(spec)?)));
    found.extend(idle.map(|(i, program, why)| format!("program.{i} ({}) does nothing: {why}", program.word())));
}
