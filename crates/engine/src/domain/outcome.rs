//! Outcome of a run: its ports, hosts and flows at the end.

use crate::domain::Domain;
use crate::domain::build::Simulation;
use crate::domain::crossings;
use crate::domain::deadlock::deadlocked;
use crate::domain::flow_frames::joined;
use crate::domain::late_ends::{receiver, sender};
use crate::domain::timeline_events::{Traces, events};
use crate::event::interval::Interval;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::NicQueue;
use crate::ids::{FlowId, LinkId, Side};
use crate::map::cells::CellMap;
use crate::map::fabric::FabricMap;
use crate::map::flow_ports::ports_of_flows;
use crate::map::ideal::{Fabric, FlowIdeal};
use crate::node::context::Counts;
use crate::node::pause_record::record_standing;
use crate::port::Port;
use crate::spec::{Governor, Limit, RunError, Spec};
use crate::threads::thread_pool::split;
use crate::transport::Known;
use incast_cc::Time;
use incast_record::packed::{FrameSeries, FrameTable};
use incast_record::store::Store;
use incast_record::{
    Collector, EngineRecord, EntryRecord, FlowFrame, FlowRecord, MessageKind, Outcome, PortFrame, PortRecord,
    RadioRecord, Role, summary,
};
use std::collections::BTreeMap;

/// Name in `flows.parquet` of a flow's controller with its parameters, or of the transport's own control.
fn name_of(spec: &Spec, governor: &Governor) -> String {
    match governor {
        Governor::Controller(number) => spec.controllers[*number as usize].to_string(),
        Governor::Own(name) => (*name).to_owned(),
    }
}

