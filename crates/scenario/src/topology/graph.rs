//! Any network, from a file: hosts, switches, links. Routes are all shortest paths, counted in links.
//!
//! One breadth-first search per switch with hosts finds the next hops: hosts of one switch share their routes. Equal
//! sets of next hops are stored once per switch.

use super::link::{ErrorUnit, Link, LinkChange};
use super::network::{MAX_HOSTS, Network};
use crate::files::Beside;
use crate::text::problem::{Errors, Problem, Report};
use crate::text::reading::read;
use crate::text::root_schema::root;
use crate::text::schema::Schema;
use incast_engine::spec::Router;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::OnceLock;

/// Keys of `topology.kind = "graph"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Graph {
    /// File of nodes and links, TOML or CSV by its extension; relative to the scenario file.
    pub file: String,
    /// Defaults of the links in the file.
    pub link: Option<LinkChange>,
}

/// A graph file in TOML.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct File {
    /// Names of hosts; each has exactly one link.
    hosts: Vec<String>,
    /// Names of switches.
    switches: Vec<String>,
    /// Links.
    links: Vec<FileLink>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct FileLink {
    /// One end.
    a: String,
    /// Other end; forward is from `a` to `b`.
    b: String,
    /// Settings of the link.
    #[serde(flatten)]
    own: LinkChange,
}

/// Columns of a graph file in CSV; a row is a host, a switch or a link.
const COLUMNS: [&str; 12] = [
    "kind",
    "name",
    "peer",
    "rate",
    "delay",
    "overhead",
    "burst",
    "back_rate",
    "back_delay",
    "error_rate",
    "back_error_rate",
    "error_unit",
];

/// Largest next-hop table, switches times hosts: 400 MB.
const MAX_ENTRIES: u64 = 100_000_000;

impl Graph {
    pub(super) fn build(&self, beside: &Beside) -> Result<Network, Errors> {
        let text = crate::files::read_named("topology.file", beside, &self.file)?;
        let file =
            if self.file.ends_with(".csv") { from_csv(&self.file, &text) } else { from_toml(&self.file, &text) }?;
        self.network(&file)
    }

    fn network(&self, file: &File) -> Result<Network, Errors> {
        let at = |what: String| format!("{}, {what}", self.file);
        let mut problems = Vec::new();
        let mut net = Network { hosts: file.hosts.len() as u32, ..Network::default() };
        let mut number = HashMap::new();
        for name in file.hosts.iter().chain(&file.switches) {
            if number.insert(name.as_str(), net.names.len() as u32).is_some() {
                problems.push(Problem::new(at(format!("node {name}")), "listed twice"));
            }
            net.names.push(name.clone());
        }
        if file.hosts.len() as u64 > MAX_HOSTS || file.hosts.len() < 2 {
            problems.push(Problem::new(
                at("hosts".into()),
                format!("{} hosts; expected from 2 to {MAX_HOSTS}", file.hosts.len()),
            ));
        }
        if file.hosts.len() as u64 * file.switches.len() as u64 > MAX_ENTRIES {
            let message = format!(
                "{} switches times {} hosts of next hops; expected at most {MAX_ENTRIES}",
                file.switches.len(),
                file.hosts.len()
            );
            problems.push(Problem::new(self.file.clone(), message));
        }
        for (i, l) in file.links.iter().enumerate() {
            self.join(l, &at(format!("link {}", i + 1)), &number, &mut net, &mut problems);
        }
        let mut degree = vec![0; net.names.len()];
        net.links.iter().for_each(|l| degree[l.from as usize] += 1);
        if problems.is_empty() {
            for (name, links) in file.hosts.iter().zip(&degree).filter(|(_, d)| **d != 1) {
                problems
                    .push(Problem::new(at(format!("host {name}")), format!("has {links} links; expected exactly one")));
            }
        }
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        net.route();
        Ok(net)
    }

    /// Adds a link of the file, described at `place`. `number`: numbers of nodes by name.
    fn join(
        &self,
        l: &FileLink,
        place: &str,
        number: &HashMap<&str, u32>,
        net: &mut Network,
        problems: &mut Vec<Problem>,
    ) {
        let key = |k: &str| format!("{place}.{k}");
        let mut end = |k: &str, name: &str| {
            let found = number.get(name).copied();
            if found.is_none() {
                let p = Problem::with_value(key(k), format!("\"{name}\""), "expected the name of a host or switch");
                problems.push(p.suggest(name, net.names.iter().map(String::as_str)));
            }
            found
        };
        let ends = (end("a", &l.a), end("b", &l.b));
        let default = self.link.clone().unwrap_or_default();
        let (Some(rate), Some(delay)) = (l.own.rate.or(default.rate), l.own.delay.or(default.delay)) else {
            let missing = if l.own.rate.or(default.rate).is_none() { "rate" } else { "delay" };
            problems.push(Problem::new(key(missing), format!("missing; give it here or as topology.link.{missing}")));
            return;
        };
        let base = Link {
            rate,
            delay,
            overhead: 0,
            burst: None,
            back_rate: None,
            back_delay: None,
            error_rate: 0.0,
            back_error_rate: None,
            error_unit: ErrorUnit::Packet,
            lose: Vec::new(),
        };
        match ends {
            (Some(a), Some(b)) if a == b => problems.push(Problem::new(key("b"), format!("joins {} to itself", l.a))),
            (Some(a), Some(b)) => {
                let link = base.with(&self.link).with(&Some(l.own.clone()));
                link.check(&mut Report::new(place.to_owned(), problems));
                net.join(a, b, &link);
            }
            _ => {}
        }
    }
}

