//! Programs of switches and hosts: `[[program]]`. A kind is a struct of its keys that implements [`NodeProgram`], and
//! a line in the list of [`Program`].

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

use crate::document::group::path_of;
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
        /// Windows set by switches that count flows (SCCP). Each port counts the open flows through it: a segment
        /// with SYN that leaves through the port adds one, a segment with FIN subtracts one. The window in segments
        /// that arrive through the port is limited to an equal share of its link's capacity in `common_rtt`.
        Sccp = "sccp",
        /// Idle flows. When a host has sent nothing for `timeout`, and when it sends again, it notifies the programs
        /// on the flow's path by packets of 64 bytes that take the path of the flow: a port that counts flows then
        /// counts only those that send.
        Idle = "idle",
        /// Phantom queues (HULL). Each port counts the queue that a slightly slower link would have, and marks
        /// packets by it. Senders that react to marks then leave the rest of the link's rate unused, and its real
        /// queue nearly empty.
        Phantom = "phantom",
        /// A pacer in hosts (HULL). Packets of flows that receive marks leave one by one, at a rate that follows the
        /// data sent by these flows and the waiting packets.
        Pacer = "pacer",
        /// Levels (QJUMP). A host may send a limited number of packets of a traffic class per epoch; further ones
        /// wait for the next epoch. With one packet per host and epoch, and a queue that serves the class first, no
        /// packet of it waits longer than an epoch in the network.
        Qjump = "qjump",
        /// Explicit rates (RCP). Each port grants one rate to all flows that leave through it, and updates it once a
        /// round trip from the arrived traffic and the queue. Senders with `controller = "rcp"` pace at the smallest
        /// rate on their path.
        Rcp = "rcp",
        /// Rates for deadlines (D3). Each port allocates to the flows that leave through it, first come, first
        /// served, the rate that meets their deadline, and a fair share of the rest. Senders with `controller = "d3"`
        /// request a rate, and pace at the smallest one on their path.
        D3 = "d3",
        /// Explicit windows (XCP). Once a round trip each port distributes its unused capacity among the packets that
        /// leave through it, or takes the queue from them. Senders with `controller = "xcp"` change their windows by
        /// the smallest change allowed on their path.
        Xcp = "xcp",
        /// Sub-RTT control (Bolt). A port with a queue notifies the senders of arriving packets at once, by packets
        /// sent straight back. Without a queue it allows as many packets as it has room for to add one to their
        /// flow's window. Senders have `controller = "bolt"`.
        Bolt = "bolt",
        /// Match-action tables: the rules of an OpenFlow switch, as data. Packets pass the tables in order. In each
        /// table the matching entry of the highest priority counts the packet and acts: on registers, on the packet's
        /// window and mark, on its path.
        Table = "table",
    }
}

/// Nodes named by the user; problems go to `at`.
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

/// Programs of a run on `network`; problems go to `problems`.
pub(crate) fn programs(
    list: &[Program],
    network: &Network,
    transports: &[spec::TransportSpec],
    problems: &mut Vec<Problem>,
) -> Vec<spec::ProgramSpec> {
    let mss = transports.iter().map(|t| t.sizes.mss).max().unwrap_or(0);
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

/// True if program `before` runs at one of `nodes`.
fn programs_share(programs: &[spec::ProgramSpec], before: usize, nodes: &[u32]) -> bool {
    programs[before].nodes.iter().any(|node| nodes.binary_search(node).is_ok())
}

/// Request of packets that a program answers.
fn answers(program: &spec::Program) -> Asks {
    match program {
        spec::Program::Rcp(_) | spec::Program::D3(_) => Asks::Rate,
        spec::Program::Xcp(_) => Asks::Window,
        spec::Program::Bolt(_) => Asks::Bolt,
        _ => Asks::Nothing,
    }
}

/// Reports conflicts of a run with its programs.
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
            Asks::Bolt => (Asks::Bolt, "adds packets when switches have room, and none reports any", "bolt"),
        };
        let answered = spec.programs.iter().any(|own| answers(&own.program) == asks);
        (!answered).then_some((flow, goes, kind))
    });
    if let Some((flow, goes, kind)) = unanswered {
        let controller = spec.controllers[flow.controller as usize].kind().name;
        let entry = path_of(spec, flow.group);
        let message = format!("{entry} {goes}; expected a [[program]] with kind = \"{kind}\"");
        problems.push(Problem::quoted("controller", controller, message));
    }
    for (i, (program, own)) in list.iter().zip(&spec.programs).enumerate() {
        program.check_run(spec, &own.nodes, &mut Report::new(format!("program.{i}"), problems));
    }
}

/// Programs without effect in a run, one sentence each.
pub(crate) fn without_effect(list: &[Program], spec: &Spec, found: &mut Vec<String>) {
    let idle = list.iter().enumerate().filter_map(|(i, program)| Some((i, program, program.without_effect(spec)?)));
    found.extend(idle.map(|(i, program, why)| format!("program.{i} ({}) does nothing: {why}", program.word())));
}
