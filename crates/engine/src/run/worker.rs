//! One thread's share of a run: some of the domains, window by window.

use crate::domain::Domain;
use crate::domain::departure_marks::set_marks;
use crate::event::order::Timer;
use crate::event::outbox::Instant;
use crate::event::packet::Packet;
use crate::event::prefetch;
use crate::hash;
use crate::ids::DomainId;
use crate::map::fabric::FabricMap;
use crate::node::context::Env;
use crate::run::buckets::{Bucket, Buckets, Lanes, Parcel};
use crate::run::deal::{Deal, INDEX_BITS, INDEX_MASK, Plan, sort};
use crate::run::ending::{self, Ending, Endless};
use crate::run::out::{Out, move_near};
use crate::run::progress::{Listener, Progress};
use crate::run::queues::{Queues, Slot};
use crate::threads::crew::Report;
use incast_cc::Time;
use incast_record::Collector;
use std::cmp::Reverse;
use std::mem::take;
use std::time::Duration;

/// How many packets before its turn one is fetched.
const AHEAD: usize = 16;

/// Order in which domains are visited within a window: makes no difference, which tests prove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// As they became active.
    Forward,
    /// The other way round.
    Reverse,
    /// By a hash of (domain, window).
    Shuffled,
}

/// The domains of one thread, and everything that moves in them.
pub struct Worker<'a> {
    net: &'a FabricMap<'a>,
    domains: &'a mut [Domain],
    ending: Ending,
    visit: Visit,
    /// What they send.
    pub buckets: Buckets,
    /// Their own events.
    pub queues: Queues,
    collector: Collector,
    deal: Deal,
    /// Domains with work in the open window, and by domain the last window that it had work in.
    todo: Vec<DomainId>,
    queued: Vec<u64>,
    /// Packets that arrive within the last window, but after the end of the run.
    under_way: Vec<Packet>,
    plans: Vec<Plan>,
    order: Vec<u64>,
    /// The earliest instant at which a domain found an endless loop.
    endless: Time,
    /// Windows and hops so far, and hops of all threads as of the last word to the listener.
    windows: u64,
    hops: u64,
    told: u64,
    stopped: bool,
    /// Processor time that its thread took.
    pub time: Duration,
}

/// An open window.
pub struct Window {
    /// Its number.
    number: u64,
    /// Its end.
    stop: Time,
    /// What arrives in it.
    bucket: Bucket,
}

impl Window {
    /// Takes what another thread has sent for it, and for the queues of domains.
    pub fn unpack(&mut self, queues: &mut Queues, parcel: &mut Parcel) {
        self.bucket.unpack(parcel, |post| queues.post(post));
    }
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At its end.
    Reached {
        /// When.
        at: Time,
        /// No domain had anything left to do before it.
        quiet: bool,
    },
    /// The listener stopped it.
    Stopped,
    /// An endless loop at that instant.
    Endless(Time),
}

/// What a worker leaves at the end.
pub struct Left {
    /// What it recorded.
    pub collector: Collector,
    /// Packets on their way.
    pub under_way: Vec<Packet>,
    /// Nothing is left to happen.
    pub idle: bool,
    /// Processor time that its thread took.
    pub time: Duration,
}

impl<'a> Worker<'a> {
    /// For `domains`, from number `first` on, of `count`; others are where `lanes` says.
    pub fn new(
        net: &'a FabricMap<'a>,
        (first, domains, count): (u32, &'a mut [Domain], usize),
        ending: Ending,
        visit: Visit,
        (length, lanes, threads): (Time, Lanes, usize),
    ) -> Worker<'a> {
        Worker {
            net,
            ending,
            visit,
            buckets: Buckets::new(net.order, length, lanes, threads),
            queues: Queues::new(first, domains.len()),
            domains,
            collector: Collector::new(net.spec.groups.len()),
            deal: Deal::new(count),
            todo: Vec::new(),
            queued: vec![u64::MAX; count],
            under_way: Vec::new(),
            plans: Vec::new(),
            order: Vec::new(),
            endless: Time::NEVER,
            windows: 0,
            hops: 0,
            told: 0,
            stopped: false,
            time: Duration::ZERO,
        }
    }

