//! Lower bounds of the times of a job and of its collectives, whatever the network between the links of the hosts.

use crate::document::job::Job;
use crate::traffic::flows::Flows;
use incast_cc::{Rate, Time};
use incast_engine::spec;
use incast_workload::bound::{Bound, bound};
use incast_workload::collective::{Expansion, alone, expand, expanded_tasks, known_bound};
use incast_workload::evaluate::delay::Network;
use incast_workload::{Collective, Graph};
use std::collections::{BTreeSet, HashMap};

/// Most tasks of a graph whose collectives are expanded for a bound. A larger one has none: a bound without the
/// algorithm would give its efficiency another meaning.
const MOST_EXPANDED: f64 = 1e6;

/// Bounds of a job: of an iteration, and its part that holds of each even where iterations overlap; of each collective.
type Bounds = (Option<[Time; 2]>, Vec<Option<Time>>);

/// Bounds of a job. They are `None` with ranks that calculate faster than the tasks say, where messages take links
/// inside servers (of a collective, those of its own members), and above [`MOST_EXPANDED`].
pub(super) fn bounds(
    tasks: &Expansion,
    hosts: &[u32],
    job: &Job,
    scale_up: Option<&spec::ScaleUp>,
    flows: &Flows,
) -> Bounds {
    let graph = tasks.graph();
    let none = || (None, vec![None; graph.collectives().len()]);
    let all: BTreeSet<u32> = hosts.iter().copied().collect();
    let Some(network) = network(|host| all.contains(&host), flows) else { return none() };
    if job.slow.iter().any(|slow| slow.calc < 1.0) {
        return none();
    }
    let mut known: HashMap<(u8, u64, u32, usize, bool), Option<Time>> = HashMap::new();
    let mut of = |what: &Collective| {
        let group = graph.group(what.group);
        let own = match scale_up {
            None => network,
            Some(links) => {
                let server = |rank: &u32| links.servers.get(*rank as usize);
                let servers: BTreeSet<Option<&u32>> = group.iter().map(server).collect();
                match servers.len() {
                    1 => Network { latency: links.delay, rate: links.rate },
                    n if n == group.len() => network,
                    _ => return None,
                }
            }
        };
        if what.sizes.is_some() {
            return alone_bound(tasks, what, group.len(), own);
        }
        let key = (what.pattern as u8, what.bytes.0, what.root, group.len(), own == network);
        *known.entry(key).or_insert_with(|| alone_bound(tasks, what, group.len(), own))
    };
    let collectives = graph.collectives().iter().map(&mut of).collect();
    let whole = match scale_up {
        Some(_) => None,
        None => expanded_bound(graph, tasks, tasks.total() as f64, network),
    };
    (whole.map(|own| [own.time(), own.work()]), collectives)
}

fn alone_bound(tasks: &Expansion, what: &Collective, members: usize, network: Network) -> Option<Time> {
    let method = tasks.methods().of(what.pattern);
    let count = expanded_tasks(what, members as u64, method).ok()?;
    let known = known_bound(what, method, members as u64, network);
    if known.is_some() || count > MOST_EXPANDED {
        return known;
    }
    let graph = alone(what, members as u32).ok()?;
    expanded_bound(&graph, tasks, count, network).map(|bound| bound.time())
}

fn expanded_bound(graph: &Graph, tasks: &Expansion, count: f64, network: Network) -> Option<Bound> {
    if count > MOST_EXPANDED {
        return None;
    }
    bound(&expand(graph, tasks.methods()).ok()?, network).ok()
}

/// Network with the least latency and the highest rate of the links of these hosts; planes add their rates.
pub(super) fn network(own: impl Fn(u32) -> bool, flows: &Flows) -> Option<Network> {
    let links = || flows.network.links.iter();
    let out = links().filter(|l| own(l.from)).map(|l| l.delay).min()?;
    let into = links().filter(|l| own(l.to)).map(|l| l.delay).min()?;
    let rate = links().filter(|l| own(l.from) || own(l.to)).map(|l| l.rate).max()?;
    let all_planes = Rate(rate.0.saturating_mul(flows.network.planes.max(1).into()));
    let rate = if rate == Rate::INFINITE { rate } else { all_planes };
    Some(Network { latency: out.saturating_add(into), rate })
}
