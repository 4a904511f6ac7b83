//! Flows of a training job: a connection for every pair of ranks with messages.

use super::flows::Flows;
use super::place::check_two_hosts;
use super::shuffle::shuffled;
use crate::document::job as document;
use crate::document::job::{Job, RankPlacement};
use crate::document::traffic::{HostRef, Traffic};
use crate::files::read_named;
use crate::text::problem::{Errors, Problem};
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::spec::{self, JobConnection, JobSpec};
use incast_workload::bound::bound;
use incast_workload::collective::{Methods, alone, bus_factor, expand, expanded_tasks};
use incast_workload::evaluate::delay::Network;
use incast_workload::lint::{Options, lint};
use incast_workload::{Collective, Graph, Kind, Refused, Report, Task, goal};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most tasks of a collective.
const MOST_TASKS: f64 = 2e7;
/// Memory of a task in a run, about.
const TASK_BYTES: f64 = 60.0;

impl Traffic {
    /// Adds a job, and the connections of its ranks.
    pub(crate) fn add_job(&self, file: Option<&str>, job: &Job, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let key = format!("{}.file", flows.path);
        let graph = match (&job.collective, file) {
            (Some(collective), _) => expanded(collective, flows)?,
            (None, Some(file)) => read(&key, file, &read_named(&key, flows.dir, file)?)?,
            (None, None) => return Ok(()),
        };
        let ranks = graph.ranks();
        let collective = job.collective.as_ref().map(|c| (c.size.0.0, bus_factor(c.kind.0, ranks as u64)));
        let hosts = match &job.hosts {
            Some(hosts) => named(hosts, ranks, flows)?,
            None => placed(job.placement, ranks, entry, flows)?,
        };
        let path = flows.path.clone();
        let known = |rank: &u32| (*rank as usize) < ranks;
        for (i, slow) in job.slow.iter().enumerate() {
            if let Some(rank) = slow.ranks.iter().find(|rank| !known(rank)) {
                let message = format!("expected ranks of the job, 0 to {}", ranks.max(1) - 1);
                return Err(Problem::with_value(format!("{path}.job.slow.{i}.ranks"), rank, message).into());
            }
        }
        let scale_up = job.scale_up.as_ref().map(|own| own.spec());
        let pairs = JobSpec::pairs(&graph, scale_up);
        let own = self.begin(entry, pairs.len() as u64, flows)?;
        let mut connections = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            let Some(ends) = hosts.get(from as usize).zip(hosts.get(to as usize)).map(|(a, b)| (*a, *b)) else {
                let message = format!("rank {from} sends to rank {to}; expected a rank, 0 to {}", ranks.max(1) - 1);
                return Err(Problem::new(key, message).into());
            };
            let flow = spec::FlowSpec { app: spec::App::Messages(spec::Messages), ..own.flow(ends, self.start.0) };
            connections.push(JobConnection { from, to, flow: flows.push(flow) });
        }
        flows.taken.extend(&hosts);
        let bound = bound_of(&graph, &hosts, job, flows);
        let slow = job.slow.iter().flat_map(|slow| slow.ranks.iter().map(|rank| (*rank, slow.calc))).collect();
        flows.jobs.push(JobSpec {
            group: entry,
            graph: Arc::new(graph),
            hosts,
            start: self.start.0,
            iterations: job.iterations,
            scale_up,
            send_done: job.send_done.spec(),
            slow,
            collective,
            bound,
            connections,
        });
        Ok(())
    }
}

/// Reads tasks from GOAL text. A graph with a mistake that would stop a run is refused.
fn read(key: &str, file: &str, text: &str) -> Result<Graph, Problem> {
    let mut report = Report::default();
    let graph = goal::text::read(&mut text.as_bytes(), &mut report);
    graph.iter().for_each(|graph| lint(graph, &Options::default(), &mut report));
    match (graph, report.first_error()) {
        (_, Some(finding)) => Err(Problem::quoted(key, file, finding.to_string())),
        (Some(graph), None) if graph.ranks() > 0 => Ok(graph),
        _ => Err(Problem::quoted(key, file, "no ranks; expected at least one")),
    }
}

