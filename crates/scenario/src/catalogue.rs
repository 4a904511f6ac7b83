//! All kinds and their parameters: `incast list` and `incast describe`, generated from the declarations.

use crate::document::arrivals::PACKET;
use crate::document::schema;
use crate::document::transport::Preset;
use crate::files::builtin;
use crate::files::sizes::{Interpolation, SizeTable};
use crate::text::problem::{Errors, Problem};
use crate::text::schema::Schema;
use incast_cc as cc;
use serde::Serialize;
use std::fmt;

/// Kinds of things that can be listed, as written by users.
pub const KINDS: [&str; 11] = [
    "controllers",
    "topologies",
    "queues",
    "routing",
    "traffic",
    "applications",
    "programs",
    "sizes",
    "transports",
    "tables",
    "scenarios",
];

/// Kinds listed and described by the package itself.
pub const BESIDE: [&str; 2] = ["models", "papers"];

/// A line of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Item {
    /// Name as in scenarios.
    pub name: String,
    /// Description, one sentence.
    pub what: String,
}

/// A key or parameter.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Key {
    /// Name.
    pub name: String,
    /// Condition on its value.
    pub expected: String,
    /// The allowed words, each with its meaning, for a key with words.
    pub words: Vec<(String, String)>,
    /// Unit of a number written without one.
    pub unit: String,
    /// Default as written in a scenario; `None` for a required or optional key without a default.
    pub default: Option<String>,
    /// True for a required key.
    pub required: bool,
    /// Meaning.
    pub doc: String,
    /// Source of the default.
    pub source: String,
}

/// Keys of tables that are values of keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SubTable {
    /// Keys with such a table.
    pub of: Vec<String>,
    /// Keys of the table, as for the first of them.
    pub keys: Vec<Key>,
}

/// Complete description of one item.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Description {
    /// One of [`KINDS`].
    pub kind: String,
    /// Name as in scenarios.
    pub name: String,
    /// Name in text.
    pub title: String,
    /// Description.
    pub what: String,
    /// Paper, RFC or program that it follows.
    pub source: String,
    /// Differences from that source, with reasons.
    pub differences: Vec<String>,
    /// Keys of the item.
    pub keys: Vec<Key>,
    /// Keys of the tables among the values of its keys.
    pub tables: Vec<SubTable>,
    /// State variables that can be traced, with their meaning.
    pub state: Vec<(String, String)>,
    /// Text, for a scenario.
    pub text: String,
}

fn kind_of(word: &str) -> Result<&'static str, Errors> {
    // applications have the key `app`
    let word = if word == "app" { "applications" } else { word };
    let found = KINDS.iter().find(|k| **k == word || singular(k) == word);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = KINDS.into_iter().chain(BESIDE).collect();
        let mut message = "no such kind of thing".to_owned();
        if let Some(kind) = KINDS.into_iter().find(|kind| has(kind, word)) {
            message += &format!("; {word} is one of the {kind}: incast describe {} {word}", singular(kind));
        }
        Problem::new(word, message).among(word, "expected one of", &known, "incast list").into()
    })
}

/// True if a kind has an item of this name.
fn has(kind: &str, name: &str) -> bool {
    list(kind).is_ok_and(|items| items.iter().any(|i| i.name == name))
}

fn singular(kind: &str) -> &str {
    match kind {
        "topologies" => "topology",
        "routing" | "traffic" => kind,
        _ => kind.strip_suffix('s').unwrap_or(kind),
    }
}

/// Key path of a kind's words in the schema.
fn words_at(kind: &str) -> (&'static [&'static str], bool) {
    match kind {
        "topologies" => (&["topology"], false),
        "queues" => (&["queue"], false),
        "routing" => (&["routing"], false),
        "traffic" => (&["pattern"], true),
        "applications" => (&["app"], true),
        _ => (&["transport", "preset"], false),
    }
}

/// Names and first sentences of all items of a kind; the kind in plural or singular.
pub fn list(kind: &str) -> Result<Vec<Item>, Errors> {
    let kind = kind_of(kind)?;
    let item = |name: &str, what: &str| Item { name: name.into(), what: first_sentence(what) };
    Ok(match kind {
        "controllers" => cc::KINDS.iter().map(|k| item(k.name, k.what)).collect(),
        "scenarios" => {
            let items = builtin::names().into_iter().filter_map(|n| Some((n, builtin::header(builtin::text(n)?))));
            items.map(|(n, header)| item(n, &header)).collect()
        }
        "sizes" => {
            let items = builtin::sizes().filter_map(|n| Some((n, builtin::header(builtin::file(n)?))));
            items.map(|(n, header)| item(n, &header)).collect()
        }
        _ => things(kind).into_iter().map(|(name, doc, _)| item(name, doc)).collect(),
    })
}

