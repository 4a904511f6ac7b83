//! Tasks of a job: of a file, or of a collective.

use super::bounds::network;
use super::hosts::{check_hosts, gpus_of};
use crate::document::job::{self as document, Job};
use crate::files::{Tasks, tasks_named};
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use crate::traffic::shuffle::shuffled;
use incast_engine::hash::{self, purpose};
use incast_workload::collective::{Expansion, Methods, alone, expand, expanded_tasks, tags, zipf};
use incast_workload::files::{self, Format};
use incast_workload::lint::{Options, lint, servers};
use incast_workload::{Collective, Graph, Pattern, Refused, Report};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;

/// Most tasks of a job whose collectives are expanded before the run.
const MOST_TASKS: f64 = 2e7;
/// Memory of a task in a run, about.
const TASK_BYTES: f64 = 60.0;

/// Reads tasks from the file of a job. A graph with a mistake that would stop a run is refused; other findings become
/// notes.
pub(super) fn read(job: &Job, file: &str, flows: &mut Flows) -> Result<(Graph, Methods), Problem> {
    let key = &format!("{}.workload", flows.path);
    let unreadable = |e: std::io::Error| Problem::quoted(key, file, e.to_string());
    let found = tasks_named(key, flows.beside, file)?;
    let (mut report, options) = (Report::default(), job.reading());
    let (format, graph) = match &found {
        Tasks::Files(path, _) => {
            (files::format_of(path).map_err(unreadable)?, files::read(path, &options, &mut report))
        }
        Tasks::Text(text) => {
            let graph = files::read_source(&mut Cursor::new(text.as_bytes()), &options, &mut report);
            (Format::of(text.as_bytes()), graph.map_err(unreadable)?)
        }
    };
    if let Some((other, formats)) = job.of_files().into_iter().find(|(_, formats)| !formats.contains(&format)) {
        let of: Vec<&str> = formats.iter().map(|format| format.title()).collect();
        let message = format!("{file} is {}; expected none, it is a key of {}", format.title(), of.join(" and "));
        return Err(Problem::new(format!("{}.{other}", flows.path), message));
    }
    if format == Format::Msccl {
        let convert = format!("incast workload convert {file} --size 16MiB --out job.goal");
        let message = format!("an algorithm of MSCCL has no size; expected the file that {convert} writes");
        return Err(Problem::quoted(key, file, message));
    }
    graph.iter().for_each(|graph| lint(graph, &looking(flows), &mut report));
    if let Some(finding) = report.first_error() {
        return Err(Problem::quoted(key, file, finding.to_string()));
    }
    let Some(graph) = graph.filter(|graph| graph.ranks() > 0) else {
        return Err(Problem::quoted(key, file, "no ranks; expected at least one"));
    };
    note(key, &report, flows);
    Ok((graph, job.collectives.clone().unwrap_or_default().methods()))
}

/// Network and packets of the scenario, for the linter: the shortest latency and the highest rate between hosts.
fn looking(flows: &Flows) -> Options {
    let (usual, hosts) = (Options::default(), flows.network.hosts);
    let network = network(|host| host < hosts, flows).unwrap_or(usual.network);
    Options { network, ..usual }
}

/// Makes notes of the findings that stop no run, the first of each code.
fn note(key: &str, report: &Report, flows: &mut Flows) {
    let mut last = None;
    for finding in report.findings().iter().filter(|finding| last.replace(finding.code) != Some(finding.code)) {
        let more = match report.count(finding.code) {
            0 | 1 => String::new(),
            n => format!(" ({} more of {})", n - 1, finding.code.text()),
        };
        flows.notes.push(format!("{key}: {finding}{more}"));
    }
}

