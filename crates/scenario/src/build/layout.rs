//! Network of a run with a timeline, for the viewer: `timeline.json`.

use incast_engine::spec::Spec;
use serde_json::{Map, Value, json};

/// Frames of `frame_ps` each in a run that ended at `end_ps`, and the network of `spec`: nodes by tier and pod, ports
/// in the order of `ports.parquet`.
pub fn timeline_json(spec: &Spec, frame_ps: u64, end_ps: u64) -> String {
    let tiers = tiers(spec);
    let pods = pods(spec, &tiers);
    let nodes: Vec<Value> = (0..spec.node_names.len())
        .map(|n| {
            let mut node = Map::new();
            node.insert("name".into(), spec.node_names[n].as_str().into());
            let (kind, at) = kind(spec, n as u32);
            node.insert("kind".into(), kind.into());
            node.insert("tier".into(), tiers[n].into());
            node.insert("pod".into(), pods[n].into());
            if let Some((x, y)) = at {
                node.insert("x".into(), x.into());
                node.insert("y".into(), y.into());
            }
            node.into()
        })
        .collect();
    let ports: Vec<Value> = spec.links.iter().map(|link| json!({ "from": link.from, "to": link.to })).collect();
    let frame_ps = frame_ps.max(1);
    let whole = json!({
        "version": 1,
        "frame_s": frame_ps as f64 / 1e12,
        "frames": end_ps.div_ceil(frame_ps).max(1),
        "start_s": 0,
        "end_s": end_ps as f64 / 1e12,
        "nodes": nodes,
        "ports": ports,
    });
    format!("{whole}\n")
}

/// Kind of a node, and its position if it has one.
fn kind(spec: &Spec, node: u32) -> (&'static str, Option<(f64, f64)>) {
    for cell in &spec.cells {
        if cell.channel == node {
            return ("channel", None);
        }
        if let Some(station) = cell.stations.iter().find(|station| station.node == node) {
            return (if station.routes { "gateway" } else { "station" }, Some(station.at));
        }
    }
    (if node < spec.hosts { "host" } else { "switch" }, None)
}

/// Number of hops from every node to the nearest host.
fn tiers(spec: &Spec) -> Vec<u32> {
    let mut neighbours = vec![Vec::new(); spec.node_names.len()];
    for link in &spec.links {
        neighbours[link.from as usize].push(link.to);
    }
    let mut tiers = vec![u32::MAX; spec.node_names.len()];
    let mut reached: Vec<u32> = (0..spec.hosts).collect();
    let mut tier = 0;
    while !reached.is_empty() {
        reached.retain(|node| {
            let new = tiers[*node as usize] == u32::MAX;
            if new {
                tiers[*node as usize] = tier;
            }
            new
        });
        reached = reached.iter().flat_map(|node| neighbours[*node as usize].iter().copied()).collect();
        tier += 1;
    }
    // nodes unreachable from hosts are above all others
    tiers.into_iter().map(|own| if own == u32::MAX { tier } else { own }).collect()
}

/// Pods: parts still connected without the switches of the highest tier, numbered by their first nodes. None if there
/// is only one part, or if switches have one tier.
fn pods(spec: &Spec, tiers: &[u32]) -> Vec<Option<u32>> {
    let highest = tiers.iter().copied().max().unwrap_or(0);
    let mut parent: Vec<usize> = (0..tiers.len()).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    for link in &spec.links {
        let (from, to) = (link.from as usize, link.to as usize);
        if tiers[from] < highest && tiers[to] < highest {
            let (a, b) = (root(&mut parent, from), root(&mut parent, to));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut numbers = vec![None; tiers.len()];
    let mut count = 0;
    let mut pods = vec![None; tiers.len()];
    for node in (0..tiers.len()).filter(|node| tiers[*node] < highest) {
        let first = root(&mut parent, node);
        pods[node] = *numbers[first].get_or_insert_with(|| {
            count += 1;
            Some(count - 1)
        });
    }
    if count > 1 && highest > 1 { pods } else { vec![None; tiers.len()] }
}