/// (name, documentation, schema of its keys).
fn things(kind: &str) -> Vec<(&'static str, &'static str, Option<Schema<'static>>)> {
    let root = Schema::new(schema());
    if kind == "tables" {
        // a table, or a list of tables
        let table = |(key, s): (&'static str, Schema<'static>)| {
            let own = if s.is_list() { root.items(key) } else { s };
            Some((key, s.doc(), Some(own.table()?)))
        };
        return root.keys().into_iter().map(|(key, s, _)| (key, s)).filter_map(table).collect();
    }
    if kind == "programs" {
        let kinds = root.items("program").variants().unwrap_or_default();
        return kinds.into_iter().map(|(_, word, s)| (word, s.doc(), Some(s))).collect();
    }
    let (path, in_traffic) = words_at(kind);
    let root = if in_traffic { root.items("traffic") } else { root };
    let Some(at) = root.find(path, None) else { return Vec::new() };
    if let Some(words) = at.words() {
        return words.into_iter().map(|(w, d)| (w, d, None)).collect();
    }
    at.variants().unwrap_or_default().into_iter().map(|(_, w, s)| (w, s.doc(), Some(s))).collect()
}

/// Complete description of one item.
pub fn describe(kind: &str, name: &str) -> Result<Description, Errors> {
    let kind = kind_of(kind)?;
    let mut d = Description { kind: kind.into(), name: name.into(), title: name.into(), ..Description::default() };
    let unknown = || {
        let names: Vec<String> = list(kind).unwrap_or_default().into_iter().map(|i| i.name).collect();
        let mut message = format!("no such {}", singular(kind));
        if let Some(other) = KINDS.iter().filter(|k| **k != kind).find(|other| has(other, name)) {
            message += &format!("; {name} is one of the {other}: incast describe {} {name}", singular(other));
        }
        Errors::from(Problem::new(name, message).among(name, "there are", &names, &format!("incast list {kind}")))
    };
    match kind {
        "controllers" => {
            let k = cc::KINDS.iter().find(|k| k.name == name).ok_or_else(unknown)?;
            d.title = k.title.into();
            d.what = k.what.into();
            d.source = k.source.into();
            d.differences = k.differences.iter().map(|s| (*s).to_owned()).collect();
            d.state = k.state.iter().map(|(n, m)| ((*n).to_owned(), (*m).to_owned())).collect();
            d.keys = k.params.iter().map(param).collect();
        }
        "scenarios" => {
            let text = builtin::text(name).ok_or_else(unknown)?;
            d.what = builtin::header(text);
            d.text = text.into();
        }
        "sizes" => {
            let text = builtin::sizes().find(|n| *n == name).and_then(builtin::file).ok_or_else(unknown)?;
            let file = format!("{}{name}", builtin::PREFIX);
            let table = SizeTable::read(&file, text, PACKET)?;
            d.what = format!(
                "{}\n\nMean, with packets of {PACKET} B: {:.1} B drawn linearly, {:.1} B by the upper line. In a \
                 scenario: arrivals.sizes = \"{file}\".",
                builtin::header(text),
                table.mean(Interpolation::Linear),
                table.mean(Interpolation::Upper),
            );
        }
        _ => {
            let (_, doc, keys) = things(kind).into_iter().find(|(n, _, _)| *n == name).ok_or_else(unknown)?;
            d.what = doc.into();
            let schema = match kind {
                "traffic" => Some(Schema::new(schema()).items("traffic")),
                "transports" => Schema::new(schema()).find(&["transport"], None),
                _ => keys,
            };
            d.keys = match kind {
                "transports" => preset_keys(name),
                _ => schema.map(keys_of).unwrap_or_default(),
            };
            d.tables = schema.map(tables_of).unwrap_or_default();
            if let Some(schema) = schema.filter(|_| matches!(kind, "programs" | "topologies")) {
                tables_within(schema, "", &mut d.tables);
            }
        }
    }
    Ok(d)
}

fn param(p: &cc::Param) -> Key {
    Key {
        name: p.name.into(),
        expected: p.expected.into(),
        unit: p.unit.into(),
        default: Some(p.default.into()),
        doc: p.doc.into(),
        source: p.source.into(),
        ..Key::default()
    }
}

/// Keys of the table described by a schema, directly or as one of its forms.
pub fn keys_of(schema: Schema) -> Vec<Key> {
    let schema = schema.table().unwrap_or(schema);
    let key = |(name, s, required): (&str, Schema, bool)| Key {
        name: name.into(),
        expected: s.expected(),
        words: s.meanings(),
        default: s.default(),
        required,
        doc: one_line(s.doc()),
        ..Key::default()
    };
    schema.keys().into_iter().map(key).collect()
}

/// Largest table described together with its key; a larger one is an item of its own.
const MAX_KEYS: usize = 12;

