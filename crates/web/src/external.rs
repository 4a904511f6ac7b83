//! Controllers written by users in JavaScript: a class of the host, with one object per flow.

use crate::host::{self, MOST_VALUES};
use incast_cc::external::{Attributes, External, ExternalController, ExternalFactory};
use incast_cc::{Ack, Congestion, Controller, Ecn, Env, Idle, Pacing, Profile, Time, Timeout};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// Attributes before those of the state: `cwnd`, `ssthresh`, `pacing_gap_ps`, `pacing_rate_bps`.
const ATTRIBUTES: usize = 4;

/// Methods in the order of their numbers; the first three are required.
pub(crate) const METHODS: [&str; 8] =
    ["on_ack", "on_loss", "on_timeout", "init", "on_ecn", "on_recovered", "on_undo", "on_idle"];

/// A class, as the host registers it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Class {
    /// Name in scenarios: `lab:Mine`.
    name: String,
    /// Identifies the version of its code.
    source: String,
    ecn: String,
    own_recovery: bool,
    ack_every_packet: bool,
    /// Attributes that are recorded over time.
    state: Vec<String>,
    /// Methods that it has.
    methods: Vec<String>,
    /// Names of parameters.
    params: Vec<String>,
}

static CLASSES: Mutex<Vec<Class>> = Mutex::new(Vec::new());

/// First failure of a run in simulated time: time, flow, message.
static FAILURE: Mutex<Option<(Time, u32, String)>> = Mutex::new(None);

/// Sets the classes of the host.
pub(crate) fn register(classes: Vec<Class>) -> Result<(), String> {
    for class in &classes {
        if class.state.len() > MOST_VALUES - ATTRIBUTES {
            return Err(format!(
                "{} has {} states; expected at most {}",
                class.name,
                class.state.len(),
                MOST_VALUES - ATTRIBUTES
            ));
        }
        if let Some(missing) = METHODS[..3].iter().find(|name| !class.methods.iter().any(|own| own == *name)) {
            return Err(format!("{} lacks the method {missing}", class.name));
        }
    }
    *CLASSES.lock().unwrap_or_else(PoisonError::into_inner) = classes;
    Ok(())
}

/// Takes the first failure of the run.
pub(crate) fn failure() -> Option<String> {
    let taken = FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.map(|(at, flow, words)| {
        format!("the controller failed in flow {flow} at {:.4} us: {words}", at.0 as f64 * 1e-6)
    })
}

