//! Training of a transformer for Python: the job of a model's numbers, and what it consists of.

use super::workload::Workload;
use crate::errors::scenario_error;
use incast_scenario::document::job_llm::Llm;
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::llm::build;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Job of a model's numbers, pairs of a key and its text, as in `job.llm` of a scenario; and a dictionary: times of
/// calculations and of an iteration without a network (ps), parameters of a rank, exchange by dimension.
#[pyfunction]
pub fn workload_llm(py: Python<'_>, pairs: Vec<(String, String)>) -> PyResult<(Workload, Bound<'_, PyDict>)> {
    let llm = Llm::read(&pairs).map_err(scenario_error)?;
    let model = llm.model().ok_or_else(|| scenario_error("flops: missing; expected a rate of a GPU, or forward"))?;
    let made = py.detach(|| {
        build(&model).map(|made| {
            let rules = Rules { network: Network::NONE, send_done: SendDone::Written, streams: true, path: false };
            let iteration = run(&made.graph, rules).outcome.end;
            (made, iteration)
        })
    });
    let (made, iteration) = made.map_err(scenario_error)?;
    let (facts, times, sizes) = (PyDict::new(py), model.times, model.sizes());
    for (name, time) in [
        ("forward_ps", times.forward),
        ("backward_ps", times.backward),
        ("head_forward_ps", times.head_forward),
        ("head_backward_ps", times.head_backward),
        ("iteration_ps", iteration),
    ] {
        facts.set_item(name, time.0)?;
    }
    facts.set_item("tp", model.tp)?;
    facts.set_item("pp", model.pp)?;
    facts.set_item("dp", model.dp)?;
    facts.set_item("ep", model.ep)?;
    facts.set_item("gradient_bytes", sizes.gradients() as u64)?;
    let exchange = PyDict::new(py);
    for (name, volume) in made.volumes {
        exchange.set_item(name, (volume.tasks, volume.bytes))?;
    }
    facts.set_item("exchange", exchange)?;
    Ok((Workload(made.graph), facts))
}
