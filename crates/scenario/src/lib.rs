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
//! bounds and documentation; [`text::schema`] holds documents against the schema made of them, and
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
pub use document::schema;
pub use files::builtin;
pub use text::problem::{Errors, Problem};

use document::Document;
use document::edit::{LeftOut, entry, insert, resolved, unknown_key};
use files::{read_file, read_named};
use incast_engine::About;
use incast_engine::spec::Spec;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use text::schema::Schema;
use toml::Value as Toml;

/// A scenario as the user wrote it, with the changes made since.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    dir: PathBuf,
    table: toml::Table,
    left_out: Vec<LeftOut>,
    /// The typed document of `table`, once it was asked for.
    document: OnceLock<Result<Arc<Document>, Errors>>,
}

impl PartialEq for Scenario {
    fn eq(&self, other: &Scenario) -> bool {
        let all = |s: &Scenario| (s.name.clone(), s.dir.clone(), s.left_out.clone());
        self.table == other.table && all(self) == all(other)
    }
}

/// Bytes of the longest error in a text that shows the line.
const LONGEST_TOLD: usize = 2_000;

/// A scenario that is ready to run.
pub struct Prepared {
    /// The specification for the engine.
    pub spec: Spec,
    /// Warnings, in sentences: nothing is wrong, but worth knowing.
    pub notes: Vec<String>,
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
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            // the line that is wrong is shown, unless nobody could read it
            let (whole, short) = (e.to_string(), e.message());
            Problem::new(file, if whole.len() > LONGEST_TOLD { short } else { whole.trim_end() })
        })?;
        let own = table.get("name").and_then(Toml::as_str).unwrap_or(name).to_owned();
        let (dir, left_out, document) = (dir.to_owned(), Vec::new(), OnceLock::new());
        let scenario = Scenario { name: own, dir, table, left_out, document };
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

    /// Threads of a run, where their number is given.
    pub fn threads(&self) -> Option<u32> {
        self.document().ok()?.run.threads.given().map(|n| n.0)
    }

    /// The same scenario under another seed. Seeds above 2^63 - 1 do not fit TOML's integers and
    /// lose their highest bit.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut other = self.clone();
        if let Some(run) = other.table.get_mut("run").and_then(Toml::as_table_mut) {
            run.insert("seed".into(), Toml::Integer((seed & i64::MAX as u64) as i64));
            other.document = OnceLock::new();
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
        other.document = OnceLock::new();
        other.left_out.clear();
        Ok(other)
    }

    fn entries(&mut self) -> impl Iterator<Item = &mut toml::Table> {
        self.table.get_mut("traffic").and_then(Toml::as_array_mut).into_iter().flatten().filter_map(Toml::as_table_mut)
    }

    /// Sets a key: `set("topology.k", "8")`. `traffic.flows` is the key of the only traffic
    /// entry, `traffic.<name>.flows` that of one of several; entries of other lists go by number,
    /// `failures.0.detection`, or by name where they have one, `program.0.tables.count.miss`. A
    /// value is written as in TOML; the quotes of a text may be left out.
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
        let (parts, spoken) = resolved(&parts, &document);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let Some(found) = schema.find(&parts, Some(&document)) else {
            return Err(unknown_key(schema, &parts, &document, &path).into());
        };
        if let [first, key, ..] = parts[..]
            && !place.contains_key(first)
            && let Some((tag, word)) = schema.usual_kind(first, key)
        {
            place.insert(
                first.to_owned(),
                Toml::Table([(tag.to_owned(), Toml::String(word.to_owned()))].into_iter().collect()),
            );
        }
        let had = insert(place, &parts, found.read(value), found);
        let full = format!("{path}{}", parts.join("."));
        let mut problems = Vec::new();
        schema.check(&Toml::Table(place.clone()), path.trim_end_matches('.'), &mut problems);
        let spoken = format!("{path}{}", spoken.join("."));
        problems.retain(|p| p.key.strip_prefix(&spoken).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        self.table = table;
        self.document = OnceLock::new();
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

    /// The typed document, checked against the schema; read once, whatever is asked of it.
    pub fn document(&self) -> Result<&Document, Errors> {
        match self.document.get_or_init(|| self.parse().map(Arc::new)) {
            Ok(document) => Ok(document),
            Err(errors) => Err(errors.clone()),
        }
    }

    fn parse(&self) -> Result<Document, Errors> {
        let value = Toml::Table(self.table.clone());
        let mut problems = Vec::new();
        Schema::new(schema()).check(&value, "", &mut problems);
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        value.try_into().map_err(|e: toml::de::Error| Problem::new(self.name.clone(), e.message()).into())
    }

    /// Warnings before a run, in sentences: nothing is wrong, but worth knowing. Fails as
    /// [`Scenario::build`] does.
    pub fn notes(&self) -> Result<Vec<String>, Errors> {
        Ok(self.prepare()?.notes)
    }

    /// The specification for the engine.
    pub fn build(&self) -> Result<Spec, Errors> {
        Ok(build::build(self.document()?, &self.dir)?.spec)
    }

    /// Bytes that a run takes, roughly. As soon as they are known to be more than `most`, so many at least: a network
    /// that does not fit is not built.
    pub fn memory(&self, most: u64) -> Result<u64, Errors> {
        match build::within(self.document()?, &self.dir, most) {
            Ok(built) => Ok(built.spec.memory()),
            Err(build::Refused::Memory(least)) => Ok(least),
            Err(build::Refused::Wrong(errors)) => Err(errors),
        }
    }

    /// Rows of the timeline that a run leaves at most, roughly; 0 without one.
    pub fn timeline_rows(&self) -> Result<u64, Errors> {
        Ok(self.build()?.timeline_rows())
    }

    /// What is wrong with this scenario, whose specification the engine refuses as a run begins.
    pub fn refused(&self, spec: &Spec, about: About, text: String) -> Errors {
        match self.document() {
            Ok(doc) => build::refusals::problem(doc, spec, about, text).into(),
            Err(errors) => errors,
        }
    }

    /// The specification for the engine, and the warnings.
    pub fn prepare(&self) -> Result<Prepared, Errors> {
        let doc = self.document()?;
        let built = build::build(doc, &self.dir)?;
        let notes = build::warnings::warnings(doc, &built, &self.left_out);
        Ok(Prepared { spec: built.spec, notes })
    }

    /// The document with every default written out. Read again from the same folder, it has the
    /// same hash: names of files stay as they are written, so that it says nothing of the machine
    /// it was made on.
    pub fn resolved(&self) -> Result<Document, Errors> {
        // read anew: the digest of a controller in Python is that of its file as it is now
        let mut doc = self.parse()?;
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
    /// the files it names. Name, description, seed and threads are left out, so that runs of one scenario
    /// under several seeds have one hash.
    pub fn hash(&self) -> Result<String, Errors> {
        let mut doc = self.resolved()?;
        (doc.name, doc.description, doc.run.seed) = (None, None, 0);
        doc.run.threads = Default::default();
        for (key, file) in named_files(&mut doc) {
            *file = format!("{:016x}", fnv(read_named(&key, &self.dir, file)?.as_bytes()));
        }
        Ok(format!("{:016x}", fnv(to_toml(&doc)?.as_bytes())))
    }

    /// Files the scenario names, as it writes them and where they lie: what a copy of it needs
    /// beside it. Those that come with the program are not among them.
    pub fn files(&self) -> Result<Vec<(String, PathBuf)>, Errors> {
        let mut doc = self.document()?.clone();
        let mut names: Vec<String> = named_files(&mut doc).into_iter().map(|(_, name)| name.clone()).collect();
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

/// Names of the files of a document, with their keys. Tables of sizes that come with the program go by their names.
fn named_files(doc: &mut Document) -> Vec<(String, &mut String)> {
    let mut names = Vec::new();
    match &mut doc.topology {
        topology::Topology::Graph(graph) => names.push(("topology.file".to_owned(), &mut graph.file)),
        topology::Topology::Cell(cell) => {
            if let topology::cell::placement::Placement::File { file } = &mut cell.placement {
                names.push(("topology.placement.file".to_owned(), file));
            }
        }
        _ => {}
    }
    for t in &mut doc.traffic {
        let name = t.name();
        names.extend(t.file.as_mut().map(|file| (format!("traffic.{name}.file"), file)));
        let own = t.arrivals.as_mut().filter(|a| !a.sizes.starts_with(builtin::PREFIX));
        names.extend(own.map(|a| (format!("traffic.{name}.arrivals.sizes"), &mut a.sizes)));
    }
    names
}

fn to_toml(doc: &Document) -> Result<String, Errors> {
    toml::to_string(doc).map_err(|e| Problem::new("scenario", e.to_string()).into())
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}
