//! Ends of partition and aggregate: roots spread over racks, each with workers at given distances.

use super::flows::Flows;
use super::shuffle::drawn;
use crate::document::roots::Roots;
use crate::text::problem::Problem;
use incast_engine::hash::{self, purpose};
use std::collections::BTreeMap;

/// Draws reserved for a root: the numbers of the next root's draws begin after them. No network has as many hosts.
const DRAWS: u64 = 1 << 24;

/// Sender and receiver of every flow: the workers of root 0, those of root 1, ...
pub(super) fn place(roots: &Roots, entry: u32, flows: &Flows) -> Result<Vec<(u32, u32)>, Problem> {
    let (hosts, per_pod) = (flows.network.hosts, flows.network.hosts_per_pod);
    let wrong = |key: &str, value: u32, message: String| {
        Problem::with_value(format!("{}.roots.{key}", flows.path), value, message)
    };
    if roots.in_pod > 0 && per_pod == 0 {
        let message = "the topology has no pods; expected 0, and elsewhere for workers in other racks";
        return Err(wrong("in_pod", roots.in_pod, message.into()));
    }
    let mut by_rack: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (host, rack) in (0..hosts).zip(&flows.network.racks) {
        by_rack.entry(*rack).or_default().push(host);
    }
    let racks: Vec<&Vec<u32>> = by_rack.values().collect();
    let n = roots.racks.unwrap_or(racks.len() as u32);
    if n as usize > racks.len() {
        return Err(wrong("racks", n, format!("expected at most the racks of the topology, {}", racks.len())));
    }
    let mut pairs = Vec::new();
    for i in 0..roots.count {
        let rack = racks[(i % n) as usize];
        let nth = i / n;
        let Some(root) = rack.get(nth as usize).copied() else {
            let message = format!("rack {} has {} hosts; expected fewer roots, or more racks", i % n, rack.len());
            return Err(wrong("count", roots.count, message));
        };
        let mut draws = DRAWS * i as u64;
        let pod = root.checked_div(per_pod).map(|pod| (pod * per_pod, (pod + 1) * per_pod));
        let own: Vec<u32> = pod.map_or_else(|| rack.clone(), |(from, to)| (from..to).collect());
        let (from, to) = pod.unwrap_or_default();
        let kinds = [
            ("in_rack", roots.in_rack, 0, rack.len() as u32 - 1),
            ("in_pod", roots.in_pod, from, (to - from).saturating_sub(rack.len() as u32)),
            ("elsewhere", roots.elsewhere, 0, hosts - own.len() as u32),
        ];
        for (key, workers, from, among) in kinds {
            if workers > among {
                let name = &flows.network.names[root as usize];
                return Err(wrong(
                    key,
                    workers,
                    format!("expected at most the number of hosts at that distance from root {name}, {among}"),
                ));
            }
            let bits = |draw: u32| hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, draws + draw as u64);
            for place in drawn(workers, among, |draw, below| hash::pick(bits(draw), below)) {
                let worker = match key {
                    "in_rack" => rack[without(&[nth], 0, place) as usize],
                    "in_pod" => without(rack, from, place),
                    _ => without(&own, from, place),
                };
                pairs.push((worker, root));
            }
            draws += among as u64;
        }
    }
    Ok(pairs)
}

/// Number `place` of the numbers from `from` on that are not left out; `left_out` is in order, none below `from`.
fn without(left_out: &[u32], from: u32, place: u32) -> u32 {
    left_out.iter().fold(from + place, |number, out| number + u32::from(*out <= number))
}
