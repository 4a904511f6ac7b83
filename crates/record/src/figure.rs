//! A figure is declared once: its name, unit and definition, and how its value is computed from the records.
//!
//! [`Quantity`] is a column of a table: one value per record. The sum of a counted quantity over all records can be a
//! key of the summary. [`Figure`] is any other number of the summary. Columns, summary, units and definitions are
//! generated from these rows; a test compares `docs/results.md` with them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::Outcome;
use crate::statistics::seconds;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Whole numbers that may be missing.
    OptU64(Vec<Option<u64>>),
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers that may be missing.
    OptF64(Vec<Option<f64>>),
    /// Small whole numbers: node, flow.
    U32(Vec<u32>),
    /// Text.
    Str(Vec<String>),
    /// Text with few distinct values: row `i` has `names[codes[i]]`.
    Dict {
        /// One code per row; each indexes `names`.
        codes: Vec<u32>,
        /// Distinct values; some may be unused.
        names: Vec<String>,
    },
}

impl Values {
    /// Appends the values of later rows of the same column.
    pub(crate) fn append(&mut self, later: Values) {
        match (self, later) {
            (Values::U64(values), Values::U64(later)) => values.extend(later),
            (Values::OptU64(values), Values::OptU64(later)) => values.extend(later),
            (Values::F64(values), Values::F64(later)) => values.extend(later),
            (Values::OptF64(values), Values::OptF64(later)) => values.extend(later),
            (Values::U32(values), Values::U32(later)) => values.extend(later),
            (Values::Str(values), Values::Str(later)) => values.extend(later),
            (Values::Dict { codes, names }, Values::Dict { codes: later, names: others }) => {
                let of: Vec<u32> = others.into_iter().map(|name| code(names, name)).collect();
                codes.extend(later.into_iter().map(|code| of[code as usize]));
            }
            (values, later) => unreachable!("{values:?} and {later:?} in one column"),
        }
    }
}

/// Returns the code of `name`; adds `name` to `names` if it is new.
fn code(names: &mut Vec<String>, name: String) -> u32 {
    let known = names.iter().position(|known| *known == name);
    known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    }) as u32
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::U64(v) => v.len(),
            Values::OptU64(v) => v.len(),
            Values::F64(v) => v.len(),
            Values::OptF64(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::Str(v) => v.len(),
            Values::Dict { codes, .. } => codes.len(),
        }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name; a name with a unit ends in it.
    pub name: &'static str,
    /// Unit; empty for names and numbers of things.
    pub unit: &'static str,
    /// Definition.
    pub doc: &'static str,
    /// One value per row.
    pub values: Values,
}

/// Source of a column's values in records `R`. Functions of two arguments also receive the length of the measured
/// interval (ps) or the whole outcome.
#[derive(Clone, Copy)]
pub(crate) enum Of<R> {
    /// Small whole numbers: node, flow.
    U32(fn(&R) -> u32),
    /// Counts.
    U64(fn(&R) -> u64),
    /// Counts that may be missing.
    OptU64(fn(&R) -> Option<u64>),
    /// Numbers.
    F64(fn(&R) -> f64),
    /// Numbers that may be missing.
    OptF64(fn(&R) -> Option<f64>),
    /// Picoseconds, shown in seconds.
    Time(fn(&R) -> u64),
    /// Picoseconds that may be missing, shown in seconds.
    OptTime(fn(&R) -> Option<u64>),
    /// Share of the measured interval, or a rate over it.
    Rate(fn(&R, u64) -> Option<f64>),
    /// Rate over a part of the measured interval.
    Whole(fn(&R, &Outcome) -> Option<f64>),
    /// Text.
    Text(fn(&R) -> String),
    /// Text with few distinct values; each is stored once, in the order of first occurrence.
    Word(fn(&R) -> &str),
    /// Number of a name, and all names.
    Index(fn(&R) -> u32, fn(&Outcome) -> Vec<String>),
}

/// One column of a table of records `R`.
#[derive(Clone, Copy)]
pub(crate) struct Quantity<R> {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) of: Of<R>,
    /// Key and definition of the sum over all records, if the summary has it.
    pub(crate) total: Option<(&'static str, &'static str)>,
}

/// Rows of a table as an array: quantities,
///
/// ```text
/// "name" ["unit"] = U64(|record| record.field), "definition", sum "key.of.sum" "definition of the sum";
/// ```
///
/// (`sum` is optional; so is its definition if it equals the column's), or figures,
///
/// ```text
/// "key.in.summary" ["unit"] = |records| a_value(records), "definition";
/// ```
macro_rules! rows {
    ($($key:literal [$unit:literal] = |$of:ident| $value:expr, $doc:literal;)*) => {
        [$($crate::figure::Figure {
            stated: $crate::figure::Stated { key: $key, unit: $unit, definition: $doc },
            value: |$of| serde_json::Value::from($value),
        }),*]
    };
    ($($name:literal [$unit:literal] = $of:expr, $doc:literal $(, sum $key:literal $(, $sum:literal)?)?;)*) => {
        [$($crate::figure::Quantity {
            name: $name,
            unit: $unit,
            doc: $doc,
            of: $of,
            total: [$(Some(($key, [$($sum,)? $doc][0])),)? None][0],
        }),*]
    };
}
pub(crate) use rows;

