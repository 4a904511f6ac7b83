//! The tables of a run: one row a flow, a port, a point of a time series, a packet event.
//!
//! A table is a list of [`Column`]s of equal length; each carries its unit and definition, so that
//! whoever writes or shows it needs no second list.

pub use crate::figure::{Column, Values};
use crate::figure::{Quantity, columns};
use crate::{Outcome, flows, hosts, messages, ports, series};

/// Makes a table.
pub type Make = fn(&Outcome) -> Vec<Column>;

/// Every table by the name of its file.
pub const TABLES: [(&str, Make); 8] = [
    ("flows", flows),
    ("ports", ports),
    ("classes", ports::classes),
    ("engines", engines),
    ("queries", messages::queries),
    ("writes", messages::writes),
    ("samples", samples),
    ("trace", trace),
];

/// `flows.parquet`: one row a flow, in flow order.
pub fn flows(outcome: &Outcome) -> Vec<Column> {
    of(flows::COLUMNS, &outcome.flows, outcome)
}

/// `ports.parquet`: one row a port (directed link with the queue at its sending end), in link order.
pub fn ports(outcome: &Outcome) -> Vec<Column> {
    of(ports::COLUMNS, &outcome.ports, outcome)
}

/// `engines.parquet`: one row an engine of a host that processes its packets; none where hosts cost nothing.
pub fn engines(outcome: &Outcome) -> Vec<Column> {
    of(hosts::COLUMNS, &outcome.engines, outcome)
}

/// `samples.parquet`: one row a point of a time series, ordered by series, then time.
pub fn samples(outcome: &Outcome) -> Vec<Column> {
    of(series::SAMPLES, &outcome.samples, outcome)
}

/// `trace.parquet`: one row an event of a packet of a traced flow, ordered by time.
pub fn trace(outcome: &Outcome) -> Vec<Column> {
    of(series::TRACE, &outcome.trace, outcome)
}

fn of<R>(table: &[Quantity<R>], records: &[R], outcome: &Outcome) -> Vec<Column> {
    columns(table, &records.iter().collect::<Vec<_>>(), outcome)
}
