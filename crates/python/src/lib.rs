//! The Python module `incast._core`: scenarios in, results out, and the engine run without the GIL in between. Users
//! call the Python package on top (`python/incast`).

mod errors;
mod external;
mod model;
mod scenario;
mod workload;
mod workload_llm;

use std::time::{Duration, Instant};

use errors::{ControllerError, RunError, RunStopped, ScenarioError, scenario_error};
use incast_cc::Time;
use incast_engine::Progress;
use incast_record::Outcome;
use incast_record::table::{self, Column, Values};
use incast_scenario::results::{Failure, Results};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use scenario::Scenario;

/// Interval at which a run asks Python for signals and reports its progress. A shorter one would make parallel runs
/// wait for each other's GIL.
const PYTHON_INTERVAL: Duration = Duration::from_millis(100);

/// Results of one run.
#[pyclass(frozen, module = "incast._core")]
struct RunResult(Results);

#[pymethods]
impl RunResult {
    /// Processor time of each thread of the run, between the first event and the last, s.
    fn threads_s(&self) -> Vec<f64> {
        self.0.cost.threads.iter().map(Duration::as_secs_f64).collect()
    }

    /// Processor time of set-up and outcome on other threads than the caller's, s.
    fn helpers_s(&self) -> f64 {
        self.0.cost.helpers.as_secs_f64()
    }

    /// Content of `summary.json`.
    fn summary_json(&self) -> &str {
        &self.0.summary
    }

    /// Content of `timeline.json`, if the run has a timeline.
    fn timeline_json(&self) -> Option<&str> {
        self.0.timeline.as_deref()
    }

    /// Columns of a table (`flows`, `ports`, `classes`, `engines`, `entries`, `radios`, `queries`, `writes`,
    /// `samples`, `trace`, `timeline_ports`, `timeline_flows`, `timeline_events`, `timeline_paths`), each as `(name,
    /// unit, definition, values, valid, names)`: `values` is an array, or a list of text; `valid` marks the values
    /// that exist, if some may be missing; with `names`, the values are indices into them.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let make = table::named(name).map_err(PyValueError::new_err)?;
        let columns = py.detach(|| make(&self.0.outcome));
        self.refuse_unreadable()?;
        hand_over_all(py, columns)
    }

    /// Passes a table of frames (`timeline_ports`, `timeline_flows`) to `show` in parts of `most` rows, in order,
    /// each in the format of `table`, so that the whole table is never in memory. Returns False for other tables, and
    /// raises `RunError` if rows cannot be read again.
    fn parts(&self, py: Python<'_>, name: &str, most: usize, show: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut failed = Ok(());
        let known = table::parts(name, &self.0.outcome, most.max(1), &mut |columns| {
            if failed.is_ok() {
                failed = hand_over_all(py, columns).and_then(|columns| show.call1((columns,))).map(|_| ());
            }
        });
        failed?;
        self.refuse_unreadable().map(|()| known)
    }
}

impl RunResult {
    /// Raises `RunError` if rows of the timeline could not be read again.
    fn refuse_unreadable(&self) -> PyResult<()> {
        self.0.outcome.unreadable().map_or(Ok(()), |words| Err(RunError::new_err(words)))
    }
}

/// Converts a table for Python.
fn hand_over_all<'py>(py: Python<'py>, columns: Vec<Column>) -> PyResult<Bound<'py, PyList>> {
    let columns = columns.into_iter().map(|c| hand_over(py, c)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, columns)
}

/// Converts a column for Python; numbers become arrays that own the engine's memory.
fn hand_over<'py>(py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyTuple>> {
    let none = || py.None().into_bound(py);
    let (values, valid, names) = match column.values {
        Values::U64(v) => (v.into_pyarray(py).into_any(), none(), none()),
        Values::U32(v) => (v.into_pyarray(py).into_any(), none(), none()),
        Values::F64(v) => (v.into_pyarray(py).into_any(), none(), none()),
        Values::OptU64(v) => {
            let valid = validity(py, &v);
            let values: Vec<u64> = v.into_iter().map(Option::unwrap_or_default).collect();
            (values.into_pyarray(py).into_any(), valid, none())
        }
        Values::OptF64(v) => {
            let valid = validity(py, &v);
            let values: Vec<f64> = v.into_iter().map(Option::unwrap_or_default).collect();
            (values.into_pyarray(py).into_any(), valid, none())
        }
        Values::Str(v) => (PyList::new(py, v)?.into_any(), none(), none()),
        Values::Dict { codes, names } => {
            (codes.into_pyarray(py).into_any(), none(), PyList::new(py, names)?.into_any())
        }
    };
    (column.name, column.unit, column.doc, values, valid, names).into_pyobject(py)
}

/// Mask of the `values` that exist; `None` if all do.
fn validity<'py, T>(py: Python<'py>, values: &[Option<T>]) -> Bound<'py, PyAny> {
    if values.iter().all(Option::is_some) {
        return py.None().into_bound(py);
    }
    values.iter().map(Option::is_some).collect::<Vec<bool>>().into_pyarray(py).into_any()
}

