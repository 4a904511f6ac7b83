//! Jobs of a run: their ranks on hosts, and the connections between them.
//!
//! A message is bytes of a connection. Which bytes are whose message, the sender's host tells the receiver's as it
//! writes them: an event there at the earliest time at which the first byte could arrive. It changes nothing but what
//! a rank is known to be doing, since a message counts when its last byte has arrived.

use crate::ids::{FlowId, NodeId, RankId, StreamId, TaskId};
use crate::map::adjacency::Adjacency;
use crate::map::packet_counts::PacketCounts;
use crate::spec::{
    About, Channels, FlowSpec, JobConnection, JobSpec, MOST_PLANES, Opens, PlaneRule, Planes, RunError, ScaleUp,
    SendDone, Spec,
};
use incast_cc::{Rate, Time};
use incast_workload::Kind;
use incast_workload::collective::Tasks;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Range;

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

/// Two ranks with messages from the first to the second.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Sending rank.
    pub from: RankId,
    /// Receiving rank.
    pub to: RankId,
    /// First of its connections, which follow each other kind by kind.
    first: u32,
    /// Number of its connections.
    count: u32,
    /// Index of the first among the connections that the sending domain writes to, and that the receiving domain reads.
    pub outgoing: u32,
    /// See `outgoing`.
    pub incoming: u32,
    /// Earliest arrival of a byte after it was written.
    pub latency: Time,
    /// Planes.
    pub planes: PairPlanes,
}

impl Pair {
    /// Connections of the pair.
    pub fn connections(&self) -> Range<u32> {
        self.first..self.first + self.count
    }

    /// Index of a connection among those of the pair.
    pub fn place(&self, connection: u32) -> usize {
        (connection - self.first) as usize
    }

    /// Connections of the pair among those that the sending domain writes to.
    pub fn outgoing(&self) -> Range<usize> {
        self.outgoing as usize..(self.outgoing + self.count) as usize
    }

    /// Connections of the pair among those that the receiving domain reads.
    pub fn incoming(&self) -> Range<usize> {
        self.incoming as usize..(self.incoming + self.count) as usize
    }
}

/// Planes of a pair of ranks.
#[derive(Clone, Copy, Debug)]
pub struct PairPlanes {
    /// Number.
    pub count: u32,
    /// True if all of them have parts of a message.
    pub(super) split: bool,
    /// True if routing knows at some time of no path in one of them.
    pub may_fail: bool,
}

impl PairPlanes {
    /// Planes of a pair of a job.
    pub fn new(count: u32, rule: Option<PlaneRule>) -> PairPlanes {
        PairPlanes { count, split: rule == Some(PlaneRule::Split), may_fail: false }
    }
}

/// Connection of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Pair.
    pub pair: u32,
    /// Flow.
    pub flow: FlowId,
    /// Kind of its messages.
    pub kind: u8,
    /// Number of its messages, after which it is over; [`u32::MAX`]: it stays open.
    pub messages: u32,
}

