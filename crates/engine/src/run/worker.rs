//! One thread's share of a run: some of the domains, window by window.

use crate::domain::Domain;
use crate::domain::late_marking::{note_place, set_marks};
use crate::domain::timeline::delivered_by;
use crate::event::order::Timer;
use crate::event::outbox::Instant;
use crate::event::packet::Packet;
use crate::event::prefetch;
use crate::hash;
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::FabricMap;
use crate::node::context::Env;
use crate::port::Port;
use crate::run::buckets::{Batch, Bucket, Buckets, Shards};
use crate::run::by_port::{AHEAD, ByPort};
use crate::run::ending::{self, Ending, Endless, Halt};
use crate::run::out::Out;
use crate::run::queues::{Queues, Slot};
use crate::run::scatter::{Arrival, Scatter, Sorter};
use crate::switch::route::Planned;
use crate::threads::progress::Monitor;
use crate::threads::window_loop::Share;
use crate::threads::workers::Report;
use incast_cc::Time;
use incast_record::Collector;
use std::mem::take;

/// Ports of a fabric that fits the near caches: 256 KiB.
const FEW_PORTS: usize = 2_048;

/// Maximum number of windows between two calls of the listener.
const ASKED_EVERY: u64 = 1 << 16;

/// Order in which domains are visited within a window. Tests prove that the result does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// In the order in which they became active.
    Forward,
    /// In the reverse order.
    Reverse,
    /// By a hash of (domain, window).
    Shuffled,
}

/// Domains of one thread, and everything in flight there: all domains of a run, or one of its
/// [parts](crate::run::parts).
pub struct Worker<'a> {
    pub(super) net: &'a FabricMap<'a>,
    pub(super) domains: &'a mut [Domain],
    pub(super) ending: Ending,
    pub(super) visit: Visit,
    /// Packets sent by the domains.
    pub(super) buckets: Buckets,
    /// Own events of the domains.
    pub(super) queues: Queues,
    pub(super) collector: Collector,
    pub(super) scatter: Scatter<DomainId>,
    /// Domains with work in the open window, and by domain the last window in which it had work.
    pub(super) todo: Vec<DomainId>,
    pub(super) queued: Vec<u64>,
    /// Packets that arrive within the last window, but after the end of the run.
    pub(super) under_way: Vec<Packet>,
    pub(super) scratch: Scratch,
    /// True if the fabric does not fit the near caches. No effect on the result.
    pub(super) far: bool,
    /// True if some of its ports [mark later](crate::port::late_marking).
    pub(super) marks_late: bool,
    /// The earliest instant at which a domain found an endless loop.
    pub(super) endless: Time,
    /// Bytes of records above which the run ends.
    pub(super) max_kept: u64,
    /// Windows and hops so far, and hops of all threads as of the latest call of the listener.
    pub(super) windows: u64,
    pub(super) hops: u64,
    pub(super) reported_hops: u64,
    /// Time of the next call of the listener, whatever the hops (`progress_every`).
    pub(super) report_at: Time,
    pub(super) stopped: bool,
}

/// Memory reused from domain to domain.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) by_port: ByPort,
    /// Next hop of each packet, in order.
    pub(super) plans: Vec<Planned>,
    pub(super) sorter: Sorter,
}

/// An open window.
pub struct Window {
    /// Number of the window.
    number: u64,
    /// End of the window.
    stop: Time,
    /// Arrivals of the window.
    bucket: Bucket,
}

/// End of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The run reached its end.
    Reached {
        /// Time of the end.
        at: Time,
        /// No domain had anything left to do before it.
        quiet: bool,
    },
    /// The listener stopped it.
    Stopped,
    /// An endless loop at an instant.
    Endless(Time),
    /// More records than a run may keep, at an instant.
    Full(Time),
}

