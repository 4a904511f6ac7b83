//! Ports of every node, and what stands behind them: shared buffers, hosts, switches.

use crate::domain::Domain;
use crate::event::interval::Interval;
use crate::host::nic::FairNic;
use crate::host::processing::Processing;
use crate::host::{Host, RunQueue};
use crate::ids::{HostIx, LinkId, NodeId, NodeIx, PoolIx, PortIx, SwitchIx};
use crate::map::fabric::Place;
use crate::map::pfc::Pfc;
use crate::node::context::Nodes;
use crate::port::buffer::{Account, Pool};
use crate::port::faults::Faults;
use crate::port::{Port, Settings};
use crate::spec::{BufferSpec, Discipline, ProcessingSpec, QueueSpec, RunError, Spec};
use crate::switch::Switch;
use incast_cc::Time;
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

/// The parts that nodes are laid out from.
pub struct Layout<'a> {
    spec: &'a Spec,
    interval: &'a Interval,
    faults: &'a BTreeMap<u32, Faults>,
    pfc: Option<&'a Pfc>,
    /// Accounts of every node's shared buffer, until it is built.
    accounts: Vec<Vec<Account>>,
    /// Links that leave every node.
    outgoing: Vec<Vec<LinkId>>,
    /// Settings that ports share.
    settings: Vec<Arc<Settings>>,
    /// Domain-local port number of every link.
    pub port_of: Vec<PortIx>,
}

impl<'a> Layout<'a> {
    /// Nothing is laid out yet.
    pub fn new(
        spec: &'a Spec,
        interval: &'a Interval,
        faults: &'a BTreeMap<u32, Faults>,
        pfc: Option<&'a Pfc>,
        accounts: Vec<Vec<Account>>,
    ) -> Layout<'a> {
        let mut outgoing = vec![Vec::new(); spec.node_names.len()];
        for (l, link) in (0..).map(LinkId).zip(&spec.links) {
            outgoing[link.from as usize].push(l);
        }
        let port_of = vec![PortIx(0); spec.links.len()];
        Layout { spec, interval, faults, pfc, accounts, outgoing, settings: Vec::new(), port_of }
    }

    /// Lays out all nodes, one after the other, so that a node's ports are neighbours.
    pub fn nodes(&mut self, place: &mut [Place], domains: &mut [Domain]) -> Result<(), RunError> {
        for (node, at) in (0..).map(NodeId).zip(place) {
            let domain = &mut domains[at.domain];
            let first = PortIx(domain.nodes.ports.len() as u32);
            for i in 0..self.outgoing[node].len() {
                self.port(self.outgoing[node][i], &mut domain.nodes);
            }
            if node.0 < self.spec.hosts {
                at.node = NodeIx::host(HostIx(domain.nodes.hosts.len() as u32));
                domain.nodes.hosts.push(self.host(node, first)?);
                continue;
            }
            if let Some(buffer) = &self.spec.buffer {
                domain.nodes.pools.push(self.pool(node, buffer)?);
            }
            at.node = NodeIx::switch(SwitchIx(domain.switches.len() as u32));
            domain.switches.push(Switch::new(self.spec, node, first, &self.outgoing[node]));
        }
        Ok(())
    }

    /// The port of a link.
    fn port(&mut self, link: LinkId, nodes: &mut Nodes) {
        let spec = &self.spec.links[link];
        self.port_of[link] = PortIx(nodes.ports.len() as u32);
        let queue = &self.spec.queues[spec.queue as usize];
        let queue = &QueueSpec { explicit: self.spec.is_explicit(spec), ..queue.clone() };
        let settings = Settings::new(spec, queue, self.spec.ties);
        let settings = self.settings.iter().find(|s| ***s == settings).cloned().unwrap_or_else(|| {
            self.settings.push(Arc::new(settings));
            self.settings[self.settings.len() - 1].clone()
        });
        let mut port = Port::with(settings, queue, link, self.spec.seed, self.interval);
        if self.spec.shares_buffer(spec) {
            port.share(PoolIx(nodes.pools.len() as u32));
        }
        if let Some(faults) = self.faults.get(&link.0) {
            port.fail(faults.clone());
        }
        if let (Some(pfc), Some(spec)) = (self.pfc, self.spec.pfc())
            && let Some(silence) = pfc.silence(link, Time::ZERO)
        {
            port.keep_silent(silence, spec);
        }
        nodes.ports.push(port);
    }

    /// The buffer that the ports of switch `node` share.
    fn pool(&mut self, node: NodeId, buffer: &BufferSpec) -> Result<Pool, RunError> {
        let spec = self.spec;
        let lossless = buffer.pfc.iter().flat_map(|p| &p.lossless).filter(|l| **l).count() as u64;
        let queues = |l: &LinkId| spec.queues[spec.links[*l].queue as usize].count() as u64 - lossless;
        let queues = self.outgoing[node].iter().map(queues).sum();
        let accounts = take(&mut self.accounts[node]);
        let own = accounts.iter().map(|a| a.reserve.saturating_add(a.headroom)).fold(0, u64::saturating_add);
        let pool = Pool::new(buffer.size, buffer.alpha, buffer.reserve, queues);
        pool.and_then(|pool| pool.with_accounts(accounts)).ok_or_else(|| {
            let name = &spec.node_names[node];
            let (size, reserve) = (buffer.size, buffer.reserve);
            let own = if own > 0 { format!(", and {own} B of reserves and headrooms,") } else { String::new() };
            RunError::Invalid(format!(
                "switch {name}: {queues} queues with {reserve} B each for themselves{own} are more than the \
                 {size} B that they share"
            ))
        })
    }

    /// Host `node`, whose NIC has local port `port`.
    fn host(&self, node: NodeId, port: PortIx) -> Result<Host, RunError> {
        let spec = self.spec;
        let [link] = self.outgoing[node][..] else {
            return Err(RunError::Invalid(format!(
                "host {} has {} outgoing links, expected exactly one",
                spec.node_names[node],
                self.outgoing[node].len()
            )));
        };
        let nic = match spec.queues[spec.links[link].queue as usize].discipline {
            Discipline::FairNic { per_flow } => Some(FairNic::new(per_flow)),
            _ => None,
        };
        let costs = spec.host_costs.get(node.ix()).cloned().unwrap_or_default();
        let engines = |costs: Option<ProcessingSpec>| costs.map(|c| Box::new(Processing::new(&c)));
        let (receive, send) = (engines(costs.receive), engines(costs.send));
        Ok(Host { node, port, nic, receive, send, run_queue: RunQueue::default() })
    }
}
