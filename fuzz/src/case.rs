//! A random scenario: drawn from the schema, and repaired at the keys that the problems of the checks name.

use crate::grammar::{Around, Draw, kind_path};
use crate::random::Random;
use crate::{files, place};
use incast_engine::spec::Spec;
use incast_scenario::text::schema::{Schema, Shape};
use incast_scenario::{Errors, Problem, Scenario, schema};
use std::fs;
use std::io;
use std::path::Path;
use toml::Table;

/// Number of repairs before a scenario stays refused.
const MENDED: usize = 40;

/// A scenario, and its files.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The document.
    pub table: Table,
    /// Name and content of each file.
    pub files: Vec<(String, String)>,
}

impl Case {
    /// Text of the scenario.
    pub fn text(&self) -> String {
        toml::to_string(&self.table).unwrap_or_default()
    }

    /// Writes the scenario's files to `dir`.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        self.files.iter().try_for_each(|(name, content)| fs::write(dir.join(name), content))
    }

    /// Reads the scenario; its files are in `dir`.
    pub fn scenario(&self, dir: &Path) -> Result<Scenario, Errors> {
        Scenario::from_toml(&self.text(), dir, "fuzz")
    }

    /// Builds the specification; the files are in `dir`.
    pub fn build(&self, dir: &Path) -> Result<Spec, Errors> {
        Ok(self.scenario(dir)?.prepare()?.spec)
    }
}

/// Result of a draw.
pub struct Drawn {
    /// The scenario.
    pub case: Case,
    /// Specification, or the reason why the scenario is still refused.
    pub spec: Result<Spec, Errors>,
    /// Number of problems met on the way.
    pub problems: u64,
    /// A problem that does not say where it is, if there was one.
    pub lost: Option<Problem>,
}

/// Problems met so far.
#[derive(Default)]
struct Seen {
    problems: u64,
    lost: Option<Problem>,
}

/// Draws scenario `number` of `seed`; files go to `dir`.
pub fn draw(seed: u64, number: u64, dir: &Path) -> io::Result<Drawn> {
    let mut random = Random::new(seed, number);
    let whole = Schema::new(schema());
    let kinds = match whole.find(&["topology"], None).map(Schema::shape) {
        Some(Shape::Variants(variants)) => variants.into_iter().map(|(_, word, _)| word).collect(),
        _ => Vec::new(),
    };
    let kind = *random.one::<&str>(&kinds);
    let mut around = scale(kind, &mut random);
    let mut case = Case { table: Table::new(), files: Vec::new() };
    if kind == "graph" {
        case.files = files::graphs(&mut random);
        around.files = vec![("graph", case.files[0].0.clone())];
    }
    if kind == "cell" {
        around.files = vec![("places", "places.csv".into())];
    }
    let mut seen = Seen::default();
    // the network first: the rest uses its names
    let mut base = network_alone(kind, &around, &mut random);
    if kind == "cell" {
        let sources = base.table["topology"].get("sources").and_then(toml::Value::as_integer).unwrap_or(1);
        case.files = files::places(sources + 1, &mut random);
    }
    base.files.clone_from(&case.files);
    let network = mend(&mut base, &around, &mut random, dir, &mut seen)?;
    if let Ok(spec) = network {
        around.hosts = spec.hosts as usize;
        let name = |node: u32| &spec.node_names[node as usize];
        around.links = spec.links.iter().map(|link| format!("{}>{}", name(link.from), name(link.to))).collect();
        around.nodes = spec.node_names;
        let more = files::of_traffic(&around, &mut random);
        around.files.extend(more.iter().map(|(what, name, _)| (*what, name.clone())));
        case.files.extend(more.into_iter().map(|(_, name, content)| (name, content)));
    }
    let mut draw = Draw { random: &mut random, around: &around, said: vec![kind_path("topology", kind)] };
    draw.keys(whole, "", &mut case.table);
    if let Some(topology) = base.table.remove("topology") {
        case.table.insert("topology".into(), topology);
    }
    let spec = mend(&mut case, &around, &mut random, dir, &mut seen)?;
    let text = case.text();
    case.files.retain(|(name, _)| text.contains(name.as_str()));
    Ok(Drawn { case, spec, problems: seen.problems, lost: seen.lost })
}

/// Rates, and transmission times at these rates.
fn scale(kind: &str, random: &mut Random) -> Around {
    let (rate, duration) = if kind == "cell" {
        (1e7, random.scaled(5e8, 8e9))
    } else {
        let rate = *random.one(&[1e8, 1e9, 1e9, 1e10, 1e10, 2.5e10, 1e11, 4e11]);
        // as long as that many full packets take
        (rate, random.scaled(30.0, 1000.0) * 12_000.0 / rate * 1e9)
    };
    let longer = *random.one(&[1.0, 1.0, 1.0, 3.0, 30.0, 300.0]);
    let run = duration * if kind == "cell" { 1.0 } else { longer };
    Around { nodes: Vec::new(), hosts: 0, links: Vec::new(), run, duration, rate, files: Vec::new() }
}

/// A scenario of a network of a kind, and little else.
fn network_alone(kind: &str, around: &Around, random: &mut Random) -> Case {
    let text = format!(
        "[topology]\nkind = \"{kind}\"\n[run]\nduration = \"{:.0}ns\"\n[queue]\nkind = \"drop-tail\"\n\
         limit = \"none\"\n[[traffic]]\npattern = \"hotspot\"\nflows = 1\nto_itself = \"skip\"",
        around.run
    );
    let mut table: Table = text.parse().unwrap_or_default();
    let mut draw = Draw { random, around, said: Vec::new() };
    if let Some(schema) = Schema::new(schema()).find(&["topology"], None) {
        table.insert("topology".into(), draw.value(schema, "topology", &[kind.to_owned()]));
    }
    Case { table, files: Vec::new() }
}

/// Builds the scenario; draws anew or leaves out the keys named by problems until it can be built.
fn mend(
    case: &mut Case,
    around: &Around,
    random: &mut Random,
    dir: &Path,
    seen: &mut Seen,
) -> io::Result<Result<Spec, Errors>> {
    case.write(dir)?;
    let kind = case.table.get("topology").and_then(|t| t.get("kind")).and_then(toml::Value::as_str);
    let said: Vec<String> = kind.iter().map(|kind| kind_path("topology", kind)).collect();
    let mut blamed: Vec<String> = Vec::new();
    let mut last = Err(Errors(Vec::new()));
    for _ in 0..MENDED {
        last = case.build(dir);
        let Err(Errors(problems)) = &last else { break };
        seen.problems += problems.len() as u64;
        seen.lost = seen.lost.take().or_else(|| problems.iter().find(|p| !place::is_found(p)).cloned());
        for problem in problems.iter().take(8) {
            let often = blamed.iter().filter(|key| **key == problem.key).count();
            blamed.push(problem.key.clone());
            let mut draw = Draw { random, around, said: said.clone() };
            place::mend(&mut case.table, problem, often, &mut draw);
        }
    }
    Ok(last)
}
