//! Servers of GPUs (W04): groups that could lie in one server and lie in several, rings that leave their rail.

use crate::collective::{Algorithm, Methods};
use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Pattern};
use std::collections::BTreeSet;

/// Looks through the groups of collectives on servers of `gpus` ranks: ranks k g to k g + g - 1 are a server. `rails`:
/// GPU k of every server is at switch k.
pub fn servers(graph: &Graph, methods: &Methods, gpus: u32, rails: bool, report: &mut Report) {
    if gpus < 2 {
        return;
    }
    let mut seen = BTreeSet::new();
    for what in graph.collectives() {
        if seen.insert((what.group, None)) {
            split(graph, what.group, gpus, report);
        }
        let method = methods.of(what.pattern);
        let goes_round = method.algorithm == Algorithm::Ring && what.pattern != Pattern::Barrier;
        if rails && goes_round && seen.insert((what.group, Some(what.pattern as u8))) {
            leaving(graph, what.group, &method.order, gpus, report);
        }
    }
}

/// A group of neighbours that is no larger than a server, and not in one.
fn split(graph: &Graph, index: u32, gpus: u32, report: &mut Report) {
    let group = graph.group(index);
    let follow = group.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    if follow && group.len() <= gpus as usize && first / gpus != last / gpus {
        report.add(Code::W04, Place::Group(index), || {
            let (a, b) = (first / gpus, last / gpus);
            let what = format!("ranks {first} to {last}, {} neighbours, lie in servers {a} to {b}", group.len());
            (what, format!("choose groups of neighbours whose size divides the {gpus} GPUs of a server"))
        });
    }
}

/// A ring with hops from a rail of one server to another rail of another server.
fn leaving(graph: &Graph, index: u32, order: &[u32], gpus: u32, report: &mut Report) {
    let group = graph.group(index);
    let n = group.len();
    let at = |i: usize| {
        let position = order.get(i % n).map_or(i % n, |position| *position as usize);
        group.get(position).copied().unwrap_or_default()
    };
    let leaves = |a: u32, b: u32| a / gpus != b / gpus && a % gpus != b % gpus;
    let hops: Vec<(u32, u32)> = (0..n).map(|i| (at(i), at(i + 1))).filter(|(a, b)| leaves(*a, *b)).collect();
    if let Some((from, to)) = hops.first() {
        report.add(Code::W04, Place::Group(index), || {
            let what = format!(
                "a ring of {n} ranks leaves its rail in {} hops, the first from rank {from} to {to}",
                hops.len()
            );
            (what, "enter each server at the rail of the one before (order), or choose hierarchical".into())
        });
    }
}
