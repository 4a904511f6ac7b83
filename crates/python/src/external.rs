//! Controllers written by users in Python: a class, with one object per flow.
//!
//! The engine calls the object at events of its flow, in the order of [`incast_cc::Controller`], and then reads its
//! window and pacing. The GIL is held during a call. The first exception of a run is kept; its controller does
//! nothing more, and the run stops.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use incast_cc::external::{External, ExternalController, ExternalFactory};
use incast_cc::{Ack, Config, Congestion, Controller, Ecn, Env, Idle, Pacing, Phase, Profile, Time, Timeout};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Cwr => "cwr",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

/// Declares the Python object passed to a controller's method: name, type and value of each attribute.
macro_rules! event_class {
    ($(#[$doc:meta])* $class:ident $name:literal of $event:pat = $of:ty;
     $($(#[$of_one:meta])* $attribute:ident: $type:ty = $value:expr,)*) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "incast", name = $name, get_all)]
        struct $class {
            $($(#[$of_one])* $attribute: $type,)*
        }

        impl From<$of> for $class {
            fn from($event: $of) -> Self {
                Self { $($attribute: $value,)* }
            }
        }
    };
}

event_class! {
    /// Facts of its flow for a new controller. Times in picoseconds, sizes in bytes.
    PyEnv "Env" of env = &Env;
    flow: u32 = env.flow,
    mss: u32 = env.mss,
    initial_window: f64 = env.initial_window,
    packet_time_ps: u64 = env.packet_time.0,
    shortest_rtt_ps: u64 = env.shortest_rtt.0,
    shortest_hops: u32 = env.shortest_hops,
    hop_rtt_ps: u64 = env.hop_rtt.0,
    base_rtt_ps: u64 = env.base_rtt.0,
    line_rate_bps: f64 = env.line_rate.as_f64(),
    line_packet_time_ps: u64 = env.line_packet_time.0,
}

event_class! {
    /// An acknowledgement. Times in picoseconds, sizes in bytes.
    PyAck "Ack" of ack = &Ack;
    now_ps: u64 = ack.now.0,
    acked: u64 = ack.acked,
    delivered: u64 = ack.delivered,
    rtt_ps: Option<u64> = ack.rtt.map(|t| t.0),
    srtt_ps: u64 = ack.srtt.0,
    fabric_delay_ps: Option<u64> = ack.fabric_delay.map(|t| t.0),
    endpoint_delay_ps: Option<u64> = ack.endpoint_delay.map(|t| t.0),
    hops: u32 = ack.hops,
    ece: bool = ack.ece,
    in_flight: u64 = ack.in_flight,
    lost_bytes: u64 = ack.lost_bytes,
    round_acked: u64 = ack.round.acked,
    round_sent: u64 = ack.round.sent,
    /// Older names of `round_acked` and `round_sent`.
    una: u64 = ack.round.acked,
    nxt: u64 = ack.round.sent,
    cwnd_limited: bool = ack.cwnd_limited,
    phase: &'static str = phase_name(ack.phase),
}

event_class! {
    /// A loss, a mark, or a timeout. Times in picoseconds, sizes in bytes.
    PyCongestion "Congestion" of (event, timeouts) = (&Congestion, u32);
    now_ps: u64 = event.now.0,
    in_flight: u64 = event.in_flight,
    window: f64 = event.window,
    rtt_ps: u64 = event.rtt.0,
    /// Smoothed RTT; None at a timeout.
    srtt_ps: Option<u64> = (timeouts == 0).then_some(event.srtt.0),
    /// Number of consecutive timeouts; 0 if the event is not a timeout.
    consecutive: u32 = timeouts,
}

/// Slowest pacing, bits per second: a packet in some hours.
const SLOWEST: f64 = 1.0;

/// Largest window, bytes: more than any network holds. A window above it has grown without a bound.
const LARGEST: f64 = 1e15;

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
            object.call_method1(intern!(py, "init"), (PyEnv::from(env),))?;
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
        let cwnd: f64 = object.getattr(intern!(py, "cwnd"))?.extract()?;
        if !(cwnd > 0.0 && cwnd <= LARGEST) {
            let text = if cwnd > LARGEST { format!("{cwnd:e}") } else { cwnd.to_string() };
            let message = format!("cwnd is {text}; expected a number of bytes above 0 and at most {LARGEST:e}");
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        self.cwnd = cwnd;
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
        self.ssthresh = optional(intern!(py, "ssthresh"))?.unwrap_or(f64::INFINITY);
        let gap = optional(intern!(py, "pacing_gap_ps"))?;
        let rate = optional(intern!(py, "pacing_rate_bps"))?;
        let wrong = |name: &str, value: f64| {
            Err(pyo3::exceptions::PyValueError::new_err(format!("{name} is {value}; expected a number of at least 0")))
        };
        self.pacing = match (gap, rate) {
            (Some(gap), _) if !(gap.is_finite() && gap >= 0.0) => return wrong("pacing_gap_ps", gap),
            (_, Some(rate)) if !(rate.is_finite() && rate > 0.0) => {
                let message = format!("pacing_rate_bps is {rate}; expected a number above 0, or None for no pacing");
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
            (Some(gap), _) => Pacing::Gap(Time(gap.round() as u64)),
            (None, Some(rate)) => Pacing::Rate(rate.max(SLOWEST)),
            (None, None) => Pacing::None,
        };
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
        self.call(ack.now, method!("on_ack", PyAck::from(ack)));
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.call(event.now, method!("on_loss", PyCongestion::from((event, 0))));
    }

    fn on_ecn(&mut self, event: &Congestion) {
        if self.has("on_ecn") {
            self.call(event.now, method!("on_ecn", PyCongestion::from((event, 0))));
        } else {
            self.on_loss(event);
        }
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let Timeout { now, in_flight, window, rtt, consecutive, .. } = *event;
        let event = Congestion { now, in_flight, window, rtt, srtt: Time::ZERO };
        self.call(now, method!("on_timeout", PyCongestion::from((&event, consecutive))));
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
