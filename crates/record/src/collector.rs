//! Default recorder of a run: keeps everything.

use crate::{
    CollectiveRecord, Histogram, MessageRecord, MonitorEntry, MonitorEvent, MonitorRule, MonitorStep, Outcome,
    PacketEvent, PartRecord, PauseEvent, PauseEvents, RankRecord, Recorder, Sample, TaskRecord, TransferRecord,
};
use std::collections::BTreeMap;

/// Bytes of the two texts of a packet event, as they lie in memory.
const TEXTS: usize = 64;

/// Keeps delays and round-trip times as one histogram per group, and samples and packet events in the order of the
/// calls.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    /// One-way delays of delivered data segments (picoseconds), by group.
    pub delay: Vec<Histogram>,
    /// RTT samples (picoseconds), by group.
    pub rtt: Vec<Histogram>,
    /// Points of time series, in the order of the calls.
    pub samples: Vec<Sample>,
    /// Packet events, in the order of the calls.
    pub trace: Vec<PacketEvent>,
    /// Steps of packets whose directions have entries, in the order of the calls.
    pub monitored: Vec<MonitorEvent>,
    /// Queries and writes, in the order of the calls.
    pub messages: Vec<MessageRecord>,
    /// Iterations of ranks of jobs, in the order of the calls.
    pub ranks: Vec<RankRecord>,
    /// Collectives of jobs, by job, iteration and index.
    pub collectives: BTreeMap<(u32, u32, u32), CollectiveRecord>,
    /// Messages of jobs, in the order of the calls.
    pub transfers: Vec<TransferRecord>,
    /// Tasks of jobs, in the order of the calls.
    pub tasks: Vec<TaskRecord>,
    /// Timeouts (flow, ps) of flows that carry messages, or with a timeline of all, in the order of the calls.
    pub timeouts: Vec<(u32, u64)>,
    /// Events of pauses.
    pub pauses: PauseEvents,
    /// Data packets that hosts had no room for, by flow.
    pub host_drops: BTreeMap<u32, u64>,
    /// Flows and queries of a known size that have finished.
    pub finished: u64,
    /// Time at which the last of them finished, in ps.
    pub finished_at: u64,
}

impl Collector {
    /// A collector for groups `0..groups`.
    pub fn new(groups: usize) -> Self {
        let histograms = vec![Histogram::new(); groups];
        Self { delay: histograms.clone(), rtt: histograms, ..Self::default() }
    }

    /// Bytes kept point by point: packet events with their texts, FlowMonitor steps, samples, queries and writes,
    /// pauses.
    #[inline]
    pub fn kept_bytes(&self) -> u64 {
        let of = |count: usize, size: usize| (count * size) as u64;
        of(self.trace.len(), size_of::<PacketEvent>() + TEXTS)
            + of(self.monitored.len(), size_of::<MonitorEvent>())
            + of(self.samples.len(), size_of::<Sample>())
            + of(self.messages.len(), size_of::<MessageRecord>())
            + of(self.ranks.len(), size_of::<RankRecord>())
            + of(self.collectives.len(), size_of::<((u32, u32, u32), CollectiveRecord)>())
            + of(self.transfers.len(), size_of::<TransferRecord>())
            + of(self.tasks.len(), size_of::<TaskRecord>())
            + self.pauses.kept_bytes()
    }

    /// Adds what `other` collected, group by group.
    ///
    /// # Panics
    /// If `other` was made for a different number of groups.
    pub fn merge(&mut self, other: Collector) {
        assert_eq!(self.delay.len(), other.delay.len(), "collectors of one run have the same groups");
        self.delay.iter_mut().zip(&other.delay).for_each(|(mine, theirs)| mine.merge(theirs));
        self.rtt.iter_mut().zip(&other.rtt).for_each(|(mine, theirs)| mine.merge(theirs));
        self.samples.extend(other.samples);
        self.trace.extend(other.trace);
        self.monitored.extend(other.monitored);
        self.messages.extend(other.messages);
        self.ranks.extend(other.ranks);
        for (key, record) in &other.collectives {
            self.collectives.entry(*key).or_default().merge(record);
        }
        self.transfers.extend(other.transfers);
        self.tasks.extend(other.tasks);
        self.timeouts.extend(other.timeouts);
        self.pauses.merge(other.pauses);
        self.finished += other.finished;
        self.finished_at = self.finished_at.max(other.finished_at);
        for (flow, drops) in other.host_drops {
            *self.host_drops.entry(flow).or_default() += drops;
        }
    }

