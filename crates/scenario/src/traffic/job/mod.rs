//! Flows of a training job: a connection for every pair of ranks with messages.

mod connections;
mod hosts;
mod servers;
mod tasks;

use super::flows::Flows;
use super::place::check_two_hosts;
use crate::document::job::{Job, Life};
use crate::document::traffic::Traffic;
use crate::files::read_named;
use crate::text::problem::{Errors, Problem};
use connections::{connect, kinds};
use hosts::of_ranks;
use incast_cc as cc;
use incast_engine::spec::{JobSpec, Opens};
use incast_workload::Graph;
use incast_workload::bound::bound;
use incast_workload::collective::bus_factor;
use incast_workload::evaluate::delay::Network;
use servers::{by_rails, check_paths, linked, planes};
use std::collections::BTreeSet;
use std::sync::Arc;
use tasks::{expanded, read};

impl Traffic {
    /// Adds a job, and the connections of its ranks.
    pub(crate) fn add_job(&self, file: Option<&str>, job: &Job, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let key = format!("{}.file", flows.path);
        let (graph, patterns) = match (&job.collective, file) {
            (Some(collective), _) => expanded(collective, job.ranks_per_host, flows)?,
            (None, Some(file)) => (read(&key, file, &read_named(&key, flows.dir, file)?)?, Vec::new()),
            (None, None) => return Ok(()),
        };
        let ranks = graph.ranks();
        let collective = job.collective.as_ref().map(|c| (c.size.0.0, bus_factor(c.kind.0, ranks as u64)));
        let hosts = of_ranks(job, ranks, entry, flows)?;
        let path = flows.path.clone();
        let known = |rank: &u32| (*rank as usize) < ranks;
        for (i, slow) in job.slow.iter().enumerate() {
            if let Some(rank) = slow.ranks.iter().find(|rank| !known(rank)) {
                let message = format!("expected ranks of the job, 0 to {}", ranks.max(1) - 1);
                return Err(Problem::with_value(format!("{path}.job.slow.{i}.ranks"), rank, message).into());
            }
        }
        let scale_up = job.scale_up.as_ref().map(|own| linked(own, job, &hosts, flows)).transpose()?;
        let (graph, patterns) = match job.pxn {
            true => by_rails(&graph, patterns, scale_up.as_ref(), &hosts, flows)?,
            false => (graph, patterns),
        };
        flows.taken.extend(&hosts);
        let bound = bound_of(&graph, &hosts, job, flows);
        let slow = job.slow.iter().flat_map(|slow| slow.ranks.iter().map(|rank| (*rank, slow.calc))).collect();
        if job.connections == Life::Message && flows.network.planes > 1 {
            let message = format!(
                "the topology has {} planes, in which connections stay; expected \"job\"",
                flows.network.planes
            );
            return Err(Problem::quoted(format!("{path}.job.connections"), "message", message).into());
        }
        let mut made = JobSpec {
            group: entry,
            graph: Arc::new(graph),
            planes: planes(job.planes, &hosts, flows.network),
            hosts,
            start: self.start.0,
            iterations: job.iterations,
            scale_up,
            send_done: job.send_done.spec(),
            slow,
            collective,
            bound,
            kinds: Vec::new(),
            opens: match job.connections {
                Life::Job => Opens::Kept(job.qps),
                Life::Message => Opens::Each,
            },
            connections: Vec::new(),
        };
        let own = self.begin(entry, 0, flows)?;
        let flow = own.flow((0, 0), self.start.0);
        let given = (self.controller.as_ref(), self.transport.as_ref());
        let kinds = kinds(job.by.as_ref(), &patterns, &flow, given, flows)?;
        made.kinds.clone_from(&kinds.by_tag);
        let channels = made.channels();
        if let Some(own) = channels.iter().find(|own| own.to as usize >= ranks) {
            let (from, to, last) = (own.from, own.to, ranks.max(1) - 1);
            let message = format!("rank {from} sends to rank {to}; expected a rank, 0 to {last}");
            return Err(Problem::new(key, message).into());
        }
        check_paths(&channels, &made.hosts, flows)?;
        flows.reserve(channels.iter().fold(0, |sum: u64, own| sum.saturating_add(own.count)))?;
        connect(&mut made, &kinds, &flow, flows);
        flows.jobs.push(made);
        Ok(())
    }
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
    let all_planes = cc::Rate(rate.0.saturating_mul(flows.network.planes.max(1).into()));
    let rate = if rate == cc::Rate::INFINITE { rate } else { all_planes };
    let network = Network { latency: out.saturating_add(into), rate };
    bound(graph, network).ok().map(|bound| bound.time())
}
