//! CSV files with a header line: cells by column name; problems with file, line, column and value.

use crate::text::problem::{Errors, Problem};
use crate::text::quantity::{self, Quantity};
use std::collections::HashMap;

/// A CSV file in memory.
pub struct Rows {
    name: String,
    columns: HashMap<String, usize>,
    width: usize,
    rows: Vec<(u64, csv::StringRecord)>,
}

/// One line.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows,
    line: u64,
    record: &'a csv::StringRecord,
}

impl Rows {
    /// Reads a file whose header may name `known` columns in any order and must name `needed`.
    /// Lines that start with `#` are comments.
    pub fn read(name: &str, text: &str, known: &[&str], needed: &[&str]) -> Result<Rows, Errors> {
        // values never contain line ends, so a quote left open by a line would swallow others
        let open = |line: &&str| !line.starts_with('#') && line.matches('"').count() % 2 == 1;
        if let Some(number) = text.lines().position(|line| open(&line)) {
            let message = "a quote is opened but not closed; expected quotes on both sides of a value";
            return Err(Problem::new(format!("{name}, line {}", number + 1), message).into());
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut records = Vec::new();
        for record in reader.records() {
            match record {
                Ok(r) => records.push((r.position().map_or(0, |p| p.line()), r)),
                Err(e) => return Err(Problem::new(name, e.to_string()).into()),
            }
        }
        let Some((line, header)) = records.first() else {
            return Err(Problem::new(name, format!("empty; expected a header line such as {}", known.join(","))).into());
        };
        let mut problems = Vec::new();
        for (i, c) in header.iter().enumerate().filter(|(i, c)| header.iter().take(*i).any(|other| other == *c)) {
            let first = header.iter().position(|other| other == c).unwrap_or(i);
            let message = format!("column {c} is given twice, as number {} and number {}", first + 1, i + 1);
            problems.push(Problem::new(format!("{name}, line {line}"), message));
        }
        for c in header.iter().filter(|c| !known.contains(c)) {
            let p = Problem::with_value(
                format!("{name}, line {line}, column {c}"),
                c,
                format!("unknown column; expected some of {}", known.join(",")),
            );
            problems.push(p.suggest(c, known.iter().copied()));
        }
        let columns: HashMap<String, usize> = header.iter().enumerate().map(|(i, c)| (c.to_owned(), i)).collect();
        for c in needed.iter().filter(|c| !columns.contains_key(**c)) {
            problems.push(Problem::new(format!("{name}, line {line}"), format!("the column {c} is missing")));
        }
        let width = header.len();
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        records.remove(0);
        Ok(Rows { name: name.into(), columns, width, rows: records })
    }

    /// Lines after the header.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, record)| Row { rows: self, line: *line, record })
    }
}

impl<'a> Row<'a> {
    /// Returns whether the line has no more values than there are columns. With more values their columns are
    /// unknown, and only that is reported.
    pub fn fits(&self, problems: &mut Vec<Problem>) -> bool {
        let (values, width) = (self.record.len(), self.rows.width);
        if values > width {
            let message = format!(
                "{values} values under {width} columns; a value that holds a comma goes in quotes, such as \
                 \"swift:target=min-rtt,epsilon=100us\""
            );
            problems.push(Problem::new(format!("{}, line {}", self.rows.name, self.line), message));
        }
        values <= width
    }

    /// Returns whether the line has one value per column, empty ones included: in a matrix a short line was cut off.
    pub fn is_whole(&self, problems: &mut Vec<Problem>) -> bool {
        let (values, width) = (self.record.len(), self.rows.width);
        if values < width {
            let message = format!("{values} values under {width} columns; expected as many, empty ones included");
            problems.push(Problem::new(format!("{}, line {}", self.rows.name, self.line), message));
        }
        values >= width
    }

    /// Line number in the file.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Text of a cell; `None` if it is empty or its column is missing.
    pub fn get(&self, column: &str) -> Option<&'a str> {
        self.rows.columns.get(column).and_then(|i| self.record.get(*i)).filter(|t| !t.is_empty())
    }

    /// A problem with a cell.
    pub fn wrong(&self, column: &str, message: impl Into<String>) -> Problem {
        let key = format!("{}, line {}, column {column}", self.rows.name, self.line);
        match self.get(column) {
            Some(text) => Problem::with_value(key, text, message),
            None => Problem::new(key, format!("empty; {}", message.into())),
        }
    }

    /// Cell read by `read`; `None` if it is empty, or wrong, which is then reported.
    pub fn parse<T>(
        &self,
        column: &str,
        read: impl Fn(&str) -> Result<T, String>,
        problems: &mut Vec<Problem>,
    ) -> Option<T> {
        match read(self.get(column)?) {
            Ok(v) => Some(v),
            Err(message) => {
                problems.push(self.wrong(column, message));
                None
            }
        }
    }

    /// Cell with a quantity, as elsewhere in a scenario.
    pub fn quantity<T: Quantity>(&self, column: &str, problems: &mut Vec<Problem>) -> Option<T> {
        let before = problems.len();
        let value = self.parse(column, |t| quantity::check_format(T::FORMAT, t).and_then(|()| T::read(t)), problems);
        if let Some(p) = problems.get_mut(before) {
            p.suggestion = self.get(column).and_then(|t| quantity::suggestion(T::FORMAT, t));
        }
        value
    }
}
