//! Exceptions of the module.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    incast._core,
    ScenarioError,
    PyException,
    "A scenario or one of its keys is wrong; the message says which, and what was expected."
);
create_exception!(incast._core, RunError, PyException, "A run could not be carried to its end.");
create_exception!(
    incast._core,
    ControllerError,
    RunError,
    "A controller of the user's own raised an exception, which is the cause of this one."
);
create_exception!(incast._core, RunStopped, RunError, "A run was stopped by its progress callback.");

/// Exception for a mistake in a scenario, with the scenario's message.
pub(crate) fn scenario_error(error: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
