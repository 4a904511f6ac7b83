//! The empty network: which links a flow takes, its idle round-trip time, its ideal completion
//! time, and the facts of the fabric a controller may derive defaults from.
//!
//! Everything is exact integer arithmetic over store-and-forward links: a packet of `n` IP bytes
//! passes a link in `rate.serialize(n + overhead) + delay`; a token bucket holds it back only for
//! the bytes that the bucket lacks, so that what it has saved up goes at once. IP fragments come out of a bucket at
//! distances of their own; of them an ideal time is a bound from below.

use crate::hash;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::mirror::Mirror;
use crate::map::paths::hops;
use crate::radio::frames::Frames;
use crate::spec::{LinkSpec, Spec, TransportSpec};
use incast_cc::{Env, Rate, Time};
use std::collections::BTreeMap;
use std::slice::from_ref;

/// A flow on the empty network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowIdeal {
    /// Links from source to destination; 0 when there is no path.
    pub hops: u32,
    /// A full segment there and its ACK back.
    pub idle_rtt: Time,
    /// From the opening of the flow to its last byte at the receiver: the handshake's round trip where there is one,
    /// and all segments back to back along the path. No window slows it. `None` where the flow has no size.
    pub ideal_delivery: Option<Time>,
    /// The same, and the last ACK back to the sender, which nothing delays.
    pub ideal_fct: Option<Time>,
}

/// Next hops and shortest path of a [`Spec`], computed once; every question about a flow then
/// costs as much as its path is long.
#[derive(Clone, Debug)]
pub struct Fabric<'a> {
    spec: &'a Spec,
    outgoing: Adjacency,
    mirror: Option<Mirror>,
    /// Cost by which links are compared where no transport is meant: a 1500-byte packet.
    ranks: Vec<Time>,
    /// Links of the shortest host-to-host path, there and back.
    shortest: Option<(Vec<LinkId>, Vec<LinkId>)>,
    /// The quickest link between two switches, and its reverse.
    between: Option<(LinkId, LinkId)>,
    /// By transport settings: the idle round-trip times of the shortest path, and of that link alone.
    quickest: Vec<(Option<Time>, Option<Time>)>,
}

/// The ways of a flow's packets on the empty network.
struct Way {
    there: Vec<LinkId>,
    back: Vec<LinkId>,
    /// A full segment there and its ACK back.
    rtt: Time,
}

