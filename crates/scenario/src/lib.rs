//! Scenarios: what a user may ask for, checked, and turned into what the engine simulates.
//!
//! A scenario is a TOML document (`docs/scenario.md`). [`Scenario::load`] reads a file or a
//! built-in one, [`Scenario::set`] changes any key, [`Scenario::build`] makes the engine's
//! [`Spec`]. Everything wrong with a scenario is reported at once, with key, value and what was
//! expected.
//!
//! ```
//! use incast_scenario::Scenario;
//!
//! let mut scenario = Scenario::load("hotspot")?;
//! scenario.set("topology.k", "8")?;
//! scenario.set("traffic.flows", "100")?;
//! scenario.set("controller", "swift:target=min-rtt,epsilon=100us")?;
//! let spec = scenario.with_seed(7).build()?;
//! assert_eq!((spec.hosts, spec.flows.len()), (128, 100));
//!
//! let wrong = scenario.set("topology.k", "5").unwrap_err();
//! assert_eq!(wrong.to_string(), "topology.k = 5: expected an even number >= 2");
//! # Ok::<(), incast_scenario::Errors>(())
//! ```
//!
//! The types of [`document`] and the modules it names are the only declaration of keys, defaults,
//! bounds and documentation; [`check`] holds documents against the schema made of them, and
//! [`catalogue`] prints it.

#![forbid(unsafe_code)]

pub mod build;
pub mod catalogue;
pub mod document;
pub mod files;
pub mod text;
pub mod topology;
pub mod traffic;

pub use catalogue::{describe, list};
pub use files::builtin;
pub use text::problem::{Errors, Problem};

use document::{Document, transport};
use files::{read_file, read_named};
use incast_engine::spec::Spec;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use text::schema::Schema;
use text::{controller, own, schema as check};
use toml::Value as Toml;

/// A scenario as the user wrote it, with the changes made since.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    name: String,
    dir: PathBuf,
    table: toml::Table,
    left_out: Vec<LeftOut>,
}

/// What a change of a controller's kind dropped although controllers of the new kind have it too.
#[derive(Clone, PartialEq, Debug)]
struct LeftOut {
    /// Key path of the controller.
    path: String,
    /// The kind it was, and the one it became.
    from: String,
    to: String,
    /// Parameters with their values as they were written.
    had: Vec<(String, String)>,
}

impl Scenario {
    /// A scenario file, or a built-in scenario by name.
    pub fn load(name_or_path: &str) -> Result<Scenario, Errors> {
        let path = Path::new(name_or_path);
        if let Some(text) = builtin::text(name_or_path).filter(|_| !path.is_file()) {
            return Scenario::from_toml(text, Path::new("."), name_or_path);
        }
        if !path.exists() && path.extension().is_none() && !name_or_path.contains(std::path::MAIN_SEPARATOR) {
            let known = builtin::names();
            let message = format!("no file and no built-in scenario of this name; built in are {}", known.join(", "));
            return Err(Problem::new(name_or_path, message).suggest(name_or_path, known).into());
        }
        let text = read_file(name_or_path, path).map_err(|mut p| {
            let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
            if !path.exists() && builtin::text(stem).is_some() {
                p.message += &format!("; the built-in scenario is called {stem}");
            }
            p
        })?;
        let name = path.file_stem().map_or_else(|| name_or_path.into(), |s| s.to_string_lossy());
        let dir = path.parent().unwrap_or(Path::new("."));
        // Absolute, so that the files it names are found whatever the working directory is later.
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        Scenario::read(&text, &dir, &name, name_or_path)
    }

    /// A scenario from its text. `dir` is where file names in it start; `name` is its name if the
    /// text gives none.
    pub fn from_toml(text: &str, dir: &Path, name: &str) -> Result<Scenario, Errors> {
        Scenario::read(text, dir, name, name)
    }

    /// [`Scenario::from_toml`] of the text of `file`.
    fn read(text: &str, dir: &Path, name: &str, file: &str) -> Result<Scenario, Errors> {
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| Problem::new(file, e.to_string().trim_end()))?;
        let own = table.get("name").and_then(Toml::as_str).unwrap_or(name).to_owned();
        let scenario = Scenario { name: own, dir: dir.to_owned(), table, left_out: Vec::new() };
        scenario.document()?;
        Ok(scenario)
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seed.
    pub fn seed(&self) -> u64 {
        self.document().map_or(1, |d| d.run.seed)
    }

