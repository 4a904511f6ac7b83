//! Scenarios: the user's input, checked, and turned into the engine's specification.
//!
//! A scenario is a TOML document (`docs/scenario.md`). [`Scenario::load`] reads a file or a built-in one,
//! [`Scenario::set`] changes any key, [`Scenario::build`] makes the engine's [`Spec`]. All problems of a scenario are
//! reported at once, with key, value and the expected value.
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
//! The types of [`document`] and its modules are the only declaration of keys, defaults, bounds and documentation;
//! [`text::schema`] checks documents against the schema generated from them, and [`catalogue`] prints it.

#![forbid(unsafe_code)]

pub mod build;
pub mod catalogue;
pub mod document;
pub mod files;
pub mod given;
pub mod results;
pub mod text;
pub mod topology;
pub mod traffic;

pub use catalogue::{describe, list};
pub use document::schema;
pub use files::{Beside, builtin};
pub use results::VERSION;
pub use text::problem::{Errors, Problem};

use build::extent::Extent;
use document::Document;
use document::edit::{LeftOut, NAMED, entry, insert, resolved, unknown_key};
use document::spelling::{canonical, canonical_table, with_spellings};
use files::{FNV, Tasks, fnv, read_file, read_named, tasks_named};
use incast_engine::spec::Spec;
use incast_engine::{About, Progress};
use results::{Failure, Results};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use text::reading::read;
use text::schema::Schema;
use toml::Value as Toml;
use topology::Topology;

/// A scenario as written by the user, with later changes.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    beside: Beside,
    table: toml::Table,
    left_out: Vec<LeftOut>,
    /// Typed document of `table`, once requested.
    document: OnceLock<Result<Arc<Document>, Errors>>,
}

impl PartialEq for Scenario {
    fn eq(&self, other: &Scenario) -> bool {
        let same = (&self.name, &self.beside, &self.left_out) == (&other.name, &other.beside, &other.left_out);
        same && self.table == other.table
    }
}

/// Longest error message, in bytes, that shows the line.
const LONGEST_TOLD: usize = 2_000;

/// Most lines that are no TOML and are told with their text; the others are counted.
const MOST_TOLD: usize = 3;

/// Errors of a text that is not TOML, one a line; `first` is the one that ended its reading.
fn unreadable(text: &str, file: &str, first: &toml::de::Error) -> Errors {
    let told = |error: &toml::de::Error| {
        // the wrong line is shown, unless it is unreadably long
        let (whole, short) = (error.to_string(), error.message());
        Problem::new(file, if whole.len() > LONGEST_TOLD { short } else { whole.trim_end() })
    };
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |error: &toml::de::Error| error.span().map(|span| ends.partition_point(|end| *end < span.start));
    let (_, mut all) = toml::de::DeTable::parse_recoverable(text);
    all.retain(|error| line(error) != line(first));
    all.push(first.clone());
    all.sort_by_key(line);
    all.dedup_by_key(|error| line(error));
    let more = all.len().saturating_sub(MOST_TOLD);
    all.truncate(MOST_TOLD);
    // each keeps a copy of the text
    all.iter_mut().for_each(|error| error.set_input(Some(text)));
    let counted = (more > 0).then(|| Problem::new(file, format!("more lines that are no TOML: {more}")));
    Errors(all.iter().map(told).chain(counted).collect())
}

