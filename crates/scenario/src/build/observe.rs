//! Observations: samples of queues, time series, traces.

use crate::document::job::TaskRanks;
use crate::document::{Document, Interval, Measure, Ports, Undeliverable};
use crate::text::problem::Problem;
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::map::earliest_end::earliest_end;
use incast_engine::spec::{self, LinkSpec, MonitorRule};
use std::collections::HashMap;

/// Most values of all time series at fixed intervals: about 1.2 GB in memory.
const MAX_SAMPLES: u64 = 50_000_000;
/// Most frames of a timeline, and most frames times ports, for a frame length given in the scenario: 0.5 GB of port
/// rows if something happens in each of them.
const MAX_FRAMES: u64 = 1_000_000;
const MAX_CELLS: u64 = 50_000_000;
/// Number of ports above which automatic frames begin longer, and are half as many.
const MANY_PORTS: u64 = 10_000;
/// Most samples of queues, all ports together: minutes of CPU time if queues change between all of them.
const MAX_QUEUE_SAMPLES: u64 = 10_000_000_000;
/// Default number of recorded pauses.
const PAUSES: u32 = 100_000;
/// Values of one flow at one instant: window, threshold, RTT and the controller's state.
const VALUES_PER_FLOW: u64 = 8;

/// Observations requested by a document, for this network. `flows` is their number, if all are known.
pub(super) fn observe(
    doc: &Document,
    network: &Network,
    flows: Option<usize>,
    problems: &mut Vec<Problem>,
) -> spec::Observe {
    let (m, links) = (&doc.measure, &network.links);
    let (from, to) = doc.run.measured();
    let measured = to.saturating_sub(from);
    check_flows(m, flows, problems);
    let cells = cells(doc, network, problems);
    let ports = ports(&m.series.ports, links, problems);
    check_monitor(m, problems);
    let mut positive = |key: &str, t: cc::Time| {
        if t == cc::Time::ZERO {
            problems.push(Problem::quoted(key, "0s", "expected a time above 0"));
        }
        t
    };
    let auto = cc::Time((measured.0 / 1000).clamp(cc::Time::ns(100).0, cc::Time::ms(1).0));
    let queue_interval = m.queue_interval.given().map_or(auto, |t| positive("measure.queue_interval", t.0));
    let interval = match m.series.interval {
        Interval::Change(_) => None,
        Interval::Every(t) => Some(positive("measure.series.interval", t.0)),
    };
    let lost_after_ps = m.lost_after.map(|t| positive("measure.lost_after", t.0).0);
    problems.extend(too_often(queue_interval, auto, measured, links.len() as u64));
    if let Some(every) = interval.filter(|t| *t > cc::Time::ZERO) {
        let series = VALUES_PER_FLOW * m.series.flows.len() as u64 + (ports.len() + m.series.cells.len()) as u64;
        let smallest = (doc.run.duration.0.0 as u128 * series as u128).div_ceil(MAX_SAMPLES as u128) as u64;
        if every.0 < smallest {
            let message = format!(
                "expected at least {} for {} flows and {} ports over {}: all series together have at most \
                 {MAX_SAMPLES} values",
                cc::Time(smallest),
                m.series.flows.len(),
                ports.len(),
                doc.run.duration,
            );
            problems.push(Problem::quoted("measure.series.interval", every, message));
        }
    }
    let timeline = m.timeline.and_then(|every| timeline(doc, every.given().map(|t| t.0), links.len() as u64, problems));
    spec::Observe {
        timeline,
        timeline_near: None,
        timeline_disk: None,
        pauses: m.pauses.map(|most| most.given().map_or(PAUSES, |most| most.0)),
        tasks: tasks(&m.tasks, problems),
        queue_interval,
        flows: m.series.flows.clone(),
        ports,
        cells,
        interval,
        trace: m.trace.clone(),
        drop_messages: m.messages == Some(false),
        max_kept: None,
        acks: m.acks,
        monitor: MonitorRule { lost_after_ps, undeliverable_received: m.undeliverable.0 == Undeliverable::Received },
        entries: m.entries,
    }
}

/// Reports numbers of flows that the run does not have.
fn check_flows(m: &Measure, flows: Option<usize>, problems: &mut Vec<Problem>) {
    for (key, list) in [("measure.series.flows", &m.series.flows), ("measure.trace", &m.trace)] {
        for f in list {
            if let Some(flows) = flows.filter(|n| *f as usize >= *n) {
                let message = format!("expected numbers of flows, from 0 to {}", flows - 1);
                problems.push(Problem::with_value(key, f, message));
            }
        }
    }
}

/// Ports with a time series, by the numbers of their links.
fn ports(asked: &Ports, links: &[LinkSpec], problems: &mut Vec<Problem>) -> Vec<u32> {
    let names = || links.iter().map(|l| &*l.name);
    let named = asked.named();
    let of_ports = if named.is_empty() { 0 } else { links.len() };
    let by_name: HashMap<&str, u32> = names().zip(0..).take(of_ports).collect();
    let mut ports = Vec::new();
    if let Ports::All(_) = asked {
        ports.extend((0u32..).take(links.len()));
    }
    for name in named {
        match by_name.get(name.as_str()) {
            Some(port) => ports.push(*port),
            None => {
                let message = format!("no such port; expected names such as \"{}\"", links[0].name);
                let p = Problem::quoted("measure.series.ports", name, message);
                problems.push(p.suggest(name, names().take(10_000)));
            }
        }
    }
    ports
}

