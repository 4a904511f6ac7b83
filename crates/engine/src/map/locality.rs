//! Locality order of nodes.

use crate::ids::NodeId;
use crate::map::ideal::Fabric;
use crate::spec::Spec;

/// Position of every node among the hosts, in 16ths of a host: the mean of its neighbours one link nearer to hosts.
/// Nodes that serve the same hosts get similar positions.
pub fn locality_order(spec: &Spec, fabric: &Fabric) -> Vec<u64> {
    let mut at: Vec<u64> =
        (0..spec.node_names.len() as u64).map(|n| if n < spec.hosts as u64 { n << 4 } else { u64::MAX }).collect();
    let mut sums = vec![(0, 0); at.len()];
    let mut level: Vec<u32> = (0..spec.hosts).collect();
    while !level.is_empty() {
        let mut next = Vec::new();
        for node in level {
            for link in fabric.ports(NodeId(node)) {
                let to = spec.links[*link].to;
                if at[to as usize] == u64::MAX {
                    let (sum, count) = &mut sums[to as usize];
                    (*sum, *count) = (*sum + at[node as usize], *count + 1);
                    next.extend((*count == 1).then_some(to));
                }
            }
        }
        for node in &next {
            let (sum, count) = sums[*node as usize];
            at[*node as usize] = sum / count;
        }
        level = next;
    }
    at
}
