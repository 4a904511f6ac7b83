//! Arrivals of a window at ports of switches, one port after the other.
//!
//! On this [fast path](crate::fast_paths::FastPath::ByPort) a packet interacts only with packets at the same port.
//! Other packets of its window need no order relative to it, even if they arrive at the same instant or before.

use crate::domain::Domain;
use crate::event::order::Order;
use crate::event::outbox::Instant;
use crate::event::prefetch;
use crate::ids::{Node, PortIx};
use crate::node::context::Env;
use crate::run::buckets::Bucket;
use crate::run::out::Out;
use crate::run::scatter::{Arrival, Scatter, order};
use crate::switch::route::Planned;
use incast_record::Collector;
use std::mem::take;

/// Prefetch distance, in packets.
pub const AHEAD: usize = 16;
/// Prefetch distance for the data that a port touches as it closes a frame, in ports.
const FRAMES_AHEAD: usize = 6;

/// Arrivals of a domain, by port.
#[derive(Default)]
pub struct ByPort {
    scatter: Scatter<PortIx>,
    /// Ports with arrivals.
    used: Vec<PortIx>,
    /// Arrivals at ports, in order of sending.
    passing: Vec<(Arrival, PortIx)>,
    /// Other arrivals: those at their destination host, or without a route.
    pub rest: Vec<Arrival>,
}

impl ByPort {
    /// For domains of at most `ports` ports.
    pub fn new(ports: usize) -> ByPort {
        ByPort { scatter: Scatter::new(ports), ..ByPort::default() }
    }

    /// Passes `arrivals`, the arrivals in order of sending, through their ports, except for [`ByPort::rest`].
    #[inline(always)]
    pub fn pass(
        &mut self,
        arrivals: &[Arrival],
        domain: &mut Domain,
        bucket: &mut Bucket,
        rule: Order,
        out: &mut Out,
        collector: &mut Collector,
    ) {
        match domain.framed {
            false => self.pass_by::<false>(arrivals, domain, bucket, rule, out, collector),
            true => self.pass_by::<true>(arrivals, domain, bucket, rule, out, collector),
        }
    }

    #[inline(always)]
    fn pass_by<const FRAMED: bool>(
        &mut self,
        arrivals: &[Arrival],
        domain: &mut Domain,
        bucket: &mut Bucket,
        rule: Order,
        out: &mut Out,
        collector: &mut Collector,
    ) {
        self.plan(arrivals, domain, bucket, out);
        self.scatter.lay(&self.used, self.passing.len());
        self.passing.iter().for_each(|(arrival, port)| self.scatter.put(*port, *arrival));
        let end = bucket.start + out.buckets.length;
        for port in &self.used {
            order(self.scatter.of_mut(*port), bucket, rule);
            let port = &domain.nodes.ports[*port];
            prefetch::item(&out.net.links, port.link.ix());
            port.prefetch_queue();
            if FRAMED {
                port.prefetch_account(end);
            }
        }
        let (net, start) = (out.net, bucket.start);
        if FRAMED {
            domain.prefetch_frames_at(self.used.iter().take(FRAMES_AHEAD), end);
        }
        for (i, port) in self.used.iter().enumerate() {
            if FRAMED {
                domain.prefetch_frames_at(self.used.get(i + FRAMES_AHEAD), end);
            }
            for arrival in self.scatter.of(*port) {
                let packet = &bucket.packets[arrival.place()];
                let mut ext = packet.ext().map(|i| take(&mut bucket.exts[i as usize]));
                let at = Instant { time: start + arrival.offset(), generation: 0 };
                domain.arrival(at, packet, ext.as_mut(), Planned::port(*port), Env::new(net, out, collector));
            }
        }
        self.scatter.clear(&self.used);
    }

    /// Separates arrivals at ports from the rest, and prefetches the data that they will touch.
    #[inline(always)]
    fn plan(&mut self, arrivals: &[Arrival], domain: &mut Domain, bucket: &Bucket, out: &Out) {
        self.used.clear();
        self.passing.clear();
        self.rest.clear();
        for (ahead, arrival) in (AHEAD..).zip(arrivals) {
            if let Some(ahead) = arrivals.get(ahead) {
                bucket.packets.prefetch(ahead.place());
            }
            let (packet, node) = bucket.packets.to_node(arrival.place());
            if let Node::Switch(_) = node.get() {
                if let Some(ext) = packet.ext() {
                    prefetch::lines(&bucket.exts[ext as usize], 2);
                }
                let planned = domain.plan(packet, node, out.net).ix();
                if let Some(port) = domain.nodes.ports.get(planned) {
                    prefetch::lines(port, 2);
                    let port = PortIx(planned as u32);
                    self.scatter.count(port, &mut self.used);
                    self.passing.push((*arrival, port));
                    continue;
                }
            }
            self.rest.push(*arrival);
        }
    }
}