impl<'a> Worker<'a> {
    /// A worker for all `domains`.
    pub fn new(
        net: &'a FabricMap<'a>,
        domains: &'a mut [Domain],
        ending: Ending,
        visit: Visit,
        length: Time,
    ) -> Worker<'a> {
        let by_port = ByPort::new(domains.iter().map(|domain| domain.nodes.ports.len()).max().unwrap_or(0));
        Worker {
            net,
            ending,
            visit,
            buckets: Buckets::new(net.order, length, Shards::default(), 1),
            queues: Queues::new(0, domains.len()),
            marks_late: domains.iter().flat_map(|domain| &domain.nodes.ports).any(Port::marks_late),
            collector: Collector::new(net.spec.groups.len()),
            scatter: Scatter::new(domains.len()),
            todo: Vec::new(),
            queued: vec![u64::MAX; domains.len()],
            domains,
            under_way: Vec::new(),
            far: net.links.len() > FEW_PORTS,
            scratch: Scratch { by_port, plans: Vec::new(), sorter: Sorter::new(length) },
            endless: Time::NEVER,
            max_kept: ending::max_kept(net.spec),
            windows: 0,
            hops: 0,
            reported_hops: 0,
            report_at: net.spec.progress_every.unwrap_or(Time::NEVER),
            stopped: false,
        }
    }
}

impl Share for Worker<'_> {
    type Batch = Batch;
    type Open = Window;
    type End = End;

    #[inline]
    fn report(&self) -> Report {
        Report {
            window: { self.buckets.first() }.unwrap_or(u64::MAX).min(self.buckets.first_visit().unwrap_or(u64::MAX)),
            wake: self.queues.first_wake().min(self.buckets.first_message()),
            finished: self.collector.finished,
            finished_at: Time(self.collector.finished_at),
            hops: self.hops,
            kept: self.collector.kept_bytes(),
            stopped: self.stopped,
            endless: self.endless,
            parts: false,
        }
    }

    #[inline]
    fn open(&mut self, all: &Report, monitor: &mut Monitor) -> Result<Window, End> {
        if all.stopped {
            return Err(End::Stopped);
        }
        if all.endless != Time::NEVER {
            return Err(End::Endless(all.endless));
        }
        if all.kept > self.max_kept {
            return Err(End::Full(self.buckets.start));
        }
        self.ending.update(all.finished, all.finished_at);
        let (end, length) = (self.ending.at, self.buckets.length);
        let own = if all.wake < end { all.wake.0 / length.0 } else { u64::MAX };
        let number = all.window.min(own);
        if number == u64::MAX || length * number >= end {
            return Err(End::Reached { at: end, quiet: number == u64::MAX });
        }
        let (first, marks_late) = (self.queues.first, self.marks_late);
        self.buckets.go_to(number, |packet, place| {
            if marks_late {
                note_place((first, self.domains), self.net, packet, place);
            }
        });
        let mut due = take(&mut self.buckets.due);
        let mark = |link, domain, time, place| self.buckets.mark(link, domain, time, place);
        set_marks(&mut due, (first, self.domains), self.net, length * number, mark);
        self.buckets.due = due;
        let bucket = self.buckets.open();
        let start = self.buckets.start;
        self.windows += 1;
        if start >= self.report_at {
            self.report_progress(start, all.hops, monitor);
        }
        monitor.reached(start, all.hops);
        if all.hops - self.reported_hops > 400_000 || self.windows % ASKED_EVERY == 0 {
            self.reported_hops = all.hops;
            monitor.delivered(start, delivered_by(start, self.domains, self.net));
            monitor.ask();
            self.stopped = monitor.stopped();
        }
        Ok(Window { number, stop: (start + length).min(end), bucket })
    }

    fn pack(&mut self, to: usize, batch: &mut Batch) -> bool {
        self.buckets.pack(to, batch)
    }

    fn unpack(&mut self, window: &mut Window, batch: &mut Batch) {
        self.buckets.unpack(&mut window.bucket, batch, |message| self.queues.push_message(message));
    }

    #[inline]
    fn pass(&mut self, mut window: Window, monitor: &mut Monitor) {
        self.gather(&window);
        match (self.far, self.net.cells.is_empty()) {
            (true, true) => self.walk_all::<true, false>(&mut window, monitor),
            (false, true) => self.walk_all::<false, false>(&mut window, monitor),
            (true, false) => self.walk_all::<true, true>(&mut window, monitor),
            (false, false) => self.walk_all::<false, true>(&mut window, monitor),
        }
        if let Some(links) = self.buckets.take_visits() {
            self.visit(&links, &window);
            self.buckets.keep_visits(links);
        }
        self.scatter.clear(&self.todo);
        self.buckets.keep(window.bucket);
        for message in self.buckets.take_messages() {
            self.queues.push_message(message);
        }
    }
}