    /// What the others need to know before the next window.
    #[inline]
    pub fn report(&self) -> Report {
        Report {
            window: self.buckets.first().unwrap_or(u64::MAX),
            wake: self.queues.first_wake().min(self.buckets.first_post()),
            finished: self.collector.finished,
            finished_at: Time(self.collector.finished_at),
            hops: self.hops,
            stopped: self.stopped,
            endless: self.endless,
        }
    }

    /// Opens the next window in which any thread has work by what `all` of them report, or tells how the run ended.
    #[inline]
    pub fn open(&mut self, all: &Report, listener: Listener) -> Result<Window, End> {
        if all.stopped {
            return Err(End::Stopped);
        }
        if all.endless != Time::NEVER {
            return Err(End::Endless(all.endless));
        }
        self.ending.update(all.finished, all.finished_at);
        let (end, length) = (self.ending.at, self.buckets.length);
        let own = if all.wake < end { all.wake.0 / length.0 } else { u64::MAX };
        let number = all.window.min(own);
        if number == u64::MAX || length * number >= end {
            return Err(End::Reached { at: end, quiet: number == u64::MAX });
        }
        let mut due = take(&mut self.buckets.due);
        let mark = |link, domain, time, place| self.buckets.mark(link, domain, time, place);
        set_marks(&mut due, (self.queues.first, self.domains), self.net, length * number, mark);
        self.buckets.due = due;
        let bucket = self.buckets.open(number);
        let start = self.buckets.start;
        self.windows += 1;
        if all.hops - self.told > 400_000 || self.windows & 0xffff == 0 {
            self.told = all.hops;
            let end = self.net.spec.duration;
            self.stopped = !listener(Progress { now: start, end, hops: all.hops });
        }
        Ok(Window { number, stop: (start + length).min(end), bucket })
    }

    /// Lets the domains do what they do in `window`.
    #[inline]
    pub fn pass(&mut self, mut window: Window) {
        self.gather(&window);
        let (mut plans, mut order) = (take(&mut self.plans), take(&mut self.order));
        for i in 0..self.todo.len() {
            if let Err(Endless(at)) = self.walk(i, &mut window, &mut plans, &mut order) {
                self.endless = self.endless.min(at);
            }
        }
        (self.plans, self.order) = (plans, order);
        self.deal.clear(&self.todo);
        self.buckets.close(window.bucket);
        for post in self.buckets.take_posts() {
            self.queues.post(post);
        }
    }