    /// The same scenario under another seed. Seeds above 2^63 - 1 do not fit TOML's integers and
    /// lose their highest bit.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut other = self.clone();
        if let Some(run) = other.table.get_mut("run").and_then(Toml::as_table_mut) {
            run.insert("seed".into(), Toml::Integer((seed & i64::MAX as u64) as i64));
        }
        other
    }

    /// The same scenario with this controller for every flow: as its `controller`, and in place of
    /// those of traffic entries. `text` is the short form, `"swift:target=min-rtt"`.
    pub fn with_controller(&self, text: &str) -> Result<Scenario, Errors> {
        let mut other = self.clone();
        other.set("controller", text)?;
        for entry in other.entries() {
            entry.remove("controller");
        }
        other.left_out.clear();
        Ok(other)
    }

    fn entries(&mut self) -> impl Iterator<Item = &mut toml::Table> {
        self.table.get_mut("traffic").and_then(Toml::as_array_mut).into_iter().flatten().filter_map(Toml::as_table_mut)
    }

    /// Sets a key: `set("topology.k", "8")`. `traffic.flows` is the key of the only traffic
    /// entry, `traffic.<name>.flows` that of one of several; entries of other lists go by number,
    /// `failures.0.detection`. A value is written as in TOML; the quotes of a text may be left out.
    ///
    /// Setting a `kind` to another one drops the sibling keys that the new kind does not have, of a
    /// controller all of them; setting a `preset` or a controller's `form` drops the siblings that
    /// only repeated the old one.
    ///
    /// Wrong keys and values are refused at once and change nothing; contradictions between keys
    /// show in [`Scenario::build`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Errors> {
        let parts: Vec<&str> = key.split('.').collect();
        if parts.contains(&"") {
            return Err(Problem::new(key, "expected a key such as \"topology.k\"").into());
        }
        let mut table = self.table.clone();
        let schema = Schema::new(schema());
        let (place, schema, parts, path) = match parts[..] {
            ["traffic", ref rest @ ..] if !rest.is_empty() => entry(&mut table, schema, rest)?,
            _ => (&mut table, schema, parts, String::new()),
        };
        let document = Toml::Table(place.clone());
        let Some(found) = schema.find(&parts, Some(&document)) else {
            return Err(unknown_key(schema, &parts, &document, &path).into());
        };
        let had = insert(place, &parts, found.read(value), found);
        let full = format!("{path}{}", parts.join("."));
        let mut problems = Vec::new();
        schema.check(&Toml::Table(place.clone()), path.trim_end_matches('.'), &mut problems);
        problems.retain(|p| p.key.strip_prefix(&full).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        self.table = table;
        let word = |value: &str| value.trim_matches(['"', '\'']).to_owned();
        // what is given again, by itself or with all of its controller, is not left out
        self.left_out.retain(|l| l.path != full);
        for l in &mut self.left_out {
            l.had.retain(|(k, _)| full != format!("{}.{k}", l.path));
        }
        if let Some(path) = full.strip_suffix(".kind") {
            self.left_out.iter_mut().filter(|l| l.path == path).for_each(|l| l.to = word(value));
            if let Some((from, had)) = had {
                self.left_out.push(LeftOut { path: path.to_owned(), from, to: word(value), had });
            }
        }
        Ok(())
    }

    /// The typed document, checked against the schema.
    pub fn document(&self) -> Result<Document, Errors> {
        let value = Toml::Table(self.table.clone());
        let mut problems = Vec::new();
        Schema::new(schema()).check(&value, "", &mut problems);
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        value.try_into().map_err(|e: toml::de::Error| Problem::new(self.name.clone(), e.message()).into())
    }

    /// What is worth knowing before a run although nothing is wrong, in sentences. Fails as
    /// [`Scenario::build`] does.
    pub fn notes(&self) -> Result<Vec<String>, Errors> {
        let doc = self.document()?;
        let built = build::build(&doc, &self.dir)?;
        Ok(build::warnings::notes(&doc, &built, &self.left_out))
    }

    /// What the engine simulates.
    pub fn build(&self) -> Result<Spec, Errors> {
        Ok(build::build(&self.document()?, &self.dir)?.spec)
    }

    /// The document with every default written out. Read again from the same folder, it has the
    /// same hash: names of files stay as they are written, so that it says nothing of the machine
    /// it was made on.
    pub fn resolved(&self) -> Result<Document, Errors> {
        let mut doc = self.document()?;
        doc.name = Some(self.name.clone());
        doc.transport = doc.transport.resolved();
        for t in &mut doc.traffic {
            t.name = Some(t.name());
            t.transport = t.transport.as_ref().map(|own| own.over(&doc.transport));
        }
        Ok(doc)
    }

    /// [`Scenario::resolved`] as TOML.
    pub fn resolved_toml(&self) -> Result<String, Errors> {
        to_toml(&self.resolved()?)
    }

    /// 16 hexadecimal digits that tell scenarios apart: a hash of the resolved document and of
    /// the files it names. Name, description and seed are left out, so that runs of one scenario
    /// under several seeds have one hash.
    pub fn hash(&self) -> Result<String, Errors> {
        let mut doc = self.resolved()?;
        (doc.name, doc.description, doc.run.seed) = (None, None, 0);
        let content = |key: &str, file: &mut String| -> Result<(), Errors> {
            *file = format!("{:016x}", fnv(read_named(key, &self.dir, file)?.as_bytes()));
            Ok(())
        };
        if let topology::Topology::Graph(g) = &mut doc.topology {
            content("topology.file", &mut g.file)?;
        }
        for t in &mut doc.traffic {
            let key = format!("traffic.{}.file", t.name());
            if let Some(file) = &mut t.file {
                content(&key, file)?;
            }
        }
        Ok(format!("{:016x}", fnv(to_toml(&doc)?.as_bytes())))
    }

    /// Files the scenario names, as it writes them and where they lie: what a copy of it needs
    /// beside it. Those that come with the program are not among them.
    pub fn files(&self) -> Result<Vec<(String, PathBuf)>, Errors> {
        let doc = self.document()?;
        let graph = if let topology::Topology::Graph(g) = &doc.topology { Some(&g.file) } else { None };
        let mut names: Vec<&String> =
            graph.into_iter().chain(doc.traffic.iter().filter_map(|t| t.file.as_ref())).collect();
        names.retain(|n| !n.starts_with(builtin::PREFIX));
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|n| (n.clone(), self.dir.join(n))).collect())
    }

    /// JSON schema of scenario files (draft 2020-12): keys, types, bounds, units, defaults and
    /// documentation.
    pub fn schema() -> String {
        format!("{:#}", schema())
    }
}