/// Counts, for every query and write, the timeouts of its flows while it was active.
fn count_timeouts(net: &FabricMap, collector: &mut Collector, end: Time) {
    // a query is identified by its root's connections, a write by its flow
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

/// State of some domains at the end of a run.
struct FinalState {
    collector: Collector,
    /// Packets in flight: sent and not yet arrived.
    packets: u64,
    /// Packets in flight that a failure would have dropped after the end of the run.
    spared: u64,
    /// Segments of these packets: flow, first byte, send time, true if measured.
    segments: Vec<(FlowId, u64, Time, bool)>,
}

impl FinalState {
    /// An empty state with this collector.
    fn new(collector: Collector) -> FinalState {
        FinalState { collector, packets: 0, spared: 0, segments: Vec::new() }
    }

    /// Counts a packet in flight.
    fn note(&mut self, p: &Packet) {
        if p.is(Kind::Pause) {
            return;
        }
        self.packets += 1;
        if p.len > 0 {
            self.segments.push((p.flow, p.seq(), p.sent_at(), p.has(flag::MEASURED)));
        }
    }

    /// Closes the accounts of a domain's ports, and counts its packets in flight. At `end`, unless the run is over,
    /// these include packets that a failure would have dropped later.
    fn close(&mut self, domain: &mut Domain, net: &FabricMap, end: Time, over: bool) {
        let interval = &net.interval;
        for host in &domain.nodes.hosts {
            host.nic.iter().for_each(|nic| domain.nodes.ports[host.port].set_ahead(nic.whole_ahead(false)));
        }
        domain.finish(end, net, &mut self.collector);
        record_standing(&domain.nodes, end, net, &mut self.collector);
        for port in &mut domain.nodes.ports {
            if port.fails() && !over {
                for packet in port.spares(end, interval) {
                    self.note(&packet);
                    self.spared += 1;
                }
            }
            port.waiting().for_each(|p| self.note(p));
            port.close(end, &measured(interval, end));
        }
        domain.nodes.shared.nic_queues.iter().flat_map(NicQueue::waiting).for_each(|p| self.note(p));
        for cell in &mut domain.nodes.shared.cells {
            cell.under_way().for_each(|p| self.note(p));
            cell.close(end);
        }
        domain.all_programs().for_each(|programs| programs.kept(&mut |p| self.note(p)));
        for host in &domain.nodes.hosts {
            host.nic.iter().for_each(|nic| nic.waiting().for_each(|p| self.note(p)));
            [&host.receive, &host.send].into_iter().flatten().for_each(|e| e.waiting().for_each(|p| self.note(p)));
        }
    }

    /// Merges the states of two groups of domains.
    fn and(mut self, mut other: FinalState) -> FinalState {
        self.collector.merge(other.collector);
        self.segments.append(&mut other.segments);
        self.packets += other.packets;
        self.spared += other.spared;
        self
    }

    /// Number of segments of every flow, each counted once whatever its fragments, and number of measured ones.
    fn segments(&mut self, flows: usize) -> Vec<(u64, u64)> {
        self.segments.sort_unstable();
        self.segments.dedup();
        let mut by_flow = vec![(0u64, 0u64); flows];
        for (flow, _, _, measured) in &self.segments {
            by_flow[*flow].0 += 1;
            by_flow[*flow].1 += *measured as u64;
        }
        by_flow
    }
}

/// The measured interval of a run that ends at `end`.
fn measured(interval: &Interval, end: Time) -> Interval {
    Interval { to: interval.to.min(end).max(interval.from), ..*interval }
}

impl Simulation<'_> {
    /// The outcome at `end`. `in_flight`: packets in buckets and queues outside the domains. An error if rows of the
    /// timeline cannot be read again.
    pub fn outcome(
        mut self,
        collector: Collector,
        in_flight: impl Iterator<Item = Packet>,
        end: Time,
        idle: bool,
    ) -> Result<Outcome, RunError> {
        let spec = self.net.spec;
        let last = self.domains.iter().map(|d| d.nodes.counts.last).max().unwrap_or_default();
        // a FIFO port has no event for a drop by a failure, which is still to happen
        let ports = || self.domains.iter().flat_map(|d| &d.nodes.ports);
        let scheduled_losses = ports().filter(|p| p.fails()).filter_map(Port::last_scheduled_loss);
        let last = scheduled_losses.fold(last, Time::max);
        // a run with nothing left to happen ends with the last event, unless ports are deadlocked
        let over = idle && last < end && !ports().any(Port::is_stalled);
        let end = if over { last } else { end };
        let interval = measured(&self.net.interval, end);
        let (net, thread_pool, groups) = (&self.net, &*self.thread_pool, spec.groups.len());
        let mut left = FinalState::new(collector);
        in_flight.for_each(|p| left.note(&p));
        let stuck = deadlocked(net, &self.domains);
        let parts = thread_pool.ranges(self.domains.len());
        let closed = thread_pool.share(split(&mut self.domains, &parts), |(_, domains)| {
            let mut left = FinalState::new(Collector::new(groups));
            domains.iter_mut().for_each(|domain| left.close(domain, net, end, over));
            left
        });
        let mut left = closed.into_iter().fold(left, FinalState::and);
        if !over {
            left.collector.trace.retain(|event| event.time_ps < end.0);
            left.collector.monitored.retain(|event| event.time_ps < end.0);
        }
        let segments = left.segments(spec.flows.len());
        let (controllers, flows) = self.flow_records(&segments);
        let (port_frames, frame_ps) = self.frames(end);
        let flow_frames = self.flow_frames(end);
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
            packets_dropped: sum(|t| t.dropped) - left.spared,
            packets_in_flight: left.packets,
            groups: spec.groups.clone(),
            controllers,
            flows,
            failed_links: crossings::failed_links(spec, end),
            labels: spec.labels.clone(),
            jobs: spec.jobs.iter().map(|job| job.record(&spec.groups, spec.duration)).collect(),
            ports: self.port_records(&stuck, end, &interval),
            port_frames,
            frame_ps,
            flow_frames,
            engines: self.engine_records(end, &interval),
            entries: self.entry_records(end),
            radios: self.radio_records(),
            monitored: spec.observe.entries,
            ..Outcome::default()
        };
        let lost_by = |port: &Port| port.crossed().filter(|(_, at)| over || *at < end).map(|(flow, _)| flow).collect();
        let crossed: Vec<Vec<FlowId>> = self.domains.iter().flat_map(|d| &d.nodes.ports).map(lost_by).collect();
        crossings::mark(spec, crossed.into_iter().flatten(), &mut outcome.flows, end);
        count_timeouts(&self.net, &mut left.collector, end);
        let timeouts = std::mem::take(&mut left.collector.timeouts);
        left.collector.finish(&mut outcome, &spec.observe.monitor, spec.duration.0);
        if let Some(every) = outcome.frame_ps {
            let traces = Traces { flows: &outcome.flows, messages: &outcome.messages, timeouts: &timeouts };
            let frames = || outcome.port_frames.rows();
            outcome.timeline_events = events(spec, &traces, frames, (every, end));
        }
        if outcome.frame_ps.is_some() || spec.observe.pauses.is_some() {
            outcome.paths = ports_of_flows(spec, &Fabric::new(spec), &self.thread_pool);
        }
        if !outcome.pauses.rows.is_empty() {
            outcome.pauses.nodes = spec.node_names.clone();
        }
        self.thread_pool.share(split(&mut self.domains, &parts), |(_, domains)| domains.fill_with(Domain::default));
        // a link that gets faster is faster than the bound knows
        let bounded = spec.failures.iter().all(|failure| failure.rate().is_none());
        let too_fast = if bounded { summary::too_fast(&outcome) } else { None };
        outcome.unreadable().or(too_fast).map_or(Ok(outcome), |words| Err(RunError::Invalid(words)))
    }

    /// Names of what governs flows, and the flows' records. `segments`: number of each flow's segments in flight, and
    /// of the measured ones.
    fn flow_records(&self, segments: &[(u64, u64)]) -> (Vec<String>, Vec<FlowRecord>) {
        let spec = self.net.spec;
        let governors: Vec<Governor> = spec.governors().into_iter().collect();
        let controllers = governors.iter().map(|governor| name_of(spec, governor)).collect();
        let flows = self.thread_pool.list(spec.flows.len(), |range| {
            let record = |f: usize| {
                let governor = spec.governor(&spec.flows[f]);
                let controller = governors.iter().position(|g| *g == governor).unwrap_or_default() as u32;
                self.flow_record(FlowId(f as u32), controller, &self.ideals.of(FlowId(f as u32)), segments[f])
            };
            range.map(record).collect()
        });
        (controllers, flows)
    }

    /// Record of flow `f`. `under_way`: number of its segments in flight, and of the measured ones.
    fn flow_record(&self, f: FlowId, controller: u32, ideal: &FlowIdeal, under_way: (u64, u64)) -> FlowRecord {
        let spec = self.net.spec;
        let flow = &spec.flows[f];
        let ends = self.net.ends[f];
        let senders = &self.domains[ends.sender_domain].endpoints.senders;
        let receivers = &self.domains[ends.receiver_domain].endpoints.receivers;
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
            ideal_delivery_ps: ideal.ideal_delivery.map(|t| t.0),
            ideal_fct_ps: ideal.ideal_fct.map(|t| t.0),
            idle_rtt_ps: ideal.idle_rtt.0,
            hops: ideal.hops,
            deadline_ps: size.and_then(|_| self.net.deadline(f, 0)).map(|t| t.0),
            // drops in hosts are counted by the collector
            ..FlowRecord::default()
        };
        match senders.known(ends.sender.ix()) {
            Known::End(own) => own.record(&mut record),
            Known::Left(left) => _ = record.unpack(left),
            Known::Unused => sender(&self.net, f).record(&mut record),
        }
        match receivers.known(ends.receiver.ix()) {
            Known::End(own) => own.record(&mut record),
            Known::Left(left) => _ = record.unpack(left),
            Known::Unused => receiver(&self.net, f).record(&mut record),
        }
        let max = size.unwrap_or(u64::MAX);
        record.written = record.written.min(max);
        record.delivered = record.delivered.min(max);
        let repeated = self.domains[self.net.place[flow.dst as usize].domain].nodes.shared.repeated.of(f);
        record.arrived -= repeated.packets;
        record.delivered -= repeated.bytes;
        record.delivered_m -= repeated.bytes_m;
        record.dropped = (record.sent - record.arrived).saturating_sub(under_way.0);
        record.dropped_m = (record.sent_m - record.arrived_m).saturating_sub(under_way.1);
        record
    }

    fn port_records(&self, stuck: &BTreeMap<LinkId, Time>, end: Time, interval: &Interval) -> Vec<PortRecord> {
        let (net, domains) = (&self.net, &self.domains);
        let record = |l: usize| {
            let link = &net.spec.links[l];
            let at = net.place[link.from as usize];
            let record = domains[at.domain].nodes.ports[net.port_of[l]].record(&link.name, end, interval);
            let (limit_packets, limit_bytes) = match net.spec.queues[link.queue as usize].limit {
                Limit::Packets(limit) => (Some(limit), None),
                Limit::Bytes(limit) => (None, Some(limit)),
                Limit::None => (None, None),
            };
            let deadlocked_ps = stuck.get(&LinkId(l as u32)).map(|since| since.0);
            PortRecord { deadlocked_ps, limit_packets, limit_bytes, ..record }
        };
        self.thread_pool.list(net.spec.links.len(), |range| range.map(record).collect())
    }

    /// Frames of the ports in a run that ends at `end`, in order, and the length of a frame.
    fn frames(&mut self, end: Time) -> (FrameTable<PortFrame>, Option<u64>) {
        let Some(timeline) = self.net.spec.observe.timeline else { return (FrameTable::default(), None) };
        let mut tables = Vec::with_capacity(self.net.spec.links.len());
        for (l, link) in self.net.spec.links.iter().enumerate() {
            let domain = &mut self.domains[self.net.place[link.from as usize].domain];
            tables.push(domain.nodes.ports[self.net.port_of[l]].take_frames(end));
        }
        (FrameTable::from(tables), Some(timeline.every_by(end).0))
    }

    /// Frames of the flows in a run that ends at `end`.
    fn flow_frames(&mut self, end: Time) -> FrameTable<FlowFrame> {
        if self.net.spec.observe.timeline.is_none() {
            return FrameTable::default();
        }
        let net = &self.net;
        let parts = self.thread_pool.ranges(self.domains.len());
        self.thread_pool.share(split(&mut self.domains, &parts), |(_, domains)| {
            domains.iter_mut().for_each(|domain| domain.endpoints.end_frames(end, &domain.nodes.shared.repeated));
        });
        let domains = &self.domains;
        let rows = |f: usize, store: &mut Option<Store>| {
            let ends = net.ends[f];
            let sent = domains[ends.sender_domain].endpoints.frames_of_sender(ends.sender);
            let arrived = domains[ends.receiver_domain].endpoints.frames_of_receiver(ends.receiver);
            let Some((sent, arrived)) = sent.zip(arrived) else { return FrameSeries::default() };
            joined(sent, arrived, end, store.get_or_insert_with(|| sent.sibling_store()))
        };
        // each thread has a store of its own
        FrameTable::from(self.thread_pool.list(net.ends.len(), |range| {
            let mut store = None;
            range.map(|f| rows(f, &mut store)).collect()
        }))
    }

    /// Counters of table entries, by node.
    fn entry_records(&mut self, end: Time) -> Vec<EntryRecord> {
        let (spec, mut entries) = (self.net.spec, Vec::new());
        let mut nodes: Vec<u32> = spec.programs.iter().flat_map(|p| p.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let at = self.net.place[node as usize];
            if let Some(programs) = self.domains[at.domain].programs(at.node) {
                programs.report(spec, end, &mut |entry| entries.push(entry));
            }
        }
        entries
    }

    /// Counters of radio stations, by cell.
    fn radio_records(&self) -> Vec<RadioRecord> {
        let own = |cell: &CellMap| &self.domains[cell.domain].nodes.shared.cells[cell.local as usize];
        self.net.cells.iter().flat_map(|cell| own(cell).records(self.net.spec)).collect()
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