    /// Deals what arrives out to the domains, and puts those with work in order.
    fn gather(&mut self, window: &Window) {
        let number = window.number;
        self.todo.clear();
        self.deal.out(&window.bucket.domains, &mut self.todo);
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

    /// Brings near what the domains after the `i`th with work will touch.
    #[inline(always)]
    fn look_ahead(&self, i: usize, packets: &[Packet]) {
        if let Some(later) = self.todo.get(i + 2) {
            prefetch::lines(&self.queues.list[self.queues.place(*later)], 1);
            prefetch::lines(&self.domains[self.queues.place(*later)], 3);
        }
        if let Some(following) = self.todo.get(i + 1) {
            let first = self.deal.of(*following).iter().take(AHEAD);
            first.for_each(|at| prefetch::lines(&packets[*at as usize], 1));
            let following = self.queues.place(*following);
            prefetch::lines(self.queues.list[following].heap.as_slice(), 1);
            self.domains[following].prefetch();
        }
    }

    /// Walks through the events of the `i`th domain with work before `stop`: plans what its packets will do, orders
    /// them, and merges them with its own events.
    #[inline(always)]
    fn walk(
        &mut self,
        i: usize,
        Window { stop, bucket, .. }: &mut Window,
        plans: &mut Vec<Plan>,
        order: &mut Vec<u64>,
    ) -> Result<(), Endless> {
        let stop = *stop;
        let (packets, exts) = (bucket.packets.as_slice(), &mut bucket.exts);
        self.look_ahead(i, packets);
        let d = self.todo[i];
        let place = self.queues.place(d);
        let (net, start) = (self.net, self.buckets.start);
        let domain = &mut self.domains[place];
        let hops = domain.nodes.counts.hops;
        let mine = self.deal.of(d);
        plans.clear();
        order.clear();
        for (i, at) in (0u64..).zip(mine) {
            if let Some(ahead) = mine.get(i as usize + AHEAD) {
                prefetch::lines(&packets[*ahead as usize], 1);
            }
            if let Some(soon) = mine.get(i as usize + AHEAD / 2) {
                prefetch::lines(&net.links[packets[*soon as usize].link], 1);
            }
            let packet = &packets[*at as usize];
            if let Some(ext) = packet.ext() {
                prefetch::lines(&exts[ext as usize], 2);
            }
            plans.push(Plan { packet: *at, route: domain.plan(packet, net) });
            order.push((packet.time - start).0 << INDEX_BITS | i);
        }
        plans.iter().for_each(|plan| domain.prefetch_further(&packets[plan.packet as usize], plan.route, net));
        sort(packets, plans, self.buckets.order, order);
        let (plans, order) = (plans.as_slice(), order.as_slice());
        let queue = &mut self.queues.list[place];
        let mut out = Out { net, buckets: &mut self.buckets, queue };
        let time_of = |o: Option<&u64>| o.map_or(Time::NEVER, |o| start + Time(o >> INDEX_BITS));
        let mut at = 0;
        let mut near = time_of(order.first());
        loop {
            let own = out.queue.next();
            if near.min(own) >= stop {
                break;
            }
            let plan = order.get(at).map_or(Plan::default(), |o| plans[(o & INDEX_MASK) as usize]);
            if near < own || (near == own && out.precedes(&packets[plan.packet as usize])) {
                at += 1;
                near = time_of(order.get(at));
                let packet = &packets[plan.packet as usize];
                let mut ext = packet.ext().map(|i| take(&mut exts[i as usize]));
                let instant = Instant { time: packet.time, generation: 0 };
                let env = Env::new(net, &mut out, &mut self.collector);
                domain.arrival(instant, packet, ext.as_mut(), plan.route, env);
            } else {
                own_event(domain, &mut out, &mut self.collector)?;
            }
        }
        let left = order[at..].iter().map(|o| packets[plans[(o & INDEX_MASK) as usize].packet as usize]);
        self.under_way.extend(left);
        self.hops += domain.nodes.counts.hops - hops;
        self.queues.register(d);
        Ok(())
    }

    /// What is left when the run has ended.
    pub fn leave(self) -> Left {
        let posted = self.buckets.first_post() != Time::NEVER;
        let idle = !posted && self.under_way.is_empty() && !self.queues.list.iter().any(|q| q.keeps_going());
        let queued = self.queues.list.iter().flat_map(|q| q.waiting());
        let near = self.buckets.near.iter().flat_map(|b| &b.packets).copied();
        let under_way = self.under_way.iter().copied().chain(near).chain(queued).collect();
        Left { collector: self.collector, under_way, idle, time: self.time }
    }
}

/// Takes the domain's own next event: a timer, or an arrival from inside the domain.
#[inline(never)]
fn own_event(domain: &mut Domain, out: &mut Out, collector: &mut Collector) -> Result<(), Endless> {
    let Some(Reverse((key, what))) = out.queue.heap.pop() else { return Ok(()) };
    ending::check(&key)?;
    let net = out.net;
    let at = Instant { time: key.time, generation: key.generation() };
    match what {
        Slot::Arrival(i) => {
            let (packet, mut ext) = out.queue.take(i);
            let planned = domain.plan(&packet, net);
            domain.arrival(at, &packet, ext.as_mut(), planned, Env::new(net, out, collector));
        }
        Slot::Timer(Timer::Overflow(link)) => move_near(&mut domain.nodes.ports[net.port_of[link]], out),
        Slot::Timer(timer) => domain.timer(at, timer, Env::new(net, out, collector)),
    }
    Ok(())
}
