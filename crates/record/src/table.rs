//! Tables of a run: one row per flow, port, point of a time series, packet event.
//!
//! A table is a list of [`Column`]s of equal length. Each carries its unit and definition, so that code that writes
//! or shows it needs no second list.

pub use crate::figure::{Column, Values};
use crate::figure::{Quantity, columns};
use crate::packed::{FrameTable, Framed};
use crate::{
    Outcome, collectives, entries, flows, hosts, job_tasks, jobs, messages, pauses, ports, radios, series, timeline,
};
use std::ops::Range;

/// Function that makes a table.
pub type Make = fn(&Outcome) -> Vec<Column>;

/// All tables, by file name.
pub const TABLES: [(&str, Make); 20] = [
    ("flows", flows),
    ("ports", ports),
    ("classes", ports::classes),
    ("engines", engines),
    ("entries", entries),
    ("radios", radios),
    ("queries", messages::queries),
    ("writes", messages::writes),
    ("jobs", jobs::jobs),
    ("ranks", jobs::ranks),
    ("collectives", collectives::collectives),
    ("messages", jobs::messages),
    ("tasks", job_tasks::tasks),
    ("samples", samples),
    ("trace", trace),
    ("pauses", pauses),
    ("timeline_ports", timeline_ports),
    ("timeline_flows", timeline_flows),
    ("timeline_events", timeline_events),
    ("timeline_paths", timeline_paths),
];

/// Function that makes the table of this name; the error lists the names.
pub fn named(name: &str) -> Result<Make, String> {
    let found = TABLES.iter().find(|(table, _)| *table == name);
    found.map(|(_, make)| *make).ok_or_else(|| {
        let known: Vec<&str> = TABLES.iter().map(|(table, _)| *table).collect();
        format!("no table {name:?}: expected {}", known.join(", "))
    })
}

/// `flows.parquet`: one row per flow, in flow order. The label columns follow `dst`; with failures
/// of links a last column says which flows crossed one.
pub fn flows(outcome: &Outcome) -> Vec<Column> {
    rows_of_flows(outcome, 0..outcome.flows.len())
}

fn rows_of_flows(outcome: &Outcome, rows: Range<usize>) -> Vec<Column> {
    let records = &outcome.flows[rows.clone()];
    let mut columns = of(flows::COLUMNS, records, outcome);
    let ends = columns.iter().take_while(|c| c.name != "hops").count();
    let labels = outcome.labels.iter().map(|label| {
        let names = label.values.iter().map(|&name| name.to_owned()).collect();
        let values = Values::Dict { codes: label.of[rows.clone()].to_vec(), names };
        Column { name: label.name, unit: "", doc: label.definition, values }
    });
    columns.splice(ends..ends, labels);
    if !outcome.failed_links.is_empty() {
        columns.extend(of(flows::CROSSED, records, outcome));
    }
    columns
}

/// `ports.parquet`: one row per port (directed link with the queue at its sending end), in link order.
pub fn ports(outcome: &Outcome) -> Vec<Column> {
    of(ports::COLUMNS, &outcome.ports, outcome)
}

/// `engines.parquet`: one row per engine of a host with processing times; none without such hosts.
pub fn engines(outcome: &Outcome) -> Vec<Column> {
    of(hosts::COLUMNS, &outcome.engines, outcome)
}

/// `entries.parquet`: one row per entry of a table at a node; none if no node runs tables.
pub fn entries(outcome: &Outcome) -> Vec<Column> {
    of(entries::COLUMNS, &outcome.entries, outcome)
}

/// `radios.parquet`: one row per station of a radio cell, by cell; none without cells.
pub fn radios(outcome: &Outcome) -> Vec<Column> {
    of(radios::COLUMNS, &outcome.radios, outcome)
}

/// `samples.parquet`: one row per point of a time series, ordered by series, then time.
pub fn samples(outcome: &Outcome) -> Vec<Column> {
    of(series::SAMPLES, &outcome.samples, outcome)
}