impl<'a> Fabric<'a> {
    /// Indexes the links of `spec`. Costs as much as reading them once.
    pub fn new(spec: &'a Spec) -> Fabric<'a> {
        let outgoing = Adjacency::outgoing(spec);
        let ranks = spec.links.iter().map(|l| l.crossing(1500)).collect();
        let mirror = Mirror::new(spec);
        let mut fabric = Fabric { spec, outgoing, mirror, ranks, shortest: None, between: None, quickest: Vec::new() };
        fabric.shortest = fabric.find_shortest();
        let switch = |n: u32| n >= spec.hosts;
        fabric.between = (0..spec.links.len() as u32)
            .map(LinkId)
            .filter(|&l| switch(spec.links[l].from) && switch(spec.links[l].to))
            .min_by_key(|&l| (fabric.ranks[l], l))
            .and_then(|l| Some((l, fabric.reverse_of(l)?)));
        let rtt = |t, way: &Option<(&[LinkId], &[LinkId])>| way.map(|(there, back)| fabric.idle_rtt(there, back, t));
        let shortest = fabric.shortest.as_ref().map(|(there, back)| (&there[..], &back[..]));
        let between = fabric.between.as_ref().map(|(there, back)| (from_ref(there), from_ref(back)));
        fabric.quickest = spec.transports.iter().map(|t| (rtt(t, &shortest), rtt(t, &between))).collect();
        fabric
    }

    /// Outgoing links of a node, in local port order.
    pub fn ports(&self, node: NodeId) -> &[LinkId] {
        self.outgoing.of(node)
    }

    /// Links which the packets of a flow take: data, or with `reverse` its ACKs. Empty when the
    /// destination cannot be reached.
    pub fn path(&self, flow: FlowId, reverse: bool) -> Vec<LinkId> {
        let f = &self.spec.flows[flow];
        let given = if reverse { &f.reverse_path } else { &f.path };
        if let Some(links) = given {
            return links.iter().copied().map(LinkId).collect();
        }
        let (from, to) = if reverse { (NodeId(f.dst), NodeId(f.src)) } else { (NodeId(f.src), NodeId(f.dst)) };
        let mut links = Vec::with_capacity(6);
        let mut node = from;
        while node != to {
            // A path that visits more nodes than there are goes round in circles.
            let next =
                if links.len() > self.outgoing.nodes() + 1 { None } else { self.next(node, from, to, flow, reverse) };
            match next {
                Some(link) => links.push(link),
                None => return Vec::new(),
            }
            node = NodeId(self.spec.links[links[links.len() - 1]].to);
        }
        links
    }

    /// Links that the packets of a flow take, with the share of its packets each: the links of [`Fabric::path`] with
    /// all of them, or, where switches spread packets, those of all its shortest paths, every switch sharing out
    /// evenly what comes to it.
    pub fn shares(&self, flow: FlowId, reverse: bool) -> Vec<(LinkId, f64)> {
        let f = &self.spec.flows[flow];
        let given = if reverse { &f.reverse_path } else { &f.path };
        let spread = self.spec.choice.spreads() && !(reverse && self.spec.acks_by_flow);
        if given.is_some() || !spread {
            return self.path(flow, reverse).into_iter().map(|l| (l, 1.0)).collect();
        }
        let (from, to) = if reverse { (f.dst, f.src) } else { (f.src, f.dst) };
        let mut shares = Vec::new();
        let mut at: BTreeMap<u32, f64> = [(from, 1.0)].into();
        for _ in 0..=self.outgoing.nodes() {
            let mut next = BTreeMap::new();
            for (node, share) in at {
                let ports = self.ports(NodeId(node));
                let links: Vec<LinkId> = match node.checked_sub(self.spec.hosts) {
                    None => ports.to_vec(),
                    Some(s) => {
                        let hops = hops(&self.spec.routers[s as usize], NodeId(to));
                        hops.iter().filter_map(|p| ports.get(p as usize).copied()).collect()
                    }
                };
                for link in &links {
                    let part = share / links.len() as f64;
                    shares.push((*link, part));
                    let end = self.spec.links[*link].to;
                    if end != to {
                        *next.entry(end).or_insert(0.0) += part;
                    }
                }
            }
            if next.is_empty() {
                return shares;
            }
            at = next;
        }
        // a table that leads in circles
        Vec::new()
    }

    fn next(&self, node: NodeId, from: NodeId, to: NodeId, flow: FlowId, reverse: bool) -> Option<LinkId> {
        let ports = self.ports(node);
        let Some(switch) = node.0.checked_sub(self.spec.hosts) else {
            // Hosts have one link and do not forward.
            return ports.first().copied().filter(|_| node == from);
        };
        let hops = hops(self.spec.routers.get(switch as usize)?, to);
        let i = match hops.len() {
            0 => return None,
            1 => 0,
            _ if self.spec.choice.takes_first() => 0,
            // spread packets take them all; this is one of them
            n => match &self.mirror {
                Some(mirror) => mirror.choose(self.spec, node, (flow, reverse), hops, None),
                None => hash::pick(hash::ecmp(self.spec.seed, flow, reverse, node), n),
            },
        };
        ports.get(hops.get(i) as usize).copied()
    }

    /// A flow on the empty network.
    pub fn ideal(&self, flow: FlowId) -> FlowIdeal {
        self.ideal_on(flow, &self.way(flow))
    }

    fn way(&self, flow: FlowId) -> Way {
        let t = &self.spec.transports[self.spec.flows[flow].transport as usize];
        let (there, back) = (self.path(flow, false), self.path(flow, true));
        let rtt = self.idle_rtt(&there, &back, t);
        Way { there, back, rtt }
    }

    fn ideal_on(&self, flow: FlowId, Way { there, back, rtt }: &Way) -> FlowIdeal {
        let f = &self.spec.flows[flow];
        let t = &self.spec.transports[f.transport as usize];
        let ack = self.cross(back, t.ack_size as u64);
        let ideal_delivery = f.app.size().map(|size| {
            let handshake = if t.handshake {
                self.cross(there, t.syn_size as u64).saturating_add(self.cross(back, t.syn_size as u64))
            } else if t.lone_syn {
                self.cross(there, t.syn_size as u64).saturating_add(ack)
            } else {
                Time::ZERO
            };
            handshake.saturating_add(self.transfer(flow, there, t, size))
        });
        let ideal_fct = ideal_delivery.map(|delivery| delivery.saturating_add(ack));
        FlowIdeal { hops: there.len() as u32, idle_rtt: *rtt, ideal_delivery, ideal_fct }
    }

    /// Facts of its flow and of the fabric that a controller gets.
    ///
    /// `hop_rtt` of a flow longer than the shortest path is the mean of what its further links
    /// add; for a flow on a shortest path it is the cost of the fabric's quickest link between
    /// two switches.
    pub fn env(&self, flow: FlowId) -> Env {
        self.env_on(flow, &self.way(flow))
    }

    /// [`Fabric::env`] and [`Fabric::ideal`].
    pub fn facts(&self, flow: FlowId) -> (Env, FlowIdeal) {
        let way = self.way(flow);
        (self.env_on(flow, &way), self.ideal_on(flow, &way))
    }

    fn env_on(&self, flow: FlowId, Way { there, rtt: own, .. }: &Way) -> Env {
        let f = &self.spec.flows[flow];
        let t = &self.spec.transports[f.transport as usize];
        let own = *own;
        let (shortest_rtt, between_rtt) = self.quickest[f.transport as usize];
        let shortest_rtt = shortest_rtt.unwrap_or(own);
        let shortest_hops = self.shortest.as_ref().map_or(there, |(there, _)| there).len() as u32;
        let hops = there.len() as u32;
        let further = own.saturating_sub(shortest_rtt);
        let hop_rtt = if hops > shortest_hops && further > Time::ZERO {
            further / (hops - shortest_hops) as u64
        } else {
            between_rtt.unwrap_or_else(|| shortest_rtt / shortest_hops.max(1) as u64)
        };
        let period = |link: &LinkId| self.period(*link, t);
        let rates = there.iter().map(|&link| self.spec.links[link].rate);
        Env {
            flow: flow.0,
            mss: t.mss,
            initial_window: t.initial_window * t.mss as f64,
            packet_time: there.iter().map(period).max().unwrap_or(Time::ZERO),
            shortest_rtt,
            shortest_hops,
            hop_rtt,
            base_rtt: own,
            line_rate: rates.clone().next().filter(|r| *r != Rate::INFINITE).or(rates.min()).unwrap_or(Rate::INFINITE),
            line_packet_time: there.first().map_or(Time::ZERO, period),
        }
    }

    /// Time for one packet of `size` IP bytes along `links`.
    fn cross(&self, links: &[LinkId], size: u64) -> Time {
        links.iter().fold(Time::ZERO, |sum, &l| sum.saturating_add(self.crossing(&self.spec.links[l], size)))
    }

    /// When a packet that has to wait for no other leaves a link.
    fn crossing(&self, link: &LinkSpec, size: u64) -> Time {
        if link.cell.is_some() { self.takes(link, size) } else { link.crossing(size) }
    }

    /// The time for which a packet of `size` IP bytes has a link, all else being at rest: in a radio cell the least.
    fn takes(&self, link: &LinkSpec, size: u64) -> Time {
        let Some(cell) = link.cell.map(|cell| &self.spec.cells[cell as usize]) else {
            return link.rate.serialize(size + link.overhead as u64);
        };
        Frames::of(&cell.framing, size as u32, false).least_time(cell.mac.acknowledged)
    }

    fn idle_rtt(&self, there: &[LinkId], back: &[LinkId], t: &TransportSpec) -> Time {
        self.transfer_segments(there, t, 1, &[]).saturating_add(self.cross(back, t.ack_size as u64))
    }

    /// Serialization of a full segment, all its fragments, on one link.
    pub fn period(&self, link: LinkId, t: &TransportSpec) -> Time {
        let l = &self.spec.links[link];
        fragments(t, t.mss).fold(Time::ZERO, |sum, size| sum + self.takes(l, size))
    }

    /// From the first bit at the source to the last bit at the destination of `size` bytes, and the preset's
    /// extra packets, sent back to back in full segments and a last partial one.
    fn transfer(&self, flow: FlowId, links: &[LinkId], t: &TransportSpec, size: u64) -> Time {
        let mss = t.mss.max(1) as u64;
        let size = size.saturating_add(t.extra_packets as u64 * mss);
        let rest = (size % mss > 0).then_some((size % mss) as u32);
        if self.spec.choice.spreads() && self.spec.flows[flow].path.is_none() {
            return self.transfer_spread(links, t, size / mss, rest);
        }
        self.transfer_segments(links, t, size / mss, rest.as_slice())
    }

    /// `full` full segments and a partial one, each of which may have a path of its own: between the first and the last
    /// link, which all share, none waits for another, and the partial one may overtake.
    fn transfer_spread(&self, links: &[LinkId], t: &TransportSpec, full: u64, rest: Option<u32>) -> Time {
        let (Some(&first), Some(&last)) = (links.first(), links.last()) else { return Time::ZERO };
        let alone = |payload: u32| self.transfer_segments(links, t, 0, &[payload]);
        let pace = self.period(first, t);
        let all_full = match full {
            0 => Time::ZERO,
            _ => alone(t.mss).saturating_add(pace.max(self.period(last, t)).saturating_mul(full - 1)),
        };
        let partial = rest.map_or(Time::ZERO, |rest| pace.saturating_mul(full).saturating_add(alone(rest)));
        all_full.max(partial)
    }

    /// `full` full segments followed by segments with the payloads `rest`.
    ///
    /// From an empty network, equal packets leave link j at the pace of the slowest link up to j, or, behind a bucket,
    /// as soon as it has what they need; either way it is the first or the last of them that a link holds up most, so
    /// all but the first are one multiplication. The rest is walked packet by packet.
    fn transfer_segments(&self, links: &[LinkId], t: &TransportSpec, full: u64, rest: &[u32]) -> Time {
        // of every link: when it is free again, and when what was sent last came to it
        let mut few = [(Time::ZERO, Time::ZERO); 8];
        let mut many = Vec::new();
        let states = few.get_mut(..links.len()).unwrap_or_else(|| {
            many.resize(links.len(), (Time::ZERO, Time::ZERO));
            &mut many
        });
        let leave = |l: &LinkSpec, free: Time, came: Time| {
            // a bucket lets go at once what it holds
            free.saturating_sub(l.rate.serialize(l.bucket as u64)).max(came)
        };
        let send = |states: &mut [(Time, Time)], payload: u32| {
            let mut at = Time::ZERO;
            for size in fragments(t, payload) {
                at = Time::ZERO;
                for (&l, (free, came)) in links.iter().zip(states.iter_mut()) {
                    let l = &self.spec.links[l];
                    *came = at;
                    *free = at.max(*free).saturating_add(self.takes(l, size));
                    at = if l.bucket > 0 { leave(l, *free, at) } else { *free }.saturating_add(l.delay);
                }
            }
            at
        };
        let mut arrived = Time::ZERO;
        if full > 0 {
            arrived = send(states, t.mss);
            // how much later than the first segment the last one comes to a link
            let mut behind = Time::ZERO;
            let last = fragments(t, t.mss).last().unwrap_or(0);
            let mut saved = false;
            for (&l, (free, came)) in links.iter().zip(states.iter_mut()) {
                let link = &self.spec.links[l];
                let first = *free;
                // behind a bucket fragments come at other distances: at least the last has to pass
                let held = match saved {
                    true => self.takes(link, last),
                    false => first.saturating_sub(*came),
                };
                saved |= link.bucket > 0;
                *came = came.saturating_add(behind);
                *free = first.saturating_add(self.period(l, t).saturating_mul(full - 1)).max(came.saturating_add(held));
                behind = if link.bucket > 0 {
                    leave(link, *free, *came).saturating_sub(leave(link, first, came.saturating_sub(behind)))
                } else {
                    free.saturating_sub(first)
                };
            }
            arrived = arrived.saturating_add(behind);
        }
        for payload in rest {
            arrived = send(states, *payload);
        }
        arrived
    }

    fn reverse_of(&self, link: LinkId) -> Option<LinkId> {
        let l = &self.spec.links[link];
        self.ports(NodeId(l.to)).iter().copied().find(|&r| self.spec.links[r].to == l.from)
    }

    /// The closest two hosts, by links, then by time: a breadth-first search from all hosts at
    /// once; where the regions of two hosts touch, a path between them runs.
    fn find_shortest(&self) -> Option<(Vec<LinkId>, Vec<LinkId>)> {
        const FAR: u32 = u32::MAX;
        let nodes = self.outgoing.nodes();
        let hosts = self.spec.hosts as usize;
        let mut dist = vec![FAR; nodes];
        let mut cost = vec![Time::NEVER; nodes];
        let mut host = vec![FAR; nodes];
        let mut via = vec![None; nodes];
        let mut level: Vec<NodeId> = (0..hosts as u32).map(NodeId).collect();
        for h in 0..hosts {
            (dist[h], cost[h], host[h]) = (0, Time::ZERO, h as u32);
        }
        for depth in 1.. {
            let mut next = Vec::new();
            for &n in &level {
                for &l in self.ports(n) {
                    let to = self.spec.links[l].to as usize;
                    let c = cost[n].saturating_add(self.ranks[l]);
                    if dist[to] == FAR {
                        next.push(NodeId(to as u32));
                        dist[to] = depth;
                    }
                    if dist[to] == depth && c < cost[to] {
                        (cost[to], host[to], via[to]) = (c, host[n.ix()], Some(l));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        let touch = (0..self.spec.links.len() as u32)
            .map(LinkId)
            .filter_map(|l| {
                let (a, b) = (self.spec.links[l].from as usize, self.spec.links[l].to as usize);
                if dist[a] == FAR || dist[b] == FAR || host[a] == host[b] {
                    return None;
                }
                let c = cost[a].saturating_add(self.ranks[l]).saturating_add(cost[b]);
                Some((dist[a] + 1 + dist[b], c, l))
            })
            .min()?
            .2;
        let up_to = |mut n: u32| {
            let mut links = Vec::new();
            while let Some(link) = via[n as usize] {
                links.push(link);
                n = self.spec.links[link].from;
            }
            links.reverse();
            links
        };
        let l = &self.spec.links[touch];
        let turned =
            |links: &[LinkId]| links.iter().rev().map(|&l| self.reverse_of(l)).collect::<Option<Vec<LinkId>>>();
        let mut there = up_to(l.from);
        there.push(touch);
        there.extend(turned(&up_to(l.to))?);
        let back = turned(&there)?;
        Some((there, back))
    }
}

/// IP sizes of the packets that carry a segment of `payload` bytes: one, or IP fragments where
/// the MTU is smaller (20 bytes of IP header each, offsets in units of 8 bytes).
fn fragments(t: &TransportSpec, payload: u32) -> impl Iterator<Item = u64> {
    const IP_HEADER: u64 = 20;
    let total = t.header as u64 + payload as u64;
    let mtu = t.mtu as u64;
    let whole = mtu == 0 || total <= mtu || mtu < IP_HEADER + 8;
    let step = if whole { u64::MAX } else { (mtu - IP_HEADER) / 8 * 8 };
    let mut left = if whole { total } else { total - IP_HEADER };
    let mut done = false;
    core::iter::from_fn(move || {
        if done {
            return None;
        }
        if whole {
            done = true;
            return Some(left);
        }
        let part = left.min(step);
        left -= part;
        done = left == 0;
        Some(IP_HEADER + part)
    })
}

/// Bytes that a full segment takes on a wire which adds `overhead` to every packet.
pub fn wire_bytes(t: &TransportSpec, overhead: u32) -> u64 {
    fragments(t, t.mss).map(|size| size + overhead as u64).sum()
}
