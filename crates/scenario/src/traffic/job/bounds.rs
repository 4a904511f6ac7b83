//! Lower bounds of the times of a job and of its collectives, whatever the network between the links of the hosts.

use crate::document::job::Job;
use crate::traffic::flows::Flows;
use incast_cc::Time;
use incast_workload::bound::bound;
use incast_workload::collective::{Expansion, alone, expand, expanded_tasks};
use incast_workload::evaluate::delay::Network;
use incast_workload::{Collective, Graph};
use std::collections::{BTreeSet, HashMap};

/// Most tasks of a graph whose collectives are expanded for a bound. Above, a collective counts by its bytes and one
/// latency, whatever its algorithm.
const MOST_EXPANDED: f64 = 1e6;

/// Bound of an iteration, and of each collective; `None` with ranks that calculate faster than the tasks say, and where
/// messages take links inside servers: of a collective, those of its own members.
pub(super) fn bounds(tasks: &Expansion, hosts: &[u32], job: &Job, flows: &Flows) -> (Option<Time>, Vec<Option<Time>>) {
    let graph = tasks.graph();
    let none = || (None, vec![None; graph.collectives().len()]);
    let Some(network) = network(hosts, flows) else { return none() };
    if job.slow.iter().any(|slow| slow.calc < 1.0) {
        return none();
    }
    let mut known: HashMap<(u8, u64, u32, usize, bool), Option<Time>> = HashMap::new();
    let mut of = |what: &Collective| {
        let group = graph.group(what.group);
        let own = match &job.scale_up {
            None => network,
            Some(links) => {
                let server = |rank: &u32| rank / links.gpus.max(1);
                let servers: BTreeSet<u32> = group.iter().map(server).collect();
                match servers.len() {
                    1 => Network { latency: links.delay.0, rate: links.rate.0 },
                    n if n == group.len() => network,
                    _ => return None,
                }
            }
        };
        let key = (what.pattern as u8, what.bytes.0, what.root, group.len(), own == network);
        if what.sizes.is_some() {
            return alone_bound(tasks, what, group.len(), own);
        }
        *known.entry(key).or_insert_with(|| alone_bound(tasks, what, group.len(), own))
    };
    let collectives = graph.collectives().iter().map(&mut of).collect();
    let whole = match job.scale_up {
        Some(_) => None,
        None => expanded_bound(graph, tasks, tasks.total() as f64, network),
    };
    (whole, collectives)
}

fn alone_bound(tasks: &Expansion, what: &Collective, members: usize, network: Network) -> Option<Time> {
    let graph = alone(what, members as u32).ok()?;
    let count = expanded_tasks(what, members as u64, tasks.methods().of(what.pattern)).ok()?;
    expanded_bound(&graph, tasks, count, network)
}

fn expanded_bound(graph: &Graph, tasks: &Expansion, count: f64, network: Network) -> Option<Time> {
    if count > MOST_EXPANDED {
        return bound(graph, network).ok().map(|bound| bound.time());
    }
    let expanded = expand(graph, tasks.methods()).ok()?;
    bound(&expanded, network).ok().map(|bound| bound.time())
}

/// Network with the least latency and the highest rate of the links of hosts.
fn network(hosts: &[u32], flows: &Flows) -> Option<Network> {
    let all: BTreeSet<u32> = hosts.iter().copied().collect();
    let own = |host: u32| all.contains(&host);
    let links = || flows.network.links.iter();
    let out = links().filter(|l| own(l.from)).map(|l| l.delay).min()?;
    let into = links().filter(|l| own(l.to)).map(|l| l.delay).min()?;
    let rate = links().filter(|l| own(l.from) || own(l.to)).map(|l| l.rate).max()?;
    Some(Network { latency: out.saturating_add(into), rate })
}
