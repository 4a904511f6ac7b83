//! Time of a graph in the LogGOPS model, to the nanosecond, by the rules of LogGOPSim (spcl/LogGOPSim 76451de) and of
//! its copy in htsim (spcl/HTSIM 8a33f33, `htsim/sim/lgs`).
//!
//! A send takes `o` of its cpu and keeps its NIC for `g + (s-1)G`; the message arrives `o + L` later, and the receiver
//! pays `o` again. Messages above `S` end their send when they are matched. The two differ:
//!
//! | | LogGOPSim | copy |
//! |---|---|---|
//! | `(s-1)G` | at the receiver, whose NIC is busy meanwhile | on the way, without contention |
//! | receive | `o` | `g + o` |
//! | message before its receive | pays `o` at its arrival | pays `g + o` when the receive is posted |
//! | task that becomes ready | starts when the cpu is free | starts when those it waits for have ended |
//! | events of one time | by age | by the heap of GNU's C++ library |
//!
//! A size of 0 is 1 byte, as there. The end is the last time at which a cpu is free.

use super::heap::Heap;
use super::started::{NAMED, Outcome, Stuck, Waits};
use crate::graph::{Graph, Kind, Refused, Task};
use crate::matching::Mailbox;
use incast_cc::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Program whose rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// LogGOPSim.
    LogGopsim,
    /// The copy of LogGOPSim in htsim and in ATLAHS.
    Copy,
}

/// Parameters of the model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// Latency L.
    pub latency: Time,
    /// Overhead o of a cpu for a message.
    pub overhead: Time,
    /// Gap g between messages of a NIC.
    pub gap: Time,
    /// Gap G for a byte, ns.
    pub gap_per_byte_ns: f64,
    /// Overhead O of a cpu for a byte.
    pub overhead_per_byte: Time,
    /// Largest message S that is sent before its receive is posted.
    pub eager: Bytes,
}

impl Default for Parameters {
    /// Parameters that LogGOPSim has without options: L 2500, o 1500, g 1000, G 6, O 0 ns, S 65,535 B.
    fn default() -> Parameters {
        Parameters {
            latency: Time::ns(2500),
            overhead: Time::ns(1500),
            gap: Time::ns(1000),
            gap_per_byte_ns: 6.0,
            overhead_per_byte: Time::ZERO,
            eager: Bytes(65_535),
        }
    }
}

/// Runs a graph. Errors: a collective, which is to be expanded first; a time beyond 2^64 ns.
pub fn run(graph: &Graph, parameters: &Parameters, variant: Variant) -> Result<Outcome, Refused> {
    let mut run = Run::new(graph, parameters, variant)?;
    for rank in 0..graph.ranks() as u32 {
        let waiting = graph.rank(rank).map_or(&[][..], |r| r.all_waits());
        let roots = (0..waiting.len() as u32).filter(|i| waiting[*i as usize] == 0);
        run.hosts[rank as usize].ready.extend(roots.map(|task| (task, 0)));
        run.release(rank, true);
    }
    while let Some(event) = run.queue.pop() {
        let mut changed = Changed::default();
        match event.what {
            What::Task => run.task(event, &mut changed)?,
            What::Message(..) => run.message(event, &mut changed)?,
        }
        let mut ranks = changed.0;
        if run.copy {
            ranks.reverse();
        } else {
            ranks.sort_unstable();
        }
        for rank in ranks {
            run.release(rank, false);
        }
    }
    Ok(run.outcome())
}

/// Ranks of an event whose tasks may have become ready, each once, in the order in which they were met.
#[derive(Default)]
struct Changed(Vec<u32>);

impl Changed {
    fn insert(&mut self, rank: u32) {
        if !self.0.contains(&rank) {
            self.0.push(rank);
        }
    }
}

/// Events to come.
enum Queue {
    ByAge(BinaryHeap<Reverse<Event>>),
    ByHeap(Heap<Event>),
}

