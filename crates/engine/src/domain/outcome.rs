//! The outcome of a run: its ports, hosts and flows at its end.

use crate::domain::build::Simulation;
use crate::domain::deadlock::deadlocked;
use crate::event::interval::Interval;
use crate::event::packet::{Kind, Packet, flag};
use crate::ids::{FlowId, LinkId, Side};
use crate::map::fabric::FabricMap;
use crate::map::ideal::{Fabric, FlowIdeal};
use crate::node::context::Counts;
use crate::port::Port;
use crate::spec::Spec;
use incast_cc::Time;
use incast_record::{Collector, EngineRecord, FlowRecord, MessageKind, Outcome, PortRecord, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Controllers that govern flows, and by their number in `spec` the one there: flows of datagrams have none, and come
/// under `udp`, the last.
fn governing(spec: &Spec) -> (Vec<String>, Vec<u32>) {
    let mut governs = vec![false; spec.controllers.len()];
    let mut datagrams = false;
    for flow in &spec.flows {
        match flow.app.datagram_gap() {
            Some(_) => datagrams = true,
            None => governs[flow.controller as usize] = true,
        }
    }
    let mut names = Vec::new();
    let mut number = Vec::with_capacity(governs.len());
    for (config, governs) in spec.controllers.iter().zip(governs) {
        number.push(names.len() as u32);
        names.extend(governs.then(|| config.to_string()));
    }
    names.extend(datagrams.then(|| "udp".to_owned()));
    (names, number)
}

/// Gives every query and write the timeouts that its flows had while it was under way.
fn count_timeouts(net: &FabricMap, collector: &mut Collector, end: Time) {
    // a query is known by its root's connections, a write by its flow
    let owner = |flow: u32| match net.duplex(FlowId(flow)) {
        Some(duplex) => (MessageKind::Query, duplex.query.0),
        None => (MessageKind::Write, flow),
    };
    let mut by_owner: BTreeMap<(MessageKind, u32), Vec<u64>> = BTreeMap::new();
    for (flow, time) in &collector.timeouts {
        by_owner.entry(owner(*flow)).or_default().push(*time);
    }
    by_owner.values_mut().for_each(|times| times.sort_unstable());
    for message in &mut collector.messages {
        let Some(times) = by_owner.get(&owner(message.flow)) else { continue };
        let before = |t: u64| times.partition_point(|at| *at < t) as u64;
        message.timeouts = before(message.finish_ps.unwrap_or(end.0)) - before(message.start_ps);
    }
}

/// Packets that have been sent and have not arrived.
struct UnderWay {
    packets: u64,
    /// Packets of these that a failure would have taken after the end of the run.
    spared: u64,
    /// Segments of every flow, and how many of them are measured.
    segments: Vec<(u64, u64)>,
}

impl Simulation<'_> {
    /// The outcome at `end`, given what is still under way in buckets and queues outside the domains.
    pub fn outcome(
        mut self,
        mut collector: Collector,
        in_flight: impl Iterator<Item = Packet>,
        end: Time,
        idle: bool,
    ) -> Outcome {
        let spec = self.net.spec;
        let last = self.domains.iter().map(|d| d.nodes.counts.last).max().unwrap_or_default();
        // at a FIFO port no event ends what a failure takes: it is left to happen all the same
        let ports = || self.domains.iter().flat_map(|d| &d.nodes.ports);
        let doomed = ports().filter(|p| p.fails()).filter_map(Port::last_doomed);
        let last = doomed.fold(last, Time::max);
        let idle = idle && last < end;
        // a run with nothing left to happen ends with what happened last, unless it is ports that wait for one another
        let over = idle && !ports().any(Port::is_stalled);
        let end = if over { last } else { end };
        let to = self.net.interval.to.min(end).max(self.net.interval.from);
        let interval = Interval { to, ..self.net.interval };
        for d in &mut self.domains {
            d.finish(end, &self.net, &mut collector);
        }
        if !over {
            collector.trace.retain(|event| event.time_ps < end.0);
        }
        let under_way = self.under_way(in_flight, (!over).then_some(end));
        let (controllers, number) = governing(spec);
        let fabric = Fabric::new(spec);
        let flows = (0..).map(FlowId).zip(&spec.flows).map(|(f, flow)| {
            let datagrams = flow.app.datagram_gap().is_some();
            let controller = if datagrams { controllers.len() as u32 - 1 } else { number[flow.controller as usize] };
            self.flow_record(f, controller, &fabric.ideal(f), under_way.segments[f])
        });
        let flows: Vec<FlowRecord> = flows.collect();
        let ports = self.port_records(end, &interval);
        let engines = self.engine_records(end, &interval);
        let sum = |f: fn(&Counts) -> u64| self.domains.iter().map(|d| f(&d.nodes.counts)).sum();
        let mut outcome = Outcome {
            seed: spec.seed,
            end_ps: end.0,
            measure_from_ps: interval.from.0,
            measure_to_ps: interval.to.0,
            queue_samples: interval.samples(),
            hops: sum(|t| t.hops),
            packets_sent: sum(|t| t.sent),
            packets_delivered: sum(|t| t.delivered),
            packets_dropped: sum(|t| t.dropped) - under_way.spared,
            packets_in_flight: under_way.packets,
            groups: spec.groups.clone(),
            controllers,
            flows,
            labels: spec.labels.clone(),
            ports,
            engines,
            ..Outcome::default()
        };
        count_timeouts(&self.net, &mut collector, end);
        collector.finish(&mut outcome);
        outcome
    }

    /// Packets that are still under way: `in_flight`, and those in the domains. At `end`, unless the run is over,
    /// packets that a failure would have taken later are under way as well.
    fn under_way(&mut self, in_flight: impl Iterator<Item = Packet>, end: Option<Time>) -> UnderWay {
        // segments under way, each once whatever its fragments
        let mut segments: BTreeSet<(FlowId, u64, Time, bool)> = BTreeSet::new();
        let (mut packets, mut spared) = (0, 0);
        let mut note = |p: &Packet| {
            if p.is(Kind::Pause) {
                return;
            }
            packets += 1;
            if p.len > 0 {
                segments.insert((p.flow, p.seq(), p.sent_at(), p.has(flag::MEASURED)));
            }
        };
        in_flight.for_each(|p| note(&p));
        if let Some(end) = end {
            for port in self.domains.iter_mut().flat_map(|d| &mut d.nodes.ports).filter(|p| p.fails()) {
                for packet in port.spares(end, &self.net.interval) {
                    note(&packet);
                    spared += 1;
                }
            }
        }
        for d in &self.domains {
            d.nodes.ports.iter().for_each(|p| p.overflow().chain(p.waiting()).for_each(&mut note));
            for host in &d.nodes.hosts {
                host.nic.iter().for_each(|nic| nic.waiting().for_each(&mut note));
                [&host.receive, &host.send].into_iter().flatten().for_each(|e| e.waiting().for_each(&mut note));
            }
        }
        let mut by_flow = vec![(0u64, 0u64); self.net.spec.flows.len()];
        for (flow, _, _, measured) in segments {
            by_flow[flow].0 += 1;
            by_flow[flow].1 += measured as u64;
        }
        UnderWay { packets, spared, segments: by_flow }
    }

    /// The record of flow `f`, of which so many segments, and measured ones, are under way.
    fn flow_record(&self, f: FlowId, controller: u32, ideal: &FlowIdeal, under_way: (u64, u64)) -> FlowRecord {
        let spec = self.net.spec;
        let flow = &spec.flows[f];
        let ends = self.net.ends[f];
        let sender = &self.domains[ends.sender_domain].endpoints.senders[ends.sender];
        let receiver = &self.domains[ends.receiver_domain].endpoints.receivers[ends.receiver];
        let size = flow.app.size();
        let mut record = FlowRecord {
            flow: f.0,
            group: flow.group,
            controller,
            datagrams: flow.app.datagram_gap().is_some(),
            role: match self.net.duplex(f) {
                None => Role::Data,
                Some(duplex) if duplex.response => Role::Response,
                Some(_) => Role::Request,
            },
            src: flow.src,
            dst: flow.dst,
            start_ps: flow.start.0,
            size,
            ideal_fct_ps: ideal.ideal_fct.map(|t| t.0),
            idle_rtt_ps: ideal.idle_rtt.0,
            hops: ideal.hops,
            // drops in hosts are counted by the collector
            ..FlowRecord::default()
        };
        sender.record(&mut record);
        receiver.record(&mut record);
        let most = size.unwrap_or(u64::MAX);
        record.written = record.written.min(most);
        record.delivered = record.delivered.min(most);
        record.dropped = (record.sent - record.arrived).saturating_sub(under_way.0);
        record.dropped_m = (record.sent_m - record.arrived_m).saturating_sub(under_way.1);
        record
    }

    fn port_records(&mut self, end: Time, interval: &Interval) -> Vec<PortRecord> {
        let links = &self.net.spec.links;
        let stuck = deadlocked(&self.net, &self.domains);
        let records = (0..).map(LinkId).zip(links).map(|(l, link)| {
            let at = self.net.place[link.from as usize];
            let port = self.net.port_of[l];
            let record = self.domains[at.domain].nodes.ports[port].record(&link.name, end, interval);
            PortRecord { deadlocked_ps: stuck.get(&l).map(|since| since.0), ..record }
        });
        records.collect()
    }

    fn engine_records(&mut self, end: Time, interval: &Interval) -> Vec<EngineRecord> {
        let spec = self.net.spec;
        let mut engines = Vec::new();
        for node in 0..(if self.net.hosts_cost { spec.hosts as usize } else { 0 }) {
            let at = self.net.place[node];
            let host = &mut self.domains[at.domain].nodes.hosts[at.node.of_host().ix()];
            for (side, own) in [(Side::Receive, &mut host.receive), (Side::Send, &mut host.send)] {
                engines.extend(own.iter_mut().flat_map(|e| e.records(&spec.node_names[node], side, end, interval)));
            }
        }
        engines
    }
}