/// The traffic entry that `rest` (after `traffic.`) means, and what is left of the key.
fn entry<'t, 's, 'k>(
    table: &'t mut toml::Table,
    schema: Schema<'s>,
    rest: &[&'k str],
) -> Result<(&'t mut toml::Table, Schema<'s>, Vec<&'k str>, String), Errors> {
    let items = schema.items("traffic");
    let keys = items.key_names(None);
    let entries: Vec<&mut toml::Table> = table
        .get_mut("traffic")
        .and_then(Toml::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Toml::as_table_mut)
        .collect();
    let name = |t: &toml::Table| t.get("name").or(t.get("pattern")).and_then(Toml::as_str).unwrap_or("").to_owned();
    let names: Vec<String> = entries.iter().map(|t| name(t)).collect();
    let (at, parts) = match names.iter().position(|n| n == rest[0]) {
        Some(i) if rest.len() > 1 => (i, rest[1..].to_vec()),
        _ if names.len() == 1 && check::number(rest[0]).is_none() => (0, rest.to_vec()),
        _ => {
            let quoted: Vec<String> = names.iter().map(|n| format!("traffic.{n}.KEY")).collect();
            let key = format!("traffic.{}", rest.join("."));
            let expected = quoted.join(" or ");
            if check::number(rest[0]).is_some() {
                let message = format!("entries of traffic go by name; expected {expected}");
                return Err(Problem::new(key, message).into());
            }
            let message = format!("there are {} traffic entries; expected {expected}", names.len());
            let known = keys.iter().copied().chain(names.iter().map(String::as_str));
            let problem = Problem::new(key, message);
            return Err(if keys.contains(&rest[0]) { problem } else { problem.suggest(rest[0], known) }.into());
        }
    };
    let path = if parts.len() < rest.len() { format!("traffic.{}.", names[at]) } else { "traffic.".into() };
    match entries.into_iter().nth(at) {
        Some(entry) => Ok((entry, items, parts, path)),
        None => Err(Problem::new("traffic", "empty; expected at least one [[traffic]] entry").into()),
    }
}