/// Messages of a collective.
fn expanded(collective: &document::Collective, flows: &Flows) -> Result<Graph, Problem> {
    let key = format!("{}.job.collective", flows.path);
    let wrong = |refused: Refused| Problem::new(&*key, refused.0);
    let free = flows.network.hosts - flows.taken.len() as u32;
    let what = Collective { pattern: collective.kind.0, group: 0, bytes: collective.size.0, root: 0, sizes: None };
    let mut methods = Methods::default();
    methods.choose(what.pattern, collective.method());
    let ranks = collective.ranks.unwrap_or(free);
    if ranks < 2 {
        return Err(Problem::new(format!("{key}.ranks"), format!("{ranks} ranks; expected at least 2")));
    }
    let tasks = expanded_tasks(&what, ranks.into(), methods.of(what.pattern)).map_err(wrong)?;
    if tasks > MOST_TASKS {
        let message = format!(
            "{tasks:.0} tasks, which take {:.1} GB; expected at most {MOST_TASKS:.0}: a larger chunk, fewer channels, \
             or fewer ranks",
            tasks * TASK_BYTES / 1e9
        );
        return Err(Problem::new(key, message));
    }
    let graph = alone(&what, ranks).and_then(|graph| expand(&graph, &methods)).map_err(wrong)?;
    let empty = |(_, task): (u32, Task)| task.kind == Kind::Send && task.size == 0;
    if graph.iter().any(|(_, rank)| rank.iter().any(empty)) {
        let message = "messages of 0 B; expected more bytes, or fewer channels or ranks (a barrier has no bytes)";
        return Err(Problem::quoted(format!("{key}.size"), collective.size, message));
    }
    Ok(graph)
}

/// Lower bound of the time of an iteration, whatever the network between the hosts' links.
fn bound_of(graph: &Graph, hosts: &[u32], job: &Job, flows: &Flows) -> Option<cc::Time> {
    if job.scale_up.is_some() || job.slow.iter().any(|slow| slow.calc < 1.0) {
        return None;
    }
    let all: BTreeSet<u32> = hosts.iter().copied().collect();
    let own = |host: u32| all.contains(&host);
    let links = || flows.network.links.iter();
    let out = links().filter(|l| own(l.from)).map(|l| l.delay).min()?;
    let into = links().filter(|l| own(l.to)).map(|l| l.delay).min()?;
    let rate = links().filter(|l| own(l.from) || own(l.to)).map(|l| l.rate).max()?;
    let network = Network { latency: out.saturating_add(into), rate };
    bound(graph, network).ok().map(|bound| bound.time())
}

/// Hosts of the ranks, listed one by one.
fn named(list: &[HostRef], ranks: usize, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let (key, all) = (format!("{}.job.hosts", flows.path), flows.network.hosts);
    if list.len() != ranks {
        let message = format!("{} hosts for {ranks} ranks; expected one for each", list.len());
        return Err(Problem::new(key, message));
    }
    let mut hosts = Vec::with_capacity(ranks);
    for own in list {
        let host = match own {
            HostRef::Number(host) => Some(*host),
            HostRef::Name(name) => flows.node(name),
        };
        let wrong = |message: String| match own {
            HostRef::Number(host) => Problem::with_value(&*key, host, message),
            HostRef::Name(name) => Problem::quoted(&*key, name, message),
        };
        match host.filter(|host| *host < all) {
            None => return Err(wrong(format!("expected a host, 0 to {}, or its name", all.max(1) - 1))),
            Some(host) if hosts.contains(&host) => {
                return Err(wrong("another rank has this host; expected one rank a host".to_owned()));
            }
            Some(host) => hosts.push(host),
        }
    }
    Ok(hosts)
}

/// Hosts of the ranks, of those that no earlier job has.
fn placed(placement: RankPlacement, ranks: usize, entry: u32, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let free: Vec<u32> = (0..flows.network.hosts).filter(|host| !flows.taken.contains(host)).collect();
    if ranks > free.len() {
        let taken = flows.network.hosts as usize - free.len();
        let others = if taken > 0 { format!(", and earlier jobs have {taken} of them") } else { String::new() };
        let message = format!(
            "{ranks} ranks, and there are {} hosts{others}; expected a topology with a host for each rank",
            flows.network.hosts
        );
        return Err(Problem::new(format!("{}.job", flows.path), message));
    }
    Ok(match placement {
        RankPlacement::Packed => free[..ranks].to_vec(),
        RankPlacement::Strided => (0..ranks).map(|i| free[i * free.len() / ranks]).collect(),
        RankPlacement::Random => {
            let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, u64::from(i)), n);
            let order = shuffled(free.len() as u32, draw);
            order.into_iter().take(ranks).map(|i| free[i as usize]).collect()
        }
        RankPlacement::ByRack => by_rack(&free, &flows.network.racks).into_iter().take(ranks).collect(),
    })
}

/// The hosts, one of each rack in turn.
fn by_rack(free: &[u32], racks: &[u32]) -> Vec<u32> {
    let mut seen = BTreeMap::new();
    let mut order: Vec<(u32, u32)> = free
        .iter()
        .map(|host| {
            let turn: &mut u32 = seen.entry(racks[*host as usize]).or_default();
            *turn += 1;
            (*turn, *host)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, host)| host).collect()
}