impl Worker<'_> {
    /// Calls the listener for every interval (`progress_every`) that ends before the window at `start`. The reported
    /// time is the end of the last window that may have had events of the interval.
    #[cold]
    fn report_progress(&mut self, start: Time, hops: u64, monitor: &mut Monitor) {
        let length = self.buckets.length;
        let every = self.net.spec.progress_every.unwrap_or(Time::NEVER);
        while self.report_at <= start && !monitor.stopped() {
            monitor.reached(start.min(length * self.report_at.0.div_ceil(length.0)), hops);
            monitor.ask();
            self.report_at += every;
        }
        self.stopped |= monitor.stopped();
    }

    /// Lets the ports of `links` do their work up to the end of `window`.
    #[inline(never)]
    fn visit(&mut self, links: &[LinkId], window: &Window) {
        let (net, first) = (self.net, self.queues.first);
        for link in links {
            let from = net.place[net.spec.links[*link].from as usize].domain;
            let place = (from.0 - first) as usize;
            let port = &mut self.domains[place].nodes.ports[net.port_of[*link]];
            let queue = &mut self.queues.list[place];
            let mut out = Out { net, buckets: &mut self.buckets, queue };
            if let Some(at) = port.visit(window.stop, &net.interval, &mut out) {
                self.buckets.visit(*link, at, window.number + 1);
            }
        }
    }

    /// Processes the events of all domains with work in `window`.
    #[inline(always)]
    fn walk_all<const FAR: bool, const CELLS: bool>(&mut self, window: &mut Window, monitor: &mut Monitor) {
        let mut scratch = take(&mut self.scratch);
        for i in 0..self.todo.len() {
            match self.walk::<FAR, CELLS>(i, window, &mut scratch, monitor) {
                Ok(()) => {}
                Err(Halt::Endless(Endless(at))) => self.endless = self.endless.min(at),
                Err(Halt::Stopped) => self.stopped = true,
            }
        }
        self.scratch = scratch;
    }

    /// Scatters the arrivals to the domains, and orders the domains with work.
    fn gather(&mut self, window: &Window) {
        let number = window.number;
        self.todo.clear();
        self.scatter.out(&window.bucket.packets, &mut self.todo);
        for d in &self.todo {
            self.queued[*d] = number;
        }
        while let Some(d) = self.queues.due(window.stop) {
            if self.queued[d] != number {
                self.queued[d] = number;
                self.todo.push(d);
            }
        }
        match self.visit {
            Visit::Forward => {}
            Visit::Reverse => self.todo.reverse(),
            Visit::Shuffled => self.todo.sort_by_key(|d| hash::tie(number, d.0 as u64, Time::ZERO)),
        }
    }

    /// Prefetches data for the domains after the `i`th with work.
    #[inline(always)]
    fn look_ahead(&self, i: usize, Bucket { packets, .. }: &Bucket) {
        if let Some(later) = self.todo.get(i + 2) {
            prefetch::lines(&self.queues.list[self.queues.place(*later)], 1);
            prefetch::lines(&self.domains[self.queues.place(*later)], 3);
        }
        if let Some(following) = self.todo.get(i + 1) {
            let arrivals = self.scatter.of(*following);
            // ties and routes are decided by heads, in no order of memory
            arrivals.iter().for_each(|arrival| packets.prefetch_head(arrival.place()));
            arrivals.iter().take(AHEAD).for_each(|arrival| packets.prefetch(arrival.place()));
            let following = self.queues.place(*following);
            self.queues.list[following].prefetch();
            self.domains[following].prefetch();
        }
    }

    /// Processes the events of the `i`th domain with work before `stop`: orders its packets, plans their next hops, and
    /// merges them with its own events. Arrivals at ports that share nothing are processed first.
    ///
    /// A `FAR` fabric does not fit the near caches: all packets are planned before the first is processed, so that
    /// their data can be prefetched. With radio `CELLS`, what happens inside a single cell is no event of its own.
    #[inline(always)]
    fn walk<const FAR: bool, const CELLS: bool>(
        &mut self,
        i: usize,
        Window { stop, bucket, .. }: &mut Window,
        Scratch { by_port, plans, sorter }: &mut Scratch,
        monitor: &mut Monitor,
    ) -> Result<(), Halt> {
        let stop = *stop;
        if FAR {
            self.look_ahead(i, bucket);
        }
        let d = self.todo[i];
        let place = self.queues.place(d);
        let (net, start, order) = (self.net, self.buckets.start, self.buckets.order);
        let whole = stop == start + self.buckets.length;
        let domain = &mut self.domains[place];
        let hops = domain.nodes.counts.hops;
        let mut out = Out { net, buckets: &mut self.buckets, queue: &mut self.queues.list[place] };
        let (mut arrivals, mut passed) = (self.scatter.of(d), 0);
        if FAR && !CELLS && whole && domain.separable {
            by_port.pass(arrivals, domain, bucket, order, &mut out, &mut self.collector);
            passed = arrivals.len() - by_port.rest.len();
            arrivals = &by_port.rest;
        }
        let arrivals = sorter.sort(arrivals, bucket, order);
        if FAR {
            plan_all(domain, arrivals, bucket, (net, start), plans);
        }
        let (packets, exts) = (&bucket.packets, &mut bucket.exts);
        let mut walked = 0;
        for arrival in arrivals {
            let time = start + arrival.offset();
            if time >= stop {
                break;
            }
            let packet = &packets[arrival.place()];
            if out.queue.next() <= time {
                if CELLS {
                    (out.buckets.solo.until, out.buckets.solo.end) = (time, Time::ZERO);
                }
                own_events(domain, &mut out, &mut self.collector, time, Some(packet), monitor)?;
            }
            let plan = match FAR {
                true => plans[walked],
                false => domain.plan(packet, packets.head(arrival.place()).to.node, net),
            };
            let mut ext = packet.ext().map(|i| take(&mut exts[i as usize]));
            let instant = Instant { time, generation: 0 };
            let env = Env::new(net, &mut out, &mut self.collector);
            domain.arrival(instant, packet, ext.as_mut(), plan, env);
            walked += 1;
        }
        if CELLS {
            out.buckets.solo.until = stop;
            let only = self.queued.len() == 1;
            // a listener with times of its own (`progress_every`) is called between windows
            let ending = (only && self.report_at == Time::NEVER).then_some((&mut self.ending, &mut self.windows));
            out.hold_deferred(true);
            let ended = events_alone(domain, &mut out, &mut self.collector, ending, monitor);
            out.hold_deferred(false);
            ended?;
            if only {
                self.queues.forget_wakes();
            }
        } else if out.queue.next() < stop {
            own_events(domain, &mut out, &mut self.collector, stop, None, monitor)?;
        }
        if !monitor.passed((passed + walked) as u32) {
            return Err(Halt::Stopped);
        }
        self.hops += domain.nodes.counts.hops - hops;
        self.under_way.extend(arrivals[walked..].iter().map(|arrival| packets[arrival.place()]));
        self.queues.register(d);
        Ok(())
    }
}

