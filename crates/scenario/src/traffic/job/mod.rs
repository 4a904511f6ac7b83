//! Flows of a training job: a connection for every pair of ranks with messages.

mod bounds;
mod hosts;
mod tasks;

use super::flows::Flows;
use super::place::check_two_hosts;
use crate::document::job::Job;
use crate::document::traffic::Traffic;
use crate::files::read_named;
use crate::text::problem::{Errors, Problem};
use bounds::bounds;
use hosts::{named, placed};
use incast_engine::spec::{self, JobConnection, JobSpec};
use incast_workload::collective::bus_factor;
use std::sync::Arc;
use tasks::{collective, read};

impl Traffic {
    /// Adds a job, and the connections of its ranks.
    pub(crate) fn add_job(&self, file: Option<&str>, job: &Job, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let key = format!("{}.file", flows.path);
        let tasks = match (&job.collective, file) {
            (Some(own), _) => collective(own, flows)?,
            (None, Some(file)) => read(&key, file, &read_named(&key, flows.dir, file)?)?,
            (None, None) => return Ok(()),
        };
        let ranks = tasks.graph().ranks();
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
        let pairs = JobSpec::pairs(&tasks, scale_up);
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
        let (bound, bounds) = bounds(&tasks, &hosts, job, flows);
        let slow = job.slow.iter().flat_map(|slow| slow.ranks.iter().map(|rank| (*rank, slow.calc))).collect();
        flows.jobs.push(JobSpec {
            group: entry,
            tasks: Arc::new(tasks),
            hosts,
            start: self.start.0,
            iterations: job.iterations,
            scale_up,
            send_done: job.send_done.spec(),
            slow,
            collective,
            bound,
            bounds,
            connections,
        });
        Ok(())
    }
}
