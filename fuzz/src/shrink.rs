//! Smallest scenario that breaks the same law (delta debugging): keys, entries and lines of files are dropped and
//! numbers reduced, as long as the law stays broken.

use crate::case::Case;
use crate::laws::Broken;
use std::time::{Duration, Instant};
use toml::{Table, Value as Toml};

/// Limits on trials and time for shrinking a scenario.
const TRIALS: u32 = 1_500;
const LONGEST: Duration = Duration::from_secs(40);

/// Shrinks a scenario that breaks a law; `judge` returns the law that a smaller one breaks.
pub fn smallest(case: Case, broken: Broken, judge: &mut dyn FnMut(&Case) -> Option<Broken>) -> (Case, Broken) {
    let mut shrink = Shrink { case, broken, judge, trials: 0, begin: Instant::now() };
    while shrink.round() {}
    shrink.drop_files();
    (shrink.case, shrink.broken)
}

struct Shrink<'s> {
    case: Case,
    broken: Broken,
    judge: &'s mut dyn FnMut(&Case) -> Option<Broken>,
    trials: u32,
    begin: Instant,
}

/// Path to a value, by keys and indices of entries.
type Way = Vec<String>;

impl Shrink<'_> {
    fn over(&self) -> bool {
        self.trials >= TRIALS || self.begin.elapsed() > LONGEST
    }

    /// Keeps a smaller scenario if it breaks the law too.
    fn try_case(&mut self, case: Case) -> bool {
        if self.over() || case == self.case {
            return false;
        }
        self.trials += 1;
        match (self.judge)(&case) {
            Some(broken) if broken.law == self.broken.law => {
                (self.case, self.broken) = (case, broken);
                true
            }
            _ => false,
        }
    }

    fn try_table(&mut self, change: impl FnOnce(&mut Table)) -> bool {
        let mut case = self.case.clone();
        change(&mut case.table);
        self.try_case(case)
    }

    /// One round over everything; returns whether something became smaller.
    fn round(&mut self) -> bool {
        let mut smaller = self.shorter();
        for way in ways(&self.case.table) {
            smaller |= get(&self.case.table, &way).is_some() && self.try_table(|table| remove(table, &way));
        }
        for way in ways(&self.case.table) {
            let Some(value) = get(&self.case.table, &way) else { continue };
            for simple in simpler(value) {
                if self.try_table(|table| set(table, &way, simple)) {
                    smaller = true;
                    break;
                }
            }
        }
        smaller |= self.files();
        smaller && !self.over()
    }

    /// Ends the run earlier.
    fn shorter(&mut self) -> bool {
        let way = ["run".to_owned(), "duration".to_owned()].to_vec();
        let mut smaller = false;
        while let Some(ps) = get(&self.case.table, &way).and_then(Toml::as_str).and_then(picoseconds) {
            let less = Toml::String(format!("{}ps", ps / 2));
            if ps < 2 || !self.try_table(|table| set(table, &way, less)) {
                break;
            }
            smaller = true;
        }
        smaller
    }

    /// Drops lines of files, many at once and then one by one; whole links of graphs.
    fn files(&mut self) -> bool {
        let mut smaller = false;
        for file in 0..self.case.files.len() {
            let separator = if self.case.files[file].0.ends_with(".toml") { "[[links]]" } else { "\n" };
            let mut size = self.case.files[file].1.split(separator).count() / 2;
            while size > 0 {
                let mut at = 1;
                while at < self.case.files[file].1.split(separator).count() {
                    let mut case = self.case.clone();
                    let parts = case.files[file].1.split(separator).enumerate();
                    let kept: Vec<&str> = parts.filter(|(i, _)| *i < at || *i >= at + size).map(|(_, p)| p).collect();
                    case.files[file].1 = kept.join(separator);
                    if self.try_case(case) {
                        smaller = true;
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        smaller
    }

    fn drop_files(&mut self) {
        let text = self.case.text();
        self.case.files.retain(|(name, _)| text.contains(name.as_str()));
    }
}

/// Paths to all values, those of larger parts first.
fn ways(table: &Table) -> Vec<Way> {
    fn visit(value: &Toml, way: &Way, all: &mut Vec<Way>) {
        let below = |key: String| [way.as_slice(), &[key]].concat();
        match value {
            Toml::Table(table) => table.iter().for_each(|(key, value)| visit_at(value, below(key.clone()), all)),
            Toml::Array(list) => {
                list.iter().enumerate().rev().for_each(|(i, value)| visit_at(value, below(i.to_string()), all));
            }
            _ => {}
        }
    }
    fn visit_at(value: &Toml, way: Way, all: &mut Vec<Way>) {
        all.push(way.clone());
        visit(value, &way, all);
    }
    let mut all = Vec::new();
    visit(&Toml::Table(table.clone()), &Vec::new(), &mut all);
    all.sort_by_key(Vec::len);
    all
}

fn get<'t>(table: &'t Table, way: &[String]) -> Option<&'t Toml> {
    let (first, rest) = way.split_first()?;
    rest.iter().try_fold(table.get(first)?, |at, key| match at {
        Toml::Array(list) => list.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

fn holder<'t>(table: &'t mut Table, way: &[String]) -> Option<&'t mut Toml> {
    let (first, rest) = way.split_first()?;
    rest.iter().try_fold(table.get_mut(first)?, |at, key| match at {
        Toml::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        other => other.get_mut(key),
    })
}

fn remove(table: &mut Table, way: &[String]) {
    match way {
        [] => {}
        [key] => drop(table.remove(key)),
        [above @ .., key] => match holder(table, above) {
            Some(Toml::Table(table)) => drop(table.remove(key)),
            Some(Toml::Array(list)) => {
                if let Some(i) = key.parse().ok().filter(|i: &usize| *i < list.len()) {
                    list.remove(i);
                }
            }
            _ => {}
        },
    }
}

fn set(table: &mut Table, way: &[String], value: Toml) {
    if let Some(place) = holder(table, way) {
        *place = value;
    }
}

/// Values simpler than the given one, the simplest first.
fn simpler(value: &Toml) -> Vec<Toml> {
    match value {
        Toml::Integer(n) => {
            let less = [0, 1, 2, n / 2, n - 1];
            less.into_iter().filter(|less| less.abs() < n.abs()).map(Toml::Integer).collect()
        }
        Toml::Float(x) => {
            let less = [0.0, 1.0, x.round(), (x * 10.0).round() / 10.0];
            less.into_iter()
                .filter(|less| less != x && less.to_string().len() < x.to_string().len())
                .map(Toml::Float)
                .collect()
        }
        Toml::Boolean(true) => vec![Toml::Boolean(false)],
        Toml::String(text) => simpler_text(text),
        _ => Vec::new(),
    }
}

/// A number with a unit, or a kind of a topology.
fn simpler_text(text: &str) -> Vec<Toml> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let Ok(n) = number.parse::<f64>() else { return Vec::new() };
    let mut all: Vec<String> = match unit {
        "ps" | "ns" | "us" | "ms" | "s" => ["0s", "1us", "10us", "100us", "1ms"].map(str::to_owned).to_vec(),
        "bps" | "kbps" | "Mbps" | "Gbps" | "Tbps" => ["10Gbps", "1Gbps"].map(str::to_owned).to_vec(),
        "B" | "kB" => ["1B", "1kB", "10kB", "100kB"].map(str::to_owned).to_vec(),
        "p" => ["1p", "10p", "100p"].map(str::to_owned).to_vec(),
        _ => Vec::new(),
    };
    if n >= 2.0 {
        all.extend([format!("{}{unit}", (n / 2.0).floor()), format!("{}{unit}", (n - 1.0).floor())]);
        let digits = 10f64.powf(n.log10().floor());
        all.push(format!("{}{unit}", (n / digits).floor() * digits));
    }
    let shorter = |other: &String| other != text && other.len() <= text.len();
    let round =
        ["0s", "1us", "10us", "100us", "1ms", "10Gbps", "1Gbps", "1B", "1kB", "10kB", "100kB", "1p", "10p", "100p"];
    if round.contains(&text) {
        let at = round.iter().position(|r| *r == text).unwrap_or(0);
        all.retain(|other| round.iter().position(|r| r == other).is_some_and(|o| o < at));
    }
    all.into_iter().filter(shorter).map(Toml::String).collect()
}

fn picoseconds(text: &str) -> Option<u64> {
    text.parse::<incast_cc::Time>().ok().map(|time| time.0)
}