/// `trace.parquet`: one row per event of a packet of a traced flow, ordered by time.
pub fn trace(outcome: &Outcome) -> Vec<Column> {
    of(series::TRACE, &outcome.trace, outcome)
}

/// `pauses.parquet`: one row per pause of priority flow control and egress port that caused it, ordered by time.
pub fn pauses(outcome: &Outcome) -> Vec<Column> {
    of(pauses::COLUMNS, &outcome.pauses.rows, outcome)
}

/// `timeline_ports.parquet`: one row per frame and port in which something happens, by (frame, port).
pub fn timeline_ports(outcome: &Outcome) -> Vec<Column> {
    of(timeline::PORTS, &outcome.port_frames.rows().collect::<Vec<_>>(), outcome)
}

/// `timeline_flows.parquet`: one row per frame and flow in which something changes, by (frame, flow).
pub fn timeline_flows(outcome: &Outcome) -> Vec<Column> {
    of(timeline::FLOWS, &outcome.flow_frames.rows().collect::<Vec<_>>(), outcome)
}

/// Most rows of flows and messages that are one part.
const MANY: usize = 1 << 17;
/// Rows of a part of more.
const PART: usize = 1 << 15;

/// Passes a table of frames to `show` in parts of `most` rows (the last may be shorter), and one of more than [`MANY`]
/// flows or messages in parts of at most [`PART`]. Returns false for other tables.
pub fn parts(name: &str, outcome: &Outcome, most: usize, show: &mut dyn FnMut(Vec<Column>)) -> bool {
    let (flows, messages, part) = (outcome.flows.len(), outcome.transfers.len(), most.clamp(1, PART));
    match name {
        "flows" if flows > MANY => {
            (0..flows).step_by(part).for_each(|i| show(rows_of_flows(outcome, i..flows.min(i + part))));
        }
        "messages" if messages > MANY => {
            (0..messages).step_by(part).for_each(|i| show(jobs::rows_of_messages(outcome, i..messages.min(i + part))));
        }
        "timeline_ports" => parts_of(timeline::PORTS, &outcome.port_frames, outcome, most, show),
        "timeline_flows" => parts_of(timeline::FLOWS, &outcome.flow_frames, outcome, most, show),
        _ => return false,
    }
    true
}

/// Rows converted to columns at once: few enough to stay in cache until the last column is made.
const NEAR: usize = 1 << 10;

fn parts_of<R: Framed>(
    table: &[Quantity<R>],
    packed: &FrameTable<R>,
    outcome: &Outcome,
    most: usize,
    show: &mut dyn FnMut(Vec<Column>),
) {
    let mut rows = packed.rows();
    let mut near: Vec<R> = Vec::with_capacity(NEAR.min(most));
    loop {
        let (mut left, mut part) = (most, Vec::<Column>::new());
        while left > 0 {
            near.clear();
            near.extend(rows.by_ref().take(left.min(NEAR)));
            if near.is_empty() {
                break;
            }
            left -= near.len();
            let columns = of(table, &near, outcome);
            match part.is_empty() {
                true => part = columns,
                false => part.iter_mut().zip(columns).for_each(|(column, more)| column.values.append(more.values)),
            }
        }
        if part.is_empty() {
            return;
        }
        show(part);
    }
}

/// `timeline_events.parquet`: one row per event of the timeline, by (time, kind, subject).
pub fn timeline_events(outcome: &Outcome) -> Vec<Column> {
    of(timeline::EVENTS, &outcome.timeline_events, outcome)
}

/// `timeline_paths.parquet`: one row per flow and port on its path, by (flow, position, port).
pub fn timeline_paths(outcome: &Outcome) -> Vec<Column> {
    of(timeline::PATHS, &outcome.paths, outcome)
}

fn of<R>(table: &[Quantity<R>], records: &[R], outcome: &Outcome) -> Vec<Column> {
    columns(table, &records.iter().collect::<Vec<_>>(), outcome)
}