/// Ranks whose tasks are recorded.
fn tasks(asked: &TaskRanks, problems: &mut Vec<Problem>) -> Option<spec::TaskRanks> {
    let ranges = match asked {
        TaskRanks::All(_) => return Some(spec::TaskRanks::All),
        TaskRanks::Of(ranges) => ranges,
    };
    let mut found = Vec::new();
    for range in ranges {
        match range.ends() {
            Ok(ends) => found.push(ends),
            Err(words) => {
                let message = "expected \"all\", or numbers of ranks and ranges such as \"8-15\"";
                problems.push(Problem::quoted("measure.tasks", words, message));
            }
        }
    }
    (!found.is_empty()).then_some(spec::TaskRanks::Of(found))
}

/// Numbers of ranks in `measure.tasks` that no job has.
pub(super) fn check_tasks(spec: &spec::Spec, problems: &mut Vec<Problem>) {
    let Some(spec::TaskRanks::Of(ranges)) = &spec.observe.tasks else { return };
    let Some(most) = spec.jobs.iter().map(|job| job.tasks.graph().ranks() as u32).max() else { return };
    for (first, last) in ranges {
        if *last >= most {
            let message = format!("expected numbers of ranks, from 0 to {}", most.saturating_sub(1));
            let words = if first == last { first.to_string() } else { format!("{first}-{last}") };
            problems.push(Problem::with_value("measure.tasks", words, message));
        }
    }
}

/// Reports keys of FlowMonitor that contradict each other.
fn check_monitor(m: &Measure, problems: &mut Vec<Problem>) {
    if !m.acks {
        let message = "expected with acks = true: FlowMonitor's entries are of both directions";
        if let Some(after) = m.lost_after {
            problems.push(Problem::quoted("measure.lost_after", after, message));
        }
        if m.undeliverable.0 != Undeliverable::default() {
            problems.push(Problem::quoted("measure.undeliverable", "received", message));
        }
        if let Some(first) = m.entries {
            problems.push(Problem::quoted("measure.entries", first, message));
        }
    }
    if m.entries == Some(0) {
        problems.push(Problem::quoted("measure.entries", "0", "expected a whole number of at least 1"));
    }
}

/// Problem with an explicit sampling interval that is too short; the automatic one never is, for any number of ports.
fn too_often(every: cc::Time, auto: cc::Time, measured: cc::Time, ports: u64) -> Option<Problem> {
    let finest = (measured.0 as u128 * ports as u128).div_ceil(MAX_QUEUE_SAMPLES as u128);
    let finest = cc::Time(finest.min(auto.0 as u128) as u64);
    let message = format!(
        "expected at least {finest} for {ports} ports over the measured {measured}: all ports together have at most \
         {MAX_QUEUE_SAMPLES} samples"
    );
    let is_given = every > cc::Time::ZERO;
    (is_given && every < finest).then(|| Problem::quoted("measure.queue_interval", every, message))
}

/// Timeline with frames of a given or automatic length, for this number of ports.
fn timeline(
    doc: &Document,
    every: Option<cc::Time>,
    ports: u64,
    problems: &mut Vec<Problem>,
) -> Option<spec::TimelineSpec> {
    let duration = doc.run.duration.0;
    let Some(every) = every else {
        let (most, first) = if ports > MANY_PORTS { (1_000, cc::Time::us(2)) } else { (2_000, cc::Time::ns(100)) };
        // a run may end long before its duration: frames become longer as it goes on
        let every = cc::Time(duration.0.div_ceil(most as u64).clamp(1, first.0));
        return Some(spec::TimelineSpec { every, most });
    };
    let smallest = (duration.0 as u128 * ports as u128).div_ceil(MAX_CELLS as u128).max(1) as u64;
    let smallest = smallest.max(duration.0.div_ceil(MAX_FRAMES));
    let message = if every > duration {
        format!("expected at most run.duration, {}", doc.run.duration)
    } else if every.0 < smallest {
        format!(
            "expected at least {} for {ports} ports over {}: at most {MAX_FRAMES} frames, and {MAX_CELLS} rows, one \
             a frame and port; or \"auto\"",
            cc::Time(smallest),
            doc.run.duration,
        )
    } else {
        return Some(spec::TimelineSpec { every, most: u32::MAX });
    };
    problems.push(Problem::quoted("measure.timeline", every, message));
    None
}

/// Makes frames that grow start at the length for the earliest possible end of the run: merging frames takes time,
/// and the result is the same. With many flows only the hosts' links determine that end, to keep the cost below that
/// of setting up the flows.
pub(super) fn begin_with_long_frames(spec: &mut spec::Spec) {
    let duration = spec.duration;
    let longer = spec.observe.timeline.filter(|timeline| timeline.every_by(duration) > timeline.every);
    if let Some(mut timeline) = longer {
        timeline.every = timeline.every_by(earliest_end(spec));
        spec.observe.timeline = Some(timeline);
    }
}

/// Numbers of the cells whose channels are named by `measure.series.cells`.
fn cells(doc: &Document, network: &Network, problems: &mut Vec<Problem>) -> Vec<u32> {
    let channel = |cell: &spec::CellSpec| network.names[cell.channel as usize].as_str();
    let numbers = doc.measure.series.cells.iter().filter_map(|name| {
        let found = (0u32..).zip(&network.cells).find(|(_, cell)| channel(cell) == name.as_str());
        if found.is_none() {
            let message = match network.cells.first() {
                Some(cell) => format!("no such channel; expected names such as \"{}\"", channel(cell)),
                None => "expected none: the topology has no radio cell".into(),
            };
            problems.push(Problem::quoted("measure.series.cells", name, message));
        }
        found.map(|(i, _)| i)
    });
    numbers.collect()
}