/// Plans the next hops of the packets of a window that begins at `start`, and prefetches what they will touch.
#[inline(always)]
fn plan_all(
    domain: &mut Domain,
    arrivals: &[Arrival],
    Bucket { packets, exts, .. }: &Bucket,
    (net, start): (&FabricMap, Time),
    plans: &mut Vec<Planned>,
) {
    // the first packets in order were not the first to be sent
    arrivals.iter().take(AHEAD).for_each(|arrival| packets.prefetch(arrival.place()));
    plans.clear();
    plans.extend((AHEAD..).zip(arrivals).map(|(ahead, arrival)| {
        arrivals.get(ahead).into_iter().for_each(|ahead| packets.prefetch(ahead.place()));
        let (packet, node) = packets.to_node(arrival.place());
        if let Some(ext) = packet.ext() {
            prefetch::lines(&exts[ext as usize], 2);
        }
        let plan = domain.plan(packet, node, net);
        domain.prefetch_for(packet, node, plan, net);
        plan
    }));
    for (arrival, plan) in arrivals.iter().zip(&*plans) {
        domain.prefetch_further(*plan, net, || packets.to_node(arrival.place()));
    }
    if domain.framed {
        let coming = arrivals.iter().zip(&*plans);
        let coming = coming.map(|(arrival, plan)| (start + arrival.offset(), *plan, packets.to_node(arrival.place())));
        domain.prefetch_frames(coming, net);
    }
}

