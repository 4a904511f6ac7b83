//! Ports of every node, and the parts they belong to: shared buffers, hosts, switches.

use crate::domain::Domain;
use crate::event::interval::Interval;
use crate::event::order::Order;
use crate::host::nic::FairNic;
use crate::host::nic_queue::NicQueue;
use crate::host::processing::Processing;
use crate::host::{Host, RunQueue};
use crate::ids::{CellId, LinkId, NodeId, PoolIx, PortIx};
use crate::map::ideal::Fabric;
use crate::map::layout::Layout;
use crate::map::pfc::Pfc;
use crate::node::context::Nodes;
use crate::port::buffer::{Account, Pool};
use crate::port::faults::Faults;
use crate::port::{Port, Settings};
use crate::program::Programs;
use crate::radio::{Cell, Observed};
use crate::spec::{About, BufferSpec, Discipline, LinkSpec, ProcessingSpec, QueueSpec, RunError, Spec};
use crate::switch::Switch;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ports of one kind: their link, their queue, and their settings.
struct Kind {
    link: LinkSpec,
    queue: QueueSpec,
    settings: Arc<Settings>,
}

/// Inputs for building the nodes of a domain.
pub struct Parts<'a> {
    pub spec: &'a Spec,
    pub fabric: &'a Fabric<'a>,
    pub layout: &'a Layout,
    pub interval: &'a Interval,
    pub faults: &'a BTreeMap<u32, Faults>,
    pub pfc: Option<&'a Pfc>,
    /// Accounts of every node's shared buffer, with priority flow control.
    pub accounts: &'a [Vec<Account>],
}

/// Builder of domains.
pub struct Maker<'a> {
    parts: &'a Parts<'a>,
    spec: &'a Spec,
    kinds: Vec<Kind>,
    /// Kind of the port built last.
    last: usize,
}

