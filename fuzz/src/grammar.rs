//! Values drawn from the schema. The valid values of a key come from the schema alone, so a new key is drawn too.
//! [`crate::hints`] adds what the schema cannot express (names of nodes, plausible magnitudes, formulas).

use crate::hints;
use crate::random::Random;
use incast_cc::KINDS;
use incast_cc::registry::{Param, ValueKind};
use incast_scenario::text::schema::{Schema, Shape};
use std::collections::BTreeSet;
use toml::{Table, Value as Toml};

/// Deepest nesting of tables; deeper optional keys are left out.
const DEEPEST: usize = 12;
/// Approximate number of optional keys in a table.
const FEW: f64 = 3.0;
/// Share of the draws at a bound of the type.
const EXTREME: f64 = 0.01;

/// Facts about the scenario for which values are drawn.
#[derive(Clone, Debug)]
pub struct Around {
    /// Names of all nodes, hosts first.
    pub nodes: Vec<String>,
    /// Number of hosts among them.
    pub hosts: usize,
    /// Names of links.
    pub links: Vec<String>,
    /// Length of the run, nanoseconds.
    pub run: f64,
    /// Scale of times in the run, nanoseconds.
    pub duration: f64,
    /// Scale of rates, bits per second.
    pub rate: f64,
    /// Names of files available to the scenario, by kind.
    pub files: Vec<(&'static str, String)>,
}

/// Draws values.
pub struct Draw<'a> {
    /// Source of random numbers.
    pub random: &'a mut Random,
    /// The scenario.
    pub around: &'a Around,
    /// Words and kinds drawn so far, with their places, in order; hints depend on them.
    pub said: Vec<String>,
}

