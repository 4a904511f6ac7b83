//! Jobs of a run: their ranks on hosts, and the connections between them.
//!
//! A message is bytes of a connection. Which bytes are whose message, the sender's host tells the receiver's as it
//! writes them: an event there at the earliest time at which the first byte could arrive. It changes nothing but what
//! a rank is known to be doing, since a message counts when its last byte has arrived.

use crate::ids::{FlowId, NodeId, RankId, StreamId, TaskId};
use crate::map::adjacency::Adjacency;
use crate::spec::{About, FlowSpec, JobConnection, JobSpec, RunError, ScaleUp, Spec};
use incast_cc::{Rate, Time};
use incast_workload::Kind;
use incast_workload::collective::Tasks;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Most ranks of all jobs.
const MOST_RANKS: usize = 1 << 24;

/// No connection.
const NONE: u32 = u32::MAX;

/// Most iterations of a job.
const MOST_ITERATIONS: u32 = 1_000_000;

/// Rank of a job.
#[derive(Clone, Copy, Debug)]
pub struct RankPlace {
    /// Job.
    pub job: u32,
    /// Number in the job.
    pub rank: u32,
    /// Host.
    pub host: NodeId,
    /// Index in the domain of the host.
    pub local: u32,
    /// Number of its first task among those of all jobs.
    first_task: TaskId,
}

/// Connection of two ranks.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Sending rank.
    pub from: RankId,
    /// Receiving rank.
    pub to: RankId,
    /// Flow.
    pub flow: FlowId,
    /// Earliest arrival of a byte after it was written.
    pub latency: Time,
    /// Index among the connections that the sending domain writes to, and that the receiving domain reads.
    pub outgoing: u32,
    /// See `outgoing`.
    pub incoming: u32,
}

/// All jobs of a run.
#[derive(Clone, Default, Debug)]
pub struct Jobs {
    /// Ranks of all jobs, job by job.
    pub ranks: Vec<RankPlace>,
    /// Connections, by sending rank and receiving rank.
    pub connections: Vec<Connection>,
    /// Connection of every flow, or [`NONE`].
    by_flow: Vec<u32>,
}

impl Jobs {
    /// The jobs of `spec`; none has an index in a domain yet. `latencies`: of every link.
    ///
    /// # Errors
    /// A job does not fit its hosts, or a message has no connection.
    pub fn new(spec: &Spec, latencies: &[Time]) -> Result<Jobs, RunError> {
        let mut jobs = Jobs::default();
        if spec.jobs.is_empty() {
            return Ok(jobs);
        }
        let outgoing = Adjacency::outgoing(spec);
        let mut tasks = 0u64;
        for (number, job) in (0u32..).zip(&spec.jobs) {
            check(spec, job).map_err(|text| RunError::Refused(About::Job(number), text))?;
            let first = jobs.ranks.len() as u32;
            for (rank, host) in (0..).zip(&job.hosts) {
                let place =
                    RankPlace { job: number, rank, host: NodeId(*host), local: 0, first_task: TaskId(tasks as u32) };
                jobs.ranks.push(place);
                tasks += u64::from(job.tasks.rank(rank).count());
            }
            if tasks > u32::MAX as u64 || jobs.ranks.len() > MOST_RANKS {
                let text = format!(
                    "{tasks} tasks of {} ranks in all jobs; expected at most {} tasks and {} ranks",
                    jobs.ranks.len(),
                    u32::MAX,
                    MOST_RANKS
                );
                return Err(RunError::Refused(About::Job(number), text));
            }
            for own in job.connections.chunk_by(|a, b| a.from == b.from) {
                let to = |connection: &JobConnection| job.hosts[connection.to as usize];
                let targets: Vec<u32> = own.iter().map(to).collect();
                let found = earliest(spec, &outgoing, latencies, job.hosts[own[0].from as usize], &targets);
                for (connection, latency) in own.iter().zip(found) {
                    jobs.connections.push(Connection {
                        from: RankId(first + connection.from),
                        to: RankId(first + connection.to),
                        flow: FlowId(connection.flow),
                        latency,
                        outgoing: 0,
                        incoming: 0,
                    });
                }
            }
        }
        jobs.by_flow = vec![NONE; spec.flows.len()];
        for (i, connection) in (0..).zip(&jobs.connections) {
            let own = &mut jobs.by_flow[connection.flow.ix()];
            if *own != NONE {
                let FlowId(flow) = connection.flow;
                let text = format!("flow {flow} is the connection of two pairs of ranks");
                return Err(RunError::Refused(About::Flow(flow), text));
            }
            *own = i;
        }
        Ok(jobs)
    }

    /// Connection of a flow.
    pub fn of_flow(&self, flow: FlowId) -> Option<u32> {
        self.by_flow.get(flow.ix()).copied().filter(|own| *own != NONE)
    }

    /// Connection from a rank to rank `peer` of its job.
    pub fn to(&self, from: RankId, peer: u32) -> Option<u32> {
        let place = &self.ranks[from];
        let to = RankId(from.0 - place.rank + peer);
        self.connections.binary_search_by_key(&(from, to), |c| (c.from, c.to)).ok().map(|i| i as u32)
    }

    /// Rank of the server of `from`, if its messages to rank `peer` of its job do not take the network.
    pub fn inside(&self, spec: &Spec, from: RankId, peer: u32) -> Option<(RankId, ScaleUp)> {
        let place = &self.ranks[from];
        let scale_up = spec.jobs[place.job as usize].scale_up?;
        let inside = JobSpec::is_inside(Some(scale_up), place.rank, peer);
        inside.then_some((RankId(from.0 - place.rank + peer), scale_up))
    }