/// A scenario that is ready to run.
pub struct Prepared {
    /// The specification for the engine.
    pub spec: Spec,
    /// Warnings, in sentences: hints, not errors.
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
            return Err(builtin::unknown(name_or_path, "no file and no built-in scenario of this name").into());
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
        // Absolute, so that its files are found whatever the working directory is later.
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        Scenario::read(&text, dir.into(), &name, name_or_path)
    }

    /// Reads a scenario from its text. `beside` is the folder of its files, or their texts; `name` is its name if
    /// the text has none.
    pub fn from_toml(text: &str, beside: impl Into<Beside>, name: &str) -> Result<Scenario, Errors> {
        Scenario::read(text, beside.into(), name, name)
    }

    /// Reads the text of `file` as [`Scenario::from_toml`] does.
    fn read(text: &str, beside: Beside, name: &str, file: &str) -> Result<Scenario, Errors> {
        let mut table: toml::Table = text.parse().map_err(|e| unreadable(text, file, &e))?;
        canonical_table(&mut table, Schema::new(schema()), &beside);
        let own = table.get("name").and_then(Toml::as_str).unwrap_or(name).to_owned();
        let (left_out, document) = (Vec::new(), OnceLock::new());
        let scenario = Scenario { name: own, beside, table, left_out, document };
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

    /// Threads of a run, if their number is given.
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

    /// The same scenario with this controller for every flow: it replaces `controller` and those of traffic entries and
    /// jobs.
    /// `text` is the short form, `"swift:target=min-rtt"`.
    pub fn with_controller(&self, text: &str) -> Result<Scenario, Errors> {
        let mut other = self.clone();
        other.set("controller", text)?;
        for entry in other.entries() {
            entry.remove("controller");
        }
        other.document = OnceLock::new();
        // whatever the controllers had is replaced
        other.left_out.retain(|l| !l.path.ends_with("controller"));
        Ok(other)
    }

    fn entries(&mut self) -> impl Iterator<Item = &mut toml::Table> {
        let lists = self.table.iter_mut().filter(|(key, _)| NAMED.contains(&key.as_str()));
        lists.filter_map(|(_, list)| list.as_array_mut()).flatten().filter_map(Toml::as_table_mut)
    }

    /// Sets a key: `set("topology.k", "8")`. `traffic.flows` is the key of the only traffic
    /// entry, `traffic.<name>.flows` that of one of several, and so with `job.iterations`; entries of
    /// other lists go by number, `failures.0.detection`, or by name where they have one,
    /// `program.0.tables.count.miss`. A value is written as in TOML; the quotes of a text may be left
    /// out.
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
            [list, ref rest @ ..] if NAMED.contains(&list) && !rest.is_empty() => {
                entry(&mut table, schema, list, rest)?
            }
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
        let mut given = found.read(value);
        canonical(&mut given, found, &self.beside);
        let had = insert(place, &parts, given, found);
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
        // a value given again, by itself or with its whole controller, is not left out
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

    /// Text of the scenario as written, with its changes and without comments.
    pub fn written(&self) -> Result<String, Errors> {
        text_of(&self.table)
    }

    /// Keys that the scenario gives, as written, with what the schema says of them.
    pub fn given(&self) -> Vec<given::Given> {
        given::given(&Toml::Table(self.table.clone()), Schema::new(schema()))
    }

    /// Typed document, checked against the schema; read only once.
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
        read(value).map_err(|e| Problem::new(self.name.clone(), e.message()).into())
    }

    /// Warnings before a run, in sentences: hints, not errors. Fails as [`Scenario::build`] does.
    pub fn notes(&self) -> Result<Vec<String>, Errors> {
        Ok(self.prepare()?.notes)
    }

    /// Specification for the engine.
    pub fn build(&self) -> Result<Spec, Errors> {
        Ok(build::build(self.document()?, &self.beside)?.spec)
    }

    /// Rough estimate of the memory of a run, in bytes. A lower bound once it is known to exceed `most`: a network
    /// that does not fit is not built.
    pub fn memory(&self, most: u64) -> Result<u64, Errors> {
        match build::within(self.document()?, &self.beside, most) {
            Ok(built) => Ok(built.spec.memory()),
            Err(build::Refused::Memory(least)) => Ok(least),
            Err(build::Refused::Wrong(errors)) => Err(errors),
        }
    }

    /// Rough upper bound of the rows of a run's timeline; 0 without one.
    pub fn timeline_rows(&self) -> Result<u64, Errors> {
        Ok(self.build()?.timeline_rows())
    }

    /// Runs `spec`, which this scenario became, to its end. `progress` is called now and then, and stops the run by
    /// returning false.
    pub fn run(&self, spec: &Spec, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Results, Failure> {
        results::run(spec, &self.name, |about, words| self.refused(spec, about, words), progress)
    }

    /// Errors of this scenario if the engine refuses its specification at the start of a run.
    pub fn refused(&self, spec: &Spec, about: About, text: String) -> Errors {
        match self.document() {
            Ok(doc) => build::refusals::problem(doc, spec, about, text).into(),
            Err(errors) => errors,
        }
    }

    /// Specification for the engine, and the warnings.
    pub fn prepare(&self) -> Result<Prepared, Errors> {
        let doc = self.document()?;
        let built = build::build(doc, &self.beside)?;
        let notes = build::warnings::warnings(doc, &built, &self.left_out);
        Ok(Prepared { spec: built.spec, notes })
    }

    /// Document with every default written out. Read again from the same folder, it has the same hash: names of files
    /// stay as written, so it does not depend on the machine.
    pub fn resolved(&self) -> Result<Document, Errors> {
        // read again: the digest of a controller in Python is that of its current file
        let mut doc = self.parse()?;
        doc.name = Some(self.name.clone());
        doc.transport = doc.transport.resolved();
        doc.name_groups();
        doc.jobs.iter_mut().for_each(|job| job.llm = job.llm.as_ref().map(|llm| llm.resolved()));
        Ok(doc)
    }

    /// [`Scenario::resolved`] as TOML.
    pub fn resolved_toml(&self) -> Result<String, Errors> {
        to_toml(&self.resolved()?)
    }

    /// Identity of the scenario, 16 hexadecimal digits: a hash of the resolved document and of its files. Name,
    /// description, seed and threads are left out, so that runs of one scenario under several seeds have one hash.
    pub fn hash(&self) -> Result<String, Errors> {
        let mut doc = self.resolved()?;
        (doc.name, doc.description, doc.run.seed) = (None, None, 0);
        doc.run.threads = Default::default();
        for (key, file) in named(&mut doc) {
            if key.ends_with(TASKS) {
                *file = format!("{:016x}", tasks_named(&key, &self.beside, file)?.hash(&key)?);
                continue;
            }
            // the rule for drawing sizes depends on the name of a built-in table
            if !(key.ends_with(".sizes") && file.starts_with(builtin::PREFIX)) {
                *file = format!("{:016x}", fnv(FNV, read_named(&key, &self.beside, file)?.as_bytes()));
            }
        }
        Ok(format!("{:016x}", fnv(FNV, to_toml(&doc)?.as_bytes())))
    }

    /// Files of the scenario, with their names in the scenario and their paths: a copy of it needs them. Files that
    /// come with the program are not included.
    pub fn files(&self) -> Result<Vec<(String, PathBuf)>, Errors> {
        let mut doc = self.document()?.clone();
        let all = |(key, file): (String, &mut String)| self.parts(&key, file);
        let mut names: Vec<String> = named(&mut doc).into_iter().flat_map(all).collect();
        names.retain(|n| !n.starts_with(builtin::PREFIX));
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|n| (n.clone(), self.beside.path(&n))).collect())
    }

    /// Names of the files behind a name: several of execution traces.
    fn parts(&self, key: &str, file: &str) -> Vec<String> {
        let parts = if key.ends_with(TASKS) { tasks_named(key, &self.beside, file).ok() } else { None };
        match parts {
            Some(Tasks::Files(path, parts)) if parts != [path.clone()] => {
                let folder =
                    if path.is_dir() { Path::new(file) } else { Path::new(file).parent().unwrap_or(Path::new("")) };
                let name = |part: &PathBuf| folder.join(part.file_name()?).to_str().map(str::to_owned);
                parts.iter().filter_map(name).collect()
            }
            _ => vec![file.to_owned()],
        }
    }

    /// [`Scenario::resolved_toml`] with other names for its files.
    pub fn resolved_toml_under(&self, names: &HashMap<String, String>) -> Result<String, Errors> {
        let mut doc = self.resolved()?;
        for (key, file) in named(&mut doc) {
            if let Some(other) = names.get(file) {
                file.clone_from(other);
                continue;
            }
            // execution traces go by what their names have in common
            let parts = self.parts(&key, file);
            let first = parts.first().and_then(|part| names.get(part)).and_then(|other| other.strip_suffix(".0.et"));
            if let Some(prefix) = first {
                prefix.clone_into(file);
            }
        }
        to_toml(&doc)
    }

    /// Number of hosts, switches, ports and flows, and an estimate of the hops of a run.
    pub fn extent(&self) -> Result<Extent, Errors> {
        Ok(Extent::of(&self.build()?))
    }

    /// JSON schema of scenario files (draft 2020-12): keys, types, bounds, units, defaults and
    /// documentation.
    pub fn schema() -> String {
        format!("{:#}", with_spellings(schema().clone()))
    }
}