/// The collective of a job, and its method.
pub(super) fn collective(
    collective: &document::Collective,
    job: &Job,
    group: u32,
    flows: &Flows,
) -> Result<(Graph, Methods), Problem> {
    let key = format!("{}.collective", flows.path);
    let wrong = |refused: Refused| Problem::new(&*key, refused.0);
    let each = job.ranks_per_host.max(1);
    let free = || flows.network.hosts_of_plane() - flows.taken.len() as u32;
    let hosts = || job.hosts.as_ref().map_or_else(free, |own| own.len() as u32);
    let mut what = Collective::new(collective.kind.0, 0, collective.size.0);
    let mut methods = Methods::default();
    methods.choose(what.pattern, collective.method.of(what.pattern));
    let ranks = collective.ranks.unwrap_or_else(|| hosts().saturating_mul(each));
    if ranks < 2 {
        return Err(Problem::new(format!("{key}.ranks"), format!("{ranks} ranks; expected at least 2")));
    }
    if job.hosts.is_none() {
        let count = ranks.div_ceil(each);
        let on = if each > 1 { format!("{ranks} ranks on {count} hosts") } else { format!("{ranks} ranks") };
        check_hosts(count as usize, &on, flows)?;
    }
    if (what.bytes.0 == 0) != (what.pattern == Pattern::Barrier) {
        let message = if what.bytes.0 == 0 { "expected at least 1 B" } else { "expected 0B: a barrier has no data" };
        return Err(Problem::quoted(format!("{key}.size"), collective.size, message));
    }
    if let Some(exponent) = collective.skew {
        if what.pattern != Pattern::AllToAll {
            let message = format!("{exponent}: expected none: {} has no receivers to choose", what.pattern.name());
            return Err(Problem::new(format!("{key}.skew"), message));
        }
        let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::SKEW, group.into(), u64::from(i)), n);
        what.sizes = Some(zipf(what.bytes, exponent, &shuffled(ranks, draw)).into());
    }
    Ok((alone(&what, ranks).map_err(wrong)?, methods))
}

/// First tag of the messages of each collective, with its pattern.
pub(super) type Patterns = Vec<(u32, Pattern)>;

/// Tags of the messages of the collectives of a job, once these are expanded.
pub(super) fn patterns(graph: &Graph, methods: &Methods, flows: &Flows) -> Result<Patterns, Problem> {
    if graph.collectives().is_empty() {
        return Ok(Vec::new());
    }
    let first = tags(graph, methods).map_err(|found| Problem::new(&flows.path, found.0))?;
    Ok(first.into_iter().zip(graph.collectives()).map(|(tag, own)| (tag, own.pattern)).collect())
}

/// Key of the collectives of a job.
fn key_of(job: &Job, flows: &Flows) -> String {
    let key = match (&job.collective, &job.llm) {
        (Some(_), _) => "collective",
        (None, Some(_)) => "llm",
        (None, None) => "collectives",
    };
    format!("{}.{key}", flows.path)
}

/// Tasks of a job, of whose collectives a run computes the messages.
pub(super) fn expansion(job: &Job, graph: Arc<Graph>, methods: &Methods, flows: &Flows) -> Result<Expansion, Problem> {
    Expansion::new(graph, methods).map_err(|found| Problem::new(key_of(job, flows), found.0))
}

/// Messages of the tasks of a job: its collectives are expanded.
pub(super) fn messages(job: &Job, graph: &Graph, methods: &Methods, flows: &Flows) -> Result<Graph, Problem> {
    let wrong = |refused: Refused| Problem::new(key_of(job, flows), refused.0);
    let mut tasks = graph.total() as f64;
    for one in graph.collectives() {
        let members = graph.group(one.group).len() as u64;
        tasks += expanded_tasks(one, members, methods.of(one.pattern)).map_err(wrong)?;
    }
    if tasks > MOST_TASKS {
        let need = tasks * TASK_BYTES / 1e9;
        return Err(wrong(Refused(format!(
            "{tasks:.0} tasks with pxn, which take {need:.1} GB; expected at most {MOST_TASKS:.0}: larger chunks, or \
             fewer ranks"
        ))));
    }
    expand(graph, methods).map_err(wrong)
}

/// Notes on servers of GPUs: groups that lie in several, and rings that leave their rail, where GPU k of every server
/// is in the k-th rack.
pub(super) fn note_servers(job: &Job, graph: &Graph, methods: &Methods, hosts: &[u32], flows: &mut Flows) {
    let Some(gpus) = gpus_of(job, flows).filter(|gpus| *gpus > 0) else { return };
    let rack = |rank: usize| hosts.get(rank).and_then(|host| flows.network.racks.get(*host as usize));
    let first = || (0..gpus as usize).map(rack);
    let apart = first().flatten().collect::<BTreeSet<_>>().len() == gpus as usize;
    let rails = apart && (0..hosts.len()).all(|rank| rack(rank) == rack(rank % gpus as usize));
    let mut report = Report::default();
    servers(graph, methods, gpus, rails, &mut report);
    note(&flows.path.clone(), &report, flows);
}