impl Network {
    /// Shortest paths in links: next-hop sets of every switch, and racks.
    pub(super) fn route(&mut self) {
        let nodes = self.names.len();
        let hosts = self.hosts as usize;
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for l in &self.links {
            out[l.from as usize].push(l.to);
        }
        let mut tables = vec![(vec![0u32; hosts], vec![Vec::<u32>::new()]); nodes - hosts];
        let mut known: Vec<HashMap<Vec<u32>, u32>> = vec![HashMap::from([(Vec::new(), 0)]); nodes - hosts];
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for h in 0..hosts {
            below[out[h][0] as usize].push(h as u32);
        }
        for gate in hosts..nodes {
            if below[gate].is_empty() {
                continue;
            }
            // Distance to the switch with the hosts; links go both ways.
            let mut far = vec![u32::MAX; nodes];
            far[gate] = 0;
            let mut queue = VecDeque::from([gate]);
            while let Some(n) = queue.pop_front() {
                for &m in out[n].iter().filter(|m| **m as usize >= hosts) {
                    if far[m as usize] == u32::MAX {
                        far[m as usize] = far[n] + 1;
                        queue.push_back(m as usize);
                    }
                }
            }
            for n in (hosts..nodes).filter(|n| *n != gate && far[*n] != u32::MAX) {
                let closer = |m: &u32| *m as usize >= hosts && far[*m as usize] + 1 == far[n];
                let set: Vec<u32> = (0u32..).zip(&out[n]).filter(|(_, m)| closer(m)).map(|(p, _)| p).collect();
                let (table, sets) = &mut tables[n - hosts];
                let id = *known[n - hosts].entry(set.clone()).or_insert_with(|| {
                    sets.push(set);
                    sets.len() as u32 - 1
                });
                below[gate].iter().for_each(|h| table[*h as usize] = id);
            }
            for (port, m) in (0u32..).zip(&out[gate]).filter(|(_, m)| (**m as usize) < hosts) {
                let (table, sets) = &mut tables[gate - hosts];
                sets.push(vec![port]);
                table[*m as usize] = sets.len() as u32 - 1;
            }
        }
        self.routers = tables.into_iter().map(|(set, sets)| Router::Table { set, sets }).collect();
        let rack = |n: usize| if n < hosts { out[n][0].saturating_sub(self.hosts) } else { (n - hosts) as u32 };
        self.racks = (0..nodes).map(rack).collect();
    }
}

/// Schema of a graph file in TOML, created once.
pub fn schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(root::<File>)
}

fn from_toml(name: &str, text: &str) -> Result<File, Errors> {
    let value: toml::Value = match text.parse::<toml::Table>() {
        Ok(table) => toml::Value::Table(table),
        Err(e) => return Err(Problem::new(name, e.to_string()).into()),
    };
    let mut problems = Vec::new();
    Schema::new(schema()).check(&value, "", &mut problems);
    if problems.is_empty() {
        return read(value).map_err(|e| Problem::new(name, e.message()).into());
    }
    problems.iter_mut().for_each(|p| p.key = format!("{name}, {}", p.key));
    Err(Errors(problems))
}

fn from_csv(name: &str, text: &str) -> Result<File, Errors> {
    let rows = crate::files::rows::Rows::read(name, text, &COLUMNS, &["kind", "name"])?;
    let mut file = File { hosts: Vec::new(), switches: Vec::new(), links: Vec::new() };
    let mut problems = Vec::new();
    for row in rows.iter() {
        if !row.fits(&mut problems) {
            continue;
        }
        let text = |c: &str| row.get(c).unwrap_or("").to_owned();
        match row.get("kind") {
            Some("host") => file.hosts.push(text("name")),
            Some("switch") => file.switches.push(text("name")),
            Some("link") => {
                let unit = |t: &str| match t {
                    "packet" => Ok(ErrorUnit::Packet),
                    "byte" => Ok(ErrorUnit::Byte),
                    _ => Err("expected one of \"packet\", \"byte\"".to_owned()),
                };
                let probability = |t: &str| match t.parse::<f64>() {
                    Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
                    _ => Err("expected a number from 0 to 1".to_owned()),
                };
                let number = |t: &str| t.parse::<u32>().map_err(|_| "expected a whole number >= 0".to_owned());
                file.links.push(FileLink {
                    a: text("name"),
                    b: text("peer"),
                    own: LinkChange {
                        rate: row.quantity("rate", &mut problems),
                        delay: row.quantity("delay", &mut problems),
                        overhead: row.parse("overhead", number, &mut problems),
                        burst: row.quantity("burst", &mut problems),
                        back_rate: row.quantity("back_rate", &mut problems),
                        back_delay: row.quantity("back_delay", &mut problems),
                        error_rate: row.parse("error_rate", probability, &mut problems),
                        back_error_rate: row.parse("back_error_rate", probability, &mut problems),
                        error_unit: row.parse("error_unit", unit, &mut problems),
                        lose: None,
                    },
                });
            }
            kind => {
                let p = row.wrong("kind", "expected one of \"host\", \"switch\", \"link\"");
                problems.push(p.suggest(kind.unwrap_or(""), ["host", "switch", "link"]));
            }
        }
    }
    Errors::unless_none(problems, file)
}
