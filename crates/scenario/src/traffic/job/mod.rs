//! Flows of a training job: a connection for every pair of ranks with messages.

mod bounds;
mod connections;
mod hosts;
mod llm;
mod notes;
mod servers;
mod tasks;

use super::flows::Flows;
use super::place::check_two_hosts;
use crate::document::job::{Job, Life};
use crate::text::problem::{Errors, Problem};
use bounds::bounds;
use connections::{connect, kinds};
use hosts::of_ranks;
use incast_cc as cc;
use incast_engine::spec::{self, JobSpec, Opens};
use incast_record::{RankRecord, TransferRecord};
use incast_workload::collective::{Expansion, bus_factor};
use servers::{by_rails, check_paths, linked, planes};
use std::collections::BTreeSet;
use std::sync::Arc;
use tasks::{collective, expansion, note_servers, patterns, read};

impl Job {
    /// Adds the job as group number `group`, and the connections of its ranks.
    pub(crate) fn add(&self, group: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let key = format!("{}.workload", flows.path);
        let (tasks, methods) = match (&self.collective, &self.llm, &self.workload) {
            (Some(own), ..) => collective(own, self, group, flows)?,
            (None, Some(llm), _) => llm::tasks(llm, self, flows)?,
            (None, None, Some(file)) => read(self, file, flows)?,
            (None, None, None) => return Ok(()),
        };
        let ranks = tasks.ranks();
        let collective = self.collective.as_ref().map(|c| (c.size.0.0, bus_factor(c.kind.0, ranks as u64)));
        let hosts = of_ranks(self, ranks, group, flows)?;
        let path = flows.path.clone();
        self.check_slow(ranks, flows)?;
        let scale_up = self.scale_up.as_ref().map(|own| linked(own, self, &hosts, flows)).transpose()?;
        let patterns = patterns(&tasks, &methods, flows)?;
        note_servers(self, &tasks, &methods, &hosts, flows);
        notes::without_effect(self, (&tasks, &methods), flows);
        notes::shared_hosts(&hosts, flows);
        let (tasks, patterns) = match self.pxn {
            true => by_rails(self, (&tasks, &methods), patterns, scale_up.as_ref(), &hosts, flows)?,
            false => (expansion(self, Arc::new(tasks), &methods, flows)?, patterns),
        };
        flows.taken.extend(&hosts);
        flows.reserve_rows(rows(&tasks, flows.messages).saturating_mul(self.iterations.into()))?;
        let (bound, bounds) = bounds(&tasks, &hosts, self, scale_up.as_ref(), flows);
        let slow = self.slow.iter().flat_map(|slow| slow.ranks.iter().map(|rank| (*rank, slow.calc))).collect();
        if self.connections == Life::Message && flows.network.planes > 1 {
            let message = format!(
                "the topology has {} planes, in which connections stay; expected \"job\"",
                flows.network.planes
            );
            return Err(Problem::quoted(format!("{path}.connections"), "message", message).into());
        }
        let mut made = JobSpec {
            group,
            tasks: Arc::new(tasks),
            planes: planes(self.planes, &hosts, flows.network),
            hosts,
            start: self.start.0,
            iterations: self.iterations,
            warmup: self.warmup,
            scale_up,
            send_done: self.send_done.spec(),
            slow,
            collective,
            bound,
            bounds,
            kinds: Vec::new(),
            opens: match self.connections {
                Life::Job => Opens::Kept(self.qps),
                Life::Message => Opens::Each,
            },
            connections: Vec::new(),
        };
        let controller = flows.controller(self.controller.as_ref())?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let flow = self.connection((0, 0), group, controller, transport);
        let given = (self.controller.as_ref(), self.transport.as_ref());
        let kinds = kinds(self.by.as_ref(), &patterns, &flow, given, flows)?;
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

    /// Refuses slow ranks that the job does not have, and those with two factors.
    fn check_slow(&self, ranks: usize, flows: &Flows) -> Result<(), Problem> {
        let mut seen = BTreeSet::new();
        for (i, rank) in self.slow.iter().enumerate().flat_map(|(i, slow)| slow.ranks.iter().map(move |rank| (i, rank)))
        {
            let message = match ((*rank as usize) < ranks, seen.insert(*rank)) {
                (false, _) => format!("expected ranks of the job, 0 to {}", ranks.max(1) - 1),
                (_, false) => "a rank before is the same; expected one factor for each".to_owned(),
                _ => continue,
            };
            return Err(Problem::with_value(format!("{}.slow.{i}.ranks", flows.path), rank, message));
        }
        Ok(())
    }

    /// A connection between two hosts.
    fn connection(&self, (src, dst): (u32, u32), group: u32, controller: u32, transport: u32) -> spec::FlowSpec {
        spec::FlowSpec {
            src,
            dst,
            start: self.start.0,
            stop: cc::Time::NEVER,
            at_stop: spec::AtStop::Drain,
            sink_stop: cc::Time::NEVER,
            transport,
            controller,
            group,
            class: self.class,
            ack_class: self.ack_class.unwrap_or(self.class),
            app: spec::App::Messages(spec::Messages),
            read_rate: cc::Rate::INFINITE,
            path: None,
            reverse_path: None,
            pull_path: None,
            trigger: None,
            deadline: None,
        }
    }
}

/// Memory of the rows of an iteration, in bytes; of messages, if these are recorded.
fn rows(tasks: &Expansion, of_messages: bool) -> u64 {
    let ranks = tasks.graph().ranks() as u32;
    let mut messages = 0u64;
    for rank in (0..ranks).filter(|_| of_messages) {
        tasks.messages(rank, |_, _, count| messages += count);
    }
    u64::from(ranks) * size_of::<RankRecord>() as u64 + messages * size_of::<TransferRecord>() as u64
}