    /// Number of a stream of a rank.
    pub fn stream(&self, rank: RankId, stream: u8) -> StreamId {
        StreamId(rank.0 << 8 | stream as u32)
    }

    /// Rank of a stream, and the stream's number there.
    pub fn of_stream(&self, stream: StreamId) -> (RankId, u8) {
        (RankId(stream.0 >> 8), stream.0 as u8)
    }

    /// Number of a task of a rank.
    pub fn task(&self, rank: RankId, task: u32) -> TaskId {
        TaskId(self.ranks[rank].first_task.0 + task)
    }

    /// Rank of a task, and the task's number there.
    pub fn of_task(&self, task: TaskId) -> (RankId, u32) {
        let after = self.ranks.partition_point(|place| place.first_task <= task);
        // ranks without tasks begin where the next one begins
        let rank = RankId(after as u32 - 1);
        (rank, task.0 - self.ranks[rank].first_task.0)
    }

    /// Host to which the message of a task goes.
    pub fn receiver_of(&self, spec: &Spec, task: TaskId) -> NodeId {
        let (rank, own) = self.of_task(task);
        let place = &self.ranks[rank];
        let peer = self.tasks(spec, rank).task(own).peer;
        NodeId(spec.jobs[place.job as usize].hosts[peer as usize])
    }

    /// Tasks of a rank.
    pub fn tasks<'s>(&self, spec: &'s Spec, rank: RankId) -> Tasks<'s> {
        let place = &self.ranks[rank];
        spec.jobs[place.job as usize].tasks.rank(place.rank)
    }
}

/// Checks a job against its hosts and connections.
fn check(spec: &Spec, job: &JobSpec) -> Result<(), String> {
    let (ranks, hosts) = (job.tasks.graph().ranks(), job.hosts.len());
    if ranks != hosts || ranks == 0 {
        return Err(format!("{ranks} ranks on {hosts} hosts; expected a host for each of at least one rank"));
    }
    if let Some(host) = job.hosts.iter().find(|host| **host >= spec.hosts) {
        return Err(format!("a rank on host {host}; expected less than {}", spec.hosts));
    }
    let mut sorted = job.hosts.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two ranks on host {}; expected at most one", pair[0]));
    }
    if !(1..=MOST_ITERATIONS).contains(&job.iterations) {
        return Err(format!("{} iterations; expected 1 to {MOST_ITERATIONS}", job.iterations));
    }
    if let Some(ScaleUp { gpus, rate, .. }) = job.scale_up
        && (gpus < 2 || rate == Rate(0))
    {
        return Err(format!("{gpus} GPUs of a server at {rate}; expected at least 2, and a rate above 0"));
    }
    if let Some((rank, factor)) = job.slow.iter().find(|(r, f)| *r as usize >= ranks || !f.is_finite() || *f < 0.0) {
        return Err(format!(
            "rank {rank} slower by {factor}; expected one of {ranks} ranks and a factor of at least 0"
        ));
    }
    for (rank, tasks) in job.tasks.graph().iter() {
        for (i, task) in tasks.iter() {
            let fault = match task.kind {
                Kind::Send if task.peer as usize >= ranks || task.peer == rank => "expected another rank of the job",
                _ => continue,
            };
            return Err(format!("task {i} of rank {rank} ({} to {}): {fault}", task.kind.name(), task.peer));
        }
    }
    let own: Vec<(u32, u32)> = job.connections.iter().map(|c| (c.from, c.to)).collect();
    let pairs = JobSpec::pairs(&job.tasks, job.scale_up);
    if own != pairs {
        let (own, expected) = (own.len(), pairs.len());
        return Err(format!(
            "{own} connections; expected one for each of the {expected} pairs with messages, in order"
        ));
    }
    for connection in &job.connections {
        let ends = (job.hosts[connection.from as usize], job.hosts[connection.to as usize]);
        let fits = |flow: &FlowSpec| (flow.src, flow.dst) == ends && flow.app.is_messages();
        if !spec.flows.get(connection.flow as usize).is_some_and(fits) {
            return Err(format!(
                "flow {} is no connection of ranks {} and {}; expected one of messages between their hosts",
                connection.flow, connection.from, connection.to
            ));
        }
    }
    Ok(())
}

/// Earliest arrivals at `targets` of what leaves host `from` at time 0, by the latencies of links alone.
fn earliest(spec: &Spec, outgoing: &Adjacency, latencies: &[Time], from: u32, targets: &[u32]) -> Vec<Time> {
    let mut known = BTreeMap::new();
    let mut left: BTreeSet<u32> = targets.iter().copied().collect();
    let mut front = BinaryHeap::from([Reverse((Time::ZERO, from))]);
    while let Some(Reverse((at, node))) = front.pop() {
        if known.contains_key(&node) {
            continue;
        }
        known.insert(node, at);
        left.remove(&node);
        if left.is_empty() {
            break;
        }
        // no path goes on through a host
        if node < spec.hosts && node != from {
            continue;
        }
        for link in outgoing.of(NodeId(node)) {
            front.push(Reverse((at.saturating_add(latencies[link.ix()]), spec.links[*link].to)));
        }
    }
    targets.iter().map(|target| known.get(target).copied().unwrap_or(Time::ZERO)).collect()
}
