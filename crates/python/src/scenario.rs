//! Scenarios for Python.

use crate::errors::scenario_error;
use incast_cc::{Rate, Time};
use incast_engine::spec::{App, Loss, Spec};
use incast_scenario::Errors;
use incast_scenario::results::governing;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// A scenario: everything that determines a run. Immutable: `set` and `with_seed` return a new one.
#[pyclass(frozen, module = "incast._core")]
pub(crate) struct Scenario {
    pub(crate) scenario: incast_scenario::Scenario,
    /// Specification built by the check: the next run uses it instead of building again.
    built: Mutex<Option<Spec>>,
}

impl From<incast_scenario::Scenario> for Scenario {
    fn from(scenario: incast_scenario::Scenario) -> Scenario {
        Scenario { scenario, built: Mutex::new(None) }
    }
}

impl Scenario {
    fn keep(&self, spec: Spec) {
        if let Ok(mut built) = self.built.lock() {
            *built = Some(spec);
        }
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Result<Spec, Errors> {
        match self.built.lock().ok().and_then(|mut built| built.take()) {
            Some(spec) => Ok(spec),
            None => self.scenario.build(),
        }
    }
}

#[pymethods]
impl Scenario {
    /// A scenario file, or the name of a built-in scenario.
    #[staticmethod]
    fn load(py: Python<'_>, name_or_path: &str) -> PyResult<Scenario> {
        py.detach(|| incast_scenario::Scenario::load(name_or_path)).map(Scenario::from).map_err(scenario_error)
    }

    /// A scenario from its text; `origin` is the folder for relative paths in it.
    #[staticmethod]
    fn from_toml(text: &str, origin: PathBuf, name: &str) -> PyResult<Scenario> {
        incast_scenario::Scenario::from_toml(text, origin, name).map(Scenario::from).map_err(scenario_error)
    }

    /// The scenario with `key` set to `value` (as on the command line).
    fn set(&self, key: &str, value: &str) -> PyResult<Scenario> {
        let mut changed = self.scenario.clone();
        changed.set(key, value).map_err(scenario_error)?;
        Ok(changed.into())
    }

    /// The scenario with one controller for every flow: `"swift:target=min-rtt"`.
    fn with_controller(&self, text: &str) -> PyResult<Scenario> {
        self.scenario.with_controller(text).map(Scenario::from).map_err(scenario_error)
    }

    /// The scenario with another seed.
    fn with_seed(&self, seed: u64) -> Scenario {
        self.scenario.with_seed(seed).into()
    }

    /// Raises `ScenarioError` unless the scenario can be run.
    fn validate(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.scenario.build().map(|spec| self.keep(spec))).map_err(scenario_error)
    }

