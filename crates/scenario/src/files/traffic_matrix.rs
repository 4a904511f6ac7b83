//! Dense traffic matrices: a CSV file with a row per source and a column per destination.
//!
//! The cells are bytes (pattern `matrix`), or parts of a load (pattern `poisson`).

use crate::files::rows::{Row, Rows};
use crate::text::problem::{Errors, Problem};
use incast_cc as cc;

/// Column with the source of a row.
const SOURCE: &str = "source";

/// A cell that is neither empty nor zero.
pub(crate) struct Cell<T> {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) value: T,
    /// Line of the file.
    pub(crate) line: u64,
}

/// Bytes in a cell: a plain number, or a size with a unit. 0 sends nothing.
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

/// Finds a host by name or number; the second argument makes the problem if there is none.
type FindHost<'f> = &'f dyn Fn(&str, &dyn Fn(String) -> Problem) -> Result<u32, Problem>;

/// Cells of a matrix, row by row, each read by `value`.
pub(crate) fn read<T>(
    name: &str,
    text: &str,
    host: FindHost,
    value: fn(&str) -> Result<Option<T>, String>,
) -> Result<Vec<Cell<T>>, Errors> {
    let mut lines = (1..).zip(text.lines());
    let (at, header) = lines.find(|(_, l)| !l.starts_with('#') && !l.trim().is_empty()).unwrap_or_default();
    let columns: Vec<&str> = header.split(',').map(|c| c.trim().trim_matches('"')).collect();
    let rows = Rows::read(name, text, if header.is_empty() { &[SOURCE, "h0", "h1"] } else { &columns }, &[SOURCE])?;
    let mut problems = Vec::new();
    let mut destinations: Vec<(&str, u32)> = Vec::new();
    for column in columns.iter().filter(|c| **c != SOURCE) {
        let wrong = |m: String| Problem::with_value(format!("{name}, line {at}, column {column}"), column, m);
        match host(column, &wrong) {
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
        let Some(src) = source(&row, host, &mut problems) else { continue };
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
    Errors::unless_none(problems, cells)
}

/// Host of a row.
fn source(row: &Row, host: FindHost, problems: &mut Vec<Problem>) -> Option<u32> {
    let found = match row.get(SOURCE) {
        None => Err(row.wrong(SOURCE, "expected a host's name or number")),
        Some(text) => host(text, &|m| row.wrong(SOURCE, m)),
    };
    found.map_err(|p| problems.push(p)).ok()
}