/// Runs a scenario to its end, with the GIL released. `progress(now_s, end_s, hops)` is called now and then and stops
/// the run by returning `False`; Ctrl-C stops it too. During the set-up `set_up(part)` is called instead, if given,
/// with the finished part, 0 to 1. A run with `run.threads = "auto"` uses at most `cores`. With `every_ps`,
/// `progress` is also called between the events of a run at the end of each interval of `every_ps` picoseconds of
/// simulated time, to the engine window. Point-by-point records of a run take at most `most_kept` bytes, or it ends
/// with a `RunError`. Controllers in Python may share state, so a run with one uses one thread.
#[pyfunction]
#[pyo3(signature = (scenario, progress = None, cores = None, every_ps = None, set_up = None, most_kept = None))]
fn run(
    py: Python<'_>,
    scenario: &Scenario,
    progress: Option<Py<PyAny>>,
    cores: Option<u32>,
    every_ps: Option<u64>,
    set_up: Option<Py<PyAny>>,
    most_kept: Option<u64>,
) -> PyResult<RunResult> {
    py.detach(|| {
        let mut spec = scenario.spec().map_err(scenario_error)?;
        spec.cores = cores;
        spec.observe.max_kept = most_kept;
        spec.progress_every = every_ps.map(|every| Time(every.max(1)));
        if external::are_among(&spec.controllers) {
            spec.threads = Some(1);
        }
        let mut raised = None;
        let mut last = Instant::now();
        let mut report = |p: Progress| -> bool {
            if external::has_failed(&spec.controllers) {
                return false;
            }
            if every_ps.is_none() && last.elapsed() < PYTHON_INTERVAL {
                return true;
            }
            let answer = Python::attach(|py| ask(py, (progress.as_ref(), set_up.as_ref()), p));
            last = Instant::now();
            answer.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        };
        let results = scenario.scenario.run(&spec, &mut report);
        if let Some(error) = raised {
            return Err(error);
        }
        if external::has_failed(&spec.controllers) {
            let failure = Python::attach(|py| external::failure(py, &spec.controllers));
            return Err(failure.unwrap_or_else(|| RunError::new_err("a controller failed")));
        }
        results.map(RunResult).map_err(|failure| match failure {
            Failure::Stopped => RunStopped::new_err(failure.to_string()),
            Failure::Refused(errors) => scenario_error(errors),
            Failure::Invalid(words) => RunError::new_err(words),
        })
    })
}

/// Columns of a table of every run, each as `(name, is_text, is_full)`: its values are texts; every row has a value.
/// Empty for an unknown table.
#[pyfunction]
fn columns(table: &str) -> Vec<(&'static str, bool, bool)> {
    let Ok(make) = table::named(table) else { return Vec::new() };
    let described = |column: Column| {
        let is_text = matches!(column.values, Values::Str(_) | Values::Dict { .. });
        (column.name, is_text, !matches!(column.values, Values::OptU64(_) | Values::OptF64(_)))
    };
    make(&Outcome::default()).into_iter().map(described).collect()
}

/// Checks signals, then calls the callback; returns whether the run continues.
fn ask(py: Python<'_>, (progress, set_up): (Option<&Py<PyAny>>, Option<&Py<PyAny>>), p: Progress) -> PyResult<bool> {
    py.check_signals()?;
    let seconds = Time::as_secs_f64;
    let answer = match (set_up, progress) {
        (Some(set_up), _) if p.set_up < 1.0 => set_up.bind(py).call1((p.set_up,))?,
        (_, Some(progress)) => progress.bind(py).call1((seconds(p.now), seconds(p.end), p.hops))?,
        _ => return Ok(true),
    };
    Ok(answer.is_none() || answer.is_truthy()?)
}

/// The JSON schema of a scenario.
#[pyfunction]
fn schema() -> String {
    incast_scenario::Scenario::schema()
}

/// Names and summaries of everything of a kind.
#[pyfunction]
fn list_kind(kind: &str) -> PyResult<Vec<(String, String)>> {
    let items = incast_scenario::list(kind).map_err(scenario_error)?;
    Ok(items.into_iter().map(|item| (item.name, item.what)).collect())
}

/// Description of one item of a kind.
#[pyfunction]
fn describe(kind: &str, name: &str) -> PyResult<String> {
    incast_scenario::describe(kind, name).map(|d| d.to_string()).map_err(scenario_error)
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::model::{ModelError, model_bounds, model_declaration, model_evaluate, model_names, model_quantity};
    #[pymodule_export]
    use super::workload::{Workload, workload_collective, workload_ideal, workload_load, workload_repeats};
    #[pymodule_export]
    use super::workload_llm::workload_llm;
    #[pymodule_export]
    use super::{
        ControllerError, RunError, RunResult, RunStopped, Scenario, ScenarioError, columns, describe, list_kind, run,
        schema,
    };

    #[pymodule_init]
    fn init(m: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        incast_scenario::text::external::resolve_with(super::external::resolve);
        super::PyModuleMethods::add(m, "KINDS", incast_scenario::catalogue::KINDS)?;
        super::PyModuleMethods::add(m, "HAS_ASSERTIONS", cfg!(debug_assertions))?;
        super::PyModuleMethods::add(m, "__version__", incast_scenario::VERSION)
    }
}
