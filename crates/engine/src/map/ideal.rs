//! The empty network: the links of a flow's path, its idle round-trip time, its ideal completion time, and the facts of
//! the fabric from which a controller may derive defaults.
//!
//! Everything is exact integer arithmetic over store-and-forward links: a packet of `n` IP bytes crosses a link in
//! `rate.serialize(n + overhead) + delay`. A token bucket delays it only by the tokens that it lacks, so saved-up
//! tokens are spent at once. IP fragments leave a bucket at gaps of their own; for them an ideal time is a lower bound.
//!
//! An ideal time is that of the quickest path which routing may give a packet ([`ways`](crate::map::ways)), and of the
//! segments that are sent ([`segments`](crate::map::segments)). If paths or segments are not known exactly, the time is
//! a lower bound: each link that all packets pass carries all of them, after the first has reached it and before the
//! last goes on.

use crate::hash;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::map::adjacency::Adjacency;
use crate::map::mirror::Mirror;
use crate::map::paths::hops;
use crate::map::segments::{IP_HEADER, Segments, first_packet};
use crate::map::transfer::{Fan, Wires, is_in_proportion};
use crate::map::ways::{Exits, FlowDirection, Ways};
use crate::spec::{LinkSpec, Sizes, Spec, TransportSpec};
use incast_cc::{Env, Rate, Time};
use std::collections::{BTreeMap, HashMap};
use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::map::segments::wire_bytes;

/// A flow on the empty network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowIdeal {
    /// Links from source to destination; 0 when there is no path.
    pub hops: u32,
    /// Round-trip time of a full segment and its ACK, over the quickest of several paths.
    pub idle_rtt: Time,
    /// Time from the opening of the flow to the arrival of its last byte: the round trip of the handshake, if any, and
    /// all segments back to back over the quickest path. Not limited by a window. `None` if the flow has no size or no
    /// path.
    pub ideal_delivery: Option<Time>,
    /// The same, plus the last ACK back to the sender, without delay. No flow is faster.
    pub ideal_fct: Option<Time>,
}

/// Next hops and shortest path of a [`Spec`], computed once. After that, a question about a flow costs as much as its
/// path is long.
#[derive(Debug)]
pub struct Fabric<'a> {
    spec: &'a Spec,
    outgoing: Adjacency,
    mirror: Option<Mirror>,
    /// Cost by which links are compared if no transport is given: a 1500-byte packet.
    ranks: Vec<Time>,
    /// Links of the shortest host-to-host path, there and back.
    shortest: Option<(Vec<LinkId>, Vec<LinkId>)>,
    /// The quickest link between two switches, and its reverse.
    between: Option<(LinkId, LinkId)>,
    /// By transport settings: idle round-trip times of the shortest path, and of that link alone.
    quickest: Vec<(Option<Time>, Option<Time>)>,
    ways: Ways,
    /// True if links on which paths to a host differ take time in proportion to size: whole picoseconds a byte.
    in_proportion: bool,
    onward: Mutex<HashMap<Onward, Arc<Quickest>>>,
}

/// Maximum number of quickest paths kept. Packets of a fixed size, or with the same remainder of a flow, recur.
const MAX_KNOWN: usize = 1 << 16;

/// Node from which spread packets go on, their destination and IP bytes, and whether failures are possible.
type Onward = (NodeId, NodeId, u64, bool);
/// Time of the quickest path, and its links.
type Quickest = (Time, Vec<LinkId>);

/// Links that packets may take.
struct Route<'s> {
    /// Links taken without failures.
    path: &'s [LinkId],
    /// Other links that packets may take; `None`: none.
    exits: Option<Exits<'s>>,
}

/// Paths of a flow's packets on the empty network.
struct Way {
    there: Vec<LinkId>,
    back: Vec<LinkId>,
    /// Round-trip time of a full segment and its ACK.
    rtt: Time,
}

