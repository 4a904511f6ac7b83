//! Jobs for Python: files, findings, counts, bounds, collectives.

use crate::errors::scenario_error;
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::chakra;
use incast_workload::collective::{self, Algorithm, Method, Methods, Step};
use incast_workload::evaluate::delay::Network;
use incast_workload::evaluate::loggops::{self, Parameters, Variant};
use incast_workload::files::{self, Format};
use incast_workload::isolate::isolate;
use incast_workload::lint::{self, Options};
use incast_workload::stats::stats;
use incast_workload::{Code, Collective, Finding, Graph, Kind, Pattern, Refused, Report, goal, msccl, simai};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// A job: the tasks of its ranks.
#[pyclass(frozen, module = "incast._core")]
pub struct Workload(pub(crate) Graph);

/// (code, stops a run, place, what, why, remedy).
type Found = (&'static str, bool, String, String, &'static str, String);

fn found(report: &Report) -> (Vec<Found>, Vec<(&'static str, u64)>) {
    let texts =
        |f: &Finding| (f.code.text(), f.error, f.place.to_string(), f.what.clone(), f.code.why(), f.remedy.clone());
    let counts = Code::ALL.iter().map(|code| (code.text(), report.count(*code))).filter(|(_, count)| *count > 0);
    (report.findings().iter().map(texts).collect(), counts.collect())
}

fn unknown(what: &str, name: &str, expected: &[&str]) -> PyErr {
    scenario_error(format!("{what} \"{name}\": expected {}", expected.join(", ")))
}

fn format(name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| unknown("format", name, &Format::ALL.map(Format::name)))
}

fn pattern(name: &str) -> PyResult<Pattern> {
    Pattern::named(name).ok_or_else(|| unknown("collective", name, &Pattern::ALL.map(Pattern::name)))
}

/// Parameters of an algorithm: name, channels, chunk (B), credits, reduction (bit/s), window, server, order.
type Given = (String, u32, Option<u64>, u32, Option<u64>, u32, u32, Vec<u32>);

fn method(pattern: Pattern, given: Given) -> PyResult<Method> {
    let (name, channels, chunk, credits, reduce, window, server, order) = given;
    let usual = || Some(Algorithm::usual(pattern)).filter(|_| name.is_empty());
    let algorithm = Algorithm::named(&name).or_else(usual);
    let algorithm = algorithm.ok_or_else(|| unknown("algorithm", &name, &Algorithm::ALL.map(Algorithm::name)))?;
    Ok(Method {
        algorithm,
        channels,
        chunk: chunk.map(Bytes),
        credits,
        reduce: reduce.map(Rate),
        window,
        server,
        order,
    })
}

