//! Controllers written by users in Python: a class, with one object per flow.
//!
//! The engine calls the object at events of its flow, in the order of [`incast_cc::Controller`], and then reads its
//! window and pacing. The GIL is held during a call. The first exception of a run is kept; its controller does
//! nothing more, and the run stops.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use incast_cc::external::{Attributes, External, ExternalController, ExternalFactory};
use incast_cc::{Ack, Config, Congestion, Controller, Ecn, Env, Idle, Pacing, Profile, Time, Timeout};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Objects passed to a controller's methods: attributes of the events that `incast_cc` declares.
mod passed {
    use pyo3::prelude::*;

    macro_rules! class {
        ($(#[$doc:meta])* $class:ident of $event:pat = $of:ty;
         $($(#[$of_one:meta])* $attribute:ident: $type:ty = $value:expr,)*) => {
            $(#[$doc])*
            #[pyclass(frozen, module = "incast", get_all)]
            pub(super) struct $class {
                $($(#[$of_one])* $attribute: $type,)*
            }

            impl From<$of> for $class {
                fn from($event: $of) -> Self {
                    Self { $($attribute: $value,)* }
                }
            }
        };
    }

    incast_cc::external_events!(class);
}

/// Exception in a user's code, with its flow and time.
#[derive(Debug)]
struct Failure {
    flow: u32,
    at: Time,
    error: PyErr,
}

/// Failures of the objects of a class in a run.
#[derive(Debug, Default)]
struct Failures {
    first: Mutex<Option<Failure>>,
    /// True after Ctrl-C or the end of the program during a call: no object is called any more.
    interrupted: AtomicBool,
}

/// A class and the arguments for its objects.
#[derive(Debug)]
struct Class {
    name: String,
    params: Vec<(String, String)>,
    source: String,
    class: Py<PyAny>,
    profile: Profile,
    /// Names of the optional methods that the class has.
    methods: Arc<[String]>,
    state: Vec<&'static str>,
    failure: Arc<Failures>,
}

/// Python classes among the controllers of a run.
fn classes(controllers: &[Config]) -> impl Iterator<Item = &Class> {
    controllers.iter().filter_map(|config| {
        let Config::External(External(factory)) = config else { return None };
        let factory: &dyn Any = &**factory;
        factory.downcast_ref::<Class>()
    })
}

/// True if one of them has failed.
pub fn has_failed(controllers: &[Config]) -> bool {
    classes(controllers).any(|class| class.failure.first.lock().is_ok_and(|failure| failure.is_some()))
}

/// True if some of the controllers are in Python.
pub fn are_among(controllers: &[Config]) -> bool {
    classes(controllers).next().is_some()
}

/// True if an exception is a mistake of the user's code; Ctrl-C is not. `sys.exit()` in a controller is: it would
/// otherwise lose the run's result without a message.
fn is_users(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
}

/// First failure among them, as an exception whose cause is the user's.
pub fn failure(py: Python<'_>, controllers: &[Config]) -> Option<PyErr> {
    let found = classes(controllers).filter_map(|c| Some((c.name.as_str(), c.failure.first.lock().ok()?.take()?)));
    let (name, Failure { flow, at, error }) =
        found.min_by_key(|(_, failure)| (is_users(py, &failure.error), failure.at, failure.flow))?;
    if !is_users(py, &error) {
        return Some(error);
    }
    let message = format!("{name} failed in flow {flow} at {:.4} us: {}", at.0 as f64 * 1e-6, words(py, &error));
    let text = crate::errors::ControllerError::new_err(message);
    text.set_cause(py, Some(error));
    Some(text)
}

/// Resolves controller `name` with these parameters, named by `key` of the scenario: asks `incast.controllers` for
/// the class, which imports code only with the user's permission.
pub fn resolve(name: &str, params: Vec<(String, String)>, key: &str) -> Result<External, String> {
    Python::attach(|py| class_of(py, name, params, key).map_err(|error| words(py, &error)))
}

/// An exception in one line.
fn words(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "error".into(), |name| name.to_string());
    if kind == "ScenarioError" { error.value(py).to_string() } else { format!("{kind}: {}", error.value(py)) }
}

/// A class, the fingerprint of its code, and its attributes, as returned by `incast.controllers.find`.
type Found = (Py<PyAny>, String, String, bool, bool, Vec<String>, Vec<String>);

fn class_of(py: Python<'_>, name: &str, params: Vec<(String, String)>, key: &str) -> PyResult<External> {
    let module = py.import("incast.controllers")?;
    let found = module.call_method1("find", (name, params.clone(), key))?;
    let (class, source, ecn, own_recovery, ack_every_packet, state, methods): Found = found.extract()?;
    let ecn = match ecn.as_str() {
        "classic" => Ecn::Classic,
        "dctcp" => Ecn::Dctcp,
        _ => Ecn::Off,
    };
    Ok(External(Arc::new(Class {
        name: name.to_owned(),
        params,
        source,
        class,
        profile: Profile { ecn, own_recovery, ack_every_packet, ..Profile::TCP },
        methods: methods.into(),
        // names of series live as long as the program; a class has a handful
        state: state.into_iter().map(|name| &*Box::leak(name.into_boxed_str())).collect(),
        failure: Arc::default(),
    })))
}

impl ExternalFactory for Class {
    fn name(&self) -> &str {
        &self.name
    }
    fn params(&self) -> &[(String, String)] {
        &self.params
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn profile(&self) -> Profile {
        self.profile
    }
    fn make(&self, env: &Env) -> Box<dyn ExternalController> {
        let mut instance = Instance {
            flow: env.flow,
            object: None,
            methods: self.methods.clone(),
            state: self.state.clone(),
            cwnd: env.initial_window,
            ssthresh: f64::INFINITY,
            pacing: Pacing::None,
            at: Time::ZERO,
            failure: self.failure.clone(),
        };
        let made = Python::attach(|py| instance.begin(py, self, env));
        instance.noted(Time::ZERO, made);
        Box::new(instance)
    }
}

/// Controller of one flow.
#[derive(Debug)]
struct Instance {
    flow: u32,
    /// The Python object; `None` after a failure.
    object: Option<Py<PyAny>>,
    methods: Arc<[String]>,
    state: Vec<&'static str>,
    cwnd: f64,
    ssthresh: f64,
    pacing: Pacing,
    /// Time of the last call.
    at: Time,
    failure: Arc<Failures>,
}

impl Instance {
    fn begin(&mut self, py: Python<'_>, class: &Class, env: &Env) -> PyResult<()> {
        let arguments = PyDict::new(py);
        let read = py.import("incast.controllers")?.getattr("value")?;
        for (name, value) in &class.params {
            arguments.set_item(name, read.call1((value,))?)?;
        }
        let object = class.class.bind(py).call((), Some(&arguments))?;
        if !object.hasattr(intern!(py, "cwnd"))? {
            object.setattr(intern!(py, "cwnd"), env.initial_window)?;
        }
        if self.has("init") {
            object.call_method1(intern!(py, "init"), (passed::Env::from(env),))?;
        }
        self.object = Some(object.unbind());
        self.read(py)
    }

    fn has(&self, method: &str) -> bool {
        self.methods.iter().any(|m| m == method)
    }

    /// Reads the object's window and pacing.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(object) = &self.object else { return Ok(()) };
        let object = object.bind(py);
        let optional = |name: &Bound<'_, PyString>| -> PyResult<Option<f64>> {
            match object.getattr_opt(name)? {
                Some(value) if !value.is_none() => value.extract().map(Some),
                _ => Ok(None),
            }
        };
        for name in &self.state {
            let value = object.getattr(*name)?;
            if !value.is_none() {
                value.extract::<f64>()?;
            }
        }
        let attributes = Attributes {
            cwnd: object.getattr(intern!(py, "cwnd"))?.extract()?,
            ssthresh: optional(intern!(py, "ssthresh"))?,
            pacing_gap_ps: optional(intern!(py, "pacing_gap_ps"))?,
            pacing_rate_bps: optional(intern!(py, "pacing_rate_bps"))?,
        };
        self.pacing = attributes.pacing().map_err(pyo3::exceptions::PyValueError::new_err)?;
        self.cwnd = attributes.cwnd;
        self.ssthresh = attributes.ssthresh.unwrap_or(f64::INFINITY);
        Ok(())
    }

    /// Keeps the first failure of the run.
    fn noted(&mut self, at: Time, result: PyResult<()>) {
        self.at = at;
        let Err(error) = result else { return };
        self.object = None;
        // domains take turns within an engine window: the first failure in simulated time counts, not the first to
        // arrive
        let interrupted = Python::attach(|py| !is_users(py, &error));
        self.failure.interrupted.fetch_or(interrupted, Ordering::Relaxed);
        if let Ok(mut failure) = self.failure.first.lock()
            && (interrupted || failure.as_ref().is_none_or(|known| (at, self.flow) < (known.at, known.flow)))
        {
            *failure = Some(Failure { flow: self.flow, at, error });
        }
    }

    /// Calls a method under the GIL, and reads the resulting window and pacing.
    fn call(&mut self, at: Time, invoke: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<()>) {
        if self.object.is_none() || self.failure.interrupted.load(Ordering::Relaxed) {
            return;
        }
        let result = Python::attach(|py| {
            if let Some(object) = &self.object {
                invoke(object.bind(py))?;
            }
            self.read(py)
        });
        self.noted(at, result);
    }
}

/// Calls a method of an object with some arguments.
macro_rules! method {
    ($name:literal $(, $argument:expr)*) => {
        |object| object.call_method1(intern!(object.py(), $name), ($($argument,)*)).map(drop)
    };
}

impl Controller for Instance {
    fn on_ack(&mut self, ack: &Ack) {
        self.call(ack.now, method!("on_ack", passed::Ack::from(ack)));
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.call(event.now, method!("on_loss", passed::Congestion::from((event, 0))));
    }

    fn on_ecn(&mut self, event: &Congestion) {
        if self.has("on_ecn") {
            self.call(event.now, method!("on_ecn", passed::Congestion::from((event, 0))));
        } else {
            self.on_loss(event);
        }
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let Timeout { now, in_flight, window, rtt, consecutive, .. } = *event;
        let event = Congestion { now, in_flight, window, rtt, srtt: Time::ZERO };
        self.call(now, method!("on_timeout", passed::Congestion::from((&event, consecutive))));
    }

    fn on_recovered(&mut self, now: Time, _in_flight: u64) {
        if self.has("on_recovered") {
            self.call(now, method!("on_recovered", now.0));
        }
    }

    fn on_undo(&mut self) {
        if self.has("on_undo") {
            self.call(self.at, method!("on_undo"));
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if self.has("on_idle") {
            self.call(idle.now, method!("on_idle", idle.now.0));
        }
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if self.state.is_empty() {
            return;
        }
        Python::attach(|py| {
            for name in &self.state {
                let value = self.object.as_ref().and_then(|o| o.bind(py).getattr(*name).ok()?.extract().ok());
                visit(name, value.unwrap_or(f64::NAN));
            }
        });
    }
}

impl ExternalController for Instance {}