impl<R> Quantity<R> {
    fn values(&self, rows: &[&R], outcome: &Outcome) -> Values {
        let rows = rows.iter().copied();
        match self.of {
            Of::U32(of) => Values::U32(rows.map(of).collect()),
            Of::U64(of) => Values::U64(rows.map(of).collect()),
            Of::OptU64(of) => Values::OptU64(rows.map(of).collect()),
            Of::F64(of) => Values::F64(rows.map(of).collect()),
            Of::OptF64(of) => Values::OptF64(rows.map(of).collect()),
            Of::Time(of) => Values::F64(rows.map(|r| seconds(of(r))).collect()),
            Of::OptTime(of) => Values::OptF64(rows.map(|r| of(r).map(seconds)).collect()),
            Of::Rate(of) => Values::OptF64(rows.map(|r| of(r, outcome.interval_ps())).collect()),
            Of::Whole(of) => Values::OptF64(rows.map(|r| of(r, outcome)).collect()),
            Of::Text(of) => Values::Str(rows.map(of).collect()),
            Of::Word(of) => dictionary(rows.map(of)),
            Of::Index(of, names) => Values::Dict { codes: rows.map(of).collect(), names: names(outcome) },
        }
    }

    /// Sum over all records. Sums of 128 bits do not fit JSON numbers; every count of a run fits 64.
    fn sum(&self, rows: &[&R]) -> Value {
        match self.of {
            Of::U64(of) => {
                let sum: u128 = rows.iter().map(|r| u128::from(of(r))).sum();
                u64::try_from(sum).unwrap_or(u64::MAX).into()
            }
            Of::Time(of) => rows.iter().map(|r| seconds(of(r))).sum::<f64>().into(),
            _ => Value::Null,
        }
    }
}

/// Columns of a table, one value per row.
pub(crate) fn columns<R>(table: &[Quantity<R>], rows: &[&R], outcome: &Outcome) -> Vec<Column> {
    let column = |q: &Quantity<R>| Column { name: q.name, unit: q.unit, doc: q.doc, values: q.values(rows, outcome) };
    table.iter().map(column).collect()
}

/// Distinct texts in the order of their first row.
fn dictionary<'a>(rows: impl Iterator<Item = &'a str>) -> Values {
    let mut codes = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut code_of: HashMap<&str, u32> = HashMap::new();
    for text in rows {
        codes.push(*code_of.entry(text).or_insert_with(|| {
            names.push(text.to_owned());
            names.len() as u32 - 1
        }));
    }
    Values::Dict { codes, names }
}

/// One number of the summary, computed by `F`.
#[derive(Clone, Copy)]
pub(crate) struct Figure<F> {
    pub(crate) stated: Stated,
    pub(crate) value: F,
}

type Compute<C> = fn(&C) -> Value;

/// Numbers of the summary computed from a `C`.
pub(crate) type Figures<C> = &'static [Figure<Compute<C>>];

/// Description of a number of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Path in the summary: keys joined by dots; `groups.*` stands for every group.
    pub key: &'static str,
    /// Unit; empty for names.
    pub unit: &'static str,
    /// Definition.
    pub definition: &'static str,
}

/// Adds the values of `figures` to `summary`, each under its key.
pub(crate) fn fill<C>(summary: &mut Map<String, Value>, figures: &[Figure<Compute<C>>], of: &C) {
    figures.iter().for_each(|f| put(summary, f.stated.key, (f.value)(of)));
}

/// Adds the sums over `rows` that `table` declares to `summary`.
pub(crate) fn fill_totals<R>(summary: &mut Map<String, Value>, table: &[Quantity<R>], rows: &[&R]) {
    for quantity in table {
        if let Some((key, _)) = quantity.total {
            put(summary, key, quantity.sum(rows));
        }
    }
}

/// Descriptions of `figures`.
pub(crate) fn stated<F>(figures: &[Figure<F>]) -> impl Iterator<Item = Stated> {
    figures.iter().map(|f| f.stated)
}

/// Descriptions of the sums that `table` declares.
pub(crate) fn stated_totals<R>(table: &[Quantity<R>]) -> impl Iterator<Item = Stated> {
    table.iter().filter_map(|q| q.total.map(|(key, definition)| Stated { key, unit: q.unit, definition }))
}

fn put(into: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            into.insert(key.to_owned(), value);
        }
        Some((part, rest)) => {
            let inner = into.entry(part).or_insert_with(|| Map::new().into());
            put(inner.as_object_mut().expect("keys of figures are no parts of keys"), rest, value);
        }
    }
}