/// All jobs of a run.
#[derive(Default, Debug)]
pub struct Jobs {
    /// Ranks of all jobs, job by job.
    pub ranks: Vec<RankPlace>,
    /// Pairs, by sending rank and receiving rank.
    pub pairs: Vec<Pair>,
    /// Connections, pair by pair.
    pub connections: Vec<Connection>,
    /// Connection of every flow, or [`NONE`].
    by_flow: Vec<u32>,
    /// By connection, if any may fail: intervals in which routing knows of no path.
    pub(super) down: Vec<Vec<(Time, Time)>>,
    /// By connection: packets that the ends of connections have sent.
    pub packets: PacketCounts,
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
            let channels = check(spec, job).map_err(|text| RunError::Refused(About::Job(number), text))?;
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
            jobs.connect((job, &channels), first, |from, targets| earliest(spec, &outgoing, latencies, from, targets));
        }
        jobs.by_flow = vec![NONE; spec.flows.len()];
        for (i, connection) in (0..).zip(&jobs.connections) {
            let own = &mut jobs.by_flow[connection.flow.ix()];
            if *own != NONE {
                let FlowId(flow) = connection.flow;
                let text = format!("flow {flow} is part of two connections of jobs");
                return Err(RunError::Refused(About::Flow(flow), text));
            }
            *own = i;
        }
        jobs.find_planes_down(spec);
        jobs.find_lasting(spec);
        Ok(jobs)
    }

    /// Adds the pairs and the connections of a job whose ranks begin with `first`. `latencies` gives the earliest
    /// arrivals at hosts of what leaves a host.
    fn connect(
        &mut self,
        (job, channels): (&JobSpec, &[Channels]),
        first: u32,
        latencies: impl Fn(u32, &[u32]) -> Vec<Time>,
    ) {
        let mut messages = channels.iter().flat_map(Channels::messages_each);
        for own in job.connections.chunk_by(|a, b| a.from == b.from) {
            let pairs = || own.chunk_by(|a, b| a.to == b.to);
            let in_plane = |plane| {
                let host = |rank| job.host(rank, plane).unwrap_or_default();
                let targets: Vec<u32> = pairs().map(|pair| host(pair[0].to)).collect();
                latencies(host(own[0].from), &targets)
            };
            let mut found = in_plane(0);
            for plane in 1..job.count_planes() {
                found.iter_mut().zip(in_plane(plane)).for_each(|(least, own)| *least = own.min(*least));
            }
            for (pair, latency) in pairs().zip(found) {
                let (number, start) = (self.pairs.len() as u32, self.connections.len() as u32);
                let connections = pair.iter().zip(&mut messages).map(|(c, messages)| Connection {
                    pair: number,
                    flow: FlowId(c.flow),
                    kind: c.kind,
                    messages,
                });
                self.connections.extend(connections);
                let [from, to] = [pair[0].from, pair[0].to].map(|rank| RankId(first + rank));
                let count = pair.len() as u32;
                let planes = PairPlanes::new(job.count_planes(), job.planes.as_ref().map(|own| own.rule));
                self.pairs.push(Pair { from, to, first: start, count, outgoing: 0, incoming: 0, latency, planes });
            }
        }
    }

    /// Lets connections stay open whose ends are observed, or whose packets are not counted at both ends alike.
    fn find_lasting(&mut self, spec: &Spec) {
        self.packets = PacketCounts::new(self.connections.len());
        let uncounted = spec.turns_back() || !spec.cells.is_empty() || !spec.host_costs.is_empty();
        let fragments = |flow: &FlowSpec| spec.transports[flow.transport as usize].makes_fragments();
        for connection in &mut self.connections {
            let several = self.pairs[connection.pair as usize].planes.count > 1;
            if uncounted || several || fragments(&spec.flows[connection.flow]) {
                connection.messages = u32::MAX;
            }
        }
        for flow in &spec.observe.flows {
            if let Some(own) = self.of_flow(FlowId(*flow)) {
                self.connections[own as usize].messages = u32::MAX;
            }
        }
    }

    /// Returns whether the ends of a flow are made when they are used first.
    pub fn is_late(&self, spec: &Spec, flow: FlowId) -> bool {
        spec.observe.timeline.is_none() && self.of_flow(flow).is_some()
    }

    /// Connection of a flow.
    pub fn of_flow(&self, flow: FlowId) -> Option<u32> {
        self.by_flow.get(flow.ix()).copied().filter(|own| *own != NONE)
    }

    /// Pair of a rank and rank `peer` of its job.
    pub fn pair(&self, from: RankId, peer: u32) -> Option<u32> {
        let place = &self.ranks[from];
        let to = RankId(from.0 - place.rank + peer);
        self.pairs.binary_search_by_key(&(from, to), |pair| (pair.from, pair.to)).ok().map(|i| i as u32)
    }

    /// Connections of a pair for messages of `kind`.
    pub fn of_kind(&self, pair: &Pair, kind: u8) -> Range<u32> {
        let own = &self.connections[pair.first as usize..(pair.first + pair.count) as usize];
        let before = own.partition_point(|c| c.kind < kind) as u32;
        let through = own.partition_point(|c| c.kind <= kind) as u32;
        pair.first + before..pair.first + through
    }

    /// Kind of the messages of a rank with a tag.
    pub fn kind(&self, spec: &Spec, rank: RankId, tag: u32) -> u8 {
        spec.jobs[self.ranks[rank].job as usize].kind(tag)
    }

    /// Rank of the server of `from`, if its messages to rank `peer` of its job do not take the network.
    pub fn inside<'s>(&self, spec: &'s Spec, from: RankId, peer: u32) -> Option<(RankId, &'s ScaleUp)> {
        let place = &self.ranks[from];
        let scale_up = spec.jobs[place.job as usize].scale_up.as_ref()?;
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
fn check(spec: &Spec, job: &JobSpec) -> Result<Vec<Channels>, String> {
    let (ranks, hosts) = (job.tasks.graph().ranks(), job.hosts.len());
    if ranks != hosts || ranks == 0 {
        return Err(format!("{ranks} ranks on {hosts} hosts; expected a host for each of at least one rank"));
    }
    if let Some(host) = job.hosts.iter().find(|host| **host >= spec.hosts) {
        return Err(format!("a rank on host {host}; expected less than {}", spec.hosts));
    }
    check_planes(spec, job)?;
    if !(1..=MOST_ITERATIONS).contains(&job.iterations) {
        return Err(format!("{} iterations; expected 1 to {MOST_ITERATIONS}", job.iterations));
    }
    if job.opens == Opens::Kept(0) {
        return Err("0 connections of a pair; expected at least 1".to_owned());
    }
    if let Some(pair) = job.kinds.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(format!("kinds from tag {} and {} on; expected ascending tags", pair[0].0, pair[1].0));
    }
    if let Some(ScaleUp { servers, rate, .. }) = &job.scale_up
        && (servers.len() != ranks || *rate == Rate(0))
    {
        let servers = servers.len();
        return Err(format!("servers of {servers} ranks at {rate}; expected those of {ranks}, and a rate above 0"));
    }
    if let Some((rank, factor)) = job.slow.iter().find(|(r, f)| *r as usize >= ranks || !f.is_finite() || *f < 0.0) {
        return Err(format!(
            "rank {rank} slower by {factor}; expected one of {ranks} ranks and a factor of at least 0"
        ));
    }
    let mut slow: Vec<u32> = job.slow.iter().map(|(rank, _)| *rank).collect();
    slow.sort_unstable();
    if let Some(pair) = slow.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("rank {} is slower twice; expected one factor", pair[0]));
    }
    if let Some((rank, _)) = job.tasks.graph().iter().find(|(_, tasks)| job.iterations > 1 && tasks.is_wild()) {
        return Err(format!(
            "rank {rank} receives from any rank or with any tag, and {} iterations: messages of two iterations could \
             be taken for each other; expected 1 iteration",
            job.iterations
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
    let same = |a: &JobConnection, b: &JobConnection| (a.from, a.to, a.kind) == (b.from, b.to, b.kind);
    let own = job.connections.chunk_by(same);
    let own = own.map(|c| (c[0].from, c[0].to, c[0].kind, c.len() as u64));
    let channels = job.channels();
    if !own.eq(channels.iter().map(|own| (own.from, own.to, own.kind, own.count))) {
        let expected: u64 = channels.iter().map(|own| own.count).sum();
        return Err(format!(
            "{} connections; expected {expected}, of each pair with messages and each kind, in order",
            job.connections.len()
        ));
    }
    for (i, connection) in job.connections.chunk_by(same).flat_map(|own| (0..).zip(own)) {
        let host = |rank| job.host(rank, i % job.count_planes()).unwrap_or(u32::MAX);
        let ends = (host(connection.from), host(connection.to));
        if ends.0 == ends.1 {
            return Err(format!(
                "ranks {} and {} share host {}; expected them in one server, whose links take their messages",
                connection.from, connection.to, ends.0
            ));
        }
        let fits = |flow: &FlowSpec| (flow.src, flow.dst) == ends && flow.app.is_messages();
        if !spec.flows.get(connection.flow as usize).is_some_and(fits) {
            return Err(format!(
                "flow {} is no connection of ranks {} and {}; expected one of messages between their hosts",
                connection.flow, connection.from, connection.to
            ));
        }
    }
    Ok(channels)
}

/// Checks the planes of a job.
fn check_planes(spec: &Spec, job: &JobSpec) -> Result<(), String> {
    let Some(Planes { hosts, .. }) = &job.planes else { return Ok(()) };
    let ranks = job.hosts.len();
    if hosts.is_empty() || hosts.len() >= MOST_PLANES || job.opens == Opens::Each {
        return Err(format!("{} planes; expected 2 to {MOST_PLANES}, and connections that stay", hosts.len() + 1));
    }
    let fits = |own: &Vec<u32>| own.len() == ranks && own.iter().all(|host| *host < spec.hosts);
    if let Some(own) = hosts.iter().find(|own| !fits(own)) {
        return Err(format!("{} hosts in a plane; expected {ranks}, each below {}", own.len(), spec.hosts));
    }
    if !spec.failures.is_empty() && job.send_done == SendDone::Written {
        return Err("sends of several planes that end when they are written, and failures: expected sends that end \
                    when they are acknowledged, since a message may go again over another plane"
            .to_owned());
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