    /// Hands the collection to `outcome`, in an order that does not depend on how calls of different nodes were
    /// interleaved: samples by (entity, name, time), packet events by (time, flow, place), messages by (kind, group,
    /// host, flow, number). Equal keys keep the order of the calls; all of them come from one node, in the order of
    /// happening. `rule` applies to FlowMonitor's entries; FlowMonitor checks for losses until `until_ps`, even if
    /// the run ends earlier.
    pub fn finish(mut self, outcome: &mut Outcome, rule: &MonitorRule, until_ps: u64) {
        self.samples.sort_by(|a, b| (&a.entity, a.name, a.time_ps).cmp(&(&b.entity, b.name, b.time_ps)));
        self.trace.sort_by(|a, b| (a.time_ps, a.flow, &a.place).cmp(&(b.time_ps, b.flow, &b.place)));
        self.messages.sort_by_key(|m| (m.kind, m.group, m.host, m.flow, m.number));
        self.monitored.sort_unstable();
        for direction in self.monitored.chunk_by(|a, b| (a.flow, a.reverse) == (b.flow, b.reverse)) {
            if let Some(record) = outcome.flows.get_mut(direction[0].flow as usize) {
                let entry = entry(direction, rule, until_ps);
                if direction[0].reverse {
                    record.fm_acks = Some(Box::new(entry));
                } else {
                    record.take_monitored(entry);
                }
            }
        }
        for (flow, drops) in self.host_drops {
            if let Some(record) = outcome.flows.get_mut(flow as usize) {
                record.host_dropped_m = drops;
            }
        }
        self.ranks.sort_by_key(|r| (r.job, r.iteration, r.rank));
        self.transfers.sort_by_key(|t| (t.job, t.start_ps, t.from, t.to, t.finish_ps, t.task));
        self.tasks.sort_by_key(|t| (t.job, t.rank, t.iteration, t.task));
        outcome.ranks = self.ranks;
        outcome.tasks = self.tasks;
        outcome.collectives = self.collectives;
        outcome.transfers = self.transfers;
        outcome.messages = self.messages;
        outcome.delay = self.delay;
        outcome.rtt = self.rtt;
        outcome.samples = self.samples;
        outcome.trace = self.trace;
        outcome.pauses.rows = self.pauses.rows();
    }
}

/// Bytes that an ICMPv6 error adds to the packet within it: an IPv6 header and its own.
const ICMPV6_ERROR: u64 = 48;
/// Interval between FlowMonitor's checks for lost packets, in ps.
const LOOKS_EVERY: u64 = 1_000_000_000_000;

/// Makes one entry from the steps of the packets of one direction, in the order of time; FlowMonitor checks for
/// losses until `end`. A repeated number is the latest packet of that number: no path delays a packet by 65,536
/// others.
fn entry(events: &[MonitorEvent], rule: &MonitorRule, end: u64) -> MonitorEntry {
    let mut entry = MonitorEntry::default();
    let mut under_way: BTreeMap<u16, u64> = BTreeMap::new();
    // FlowMonitor counts a packet sent at `sent` as lost by `time`; it checks every second
    let missed = |sent: u64, time: u64| {
        rule.lost_after_ps
            .is_some_and(|after| time >= sent.saturating_add(after).div_ceil(LOOKS_EVERY).saturating_mul(LOOKS_EVERY))
    };
    // the same at the end of the run
    let lost = |sent: u64| rule.lost_after_ps.is_some_and(|after| sent.saturating_add(after) <= end);
    for event in events {
        if let MonitorStep::Sent { measured } = event.step {
            if let Some(sent) = under_way.remove(&event.id) {
                entry.lost_packets += u64::from(lost(sent));
            }
            if measured {
                under_way.insert(event.id, event.time_ps);
                entry.tx_packets += 1;
                entry.first_tx_ps.get_or_insert(event.time_ps);
            }
            continue;
        }
        let error = match event.step {
            MonitorStep::Unreachable if rule.undeliverable_received => ICMPV6_ERROR,
            MonitorStep::Lost | MonitorStep::Unreachable if rule.lost_after_ps.is_some() => continue,
            _ => 0,
        };
        let Some(sent) = under_way.remove(&event.id) else { continue };
        if missed(sent, event.time_ps) || error == 0 && event.step != MonitorStep::Arrived {
            entry.lost_packets += 1;
        } else {
            entry.rx_packets += 1;
            entry.rx_bytes += u64::from(event.size) + error;
            entry.delay_sum_ps += event.time_ps - sent;
            entry.last_rx_ps = Some(event.time_ps);
        }
    }
    entry.lost_packets += under_way.values().filter(|sent| lost(**sent)).count() as u64;
    entry
}

impl Recorder for Collector {
    #[inline]
    fn delay(&mut self, group: u32, delay_ps: u64) {
        self.delay[group as usize].record(delay_ps);
    }

    #[inline]
    fn rtt(&mut self, group: u32, rtt_ps: u64) {
        self.rtt[group as usize].record(rtt_ps);
    }

    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn monitor(&mut self, event: MonitorEvent) {
        self.monitored.push(event);
    }

    fn packet(&mut self, event: PacketEvent) {
        self.trace.push(event);
    }

    fn message(&mut self, message: MessageRecord) {
        self.messages.push(message);
    }

    fn timeout(&mut self, flow: u32, time_ps: u64) {
        self.timeouts.push((flow, time_ps));
    }

    fn pause(&mut self, event: PauseEvent, most: u32) {
        self.pauses.add(event, most);
    }

    fn rank(&mut self, record: RankRecord) {
        self.ranks.push(record);
    }

    fn part(&mut self, part: PartRecord) {
        self.collectives.entry((part.job, part.iteration, part.collective)).or_default().add(&part);
    }

    fn transfer(&mut self, record: TransferRecord) {
        self.transfers.push(record);
    }

    fn task(&mut self, record: TaskRecord) {
        self.tasks.push(record);
    }

    fn finish(&mut self, time_ps: u64) {
        self.finished += 1;
        self.finished_at = self.finished_at.max(time_ps);
    }

    fn host_drop(&mut self, flow: u32) {
        *self.host_drops.entry(flow).or_default() += 1;
    }
}