impl Draw<'_> {
    /// Draws a value for the place `path` of the schema. `named` are candidate words.
    pub fn value(&mut self, schema: Schema<'_>, path: &str, named: &[String]) -> Toml {
        if let Some(value) = hints::value(self, path) {
            return value;
        }
        match schema.shape() {
            Shape::Controller => self.controller(),
            Shape::Words(words) => {
                let fitting = self.fitting(path, named);
                let word = *self.one_named(&words, &fitting, |word| word);
                self.said.push(format!("{path}={word}"));
                Toml::String(word.to_owned())
            }
            Shape::Variants(variants) => {
                let fitting = self.fitting(path, named);
                let (tag, word, schema) = *self.one_named(&variants, &fitting, |variant| variant.1);
                let path = kind_path(path, word);
                self.said.push(path.clone());
                let mut table = Table::new();
                table.insert(tag.to_owned(), Toml::String(word.to_owned()));
                self.keys(schema, &path, &mut table);
                Toml::Table(table)
            }
            Shape::Either(branches) => {
                let number = self.random.below(branches.len() as u64) as usize;
                self.value(branches[number], path, named)
            }
            Shape::Text(format) => self.text(format, path),
            Shape::Integer { least, most, multiple } => Toml::Integer(self.integer(least, most, multiple)),
            Shape::Number { least, most } => Toml::Float(self.number(least, most)),
            Shape::Flag => Toml::Boolean(self.random.chance(0.5)),
            Shape::List { of, length } => {
                let most = if path.ends_with("actions") { 2 } else { 3 };
                let length = length.unwrap_or_else(|| 1 + self.random.below(most));
                let path = format!("{path}[]");
                Toml::Array((0..length).map(|_| self.value(of, &path, &[])).collect())
            }
            Shape::Table(schema) => {
                let mut table = Table::new();
                self.keys(schema, path, &mut table);
                Toml::Table(table)
            }
            Shape::Names(values) => {
                let mut table = Table::new();
                for _ in 0..1 + self.random.below(2) {
                    let name = (*self.random.one(&["flows", "seen"])).to_owned();
                    table.insert(name, self.value(values, &format!("{path}.*"), &[]));
                }
                Toml::Table(table)
            }
        }
    }

    /// Words named by a problem, or fitting the earlier draws.
    fn fitting(&mut self, path: &str, named: &[String]) -> Vec<String> {
        match hints::goes_with(path, &self.said).filter(|_| named.is_empty()) {
            Some(words) if self.random.chance(0.9) => words.iter().map(|word| (*word).to_owned()).collect(),
            _ => named.to_vec(),
        }
    }

    /// Draws one of several, preferring one whose word is among `named`.
    fn one_named<'t, T>(&mut self, of: &'t [T], named: &[String], word: fn(&T) -> &str) -> &'t T {
        let fits: Vec<&T> = of.iter().filter(|one| named.iter().any(|name| name == word(one))).collect();
        if fits.is_empty() { self.random.one(of) } else { self.random.one::<&T>(&fits) }
    }

    /// Draws the keys of a table: all required ones, and some of the others.
    pub fn keys(&mut self, schema: Schema<'_>, path: &str, table: &mut Table) {
        let keys = schema.keys();
        let optional = keys.iter().filter(|(.., required)| !required).count();
        let chance = (FEW / optional.max(1) as f64).min(0.35);
        let deep = path.matches(['.', '[']).count() > DEEPEST;
        for (key, schema, required) in keys {
            let path = key_path(path, key);
            let chance = hints::chance(&path, &self.said).unwrap_or(chance);
            if required || (!deep && self.random.chance(chance)) {
                let value = self.value(schema, &path, &[]);
                table.insert(key.to_owned(), value);
            }
        }
    }

    /// Draws a value of a format.
    fn text(&mut self, format: &str, path: &str) -> Toml {
        let text = match format {
            "time" => self.time(path),
            "rate" => self.rate(),
            "size" if path.ends_with(".burst") && self.random.chance(0.9) => {
                format!("{}B", self.random.scaled(1_600.0, 200e3).round())
            }
            "size" => self.size(),
            "limit" => self.limit(path),
            "line-rate" if self.random.chance(0.7) => format!("{}%", 1 + self.random.below(100)),
            "line-rate" => self.rate(),
            "headroom" => match self.random.below(3) {
                0 => "link".to_owned(),
                1 => "hpcc".to_owned(),
                _ => self.size_to(100e3),
            },
            _ => (*self.random.one(&["a", "b", "c"])).to_owned(),
        };
        Toml::String(text)
    }

    /// Draws a time up to the run's length.
    fn time(&mut self, path: &str) -> String {
        if self.random.chance(EXTREME) {
            return (*self.random.one(&["0s", "1ps", "1s", "1000000s", "18446743s"])).to_owned();
        }
        let delay = path.ends_with("delay") || path.ends_with("latency");
        let (least, most) = if delay { (2e-5, 1e-2) } else { (1e-4, 1.0) };
        let ps = (self.random.scaled(least, most) * self.around.duration * 1e3).round().max(1.0);
        in_units(ps, &[("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)])
    }

    fn rate(&mut self) -> String {
        if self.random.chance(EXTREME) {
            return (*self.random.one(&["inf", "1bps", "1kbps", "400Gbps", "100Tbps"])).to_owned();
        }
        let steps = [0.01, 0.1, 0.25, 0.4, 0.5, 1.0, 1.0, 1.0, 2.0, 2.5, 4.0, 10.0];
        let bps = (self.around.rate * self.random.one(&steps)).round();
        in_units(bps, &[("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)])
    }

    /// Draws a limit of a queue, preferring the unit of the previous one: limits of one queue have one unit.
    fn limit(&mut self, path: &str) -> String {
        if self.random.chance(0.06) {
            return "none".to_owned();
        }
        let unit = self.said.iter().rev().find_map(|word| word.strip_prefix("limit=")).map(|unit| unit == "p");
        let packets = unit.filter(|_| self.random.chance(0.95)).unwrap_or_else(|| self.random.chance(0.5));
        self.said.push(format!("limit={}", if packets { "p" } else { "B" }));
        if packets {
            let (least, most) = if path.ends_with("limit") { (2.0, 200.0) } else { (1.0, 40.0) };
            return format!("{}p", self.random.scaled(least, most).round());
        }
        let (least, most) = if path.ends_with("limit") { (1_600.0, 300e3) } else { (500.0, 60e3) };
        let least = if self.random.chance(0.95) { least } else { 1.0 };
        format!("{}B", self.random.scaled(least, most).round())
    }

    fn size(&mut self) -> String {
        if self.random.chance(EXTREME) {
            return (*self.random.one(&["1B", "0B", "1GB", "4GiB", "18446744072GB"])).to_owned();
        }
        self.size_to(200e3)
    }

    fn size_to(&mut self, most: f64) -> String {
        let bytes = self.random.scaled(1.0, most).round();
        if self.random.chance(0.3) { format!("{}kB", (bytes / 1e3).ceil()) } else { format!("{bytes}B") }
    }

    fn integer(&mut self, least: i64, most: i64, multiple: i64) -> i64 {
        let drawn = match self.random.below(60) {
            0 => least,
            1 => most.min(i64::from(u32::MAX)),
            2..=20 => most.min(least.saturating_add(self.random.below(4) as i64)),
            _ => most.min(least.saturating_add(self.random.scaled(1.0, 300.0) as i64)),
        };
        drawn / multiple * multiple
    }

    fn number(&mut self, least: Option<f64>, most: Option<f64>) -> f64 {
        let value = match (least, most) {
            (Some(least), Some(most)) if self.random.chance(0.1) => *self.random.one(&[least, most]),
            (Some(least), Some(most)) if most - least > 100.0 => least + self.random.scaled(1e-2, 100.0),
            (Some(least), Some(most)) => least + (most - least) * self.random.part(),
            (Some(least), None) => least + self.random.scaled(1e-2, 20.0),
            _ => self.random.scaled(1e-2, 50.0),
        };
        (value * 1e4).round() / 1e4
    }

    fn controller(&mut self) -> Toml {
        let kind = *self.random.one(KINDS);
        self.said.push(format!("controller<{}>", kind.name));
        let mut table = Table::new();
        table.insert("kind".into(), Toml::String(kind.name.into()));
        let chance = (2.0 / kind.params.len().max(1) as f64).min(0.3);
        for param in kind.params {
            let chance = if param.name == "form" { 0.4 } else { chance };
            if self.random.chance(chance) {
                let value = self.parameter(param);
                table.insert(param.name.into(), value);
            }
        }
        Toml::Table(table)
    }

    fn parameter(&mut self, param: &Param) -> Toml {
        let near = |text: &str| text.parse::<f64>().ok().filter(|x| *x > 0.0).unwrap_or(1.0);
        let factor = *self.random.one(&[0.1, 0.3, 0.5, 0.8, 1.0, 1.0, 1.2, 2.0, 5.0]);
        match param.kind {
            ValueKind::OptionalNumber if self.random.chance(0.3) => Toml::String("none".into()),
            ValueKind::Number | ValueKind::OptionalNumber if self.random.chance(0.05) => Toml::Float(0.0),
            ValueKind::Number | ValueKind::OptionalNumber => Toml::Float(near(param.default) * factor),
            ValueKind::Integer if self.random.chance(0.05) => {
                Toml::Integer(*self.random.one(&[0, i64::from(u32::MAX)]))
            }
            ValueKind::Integer => Toml::Integer((near(param.default) * factor).round() as i64),
            ValueKind::Flag => Toml::Boolean(self.random.chance(0.5)),
            ValueKind::AutoTime if self.random.chance(0.3) => Toml::String("auto".into()),
            ValueKind::Time | ValueKind::AutoTime => Toml::String(self.time("controller")),
            ValueKind::Choice => Toml::String((*self.random.one(param.choices)).into()),
        }
    }
}

/// Writes a value in the largest unit that leaves a whole number.
fn in_units(value: f64, units: &[(&str, f64)]) -> String {
    let fits = units.iter().find(|(_, scale)| value >= *scale && value % scale == 0.0);
    let (unit, scale) = fits.or(units.last()).copied().unwrap_or(("", 1.0));
    format!("{:.0}{unit}", value / scale)
}

/// Place of a key of the table at `path`.
pub fn key_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Place of a table of kind `word` at `path`.
pub fn kind_path(path: &str, word: &str) -> String {
    format!("{path}<{word}>")
}

/// A place of the schema, with the places directly below it that must be drawn.
pub struct Level<'s> {
    /// Schema of the place.
    pub schema: Schema<'s>,
    /// Path of the place.
    pub path: String,
    /// Keys, words, kinds or branches.
    pub below: BTreeSet<String>,
}

/// All places of the schema with others below.
pub fn levels<'s>(schema: Schema<'s>, path: &str, all: &mut Vec<Level<'s>>) {
    let mut below = BTreeSet::new();
    match schema.shape() {
        Shape::Words(words) => below.extend(words.iter().map(|word| format!("{path}={word}"))),
        Shape::Variants(variants) => {
            for (_, word, of) in variants {
                let path = kind_path(path, word);
                below.insert(path.clone());
                levels_of_keys(of, &path, all);
            }
        }
        Shape::Either(branches) => {
            for (i, branch) in branches.into_iter().enumerate() {
                below.insert(format!("{path}|{i}"));
                levels(branch, path, all);
            }
        }
        Shape::List { of, .. } => levels(of, &format!("{path}[]"), all),
        Shape::Names(of) => levels(of, &format!("{path}.*"), all),
        Shape::Table(of) => levels_of_keys(of, path, all),
        Shape::Controller => below.extend(KINDS.iter().map(|kind| format!("controller<{}>", kind.name))),
        _ => {}
    }
    if !below.is_empty() {
        all.push(Level { schema, path: path.to_owned(), below });
    }
}

fn levels_of_keys<'s>(schema: Schema<'s>, path: &str, all: &mut Vec<Level<'s>>) {
    let mut below = BTreeSet::new();
    for (key, of, _) in schema.keys() {
        let path = key_path(path, key);
        if !hints::is_left_out(&path) {
            below.insert(path.clone());
            levels(of, &path, all);
        }
    }
    all.push(Level { schema, path: path.to_owned(), below });
}

/// All places of the schema: keys, kinds and words.
pub fn places(schema: Schema<'_>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    visit(schema, "", &mut all);
    for kind in KINDS {
        all.insert(format!("controller<{}>", kind.name));
        for param in kind.params {
            let at = format!("controller<{}>.{}", kind.name, param.name);
            all.extend(param.choices.iter().map(|word| format!("{at}={word}")));
            all.insert(at);
        }
    }
    all
}

fn visit(schema: Schema<'_>, path: &str, all: &mut BTreeSet<String>) {
    if hints::is_left_out(path) {
        return;
    }
    match schema.shape() {
        Shape::Controller => drop(all.insert(format!("{path}=controller"))),
        Shape::Words(words) => all.extend(words.iter().map(|word| format!("{path}={word}"))),
        Shape::Variants(variants) => {
            for (_, word, schema) in variants {
                let path = kind_path(path, word);
                all.insert(path.clone());
                visit_keys(schema, &path, all);
            }
        }
        Shape::Either(branches) => {
            for (i, branch) in branches.into_iter().enumerate() {
                all.insert(format!("{path}|{i}"));
                visit(branch, path, all);
            }
        }
        Shape::List { of, .. } => visit(of, &format!("{path}[]"), all),
        Shape::Table(schema) => visit_keys(schema, path, all),
        Shape::Names(values) => visit(values, &format!("{path}.*"), all),
        Shape::Text(_) | Shape::Integer { .. } | Shape::Number { .. } | Shape::Flag => {}
    }
}

fn visit_keys(schema: Schema<'_>, path: &str, all: &mut BTreeSet<String>) {
    for (key, schema, _) in schema.keys() {
        let path = key_path(path, key);
        if !hints::is_left_out(&path) {
            all.insert(path.clone());
            visit(schema, &path, all);
        }
    }
}

/// Places of the schema used by a document, named as by [`places`].
pub fn used(schema: Schema<'_>, value: &Toml, path: &str, all: &mut BTreeSet<String>) {
    match (schema.shape(), value) {
        (Shape::Controller, value) => {
            all.insert(format!("{path}=controller"));
            let Some(table) = value.as_table() else { return };
            let kind = table.get("kind").and_then(Toml::as_str).unwrap_or_default();
            all.insert(format!("controller<{kind}>"));
            for (key, value) in table.iter().filter(|(key, _)| *key != "kind") {
                let at = format!("controller<{kind}>.{key}");
                all.extend(value.as_str().map(|word| format!("{at}={word}")));
                all.insert(at);
            }
        }
        (Shape::Words(_), Toml::String(word)) => drop(all.insert(format!("{path}={word}"))),
        (Shape::Variants(variants), Toml::Table(table)) => {
            let word = |tag: &str| table.get(tag).and_then(Toml::as_str);
            if let Some((_, word, schema)) = variants.into_iter().find(|(tag, of, _)| word(tag) == Some(of)) {
                let path = kind_path(path, word);
                all.insert(path.clone());
                used_keys(schema, table, &path, all);
            }
        }
        (Shape::Either(branches), value) => {
            let fits = |schema: &Schema<'_>| {
                let mut problems = Vec::new();
                schema.check(value, "", &mut problems);
                problems.is_empty()
            };
            if let Some((i, branch)) = branches.into_iter().enumerate().find(|(_, branch)| fits(branch)) {
                all.insert(format!("{path}|{i}"));
                used(branch, value, path, all);
            }
        }
        (Shape::List { of, .. }, Toml::Array(list)) => {
            list.iter().for_each(|value| used(of, value, &format!("{path}[]"), all));
        }
        (Shape::Table(schema), Toml::Table(table)) => used_keys(schema, table, path, all),
        (Shape::Names(of), Toml::Table(table)) => {
            table.values().for_each(|value| used(of, value, &format!("{path}.*"), all));
        }
        _ => {}
    }
}

fn used_keys(schema: Schema<'_>, table: &Table, path: &str, all: &mut BTreeSet<String>) {
    for (key, schema, _) in schema.keys() {
        if let Some(value) = table.get(key) {
            let path = key_path(path, key);
            all.insert(path.clone());
            used(schema, value, &path, all);
        }
    }
}
