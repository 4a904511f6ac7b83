//! Dense traffic matrices: a CSV file with a row a source and a column a destination.
//!
//! The cells are bytes (pattern `matrix`), or parts of a load (pattern `poisson`).

use crate::build::Flows;
use crate::document::app::{App, Bulk};
use crate::document::traffic::Traffic;
use crate::files::rows::{Row, Rows};
use crate::text::problem::Problem;
use crate::traffic::{check_two_hosts, host};
use incast_cc as cc;
use incast_engine::spec;

/// The column that names the source of a row.
const SOURCE: &str = "source";

/// A cell that is not empty, and not zero.
pub(crate) struct Cell<T> {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) value: T,
    /// Line of the file.
    pub(crate) line: u64,
}

/// Bytes in a cell: a bare number, or a size with a unit. 0 sends nothing.
pub(crate) fn bytes(text: &str) -> Result<Option<u64>, String> {
    match text.parse::<u64>().or_else(|_| text.parse::<cc::Bytes>().map(|b| b.0)) {
        Ok(n) if n <= u64::MAX / 2 => Ok(Some(n).filter(|n| *n > 0)),
        _ => Err("expected bytes, such as 2000000 or \"2MB\"; 0 or nothing sends nothing".to_owned()),
    }
}

/// Part of a load in a cell.
pub(crate) fn part(text: &str) -> Result<Option<f64>, String> {
    match text.parse::<f64>() {
        Ok(part) if part.is_finite() && part >= 0.0 => Ok(Some(part).filter(|part| *part > 0.0)),
        _ => Err("expected a number from 0, the part of arrivals.load that goes there".to_owned()),
    }
}

/// Cells of the file `name` of the entry at work, row by row, each read by `value`.
pub(crate) fn read<T>(
    name: &str,
    flows: &Flows,
    value: fn(&str) -> Result<Option<T>, String>,
) -> Result<Vec<Cell<T>>, Vec<Problem>> {
    let text = crate::files::read_named(&format!("{}.file", flows.path), flows.dir, name).map_err(|p| vec![p])?;
    let mut lines = (1..).zip(text.lines());
    let (at, header) = lines.find(|(_, l)| !l.starts_with('#') && !l.trim().is_empty()).unwrap_or_default();
    let columns: Vec<&str> = header.split(',').map(|c| c.trim().trim_matches('"')).collect();
    let rows = Rows::read(name, &text, if header.is_empty() { &[SOURCE, "h0", "h1"] } else { &columns }, &[SOURCE])?;
    let mut problems = Vec::new();
    let mut destinations: Vec<(&str, u32)> = Vec::new();
    for column in columns.iter().filter(|c| **c != SOURCE) {
        let wrong = |m: String| Problem::with_value(format!("{name}, line {at}, column {column}"), column, m);
        match host(column, flows, wrong) {
            Ok(dst) => match destinations.iter().find(|(_, other)| *other == dst) {
                None => destinations.push((column, dst)),
                Some((other, _)) => problems.push(wrong(format!("the column {other} is of this host"))),
            },
            Err(p) => problems.push(p),
        }
    }
    let mut cells = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    for row in rows.iter() {
        if !row.fits(&mut problems) || !row.is_whole(&mut problems) {
            continue;
        }
        let Some(src) = source(&row, flows, &mut problems) else { continue };
        if seen.contains(&src) {
            problems.push(row.wrong(SOURCE, "a row before has this source; expected one row a host"));
            continue;
        }
        seen.push(src);
        for (column, dst) in &destinations {
            match row.parse(column, value, &mut problems).flatten() {
                Some(_) if src == *dst => {
                    problems.push(row.wrong(column, "a host sends nothing to itself; expected 0 or nothing"));
                }
                Some(value) => cells.push(Cell { src, dst: *dst, value, line: row.line() }),
                None => {}
            }
        }
    }
    if problems.is_empty() && cells.is_empty() {
        problems.push(Problem::new(name, "the matrix has no cell above 0; expected at least one"));
    }
    if problems.is_empty() { Ok(cells) } else { Err(problems) }
}

/// Host that a row is of.
fn source(row: &Row, flows: &Flows, problems: &mut Vec<Problem>) -> Option<u32> {
    let found = match row.get(SOURCE) {
        None => Err(row.wrong(SOURCE, "expected a host's name or number")),
        Some(text) => host(text, flows, |m| row.wrong(SOURCE, m)),
    };
    found.map_err(|p| problems.push(p)).ok()
}

impl Traffic {
    /// A flow for every cell of a traffic matrix, row by row.
    pub(crate) fn add_cells(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let cells = read(&self.file.clone().unwrap_or_default(), flows, bytes)?;
        let has = cells.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the matrix has {has} cells above 0; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        flows.reserve(self.flows.unwrap_or(has)).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, cell) in (0u64..).zip(&cells).take(self.flows.map_or(usize::MAX, |n| n as usize)) {
            let start = self.opening(entry, i, flows.seed);
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message = format!("flow {i} of the entry opens at {start}; expected a later stop");
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: Some(cell.value), write: write.0.0 };
            let flow = spec::FlowSpec { app, ..self.flow(cell.src, cell.dst, start, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }
}