impl<'a> Maker<'a> {
    /// A builder from these inputs. Ports share settings with others of the same builder: each thread has its own.
    pub fn new(parts: &'a Parts) -> Maker<'a> {
        Maker { parts, spec: parts.spec, kinds: Vec::new(), last: 0 }
    }

    /// The nodes of a domain. An error names the node that it is about.
    pub fn domain(&mut self, number: usize) -> Result<Domain, (NodeId, RunError)> {
        let layout = self.parts.layout;
        let (nodes, mut domain) = (layout.nodes.of(number), Domain::default());
        let hosts = nodes.partition_point(|n| n.0 < self.spec.hosts);
        domain.nodes.ports.reserve_exact(layout.ports[number] as usize);
        domain.nodes.hosts.reserve_exact(hosts);
        domain.switches.reserve_exact(nodes.len() - hosts);
        for node in nodes.iter().copied() {
            let first = PortIx(domain.nodes.ports.len() as u32);
            let links = self.parts.fabric.ports(node);
            links.iter().for_each(|link| self.port(*link, &mut domain.nodes));
            if node.0 < self.spec.hosts {
                domain.nodes.hosts.push(self.host(node, first).map_err(|error| (node, error))?);
                if let Some(t) = self.spec.transports.iter().find(|t| t.protocol.numbers_packets()) {
                    domain.nodes.shared.nic_queues.push(NicQueue::new(t.protocol.facts().data_slot_period));
                    domain.endpoints.pacers.add_host();
                }
                continue;
            }
            if let Some(buffer) = &self.spec.buffer {
                domain.nodes.shared.pools.push(self.pool(node, buffer).map_err(|error| (node, error))?);
            }
            domain.switches.push(Switch::new(self.spec, node, first, links));
            if !self.spec.programs.is_empty() {
                domain.programs.push(Programs::new(self.spec, node, first, links));
            }
        }
        let own = (0u32..).zip(&self.spec.cells).filter(|(_, cell)| nodes.contains(&NodeId(cell.channel)));
        let order = Order { seed: self.spec.seed, ties: self.spec.ties };
        let observe = &self.spec.observe;
        let observed = |cell| Observed { frames: !observe.trace.is_empty(), channel: observe.cells.contains(&cell) };
        let cell = |(i, cell)| Cell::new(cell, order, self.parts.interval, observed(i));
        domain.nodes.shared.cells = own.map(cell).collect();
        Ok(domain)
    }

    /// Kind of a link's port.
    fn kind(&mut self, link: &LinkSpec) -> &Kind {
        let at_host = |l: &LinkSpec| l.from < self.spec.hosts;
        let like = |a: &LinkSpec, b: &LinkSpec| {
            let numbers = |l: &LinkSpec| (l.rate, l.delay, l.tick, l.overhead, l.bucket, l.queue, at_host(l));
            numbers(a) == numbers(b) && a.loss == b.loss
        };
        if !self.kinds.get(self.last).is_some_and(|kind| like(&kind.link, link)) {
            self.last = self.kinds.iter().position(|kind| like(&kind.link, link)).unwrap_or_else(|| {
                let queue = self.spec.queues[link.queue as usize].clone();
                let queue = QueueSpec { explicit: self.spec.is_explicit(link), ..queue };
                let settings = Settings::new(link, &queue, self.spec.ties);
                let known = self.kinds.iter().map(|kind| &kind.settings).find(|known| ***known == settings);
                let settings = known.cloned().unwrap_or_else(|| Arc::new(settings));
                self.kinds.push(Kind { link: link.clone(), queue, settings });
                self.kinds.len() - 1
            });
        }
        &self.kinds[self.last]
    }

    /// Builds the port of a link.
    fn port(&mut self, link: LinkId, nodes: &mut Nodes) {
        let (parts, spec) = (self.parts, &self.spec.links[link]);
        let kind = self.kind(spec);
        let mut port = Port::with(kind.settings.clone(), &kind.queue, link, parts.spec.seed, parts.interval);
        port.set_rules(self.spec, spec, PoolIx(nodes.shared.pools.len() as u32));
        if let Some(faults) = parts.faults.get(&link.0) {
            port.fail(faults.clone());
        }
        if let (Some(pfc), Some(spec)) = (parts.pfc, self.spec.pfc())
            && let Some(silence) = pfc.silence(link, Time::ZERO)
        {
            port.keep_silent(silence, spec);
        }
        if parts.spec.runs_programs(spec.from) {
            port.pass_programs();
        }
        if let Some(cell) = spec.cell {
            let stations = &parts.spec.cells[cell as usize].stations;
            let station = stations.iter().position(|station| station.node == spec.from).unwrap_or_default();
            port.join(CellId(cell), station as u16);
        }
        nodes.ports.push(port);
    }

    /// The shared buffer of switch `node`.
    fn pool(&self, node: NodeId, buffer: &BufferSpec) -> Result<Pool, RunError> {
        let (spec, links) = (self.spec, self.parts.fabric.ports(node));
        let lossless = buffer.pfc.iter().flat_map(|p| &p.lossless).filter(|l| **l).count() as u64;
        let queues = |l: &LinkId| spec.queues[spec.links[*l].queue as usize].count() as u64 - lossless;
        let queues = links.iter().map(queues).sum();
        let accounts = self.parts.accounts.get(node.ix()).cloned().unwrap_or_default();
        let own = accounts.iter().map(|a| a.reserve.saturating_add(a.headroom)).fold(0, u64::saturating_add);
        Pool::of(buffer, queues, accounts).ok_or_else(|| {
            let name = &spec.node_names[node];
            let (size, reserve) = (buffer.size, buffer.reserve);
            let own = if own > 0 { format!(", and {own} B of reserves and headrooms,") } else { String::new() };
            let text = format!(
                "switch {name}: {queues} queues with {reserve} B each for themselves{own} are more than the \
                 {size} B that they share"
            );
            RunError::Refused(About::Buffer, text)
        })
    }

    /// Builds host `node`, whose NIC has local port `port`.
    fn host(&self, node: NodeId, port: PortIx) -> Result<Host, RunError> {
        let (spec, links) = (self.spec, self.parts.fabric.ports(node));
        let [link] = *links else {
            let (name, count) = (&spec.node_names[node], links.len());
            let text = format!("host {name} has {count} outgoing links, expected exactly one");
            return Err(RunError::Refused(About::Network, text));
        };
        let link = &spec.links[link];
        let queue = &spec.queues[link.queue as usize];
        let nic = match queue.discipline {
            Discipline::FairNic { per_flow } => Some(FairNic::new(per_flow, queue.framing(link))),
            _ => None,
        };
        let costs = spec.host_costs.get(node.ix()).cloned().unwrap_or_default();
        let engines = |costs: Option<ProcessingSpec>| costs.map(|c| Box::new(Processing::new(&c)));
        let (receive, send) = (engines(costs.receive), engines(costs.send));
        let programs = Programs::new(spec, node, port, links);
        Ok(Host { node, port, nic, receive, send, programs, run_queue: RunQueue::default() })
    }
}