/// Tables among the values of a schema's keys; equal tables are shared.
fn tables_of(schema: Schema) -> Vec<SubTable> {
    let mut tables: Vec<SubTable> = Vec::new();
    for (name, s, _) in schema.keys() {
        let Some(keys) = s.table().map(keys_of).filter(|keys| keys.len() <= MAX_KEYS) else { continue };
        let alike = |t: &SubTable| t.keys.iter().map(|k| &k.name).eq(keys.iter().map(|k| &k.name));
        match tables.iter_mut().find(|t| alike(t)) {
            Some(t) => t.of.push(name.into()),
            None => tables.push(SubTable { of: vec![name.into()], keys }),
        }
    }
    tables
}

/// Tables in lists and tables of a schema, at any depth, by their path; equal tables are shared.
fn tables_within(schema: Schema, path: &str, tables: &mut Vec<SubTable>) {
    for (name, s, _) in schema.keys() {
        let Some(table) = s.entry() else { continue };
        let at = format!("{path}{name}");
        let keys = keys_of(table);
        let alike = |t: &&mut SubTable| t.keys.iter().map(|k| &k.name).eq(keys.iter().map(|k| &k.name));
        match tables.iter_mut().find(alike) {
            Some(known) if known.of.contains(&at) => {}
            Some(known) => known.of.push(at.clone()),
            None => tables.push(SubTable { of: vec![at.clone()], keys }),
        }
        tables_within(table, &format!("{at}."), tables);
    }
}

/// Keys of the transport with a preset's values as defaults.
fn preset_keys(name: &str) -> Vec<Key> {
    let values = Preset::ALL.iter().copied().find(|p| p.name() == name).map(Preset::values);
    let values = values.and_then(|v| toml::Table::try_from(v).ok()).unwrap_or_default();
    let schema = Schema::new(schema()).find(&["transport"], None);
    let mut keys: Vec<Key> = schema.map(keys_of).unwrap_or_default();
    keys.retain(|k| k.name != "preset");
    for k in &mut keys {
        k.default = values.get(&k.name).map(toml::Value::to_string);
    }
    keys
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_sentence(doc: &str) -> String {
    let doc = one_line(doc);
    match doc.find(". ") {
        Some(end) => doc[..=end].to_owned(),
        None => doc,
    }
}

/// Breaks text into lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |l| l.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(last) = lines.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

impl Key {
    fn write(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        write!(f, "  {}", self.name)?;
        match &self.default {
            Some(d) => write!(f, " = {d}")?,
            None if self.required => write!(f, "  (required)")?,
            None => {}
        }
        if !self.unit.is_empty() {
            write!(f, "  [{}]", self.unit)?;
        }
        writeln!(f)?;
        for line in wrap(&self.doc, width - 4) {
            writeln!(f, "      {line}")?;
        }
        for line in wrap(&format!("Expected: {}.", self.expected), width - 4) {
            writeln!(f, "      {line}")?;
        }
        for (word, meaning) in &self.words {
            for (i, line) in wrap(&format!("\"{word}\": {meaning}"), width - 8).iter().enumerate() {
                writeln!(f, "      {}{line}", if i == 0 { "  " } else { "    " })?;
            }
        }
        if !self.source.is_empty() {
            writeln!(f, "      Default from: {}.", self.source)?;
        }
        Ok(())
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WIDTH: usize = 92;
        if self.title == self.name {
            writeln!(f, "{}", self.name)?
        } else {
            writeln!(f, "{} ({})", self.title, self.name)?
        }
        for paragraph in self.what.split("\n\n") {
            for line in wrap(paragraph, WIDTH) {
                writeln!(f, "  {line}")?;
            }
        }
        if !self.source.is_empty() {
            writeln!(f, "  Source: {}", self.source)?;
        }
        if !self.differences.is_empty() {
            writeln!(f, "\nDifferences from the source")?;
        }
        for d in &self.differences {
            for (i, line) in wrap(d, WIDTH - 2).iter().enumerate() {
                writeln!(f, "  {} {line}", if i == 0 { "-" } else { " " })?;
            }
        }
        if !self.keys.is_empty() {
            writeln!(f, "\n{}", if self.kind == "controllers" { "Parameters" } else { "Keys" })?;
        }
        self.keys.iter().try_for_each(|k| k.write(f, WIDTH))?;
        for t in &self.tables {
            writeln!(f, "\nKeys of {}", t.of.join(", "))?;
            t.keys.iter().try_for_each(|k| k.write(f, WIDTH))?;
        }
        if !self.state.is_empty() {
            writeln!(f, "\nState that can be traced")?;
        }
        for (name, meaning) in &self.state {
            writeln!(f, "  {name}: {meaning}")?;
        }
        if !self.text.is_empty() {
            write!(f, "\n{}", self.text)?;
        }
        Ok(())
    }
}