/// True if an object has failed.
pub(crate) fn has_failed() -> bool {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Resolves the name of a registered class.
pub(crate) fn resolve(name: &str, params: Vec<(String, String)>, _key: &str) -> Result<External, String> {
    let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(number) = classes.iter().position(|class| class.name == name) else {
        return Err("no class of this name in this page; a class in Python needs the installed program".to_owned());
    };
    let class = classes[number].clone();
    if let Some((wrong, _)) = params.iter().find(|(name, _)| !class.params.contains(name)) {
        return Err(format!("{wrong} is no parameter; it has {}", class.params.join(", ")));
    }
    let values = params
        .iter()
        .map(|(name, value)| value.parse::<f64>().map_err(|_| format!("{name} = {value}: expected a number")));
    let values = values.collect::<Result<Vec<f64>, String>>()?;
    // names of series live as long as the module; a class has a handful
    let state = class.state.iter().map(|name| &*Box::leak(name.clone().into_boxed_str())).collect();
    Ok(External(Arc::new(Factory { number: number as u32, class, params, values, state })))
}

/// A class and the arguments for its objects.
#[derive(Debug)]
struct Factory {
    number: u32,
    class: Class,
    params: Vec<(String, String)>,
    values: Vec<f64>,
    state: Vec<&'static str>,
}

impl ExternalFactory for Factory {
    fn name(&self) -> &str {
        &self.class.name
    }
    fn params(&self) -> &[(String, String)] {
        &self.params
    }
    fn source(&self) -> &str {
        &self.class.source
    }
    fn profile(&self) -> Profile {
        let ecn = match self.class.ecn.as_str() {
            "classic" => Ecn::Classic,
            "dctcp" => Ecn::Dctcp,
            _ => Ecn::Off,
        };
        let Class { own_recovery, ack_every_packet, .. } = self.class;
        Profile { ecn, own_recovery, ack_every_packet, ..Profile::TCP }
    }
    fn make(&self, env: &Env) -> Box<dyn ExternalController> {
        let has = METHODS.map(|name| self.class.methods.iter().any(|own| own == name));
        let mut instance = Instance {
            class: self.number,
            flow: env.flow,
            has,
            state: self.state.clone(),
            values: vec![f64::NAN; self.state.len()],
            cwnd: env.initial_window,
            ssthresh: f64::INFINITY,
            pacing: Pacing::None,
            at: Time::ZERO,
            failed: false,
        };
        let mut values = passed::Env::values(env);
        // the object is made with the parameters given: position in the class and value
        values.push(self.params.len() as f64);
        for ((name, _), value) in self.params.iter().zip(&self.values) {
            values.push(self.class.params.iter().position(|own| own == name).unwrap_or_default() as f64);
            values.push(*value);
        }
        instance.call(Time::ZERO, 3, &values);
        Box::new(instance)
    }
}

/// Values of the events that `incast_cc` declares.
mod passed {
    use incast_cc::Phase;
    use serde_json::{Value, json};

    /// A value of an event as a number.
    trait Number {
        fn number(self) -> f64;
    }
    impl Number for u32 {
        fn number(self) -> f64 {
            self.into()
        }
    }
    impl Number for u64 {
        fn number(self) -> f64 {
            self as f64
        }
    }
    impl Number for f64 {
        fn number(self) -> f64 {
            self
        }
    }
    impl Number for bool {
        fn number(self) -> f64 {
            self.into()
        }
    }
    impl Number for Option<u64> {
        fn number(self) -> f64 {
            self.map_or(f64::NAN, |value| value as f64)
        }
    }
    /// Names of phases, in the order of their numbers.
    pub(super) const PHASES: [Phase; 4] = [Phase::Open, Phase::Cwr, Phase::Recovery, Phase::Loss];
    impl Number for &str {
        fn number(self) -> f64 {
            let at = PHASES.iter().position(|phase| incast_cc::external::phase_name(*phase) == self);
            at.unwrap_or_default() as f64
        }
    }

    macro_rules! class {
        ($(#[$doc:meta])* $class:ident of $event:pat = $of:ty;
         $($(#[$of_one:meta])* $attribute:ident: $type:ty = $value:expr,)*) => {
            $(#[$doc])*
            pub(super) struct $class;

            impl $class {
                pub(super) fn values($event: $of) -> Vec<f64> {
                    vec![$({ let value: $type = $value; Number::number(value) },)*]
                }
                /// Names and types of attributes.
                pub(super) fn attributes() -> Value {
                    json!([$([stringify!($attribute), stringify!($type)],)*])
                }
            }
        };
    }

    incast_cc::external_events!(class);
}

/// Attributes of events, names of phases and methods, for the host.
pub(crate) fn protocol() -> Value {
    json!({
        "methods": METHODS,
        "most_values": MOST_VALUES,
        "phases": passed::PHASES.map(incast_cc::external::phase_name),
        "env": passed::Env::attributes(),
        "ack": passed::Ack::attributes(),
        "congestion": passed::Congestion::attributes(),
    })
}

/// Controller of one flow.
#[derive(Debug)]
struct Instance {
    class: u32,
    flow: u32,
    /// Methods that the class has.
    has: [bool; METHODS.len()],
    state: Vec<&'static str>,
    /// Values of the state after the last call.
    values: Vec<f64>,
    cwnd: f64,
    ssthresh: f64,
    pacing: Pacing,
    /// Time of the last call.
    at: Time,
    /// True after a failure: the object is not called any more.
    failed: bool,
}

impl Instance {
    /// Calls a method with the values of an event, and reads the resulting attributes.
    fn call(&mut self, at: Time, method: usize, values: &[f64]) {
        self.at = at;
        if self.failed {
            return;
        }
        for (place, value) in host::EVENT.iter().zip(values) {
            place.store(value.to_bits(), Relaxed);
        }
        let called = match host::call(self.class, self.flow, method as u32) {
            0 => self.read(),
            _ => Err(host::written()),
        };
        if let Err(words) = called {
            self.failed = true;
            let mut first = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
            // domains take turns within an engine window: the first failure in simulated time counts
            if first.as_ref().is_none_or(|(time, flow, _)| (at, self.flow) < (*time, *flow)) {
                *first = Some((at, self.flow, words));
            }
        }
    }

    fn read(&mut self) -> Result<(), String> {
        let number = |at: usize| f64::from_bits(host::EVENT[at].load(Relaxed));
        let optional = |at: usize| Some(number(at)).filter(|value| !value.is_nan());
        let attributes = Attributes {
            cwnd: number(0),
            ssthresh: optional(1),
            pacing_gap_ps: optional(2),
            pacing_rate_bps: optional(3),
        };
        self.pacing = attributes.pacing()?;
        self.cwnd = attributes.cwnd;
        self.ssthresh = attributes.ssthresh.unwrap_or(f64::INFINITY);
        for (i, value) in self.values.iter_mut().enumerate() {
            *value = number(ATTRIBUTES + i);
        }
        Ok(())
    }
}

impl Controller for Instance {
    fn on_ack(&mut self, ack: &Ack) {
        self.call(ack.now, 0, &passed::Ack::values(ack));
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.call(event.now, 1, &passed::Congestion::values((event, 0)));
    }

    fn on_ecn(&mut self, event: &Congestion) {
        let method = if self.has[4] { 4 } else { 1 };
        self.call(event.now, method, &passed::Congestion::values((event, 0)));
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let Timeout { now, in_flight, window, rtt, consecutive, .. } = *event;
        let event = Congestion { now, in_flight, window, rtt, srtt: Time::ZERO };
        self.call(now, 2, &passed::Congestion::values((&event, consecutive)));
    }

    fn on_recovered(&mut self, now: Time, _in_flight: u64) {
        if self.has[5] {
            self.call(now, 5, &[now.0 as f64]);
        }
    }

    fn on_undo(&mut self) {
        if self.has[6] {
            self.call(self.at, 6, &[]);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if self.has[7] {
            self.call(idle.now, 7, &[idle.now.0 as f64]);
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
        for (name, value) in self.state.iter().zip(&self.values) {
            visit(name, *value);
        }
    }
}

impl ExternalController for Instance {}