/// The first part of a key path that does not exist, with a suggestion.
fn unknown_key(schema: Schema, parts: &[&str], document: &Toml, path: &str) -> Problem {
    let mut known = 0;
    while known < parts.len() && schema.find(&parts[..=known], Some(document)).is_some() {
        known += 1;
    }
    let above = schema.find(&parts[..known], Some(document)).unwrap_or(schema);
    let place = parts[..known].iter().try_fold(document, |d, k| check::below(d, k));
    let key = format!("{path}{}", parts[..=known].join("."));
    if above.is_list() {
        let list = format!("{path}{}", parts[..known].join("."));
        let message = match place.and_then(Toml::as_array).map_or(0, Vec::len) {
            0 => format!("there is no entry of {list}; expected the whole list, as {list}=[...]"),
            1 => format!("there is one entry of {list}; expected {list}.0"),
            n => format!("there are {n} entries of {list}; expected {list}.0 to {list}.{}", n - 1),
        };
        return Problem::new(key, message);
    }
    let own = place.and_then(|p| p.as_str().or_else(|| p.get("kind")?.as_str())).and_then(own::split);
    if let Some((name, _)) = own.filter(|_| known > 0 && above.is_controller()) {
        let message = format!("parameters of {name} are given with its name, as \"{name}:{}=...\"", parts[known]);
        return Problem::new(key, message);
    }
    if let Some(kind) = place.and_then(controller::kind_of).filter(|_| known > 0 && above.is_controller()) {
        return controller::no_parameter(key, kind, parts[known]);
    }
    above.unknown(key, parts[known], &above.key_names(place), place.and_then(Toml::as_table))
}

/// Puts a value at a key path that exists, making tables on the way. What was a controller of another kind: that kind,
/// and its parameters that the new one has too.
fn insert(
    table: &mut toml::Table,
    parts: &[&str],
    value: Toml,
    found: Schema,
) -> Option<(String, Vec<(String, String)>)> {
    let (last, way) = parts.split_last()?;
    let Some((first, way)) = way.split_first() else { return put(table, last, value, found) };
    let mut at = table.entry(*first).or_insert_with(empty);
    for part in way {
        at = match at {
            Toml::Array(list) => list.get_mut(check::number(part)?)?,
            other => as_table(other)?.entry(*part).or_insert_with(empty),
        };
    }
    if let Toml::Array(list) = at {
        *list.get_mut(check::number(last)?)? = value;
        return None;
    }
    put(as_table(at)?, last, value, found)
}

fn empty() -> Toml {
    Toml::Table(toml::Table::new())
}

/// What stands where a table is due, as one: a controller written in one text with its parameters, else an empty one.
fn as_table(at: &mut Toml) -> Option<&mut toml::Table> {
    if let Some(written) = at.as_str().and_then(controller::table) {
        *at = Toml::Table(written);
    }
    if !at.is_table() {
        *at = empty();
    }
    at.as_table_mut()
}

/// Puts a value at a key of a table: [`insert`].
fn put(at: &mut toml::Table, last: &str, value: Toml, found: Schema) -> Option<(String, Vec<(String, String)>)> {
    let mut had = None;
    let kind = controller::kind_of(&Toml::Table(at.clone())).map(|k| k.name);
    match (last, kind, value.as_str()) {
        ("kind", Some(kind), Some(to)) if to != kind => had = Some((kind.to_owned(), controller::change_kind(at, to))),
        ("form", Some(_), Some(to)) => controller::change_form(at, to),
        _ => {}
    }
    let before = at.insert(last.to_owned(), value.clone());
    if let (Some(variants), Some(word)) = (found.variants(), value.as_str()) {
        let changed = |v: &&(&str, &str, Schema)| v.0 == last && v.1 == word && before.as_ref() != Some(&value);
        if let Some((_, _, variant)) = variants.iter().find(changed) {
            let keys: Vec<&str> = variant.keys().iter().map(|k| k.0).collect();
            at.retain(|k, _| k == last || keys.contains(&k));
        }
    }
    if last == "preset" {
        if let Some(old) = before.and_then(|b| b.try_into::<transport::Preset>().ok()) {
            let old = Toml::try_from(old.values()).unwrap_or(Toml::Boolean(false));
            at.retain(|k, v| k == "preset" || old.get(k) != Some(v));
        }
    }
    had.filter(|(_, shared)| !shared.is_empty())
}

/// The schema, made once.
pub fn schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::Value::from(generator().into_root_schema_for::<Document>()))
}

/// Makes schemas in which objects take no keys but their own.
fn generator() -> schemars::SchemaGenerator {
    fn close(schema: &mut schemars::Schema) {
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
        schemars::transform::transform_subschemas(&mut close, schema);
    }
    schemars::generate::SchemaSettings::draft2020_12().with_transform(close).into_generator()
}

fn to_toml(doc: &Document) -> Result<String, Errors> {
    toml::to_string(doc).map_err(|e| Problem::new("scenario", e.to_string()).into())
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}