/// A job unless it has an error, findings, and their numbers by code.
type Read = (Option<Workload>, Vec<Found>, Vec<(&'static str, u64)>);

/// Reads a file of a job; an empty kind is the format that the file looks like. `simai` has the GPUs, for workloads of
/// SimAI that name no number, and whether the rules are those of its run on ns-3; `totals` says whether sizes of
/// all-gathers are totals, `data_only` leaves control dependencies out; `size` is the buffer of an algorithm of MSCCL.
#[pyfunction]
#[pyo3(signature = (path, kind, simai = (None, false), totals = None, data_only = false, size = None))]
pub fn workload_load(
    py: Python<'_>,
    path: PathBuf,
    kind: &str,
    simai: (Option<u64>, bool),
    totals: Option<bool>,
    data_only: bool,
    size: Option<u64>,
) -> PyResult<Read> {
    let (gpus, as_simai) = simai;
    let format = if kind.is_empty() { None } else { Some(format(kind)?) };
    let options = files::Options {
        format,
        simai: simai::Options { gpus, as_simai },
        traces: chakra::Options { totals, data_only },
        msccl: msccl::Options { bytes: size },
    };
    let mut report = Report::default();
    let graph = py.detach(|| files::read(&path, &options, &mut report));
    let (findings, counts) = found(&report);
    Ok((graph.map(Workload), findings, counts))
}

/// Job of one collective of ranks 0 to n-1, as the messages of an algorithm; `sizes` has the bytes of all pairs of an
/// all-to-all, a row a sender.
#[pyfunction]
#[pyo3(signature = (name, n, size, root, given, sizes = None))]
pub fn workload_collective(
    py: Python<'_>,
    name: &str,
    n: u32,
    size: u64,
    root: u32,
    given: Given,
    sizes: Option<Vec<u64>>,
) -> PyResult<Workload> {
    let pattern = pattern(name)?;
    if root >= n {
        return Err(scenario_error(format!("root = {root}: expected a position below n = {n}")));
    }
    let mut methods = Methods::default();
    methods.choose(pattern, method(pattern, given)?);
    if sizes.is_some() && pattern != Pattern::AllToAll {
        return Err(scenario_error(format!("sizes of {name}: expected all-to-all")));
    }
    let what = Collective { root, sizes: sizes.map(Into::into), ..Collective::new(pattern, 0, Bytes(size)) };
    let made = py.detach(|| collective::messages(&what, n, &methods));
    made.map(Workload).map_err(scenario_error)
}

/// Findings on the repeats of one collective, by their durations in ps.
#[pyfunction]
pub fn workload_repeats(name: &str, durations_ps: Vec<u64>) -> Vec<Found> {
    let mut report = Report::default();
    lint::repeats(name, &durations_ps.into_iter().map(Time).collect::<Vec<_>>(), &mut report);
    found(&report).0
}

/// Ideal time of a collective, ps, if one is known, and its factor of the bus bandwidth.
#[pyfunction]
pub fn workload_ideal(
    name: &str,
    n: u64,
    size: u64,
    latency_ps: u64,
    rate_bps: u64,
    given: Given,
) -> PyResult<(Option<u64>, f64)> {
    let pattern = pattern(name)?;
    let step = Step { latency: Time(latency_ps), rate: Rate(rate_bps) };
    let method = method(pattern, given)?;
    method.check(pattern, n).map_err(scenario_error)?;
    let time = collective::ideal(pattern, &method, n, Bytes(size), step, step);
    Ok((time.map(|time| time.0), collective::bus_factor(pattern, n)))
}

#[pymethods]
impl Workload {
    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    /// Number of tasks.
    #[getter]
    fn tasks(&self) -> u64 {
        self.0.total()
    }

    /// Findings of the linter, and their numbers by code; `server` is the number of GPUs of a server on rails.
    #[pyo3(signature = (latency_ps, rate_bps, packet, places = None, most_bytes = None, server = None))]
    #[allow(clippy::too_many_arguments, reason = "options of the linter, by name in Python")]
    fn lint(
        &self,
        py: Python<'_>,
        latency_ps: u64,
        rate_bps: u64,
        packet: u64,
        places: Option<u64>,
        most_bytes: Option<u64>,
        server: Option<u32>,
    ) -> (Vec<Found>, Vec<(&'static str, u64)>) {
        let network = Network { latency: Time(latency_ps), rate: Rate(rate_bps) };
        let options = Options { network, packet: Bytes(packet), places, most_bytes: most_bytes.map(Bytes) };
        let mut report = Report::default();
        py.detach(|| lint::lint(&self.0, &options, &mut report));
        if let Some(gpus) = server {
            lint::servers(&self.0, &Methods::default(), gpus, true, &mut report);
        }
        found(&report)
    }

    /// Counts, as a dictionary of numbers, lists and dictionaries; times in ps.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| stats(&self.0));
        let by_kind = |numbers: [u64; 5]| {
            let d = PyDict::new(py);
            for (kind, number) in Kind::ALL.into_iter().zip(numbers).filter(|(_, number)| *number > 0) {
                d.set_item(kind.name(), number)?;
            }
            PyResult::Ok(d)
        };
        let made = PyDict::new(py);
        made.set_item("ranks", found.ranks)?;
        made.set_item("tasks", found.total())?;
        made.set_item("tasks_by_kind", by_kind(found.tasks)?)?;
        made.set_item("bytes_by_kind", by_kind(found.bytes)?)?;
        made.set_item("calc_ps", found.calc.0)?;
        made.set_item("most_calc_ps", found.most_calc.0)?;
        made.set_item("least_message_bytes", found.message.map(|(least, _)| least.0))?;
        made.set_item("most_message_bytes", found.message.map(|(_, most)| most.0))?;
        made.set_item("connections", found.connections)?;
        made.set_item("most_receivers", found.degrees.0)?;
        made.set_item("most_senders", found.degrees.1)?;
        made.set_item("requires", found.dependencies.0)?;
        made.set_item("irequires", found.dependencies.1)?;
        made.set_item("depth", found.depth)?;
        made.set_item("collectives", found.collectives)?;
        made.set_item("memory_bytes", found.memory.0)?;
        made.set_item("run_memory_bytes", found.run_memory.0)?;
        let pairs: Vec<_> = found.pairs.iter().map(|p| (p.from, p.to, p.messages, p.bytes.0)).collect();
        made.set_item("pairs", pairs)?;
        Ok(made)
    }

    /// Lower bound of the time, with its parts; times in ps.
    fn bound<'py>(&self, py: Python<'py>, latency_ps: u64, rate_bps: u64) -> PyResult<Bound<'py, PyDict>> {
        let network = Network { latency: Time(latency_ps), rate: Rate(rate_bps) };
        let found = py.detach(|| bound(&self.0, network)).map_err(scenario_error)?;
        let made = PyDict::new(py);
        made.set_item("bound_ps", found.time().0)?;
        made.set_item("cause", found.cause())?;
        made.set_item("path_ps", found.path.0)?;
        made.set_item("path_bounds", found.path_bounds)?;
        made.set_item("path_calc_ps", found.path_calc.0)?;
        made.set_item("path_tasks", found.path_tasks)?;
        made.set_item("path_messages", found.path_messages)?;
        made.set_item("host_ps", found.host.0)?;
        made.set_item("host_rank", found.host_rank)?;
        made.set_item("host_bytes", found.host_bytes.0)?;
        made.set_item("stream_ps", found.stream.0)?;
        made.set_item("stream_rank", found.stream_rank)?;
        Ok(made)
    }

    /// Time of the job in the LogGOPS model, ps, and tasks that ended: L, o, g and O (ps), G (ns a byte), S (bytes);
    /// `copy` has the rules of htsim's copy of LogGOPSim.
    fn loggops(
        &self,
        py: Python<'_>,
        times_ps: [u64; 4],
        per_byte_ns: f64,
        eager: u64,
        copy: bool,
    ) -> PyResult<(u64, u64)> {
        let [latency, overhead, gap, overhead_per_byte] = times_ps.map(Time);
        let eager = Bytes(eager);
        let parameters = Parameters { latency, overhead, gap, gap_per_byte_ns: per_byte_ns, overhead_per_byte, eager };
        let variant = if copy { Variant::Copy } else { Variant::LogGopsim };
        let outcome = py.detach(|| loggops::run(&self.0, &parameters, variant)).map_err(scenario_error)?;
        Ok((outcome.end.0, outcome.ended))
    }

    /// The job with its collectives as messages; `given` has a pattern and its parameters each.
    fn expand(&self, py: Python<'_>, given: Vec<(String, Given)>) -> PyResult<Workload> {
        let mut methods = Methods::default();
        for (name, parameters) in given {
            let pattern = pattern(&name)?;
            methods.choose(pattern, method(pattern, parameters)?);
        }
        py.detach(|| collective::expand(&self.0, &methods)).map(Workload).map_err(scenario_error)
    }

    /// Some ranks by themselves, and the number of their tasks that take part no longer.
    fn isolate(&self, py: Python<'_>, ranks: Vec<u32>) -> PyResult<(Workload, u64)> {
        let (graph, left_out) = py.detach(|| isolate(&self.0, &ranks)).map_err(scenario_error)?;
        Ok((Workload(graph), left_out))
    }

    /// Content of a file in a format, and the number of durations that were rounded to nanoseconds.
    fn content<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<(Bound<'py, PyBytes>, u64)> {
        let format = format(kind)?;
        let written = py.detach(|| {
            let mut bytes = Vec::new();
            let written = match format {
                Format::Goal => goal::text::write(&self.0, &mut bytes),
                Format::Bin => goal::binary::write(&self.0, &mut bytes),
                other => {
                    return Err(Refused(format!("format {}: expected goal or bin, which are written", other.name())));
                }
            };
            written.map(|written| (bytes, written.rounded)).map_err(|error| Refused(error.to_string()))
        });
        let (bytes, rounded) = written.map_err(scenario_error)?;
        Ok((PyBytes::new(py, &bytes), rounded))
    }
}