/// Processes the domain's own events before `time`, and those at `time` that precede the arrival of `packet` then.
#[inline(never)]
fn own_events(
    domain: &mut Domain,
    out: &mut Out,
    collector: &mut Collector,
    time: Time,
    packet: Option<&Packet>,
    monitor: &mut Monitor,
) -> Result<(), Halt> {
    loop {
        let own = out.queue.next();
        if own > time || own == time && packet.is_none_or(|packet| out.precedes(packet)) {
            return Ok(());
        }
        own_event(domain, out, collector, None)?;
        if !monitor.passed(1) {
            return Err(Halt::Stopped);
        }
    }
}

/// Processes the own events of a domain with radio cells before the end of the open window. A run's single domain goes
/// on into later windows, until the end or the next arrival.
fn events_alone(
    domain: &mut Domain,
    out: &mut Out,
    collector: &mut Collector,
    mut only: Option<(&mut Ending, &mut u64)>,
    monitor: &mut Monitor,
) -> Result<(), Halt> {
    let max = only.as_ref().map_or(0, |(_, windows)| ASKED_EVERY - 1 - **windows % ASKED_EVERY);
    (out.buckets.solo.end, out.buckets.solo.windows) = (Time::ZERO, max);
    loop {
        if let Some((ending, _)) = &mut only {
            ending.update(collector.finished, Time(collector.finished_at));
            out.buckets.solo.end = ending.at;
        }
        let next = out.next_alone();
        if next >= out.buckets.undisturbed() {
            break;
        }
        out.buckets.go_on(next);
        let deferred = out.take_deferred();
        own_event(domain, out, collector, deferred)?;
        if !monitor.passed(1) {
            return Err(Halt::Stopped);
        }
    }
    only.into_iter().for_each(|(_, windows)| *windows += max - out.buckets.solo.windows);
    Ok(())
}

/// Processes the domain's own next event, a timer or an arrival from inside the domain, or else the timer `deferred`.
fn own_event(
    domain: &mut Domain,
    out: &mut Out,
    collector: &mut Collector,
    deferred: Option<(Instant, Timer)>,
) -> Result<(), Endless> {
    let (at, what) = match deferred {
        Some((at, timer)) => (at, Slot::Timer(timer)),
        None => {
            let Some((key, what)) = out.queue.pop() else { return Ok(()) };
            (Instant { time: key.time, generation: key.generation() }, what)
        }
    };
    let (net, checked) = (out.net, ending::check(at));
    // a cell asks for the time of the next event while it handles one
    if checked.is_err() || !net.cells.is_empty() {
        out.queue.settle();
    }
    checked?;
    match what {
        Slot::Arrival(i) => {
            let (packet, mut ext) = out.queue.take(i);
            let planned = domain.plan(&packet, net.links[packet.link].node, net);
            domain.arrival(at, &packet, ext.as_mut(), planned, Env::new(net, out, collector));
        }
        Slot::Timer(timer) => domain.timer(at, timer, Env::new(net, out, collector)),
    }
    out.queue.settle();
    Ok(())
}
