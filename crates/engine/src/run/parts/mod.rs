//! Splitting a worker into parts, one for each thread, and joining them again, between two windows of a run.
//!
//! Everything in flight is redistributed: packets and visits of ports go to the domain that their link leaves, queues
//! and their timers to their domain. Packets are copied; each link stays FIFO. So a change takes time in proportion to
//! the packets in flight, and a run has few changes ([`crate::threads::mode`]).

use crate::domain::late_marking::{note_move, set_decided};
use crate::event::packet::Packet;
use crate::ids::{DomainId, LinkId};
use crate::run::buckets::{Buckets, Shards};
use crate::run::by_port::ByPort;
use crate::run::queues::Queues;
use crate::run::scatter::{Scatter, Sorter};
use crate::run::worker::{Scratch, Worker};
use incast_cc::Time;
use incast_record::Collector;
use std::mem::{replace, take};
use std::ops::Range;
use std::slice::from_mut;
use std::sync::Arc;

/// Packets, timers and records of a worker, detached from its domains.
pub struct Detached {
    /// Records so far.
    pub collector: Collector,
    buckets: Buckets,
    queues: Queues,
    under_way: Vec<Packet>,
    windows: u64,
    /// As of the report: hops, the latest call of the listener, and the reason to stop.
    hops: u64,
    reported_hops: (u64, Time),
    stopped: bool,
    endless: Time,
}

impl<'a> Worker<'a> {
    /// Splits the worker into parts, each with its domains and everything in flight there. The worker is empty until
    /// the parts [join](Worker::join).
    pub fn part(&mut self, shares: &[Range<usize>]) -> Vec<Worker<'_>> {
        let of: Arc<[u8]> =
            (0..=u8::MAX).zip(shares).flat_map(|(i, share)| share.clone().map(move |_| i)).collect::<Vec<_>>().into();
        let mut left = self.leave();
        let (net, count, length) = (self.net, self.domains.len(), left.buckets.length);
        let mut domains = &mut *self.domains;
        let mut parts = Vec::with_capacity(shares.len());
        for (me, share) in shares.iter().enumerate() {
            let (own, others) = domains.split_at_mut(share.len());
            domains = others;
            let by_port = ByPort::new(own.iter().map(|domain| domain.nodes.ports.len()).max().unwrap_or(0));
            parts.push(Worker {
                net,
                domains: own,
                ending: self.ending.clone(),
                buckets: left.buckets.empty_copy(Shards { me, of: of.clone() }, shares.len()),
                queues: Queues::new(share.start as u32, 0),
                collector: Collector::new(net.spec.groups.len()),
                scatter: Scatter::new(count),
                todo: Vec::new(),
                queued: vec![u64::MAX; count],
                under_way: Vec::new(),
                scratch: Scratch { by_port, plans: Vec::new(), sorter: Sorter::new(length) },
                windows: left.windows,
                hops: 0,
                reported_hops: left.reported_hops.0,
                report_at: left.reported_hops.1,
                ..*self
            });
        }
        parts[0].collector = replace(&mut left.collector, Collector::new(0));
        left.go_to(&mut parts, |domain| of[domain] as usize);
        parts
    }

    /// Takes back everything in flight from all parts.
    pub fn join(&mut self, parts: Vec<Detached>) {
        let groups = self.net.spec.groups.len();
        let mut messages = Vec::new();
        for (i, mut left) in parts.into_iter().enumerate() {
            messages.append(&mut left.buckets.take_all_messages());
            let collector = replace(&mut left.collector, Collector::new(groups));
            if i == 0 {
                self.buckets = left.buckets.empty_copy(Shards::default(), 1);
                (self.collector, self.windows, (self.reported_hops, self.report_at)) =
                    (collector, left.windows, left.reported_hops);
            } else {
                self.collector.merge(collector);
            }
            left.go_to(from_mut(self), |_| 0);
        }
        // the domains of all messages are here again
        messages.into_iter().for_each(|message| self.queues.push_message(message));
    }

    /// Takes everything in flight in the worker's domains. Parts must join before the worker is used again.
    pub fn leave(&mut self) -> Detached {
        let (first, nothing) = (self.queues.first, self.buckets.empty_copy(Shards::default(), 1));
        let due = take(&mut self.buckets.due);
        let mark = |link, domain, time, place| self.buckets.mark(link, domain, time, place);
        set_decided(&due, (first, self.domains), self.net, mark);
        self.buckets.due = due;
        Detached {
            collector: replace(&mut self.collector, Collector::new(self.net.spec.groups.len())),
            buckets: replace(&mut self.buckets, nothing),
            queues: replace(&mut self.queues, Queues::new(first, 0)),
            under_way: take(&mut self.under_way),
            windows: self.windows,
            hops: take(&mut self.hops),
            reported_hops: (self.reported_hops, self.report_at),
            stopped: self.stopped,
            endless: self.endless,
        }
    }
}

impl Detached {
    /// Distributes everything to workers without anything of these domains and links. `of`: index of a domain's worker.
    fn go_to(mut self, to: &mut [Worker], of: impl Fn(DomainId) -> usize) {
        let (net, count) = (to[0].net, to.len());
        let visits = self.buckets.take_all_visits();
        let from = |link: LinkId| of(net.place[net.spec.links[link].from as usize].domain);
        for (i, mut bucket) in self.buckets.take_all().into_iter().enumerate() {
            bucket.each(|head, packet, ext| {
                let worker = &mut to[from(head.link)];
                let place = worker.buckets.take_in(head, packet, ext);
                if let Some(place) = place.filter(|_| worker.marks_late) {
                    note_move((worker.queues.first, worker.domains), net, packet, place);
                }
            });
            // every part gets memory for its arrivals
            to[i % count].buckets.keep(bucket);
        }
        for link in self.buckets.due {
            to[from(link)].buckets.due.push(link);
        }
        for (window, link) in visits.into_iter().flat_map(|(window, links)| links.into_iter().map(move |l| (window, l)))
        {
            to[from(link)].buckets.visit_after(link, window);
        }
        for (queue, domain) in self.queues.list.into_iter().zip(self.queues.first..) {
            to[of(DomainId(domain))].queues.list.push(queue);
        }
        to.iter_mut().for_each(|worker| worker.queues.plan_wakes());
        let first = &mut to[0];
        first.under_way.append(&mut self.under_way);
        first.hops += self.hops;
        first.stopped |= self.stopped;
        first.endless = first.endless.min(self.endless);
    }

    /// True if nothing is left to happen.
    pub fn is_idle(&self) -> bool {
        let posted = self.buckets.messages.iter().flatten().any(|(_, _, timer)| timer.keeps_going());
        !posted && self.under_way.is_empty() && !self.queues.list.iter().any(|q| q.keeps_going())
    }

    /// Packets in flight.
    pub fn packets(&self) -> impl Iterator<Item = Packet> {
        let queued = self.queues.list.iter().flat_map(|queue| queue.waiting());
        self.under_way.iter().chain(self.buckets.packets()).copied().chain(queued)
    }
}