impl<'a> Fabric<'a> {
    /// Indexes the links of `spec`. Costs as much as reading them once.
    pub fn new(spec: &'a Spec) -> Fabric<'a> {
        let outgoing = Adjacency::outgoing(spec);
        let ranks = spec.links.iter().map(|l| l.crossing(1500)).collect();
        let mirror = Mirror::new(spec);
        let ways = Ways::new(spec, &outgoing);
        // no path goes on through a host, and the only link to a host is on all paths
        let differ = |l: &&LinkSpec| l.from >= spec.hosts && (l.to >= spec.hosts || ways.last(NodeId(l.to)).is_none());
        let mut fabric = Fabric {
            spec,
            in_proportion: ways.links(spec).iter().filter(differ).all(is_in_proportion),
            outgoing,
            mirror,
            ranks,
            shortest: None,
            between: None,
            quickest: Vec::new(),
            ways,
            onward: Mutex::default(),
        };
        fabric.shortest = fabric.find_shortest();
        let switch = |n: u32| n >= spec.hosts;
        fabric.between = (0..spec.links.len() as u32)
            .map(LinkId)
            .filter(|&l| switch(spec.links[l].from) && switch(spec.links[l].to))
            .min_by_key(|&l| (fabric.ranks[l], l))
            .and_then(|l| Some((l, fabric.reverse_of(l)?)));
        let rtt =
            |sizes, way: &Option<(&[LinkId], &[LinkId])>| way.map(|(there, back)| fabric.idle_rtt(there, back, sizes));
        let shortest = fabric.shortest.as_ref().map(|(there, back)| (&there[..], &back[..]));
        let between = fabric.between.as_ref().map(|(there, back)| (from_ref(there), from_ref(back)));
        fabric.quickest = spec.transports.iter().map(|t| (rtt(&t.sizes, &shortest), rtt(&t.sizes, &between))).collect();
        fabric
    }

    /// Outgoing links of a node, in local port order.
    pub fn ports(&self, node: NodeId) -> &[LinkId] {
        self.outgoing.of(node)
    }

    /// Links on the path of a flow's packets: data, or with `reverse` its ACKs. Empty if there is no path.
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
            // A path that visits more nodes than there are is a loop.
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

    /// Links that the packets of a flow take, each with its share of the packets: the links of [`Fabric::path`] with
    /// all packets, or, where switches spread packets, the links of all shortest paths. Every switch splits its
    /// arrivals evenly.
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
        // a routing table with a loop
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
            // spread packets take all of them; this is one
            n => match &self.mirror {
                Some(mirror) if !(reverse && self.spec.acks_by_flow) => {
                    mirror.choose(self.spec, node, (flow, reverse), hops, None)
                }
                _ => hash::pick(hash::ecmp(self.spec.seed, flow, reverse, node), n),
            },
        };
        ports.get(hops.get(i) as usize).copied()
    }

    /// A flow on the empty network.
    pub fn ideal(&self, flow: FlowId) -> FlowIdeal {
        self.ideal_on(flow, &self.way(flow))
    }

    /// The quickest path of a flow's packets without failures, there and back.
    fn way(&self, flow: FlowId) -> Way {
        let t = &self.spec.transports[self.spec.flows[flow].transport as usize];
        let there = self.quickest_path((flow, false), first_packet(&t.sizes));
        let back = self.quickest_path((flow, true), t.sizes.ack_size as u64);
        let rtt = self.idle_rtt(&there, &back, &t.sizes);
        Way { there, back, rtt }
    }

    /// Links of the quickest path for packets of `size` IP bytes, and those of [`Fabric::path`] if none is quicker.
    fn quickest_path(&self, flow_direction: FlowDirection, size: u64) -> Vec<LinkId> {
        let path = self.path(flow_direction.0, flow_direction.1);
        let exits = self.exits(flow_direction, None);
        let [first, rest @ ..] = &path[..] else { return path };
        if self.ways.is_even() || !exits.spreads() {
            return path;
        }
        let onward = self.onward(&exits, *first, size);
        if onward.0 < self.wires().cross(rest, size) { [&[*first], &onward.1[..]].concat() } else { path }
    }

    fn wires(&self) -> Wires<'_> {
        Wires::new(self.spec, &self.spec.links)
    }

    fn exits<'s>(&'s self, flow_direction: FlowDirection, ways: Option<&'s Ways>) -> Exits<'s> {
        let Fabric { spec, outgoing, mirror, .. } = self;
        Exits { spec, outgoing, mirror: mirror.as_ref(), ways, flow_direction }
    }

    /// The quickest path from the end of a link on for a packet of `size` IP bytes, and its time. Searched once for all
    /// flows with spread packets.
    fn onward(&self, exits: &Exits, first: LinkId, size: u64) -> Arc<Quickest> {
        let from = NodeId(self.spec.links[first].to);
        let links = exits.ways.map_or(&self.spec.links[..], |ways| ways.links(self.spec));
        let wires = Wires::new(self.spec, links);
        let find = || {
            let found = exits.quickest(from, |link| wires.crossing(link, size));
            Arc::new(found.unwrap_or((Time::ZERO, Vec::new())))
        };
        if !exits.spreads() {
            return find();
        }
        let key = (from, exits.to(), size, exits.ways.is_some());
        let known = || self.onward.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).cloned();
        found.unwrap_or_else(|| {
            let found = find();
            let mut known = known();
            if known.len() < MAX_KNOWN {
                known.insert(key, found.clone());
            }
            found
        })
    }

    /// The time of [`Fabric::onward`]. Needs no search if one path is the quickest both for the smallest and for the
    /// largest packets, and links take time in proportion to size.
    fn onward_time(&self, exits: &Exits, first: LinkId, size: u64, largest: u64) -> Time {
        if self.in_proportion && exits.spreads() && (IP_HEADER as u64..largest).contains(&size) {
            let wires = Wires::new(self.spec, self.ways.links(self.spec));
            let [min, max] = [IP_HEADER as u64, largest].map(|size| self.onward(exits, first, size));
            if wires.cross(&max.1, IP_HEADER as u64) == min.0 {
                return wires.cross(&max.1, size);
            }
        }
        self.onward(exits, first, size).0
    }

    fn ideal_on(&self, flow: FlowId, Way { there, back, rtt }: &Way) -> FlowIdeal {
        let f = &self.spec.flows[flow];
        let t = &self.spec.transports[f.transport as usize];
        let (there_by, back_by) = (self.route((flow, false), there), self.route((flow, true), back));
        let ack = || self.crosses(&back_by, t.sizes.ack_size as u64);
        let ideal_delivery = f.app.size().filter(|_| !there.is_empty() && !back.is_empty()).map(|size| {
            let syn = t.sizes.syn_size as u64;
            let handshake = if t.connection.handshake {
                self.crosses(&there_by, syn).saturating_add(self.crosses(&back_by, syn))
            } else if t.connection.lone_syn {
                self.crosses(&there_by, syn).saturating_add(ack())
            } else {
                Time::ZERO
            };
            let segments = Segments::of(self.spec, f, size);
            handshake.saturating_add(self.transfer(&there_by, t, &segments))
        });
        let ideal_fct = ideal_delivery.map(|delivery| delivery.saturating_add(ack()));
        FlowIdeal { hops: there.len() as u32, idle_rtt: *rtt, ideal_delivery, ideal_fct }
    }

    /// The links that a flow's packets may take. `path`: those taken without failures.
    fn route<'s>(&'s self, flow_direction: FlowDirection, path: &'s [LinkId]) -> Route<'s> {
        let exits = self.exits(flow_direction, Some(&self.ways));
        if !exits.spreads() && (self.ways.is_fixed() || exits.keep_to(path)) {
            return Route { path, exits: None };
        }
        Route { path, exits: Some(exits) }
    }

    /// Time for one packet of `size` IP bytes.
    fn crosses(&self, Route { path, exits }: &Route, size: u64) -> Time {
        let wires = Wires::new(self.spec, self.ways.links(self.spec));
        match (exits, path) {
            (Some(exits), [first, _, ..]) if !self.ways.is_even() => {
                let onward = self.onward_time(exits, *first, size, size);
                wires.crossing(*first, size).saturating_add(onward)
            }
            _ => wires.cross(path, size),
        }
    }

    /// Time from the first bit at the source to the last bit at the destination, for segments sent back to back.
    fn transfer(&self, Route { path, exits }: &Route, t: &TransportSpec, segments: &Segments) -> Time {
        let wires = Wires::new(self.spec, self.ways.links(self.spec));
        let (Some(exits), [first, rest @ ..]) = (exits, path) else {
            return wires.along(path, &t.sizes, segments);
        };
        let largest = first_packet(&t.sizes);
        let onward = |size: u64| match self.ways.is_even() || rest.is_empty() {
            true => wires.cross(rest, size),
            false => self.onward_time(exits, *first, size, largest),
        };
        let last = self.ways.last(exits.to()).filter(|_| !rest.is_empty());
        Fan { wires, first: *first, last, onward }.over(&t.sizes, segments)
    }

    /// Facts of its flow and of the fabric for a controller.
    ///
    /// `hop_rtt` of a flow longer than the shortest path is the mean cost of its additional links. For a flow on a
    /// shortest path it is the cost of the fabric's quickest link between two switches.
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
        let period = |link: &LinkId| self.period(*link, &t.sizes);
        let rates = there.iter().map(|&link| self.spec.links[link].rate);
        Env {
            flow: flow.0,
            mss: t.sizes.mss,
            initial_window: t.windows.initial_window * t.sizes.mss as f64,
            packet_time: there.iter().map(period).max().unwrap_or(Time::ZERO),
            shortest_rtt,
            shortest_hops,
            hop_rtt,
            base_rtt: own,
            line_rate: rates.clone().next().filter(|r| *r != Rate::INFINITE).or(rates.min()).unwrap_or(Rate::INFINITE),
            line_packet_time: there.first().map_or(Time::ZERO, period),
        }
    }

    fn idle_rtt(&self, there: &[LinkId], back: &[LinkId], sizes: &Sizes) -> Time {
        let wires = self.wires();
        wires.in_order(there, sizes, 1, &[]).saturating_add(wires.cross(back, sizes.ack_size as u64))
    }

    /// Serialization time of a full segment with all its fragments, on one link.
    pub fn period(&self, link: LinkId, sizes: &Sizes) -> Time {
        self.wires().period(link, sizes, sizes.mss)
    }

    fn reverse_of(&self, link: LinkId) -> Option<LinkId> {
        let l = &self.spec.links[link];
        self.ports(NodeId(l.to)).iter().copied().find(|&r| self.spec.links[r].to == l.from)
    }

    /// The closest two hosts, by links, then by time: a breadth-first search from all hosts at once. A path runs where
    /// the regions of two hosts touch.
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
