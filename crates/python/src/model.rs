//! Models for Python: their declarations, their functions over arrays, and the bounds of a scenario.

use crate::errors::scenario_error;
use crate::scenario::Scenario;
use incast_cc::{Bytes, Rate, Time};
use incast_engine::map::ideal::Fabric;
use incast_model::{Model, Quantity};
use incast_scenario::Problem;
use incast_scenario::build::bounds::fair_shares;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

create_exception!(
    incast._core,
    ModelError,
    PyException,
    "A model is not known, or a parameter is outside of what it is valid for; the message says what was expected."
);

fn model_error(error: impl std::fmt::Display) -> PyErr {
    ModelError::new_err(error.to_string())
}

/// The model of this name; `others` are further names known to the caller, for the error.
fn found(name: &str, others: &[String]) -> PyResult<&'static Model> {
    incast_model::find(name).ok_or_else(|| {
        let own = incast_model::MODELS.iter().map(|m| m.name);
        let names: Vec<&str> = own.chain(others.iter().map(String::as_str)).collect();
        model_error(Problem::new(name, "no such model").among(name, "expected one of", &names, "incast list models"))
    })
}

fn word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Number => "number",
        Quantity::Time => "time",
        Quantity::Rate => "rate",
        Quantity::Size => "size",
    }
}

fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names of the models.
#[pyfunction]
pub fn model_names() -> Vec<&'static str> {
    incast_model::MODELS.map(|m| m.name).to_vec()
}

/// Declaration of a model, as a dictionary. An unknown name is refused with the names of the models and `others`, the
/// models that take a scenario ([`model_bounds`]), which the package describes.
#[pyfunction]
pub fn model_declaration<'py>(py: Python<'py>, name: &str, others: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let model = found(name, &others)?;
    let parameters = model.parameters.iter().map(|p| {
        let d = PyDict::new(py);
        d.set_item("name", p.name)?;
        d.set_item("quantity", word(p.quantity))?;
        d.set_item("unit", p.unit)?;
        d.set_item("default", (!p.required()).then_some(p.default))?;
        d.set_item("default_text", (!p.required()).then(|| p.quantity.write(p.default)))?;
        d.set_item("expected", prose(p.expected))?;
        d.set_item("source", p.source)?;
        d.set_item("doc", prose(p.doc))?;
        Ok(d)
    });
    let figures = model.figures.iter().map(|f| {
        let d = PyDict::new(py);
        d.set_item("name", f.name)?;
        d.set_item("unit", f.unit)?;
        d.set_item("doc", prose(f.doc))?;
        Ok(d)
    });
    let made = PyDict::new(py);
    made.set_item("name", model.name)?;
    made.set_item("title", model.title)?;
    made.set_item("source", model.source)?;
    made.set_item("what", model.what)?;
    made.set_item("assumptions", model.assumptions)?;
    made.set_item("fails", model.fails)?;
    made.set_item("parameters", parameters.collect::<PyResult<Vec<_>>>()?)?;
    made.set_item("figures", figures.collect::<PyResult<Vec<_>>>()?)?;
    Ok(made)
}

/// Figures of a model, one array each, from the values of its parameters: one array per parameter in the order of the
/// declarations, all of one length.
#[pyfunction]
pub fn model_evaluate<'py>(
    py: Python<'py>,
    name: &str,
    parameters: Vec<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyList>> {
    let model = found(name, &[])?;
    let columns = parameters.iter().map(|p| p.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let length = columns.first().map_or(0, |c| c.len());
    if columns.len() != model.parameters.len() || columns.iter().any(|c| c.len() != length) {
        return Err(model_error(format!("{name}: expected {} arrays of one length", model.parameters.len())));
    }
    let mut figures = vec![Vec::with_capacity(length); model.figures.len()];
    let mut values = vec![0.0; columns.len()];
    let mut results = vec![0.0; figures.len()];
    for row in 0..length {
        for (value, column) in values.iter_mut().zip(&columns) {
            *value = column[row];
        }
        (model.evaluate)(&values, &mut results).map_err(model_error)?;
        for (figure, result) in figures.iter_mut().zip(&results) {
            figure.push(*result);
        }
    }
    PyList::new(py, figures.into_iter().map(|f| f.into_pyarray(py)))
}

/// Reads a quantity as users write it, in SI units.
#[pyfunction]
pub fn model_quantity(quantity: &str, text: &str) -> PyResult<f64> {
    let text = text.trim();
    // exact in integers, and the double nearest to it in SI units
    let read = match quantity {
        "time" => text.parse::<Time>().map(|t| t.0 as f64 / 1e12),
        "rate" => text.parse::<Rate>().map(|r| if r == Rate::INFINITE { f64::INFINITY } else { r.as_f64() }),
        "size" => text.parse::<Bytes>().map(|b| b.0 as f64),
        _ => return text.parse().map_err(|_| model_error(format!("\"{text}\": expected a number"))),
    };
    read.map_err(|error| model_error(format!("\"{text}\": {error}")))
}

/// Flows of a scenario, one row each: on the empty network, and at their fair shares. Columns by name.
#[pyfunction]
pub fn model_bounds<'py>(py: Python<'py>, scenario: &Scenario) -> PyResult<Bound<'py, PyDict>> {
    let scenario = &scenario.scenario;
    let (spec, ideal, shares) = py.detach(|| {
        let spec = scenario.build().map_err(scenario_error)?;
        let fabric = Fabric::new(&spec);
        let ideal: Vec<_> = (0..spec.flows.len() as u32).map(|f| fabric.ideal(incast_engine::FlowId(f))).collect();
        let shares = fair_shares(&spec).map_err(model_error)?;
        drop(fabric);
        Ok::<_, PyErr>((spec, ideal, shares))
    })?;
    let numbers = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..spec.flows.len()).map(of).collect() };
    let columns = PyDict::new(py);
    let host = |node: u32| spec.node_names[node as usize].clone();
    columns.set_item("src", spec.flows.iter().map(|f| host(f.src)).collect::<Vec<_>>())?;
    columns.set_item("dst", spec.flows.iter().map(|f| host(f.dst)).collect::<Vec<_>>())?;
    columns.set_item("hops", ideal.iter().map(|i| i.hops).collect::<Vec<_>>().into_pyarray(py))?;
    columns.set_item("idle_rtt_s", numbers(&|f| ideal[f].idle_rtt.as_secs_f64()).into_pyarray(py))?;
    let fct = |f: usize| ideal[f].ideal_fct.map_or(f64::NAN, Time::as_secs_f64);
    columns.set_item("ideal_fct_s", numbers(&fct).into_pyarray(py))?;
    columns.set_item("fair_share_bps", numbers(&|f| shares[f].routed_bps).into_pyarray(py))?;
    columns.set_item("edge_share_bps", numbers(&|f| shares[f].edge_bps).into_pyarray(py))?;
    Ok(columns)
}
