//! Distributions of flow sizes: tables of cumulative probability, rules for drawing from them, and their means.
//!
//! Sources of published tables draw from them in two ways, which give different means: HPCC's traffic generator and
//! the pFabric simulators interpolate linearly between lines, Homa's simulation takes the size of a line itself. A
//! load is correct only with the mean of the rule used for drawing.

use crate::files::rows::Rows;
use crate::text::problem::{Errors, Problem};
use incast_cc as cc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule for drawing a size from a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// In proportion between two lines, as in HPCC's and pFabric's generators.
    Linear,
    /// The size of the first line whose cumulative probability is above the draw, as in Homa's simulation.
    Upper,
}

/// A table of sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct SizeTable {
    /// Size in units and cumulative probability; both never fall, the last probability is 1.
    lines: Vec<(u64, f64)>,
    /// Bytes of a unit.
    unit: u64,
    packets: bool,
}

impl SizeTable {
    /// Reads a table: CSV with the columns `size` (bytes, or with a unit) or `packets` (of `packet` bytes), and
    /// `cumulative`, from 0 to 1.
    pub fn read(name: &str, text: &str, packet: u64) -> Result<SizeTable, Errors> {
        let header = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#')).unwrap_or("");
        let column = if header.split(',').any(|c| c.trim() == "packets") { "packets" } else { "size" };
        let unit = if column == "packets" { packet } else { 1 };
        if column == "packets" && header.split(',').any(|c| c.trim() == "size") {
            return Err(Problem::with_value(name, header, "expected either a column size or a column packets").into());
        }
        let columns = [column, "cumulative"];
        let rows = Rows::read(name, text, &columns, &columns)?;
        let mut problems = Vec::new();
        let mut lines: Vec<(u64, f64)> = Vec::new();
        let mut last = None;
        for row in rows.iter() {
            if !row.fits(&mut problems) {
                continue;
            }
            problems.extend(columns.iter().filter(|c| row.get(c).is_none()).map(|c| row.wrong(c, "expected a value")));
            let whole = |t: &str| t.parse::<u64>().map_err(|_| "expected a whole number of packets".to_owned());
            let bytes = |t: &str| {
                let parsed = t.parse::<u64>().or_else(|_| t.parse::<cc::Bytes>().map(|b| b.0));
                parsed.map_err(|_| "expected a size in bytes or with a unit, such as 20000 or \"20kB\"".to_owned())
            };
            let size = row.parse(
                column,
                if column == "packets" { &whole as &dyn Fn(&str) -> _ } else { &bytes },
                &mut problems,
            );
            let cumulative = |t: &str| match t.parse::<f64>() {
                Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
                _ => Err("expected a cumulative probability from 0 to 1".to_owned()),
            };
            let cumulative = row.parse("cumulative", cumulative, &mut problems);
            let (Some(size), Some(cumulative)) = (size, cumulative) else { continue };
            let before = lines.last().copied().unwrap_or((0, 0.0));
            if size < before.0 {
                problems.push(row.wrong(column, format!("expected at least {}, the line before", before.0)));
            }
            if cumulative < before.1 {
                problems.push(row.wrong("cumulative", format!("expected at least {}, the line before", before.1)));
            }
            lines.push((size, cumulative));
            last = Some(row);
        }
        match (last, lines.last()) {
            _ if !problems.is_empty() => {}
            (None, _) | (_, None) => {
                problems.push(Problem::new(name, "no sizes; expected at least one line after the header"));
            }
            (Some(row), Some((_, p))) if *p < 1.0 => {
                problems.push(row.wrong("cumulative", "expected 1 on the last line: no flow is larger"));
            }
            (Some(row), Some((0, _))) => {
                problems.push(row.wrong(column, "expected a size above 0 on the last line"));
            }
            (Some(row), Some((size, _))) if size.checked_mul(unit).is_none_or(|b| b > i64::MAX as u64) => {
                problems.push(row.wrong(column, format!("expected at most {}", i64::MAX as u64 / unit)));
            }
            _ => {}
        }
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        Ok(SizeTable { lines, unit, packets: column == "packets" })
    }

    /// True if its sizes are in packets.
    pub fn counts_packets(&self) -> bool {
        self.packets
    }

    /// Mean size by a rule, in bytes; sizes of 0, which are drawn as one unit, count as 0.
    pub fn mean(&self, rule: Interpolation) -> f64 {
        let mut before = (self.lines[0].0, 0.0);
        let mut sum = 0.0;
        for (size, p) in &self.lines {
            let typical = match rule {
                Interpolation::Linear => (before.0 as f64 + *size as f64) / 2.0,
                Interpolation::Upper => *size as f64,
            };
            sum += (p - before.1) * typical;
            before = (*size, *p);
        }
        sum * self.unit as f64
    }

    /// Mean number of segments of `mss` bytes by a rule, for sizes rounded to whole units as they are drawn.
    pub fn mean_segments(&self, rule: Interpolation, mss: u64) -> f64 {
        let of = |units: u64| (units.max(1) * self.unit).div_ceil(mss) as f64;
        let mut before = (self.lines[0].0, 0.0);
        let mut sum = 0.0;
        for (size, p) in &self.lines {
            let from = before.0;
            let typical = match rule {
                Interpolation::Linear if *size > from => {
                    // the two ends share half of a unit's part
                    let all = segments_up_to(*size, self.unit, mss) - segments_up_to(from, self.unit, mss);
                    (all as f64 + (of(from) - of(*size)) / 2.0) / (size - from) as f64
                }
                _ => of(*size),
            };
            sum += (p - before.1) * typical;
            before = (*size, *p);
        }
        sum
    }

    /// Size in bytes at quantile `u`, in [0, 1): rounded to whole units, at least one.
    pub fn quantile(&self, rule: Interpolation, u: f64) -> u64 {
        let at = self.lines.partition_point(|(_, p)| *p <= u).min(self.lines.len() - 1);
        let (size, p) = self.lines[at];
        let units = match (rule, at.checked_sub(1).map(|i| self.lines[i])) {
            (Interpolation::Linear, Some((from, below))) => {
                (from as f64 + (size - from) as f64 * (u - below) / (p - below)).round() as u64
            }
            _ => size,
        };
        units.max(1) * self.unit
    }
}

/// Total number of segments of `mss` bytes for sizes of 1, 2, ... `n` units.
fn segments_up_to(n: u64, unit: u64, mss: u64) -> u128 {
    // the sum of floor((unit i + mss - 1) / mss) over i from 1 to n, by Euclid's algorithm
    let (mut n, mut a, mut m) = (n as u128, unit as u128, mss as u128);
    let mut b = a + m - 1;
    let mut sum = 0;
    while n > 0 {
        sum += (a / m) * (n * (n - 1) / 2) + (b / m) * n;
        (a, b) = (a % m, b % m);
        let top = a * n + b;
        if top < m {
            break;
        }
        (n, b) = (top / m, top % m);
        (a, m) = (m, a);
    }
    sum
}