impl Queue {
    fn push(&mut self, event: Event) {
        match self {
            Queue::ByAge(queue) => queue.push(Reverse(event)),
            Queue::ByHeap(queue) => queue.push(event.time, event),
        }
    }
    fn pop(&mut self) -> Option<Event> {
        match self {
            Queue::ByAge(queue) => queue.pop().map(|Reverse(event)| event),
            Queue::ByHeap(queue) => queue.pop(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    Task,
    /// Receiver of the message.
    Message(u32),
}

/// An event: time, then age, decides the order. A message has the sender's rank and task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Event {
    time: u64,
    age: u64,
    rank: u32,
    task: u32,
    what: What,
}

/// Times at which the parts of a rank are free, ns.
struct Host {
    cpu: Vec<u64>,
    out: Vec<u64>,
    into: Vec<u64>,
    mail: Mailbox<(u32, u32)>,
    ready: Vec<(u32, u64)>,
}

struct Run<'g> {
    graph: &'g Graph,
    copy: bool,
    latency: u64,
    overhead: u64,
    gap: u64,
    per_byte: f64,
    overhead_per_byte: u64,
    eager: u64,
    waits: Waits,
    hosts: Vec<Host>,
    /// Latest end of those that a task waits for; of the copy alone.
    ready_at: Vec<Vec<u64>>,
    queue: Queue,
    age: u64,
    ended: u64,
}

fn late() -> Refused {
    Refused("a time beyond 2^64 ns; expected smaller sizes or durations".into())
}

impl<'g> Run<'g> {
    fn new(graph: &'g Graph, p: &Parameters, variant: Variant) -> Result<Run<'g>, Refused> {
        if !(p.gap_per_byte_ns >= 0.0 && p.gap_per_byte_ns.is_finite()) {
            return Err(Refused(format!("G = {}: expected a number of at least 0, in ns a byte", p.gap_per_byte_ns)));
        }
        let copy = variant == Variant::Copy;
        let mut hosts = Vec::with_capacity(graph.ranks());
        for (rank, tasks) in graph.iter() {
            let (mut cpus, mut nics, mut wild) = (0usize, 0usize, false);
            for (i, task) in tasks.iter() {
                if task.kind == Kind::Collective {
                    let what = format!("task {rank}:{i}: LogGOPS has no collectives");
                    return Err(Refused(format!("{what}; expected a graph that is expanded")));
                }
                cpus = cpus.max(task.stream.into());
                nics = nics.max(task.nic.into());
                wild |= task.is_wild();
            }
            let free = |n: usize| vec![0u64; n + 1];
            let mail = Mailbox::new(wild);
            hosts.push(Host { cpu: free(cpus), out: free(nics), into: free(nics), mail, ready: Vec::new() });
        }
        let ready_at = graph.iter().map(|(_, rank)| vec![0u64; if copy { rank.tasks() } else { 0 }]).collect();
        Ok(Run {
            graph,
            copy,
            latency: p.latency.0 / 1000,
            overhead: p.overhead.0 / 1000,
            gap: p.gap.0 / 1000,
            per_byte: p.gap_per_byte_ns,
            overhead_per_byte: p.overhead_per_byte.0 / 1000,
            eager: p.eager.0,
            waits: Waits::new(graph),
            hosts,
            ready_at,
            queue: if copy { Queue::ByHeap(Heap::new()) } else { Queue::ByAge(BinaryHeap::new()) },
            age: 0,
            ended: 0,
        })
    }

    fn push(&mut self, time: u64, rank: u32, task: u32, what: What) {
        self.queue.push(Event { time, age: self.age, rank, task, what });
        self.age += 1;
    }

    /// Queues the tasks of a rank that have become ready: sends, receives, calculations in this order.
    fn release(&mut self, rank: u32, first: bool) {
        let mut ready = std::mem::take(&mut self.hosts[rank as usize].ready);
        let order = |task: u32| match self.graph.task(rank, task).kind {
            Kind::Send => 0,
            Kind::Recv => 1,
            _ => 2,
        };
        if !self.copy {
            ready.sort_by_key(|(task, _)| order(*task));
        }
        for &(index, at) in &ready {
            let task = self.graph.task(rank, index);
            let host = &mut self.hosts[rank as usize];
            // a NIC or a cpu of the receiver's own may lie beyond what its tasks use
            let (cpu, out) = (*slot(&mut host.cpu, task.stream), *slot(&mut host.out, task.nic));
            let time = match (self.copy, task.kind) {
                _ if first => 0,
                (true, Kind::Recv) => at,
                (true, Kind::Send) => at.max(out),
                (true, _) => at.max(cpu),
                (false, Kind::Send) => cpu.max(out),
                (false, _) => cpu,
            };
            self.push(time, rank, index, What::Task);
        }
        ready.clear();
        self.hosts[rank as usize].ready = ready;
    }

    /// Counts the end of a task for those that wait for it.
    fn end(&mut self, rank: u32, task: u32, at: u64, changed: &mut Changed) {
        self.ended += 1;
        let successors = self.graph.successors(rank, task).0;
        let (ready_at, copy) = (&mut self.ready_at[rank as usize], self.copy);
        for task in successors.iter().filter(|_| copy) {
            ready_at[*task as usize] = ready_at[*task as usize].max(at);
        }
        let ready = &mut self.hosts[rank as usize].ready;
        self.waits.count(rank, successors, |task| ready.push((task, if copy { ready_at[task as usize] } else { at })));
        changed.insert(rank);
    }

    /// Counts the start of a task; one that becomes ready by it is not kept from the past.
    fn start(&mut self, rank: u32, task: u32, changed: &mut Changed) {
        let ready = &mut self.hosts[rank as usize].ready;
        self.waits.count(rank, self.graph.successors(rank, task).1, |task| ready.push((task, 0)));
        changed.insert(rank);
    }

    /// Cost of the bytes behind the first, ns.
    fn bytes(&self, size: u64) -> u64 {
        ((size - 1) as f64 * self.per_byte) as u64
    }

    fn again(&mut self, event: Event, time: u64) {
        self.queue.push(Event { time, ..event });
    }

    fn task(&mut self, event: Event, changed: &mut Changed) -> Result<(), Refused> {
        let Event { time, rank, task: index, .. } = event;
        let task = self.graph.task(rank, index);
        let host = &mut self.hosts[rank as usize];
        match task.kind {
            Kind::Send => {
                let size = task.size.max(1);
                let free = (*slot(&mut host.cpu, task.stream)).max(*slot(&mut host.out, task.nic));
                if free > time {
                    self.again(event, free);
                    return Ok(());
                }
                let own = self.overhead_per_byte.checked_mul(size - 1).and_then(|c| c.checked_add(self.overhead));
                let cpu = own.and_then(|own| own.checked_add(time)).ok_or_else(late)?;
                let bytes = self.bytes(size);
                let out = time.checked_add(self.gap).and_then(|t| t.checked_add(bytes)).ok_or_else(late)?;
                let host = &mut self.hosts[rank as usize];
                *slot(&mut host.cpu, task.stream) = cpu;
                *slot(&mut host.out, task.nic) = out;
                let arrival = if self.copy { cpu.checked_add(bytes) } else { time.checked_add(self.overhead) };
                let arrival = arrival.and_then(|t| t.checked_add(self.latency)).ok_or_else(late)?;
                self.start(rank, index, changed);
                self.push(arrival, rank, index, What::Message(task.peer));
                if size <= self.eager {
                    self.end(rank, index, cpu, changed);
                }
            }
            Kind::Recv => {
                self.start(rank, index, changed);
                let Some(sent) = self.hosts[rank as usize].mail.post((task.peer, task.tag), (rank, index)) else {
                    return Ok(());
                };
                let (mut cpu, mut nic) = (time, time);
                if self.copy {
                    let host = &mut self.hosts[rank as usize];
                    let own = self.overhead + (task.size.max(1) - 1).saturating_mul(self.overhead_per_byte);
                    nic = time.max(*slot(&mut host.out, task.nic)).checked_add(self.gap).ok_or_else(late)?;
                    cpu = nic.checked_add(own).ok_or_else(late)?;
                    *slot(&mut host.cpu, task.stream) = cpu;
                    *slot(&mut host.into, task.nic) = nic;
                }
                // the sender's size decides, by which its send has ended or not
                let size = self.graph.task(sent.0, sent.1).size.max(1);
                self.matched(sent, task, size, (cpu, nic), changed);
                self.end(rank, index, cpu, changed);
            }
            _ => {
                let cpu = slot(&mut host.cpu, task.stream);
                if *cpu > time {
                    let free = *cpu;
                    self.again(event, free);
                    return Ok(());
                }
                *cpu = time.checked_add(task.duration().0 / 1000).ok_or_else(late)?;
                let end = *cpu;
                self.start(rank, index, changed);
                self.end(rank, index, end, changed);
            }
        }
        Ok(())
    }

    /// Ends a send above S where its message is matched; its cpu and NIC are not free before.
    fn matched(
        &mut self,
        (from, sent): (u32, u32),
        at: Task,
        size: u64,
        (cpu, nic): (u64, u64),
        changed: &mut Changed,
    ) {
        if size <= self.eager {
            return;
        }
        self.end(from, sent, cpu, changed);
        let host = &mut self.hosts[from as usize];
        let own = slot(&mut host.cpu, at.stream);
        *own = (*own).max(cpu);
        let own = slot(&mut host.out, at.nic);
        *own = (*own).max(nic);
    }

    fn message(&mut self, event: Event, changed: &mut Changed) -> Result<(), Refused> {
        let Event { time, rank: from, task: sent, what: What::Message(to), .. } = event else { return Ok(()) };
        let task = self.graph.task(from, sent);
        if to as usize >= self.hosts.len() {
            return Err(Refused(format!("task {from}:{sent}: peer {to}; expected a rank below {}", self.hosts.len())));
        }
        let (key, size) = ((from, task.tag), task.size.max(1));
        let own = (size - 1).checked_mul(self.overhead_per_byte).ok_or_else(late)?;
        let bytes = self.bytes(size);
        let host = &mut self.hosts[to as usize];
        if !self.copy {
            // cpu and NIC of the receiver have the numbers that the sender has
            let free = (*slot(&mut host.cpu, task.stream)).max(*slot(&mut host.into, task.nic));
            if free > time {
                self.again(event, free);
                return Ok(());
            }
            let cost = self.overhead.checked_add(own.max(bytes)).ok_or_else(late)?;
            *slot(&mut host.cpu, task.stream) = time.checked_add(cost).ok_or_else(late)?;
            *slot(&mut host.into, task.nic) = time.checked_add(self.gap + bytes).ok_or_else(late)?;
            if let Some((_, receive)) = host.mail.arrive(key, (from, sent)) {
                self.matched((from, sent), task, size, (time, time), changed);
                self.end(to, receive, time, changed);
            }
            return Ok(());
        }
        let Some((_, receive)) = host.mail.take_posted(key) else {
            host.mail.arrive(key, (from, sent));
            return Ok(());
        };
        let posted = self.graph.task(to, receive);
        let free = (*slot(&mut host.cpu, posted.stream)).max(*slot(&mut host.into, task.nic));
        if free > time {
            host.mail.post_last((posted.peer, posted.tag), (to, receive));
            self.again(event, free);
            return Ok(());
        }
        let nic = time.checked_add(self.gap).ok_or_else(late)?;
        let cpu = nic.checked_add(self.overhead).and_then(|t| t.checked_add(own)).ok_or_else(late)?;
        *slot(&mut host.cpu, posted.stream) = cpu;
        *slot(&mut host.into, task.nic) = nic;
        self.matched((from, sent), task, size, (cpu, nic), changed);
        self.end(to, receive, cpu, changed);
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let end = self.hosts.iter().flat_map(|h| &h.cpu).max().copied().unwrap_or(0);
        let mut stuck = (Vec::new(), Vec::new());
        for host in &self.hosts {
            let (receives, messages) = host.mail.left();
            stuck.0.extend(receives.into_iter().map(|(rank, task)| Stuck::Recv(rank, task)));
            stuck.1.extend(messages.into_iter().map(|(rank, task)| Stuck::Send(rank, task)));
            stuck.0.truncate(NAMED);
            stuck.1.truncate(NAMED);
        }
        let stuck = [stuck.0, stuck.1].concat();
        Outcome { end: Time(end.saturating_mul(1000)), ended: self.ended, tasks: self.graph.total(), stuck }
    }
}

/// Time of a cpu or a NIC; one that no task of the rank has is added.
fn slot(times: &mut Vec<u64>, index: u8) -> &mut u64 {
    if times.len() <= index.into() {
        times.resize(usize::from(index) + 1, 0);
    }
    &mut times[usize::from(index)]
}