/// End of the keys that name tasks of jobs.
const TASKS: &str = ".workload";

/// Names of files in a document, each with its key.
fn named(doc: &mut Document) -> Vec<(String, &mut String)> {
    let mut found = match &mut doc.topology {
        Topology::Graph(graph) => vec![("topology.file".to_owned(), &mut graph.file)],
        Topology::Cell(cell) => {
            cell.placement.file().map(|f| ("topology.placement.file".to_owned(), f)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    for t in &mut doc.traffic {
        let entry = format!("traffic.{}", t.name());
        found.extend(t.file.as_mut().map(|file| (format!("{entry}.file"), file)));
        found.extend(t.arrivals.as_mut().map(|arrivals| (format!("{entry}.arrivals.sizes"), &mut arrivals.sizes)));
    }
    for job in &mut doc.jobs {
        let key = format!("job.{}{TASKS}", job.name());
        found.extend(job.workload.as_mut().map(|file| (key, file)));
    }
    found
}

/// A document as TOML, by way of a table, as other places need one: serde's code exists once for each type.
fn to_toml(doc: &Document) -> Result<String, Errors> {
    toml::Table::try_from(doc).map_err(|e| Problem::new("scenario", e.to_string()).into()).and_then(|t| text_of(&t))
}

fn text_of(table: &toml::Table) -> Result<String, Errors> {
    toml::to_string(table).map_err(|e| Problem::new("scenario", e.to_string()).into())
}