    /// Warnings before a run, in sentences: hints, not errors. Raises `ScenarioError` unless the scenario can be run.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let prepared = py.detach(|| self.scenario.prepare()).map_err(scenario_error)?;
        self.keep(prepared.spec);
        Ok(prepared.notes)
    }

    /// The resolved scenario with every default written out; `names` replaces names of files.
    #[pyo3(signature = (names = HashMap::new()))]
    fn toml(&self, py: Python<'_>, names: HashMap<String, String>) -> PyResult<String> {
        py.detach(|| self.scenario.resolved_toml_under(&names)).map_err(scenario_error)
    }

    /// Files named by the scenario: names as in the scenario, and paths. Files of the program are not included.
    fn files(&self) -> PyResult<Vec<(String, PathBuf)>> {
        self.scenario.files().map_err(scenario_error)
    }

    /// Controllers of the flows, each once: kinds of controllers, controls of transports' own, `udp`. Raises
    /// `ScenarioError` unless the scenario can be run.
    fn governing(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let spec = py.detach(|| self.spec()).map_err(scenario_error)?;
        let found = governing(&spec);
        self.keep(spec);
        Ok(found)
    }

    /// Network of the scenario, by name: `hosts`, their number; `nodes`, the names of all, hosts first; `links`, each
    /// with sending node, receiving node, rate in bit/s (`None`: infinite), delay in ps, overhead in bytes, and the
    /// probability that a packet is lost (`None`: another rule). Raises `ScenarioError` unless the scenario can be run.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let spec = py.detach(|| self.spec()).map_err(scenario_error)?;
        let named = PyDict::new(py);
        named.set_item("hosts", spec.hosts)?;
        named.set_item("nodes", &spec.node_names)?;
        let links = spec.links.iter().map(|link| {
            let rate = (link.rate != Rate::INFINITE).then_some(link.rate.0);
            let loss = match link.loss {
                Loss::None => Some(0.0),
                Loss::Packet(share) => Some(share),
                _ => None,
            };
            (link.from, link.to, rate, link.delay.0, link.overhead, loss)
        });
        named.set_item("links", links.collect::<Vec<_>>())?;
        self.keep(spec);
        Ok(named)
    }

    /// Hosts of the ranks of every job, by its name. Raises `ScenarioError` unless the scenario can be run.
    fn job_hosts(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<u32>)>> {
        let spec = py.detach(|| self.spec()).map_err(scenario_error)?;
        let hosts = spec.jobs.iter().map(|job| (spec.groups[job.group as usize].clone(), job.hosts.clone())).collect();
        self.keep(spec);
        Ok(hosts)
    }

    /// Flows of the scenario, each with source, destination, opening in ps, bytes (`None`: endless, or no transfer),
    /// name of its traffic entry, whether it opens at that time with all its bytes and nothing else, and the links of
    /// its prescribed paths, of data and of ACKs. Raises `ScenarioError` unless the scenario can be run.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let spec = py.detach(|| self.spec()).map_err(scenario_error)?;
        let rows = spec.flows.iter().map(|flow| {
            let size = if let App::Bulk(bulk) = flow.app { bulk.size } else { None };
            let is_plain = matches!(flow.app, App::Bulk(_)) && flow.trigger.is_none() && flow.stop == Time::NEVER;
            let group = &spec.groups[flow.group as usize];
            let paths = (flow.path.as_ref(), flow.reverse_path.as_ref());
            (flow.src, flow.dst, flow.start.0, size, group, is_plain, paths.0, paths.1)
        });
        let rows = PyList::new(py, rows.collect::<Vec<_>>())?;
        self.keep(spec);
        Ok(rows)
    }

    /// Hash of the resolved scenario without its seed and name, in hexadecimal digits.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.scenario.hash()).map_err(scenario_error)
    }

    /// Name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        self.scenario.name()
    }

    /// Number of threads requested by the scenario; `None`: as many as there are cores.
    #[getter]
    fn threads(&self) -> Option<u32> {
        self.scenario.threads()
    }

    /// Rough estimate of the memory of a run, in bytes; a lower bound if it exceeds `most`. Raises `ScenarioError`
    /// unless the scenario can be run.
    #[pyo3(signature = (most=u64::MAX))]
    fn memory(&self, py: Python<'_>, most: u64) -> PyResult<u64> {
        py.detach(|| self.scenario.memory(most)).map_err(scenario_error)
    }

    /// Rough upper bound of the rows of a run's timeline; 0 without one. Raises `ScenarioError` unless the scenario
    /// can be run.
    fn timeline_rows(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.scenario.timeline_rows()).map_err(scenario_error)
    }

    /// Size of a run, by name: `hosts`, `switches`, `ports`, `flows`, `host_rate_bps`, `duration_s`, and `hops`, an
    /// estimate, or `None` with radio cells. Raises `ScenarioError` unless the scenario can be run.
    fn extent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| self.scenario.extent()).map_err(scenario_error)?;
        let named = PyDict::new(py);
        named.set_item("hosts", found.hosts)?;
        named.set_item("switches", found.switches)?;
        named.set_item("ports", found.ports)?;
        named.set_item("flows", found.flows)?;
        named.set_item("host_rate_bps", found.host_rate_bps)?;
        named.set_item("duration_s", found.duration_s)?;
        named.set_item("hops", found.hops)?;
        Ok(named)
    }

    /// Seed of the scenario.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed()
    }
}
