//! What exists and what it may be told: the machinery behind the `controllers!` list in
//! `lib.rs`, and the `params!` macro with which a controller declares its parameters.
//!
//! A parameter is declared once, in its controller's file. That one declaration is the field of
//! the `Params` struct, its default, its parser with the words of its error, its text form, and
//! the row of `incast describe` and of the documentation page. Defaults are written as the text
//! a user would write, and go through the same parser.

use crate::{Profile, Time};
use core::fmt;

/// A kind of controller: everything `describe` prints.
#[derive(Debug)]
pub struct Kind {
    /// Name in scenarios: `"swift"`.
    pub name: &'static str,
    /// Name in text: `"Swift"`.
    pub title: &'static str,
    /// Where it comes from: paper or RFC, with sections.
    pub source: &'static str,
    /// What it is, in a sentence or two.
    pub what: &'static str,
    /// How it differs from its source, and why; one entry a difference.
    pub differences: &'static [&'static str],
    /// State it exposes for tracing: (name, meaning).
    pub state: &'static [(&'static str, &'static str)],
    /// What it expects of the transport.
    pub profile: Profile,
    /// Its parameters.
    pub params: &'static [Param],
}

/// A parameter, as declared.
#[derive(Debug)]
pub struct Param {
    /// Key in scenarios.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ValueKind,
    /// Unit of a number (`"packets"`, `"segments"`); empty where there is none or the value
    /// carries its own.
    pub unit: &'static str,
    /// Default, as a user would write it.
    pub default: &'static str,
    /// What a value must be, e.g. `a number above 0, at most 1`.
    pub expected: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// The words allowed, where the value is one of a few words; else empty.
    pub choices: &'static [&'static str],
}

/// Type of a parameter's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// A time with a unit.
    Time,
    /// A time with a unit, or `auto`.
    AutoTime,
    /// One of [`Param::choices`].
    Choice,
}

/// Why a parameter was refused. The caller knows key and value in the user's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamError {
    /// The controller has no such parameter; [`Kind::params`] lists those it has.
    UnknownKey,
    /// The value is not one this parameter takes.
    BadValue {
        /// What would have been right.
        expected: &'static str,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::UnknownKey => f.write_str("unknown parameter"),
            ParamError::BadValue { expected } => write!(f, "expected {expected}"),
        }
    }
}

impl core::error::Error for ParamError {}

/// Two parameters, each right by itself, that contradict one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The parameter to blame.
    pub key: &'static str,
    /// What would have been right, e.g. `at most max_cwnd`.
    pub expected: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.key, self.expected)
    }
}

impl core::error::Error for Conflict {}

/// A type that parameters can have: read from the user's text, written back the same way.
pub trait Value: Sized {
    /// Type as the user sees it.
    const KIND: ValueKind;
    /// What a text must be.
    const EXPECTED: &'static str;
    /// The words allowed, for choices.
    const CHOICES: &'static [&'static str] = &[];
    /// Reads a value.
    fn parse(text: &str) -> Option<Self>;
    /// Writes it so that `parse` reads it again.
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

impl Value for f64 {
    const KIND: ValueKind = ValueKind::Number;
    const EXPECTED: &'static str = "a number";
    fn parse(text: &str) -> Option<f64> {
        text.parse().ok().filter(|x: &f64| x.is_finite())
    }
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

impl Value for u32 {
    const KIND: ValueKind = ValueKind::Integer;
    const EXPECTED: &'static str = "a whole number";
    fn parse(text: &str) -> Option<u32> {
        text.parse().ok()
    }
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl Value for bool {
    const KIND: ValueKind = ValueKind::Flag;
    const EXPECTED: &'static str = "true or false";
    fn parse(text: &str) -> Option<bool> {
        text.parse().ok()
    }
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl Value for Time {
    const KIND: ValueKind = ValueKind::Time;
    const EXPECTED: &'static str = "a time with a unit, such as \"25us\"";
    fn parse(text: &str) -> Option<Time> {
        text.parse().ok()
    }
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// `None` is `auto`: derived from the path when the controller is built.
impl Value for Option<Time> {
    const KIND: ValueKind = ValueKind::AutoTime;
    const EXPECTED: &'static str = "\"auto\" or a time with a unit, such as \"25us\"";
    fn parse(text: &str) -> Option<Option<Time>> {
        if text == "auto" { Some(None) } else { Time::parse(text).map(Some) }
    }
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            None => out.write_str("auto"),
            Some(time) => time.write(out),
        }
    }
}

/// What `params!` generates for a `Params` struct.
pub trait ParamSet: Default {
    /// The declarations.
    const PARAMS: &'static [Param];
    /// Sets one parameter from the user's text.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError>;
    /// Writes the value of one parameter; nothing for an unknown key.
    fn write(&self, key: &str, out: &mut dyn fmt::Write) -> fmt::Result;
    /// Holds the parameters against one another.
    fn check(&self) -> Result<(), Conflict>;
    /// What these parameters make of what the kind expects of the transport.
    fn profile(&self, profile: Profile) -> Profile;
    /// What the parameters are before any but the form is set.
    fn base(&self) -> Self;
    /// Whether one parameter has the same value in both; true for an unknown key.
    fn agrees(&self, key: &str, other: &Self) -> bool;
}

/// The name of a form, one of those that a `form of` block declares, or [`STANDARD`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormName(pub &'static str);

/// The form of the defaults.
pub const STANDARD: &str = "standard";

/// Writes a controller as a user would name it: its kind, its form where that is not the
/// standard one, and the parameters that differ from what the form sets.
pub(crate) fn write_short<P: ParamSet>(kind: &Kind, params: &P, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(kind.name)?;
    let (base, default) = (params.base(), P::default());
    let mut separator = ':';
    for param in P::PARAMS {
        let compared_with = if param.name == "form" { &default } else { &base };
        if !params.agrees(param.name, compared_with) {
            write!(f, "{separator}{}=", param.name)?;
            params.write(param.name, f)?;
            separator = ',';
        }
    }
    Ok(())
}

/// The part of [`ParamSet`] that fits behind a reference.
#[doc(hidden)]
pub trait WriteParam {
    fn write_param(&self, key: &str, out: &mut dyn fmt::Write) -> fmt::Result;
}

impl<P: ParamSet> WriteParam for P {
    fn write_param(&self, key: &str, out: &mut dyn fmt::Write) -> fmt::Result {
        self.write(key, out)
    }
}

/// The value of a parameter; its `Display` is the text form that `set` reads.
#[derive(Clone, Copy)]
pub struct ParamValue<'a> {
    set: &'a dyn WriteParam,
    param: &'static Param,
}

impl<'a> ParamValue<'a> {
    pub(crate) fn new(set: &'a dyn WriteParam, param: &'static Param) -> ParamValue<'a> {
        ParamValue { set, param }
    }
}

impl fmt::Display for ParamValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.set.write_param(self.param.name, f)
    }
}

/// A doc comment without the blank that starts it.
#[doc(hidden)]
pub const fn prose(doc: &'static str) -> &'static str {
    match doc.as_bytes() {
        [b' ', rest @ ..] => match core::str::from_utf8(rest) {
            Ok(text) => text,
            Err(_) => doc,
        },
        _ => doc,
    }
}

/// Declares the parameters of a controller as `struct Params`.
///
/// Each is a doc comment, `name: type = "default", "unit", "source of the default"`, and, where
/// the type alone allows too much, the words for what is expected and the test for it. A
/// `form of` block, which comes first, declares a parameter `form`: named sets of values of the
/// other parameters, each with its meaning and the source it follows. Setting the form sets every
/// parameter, so it is set before the others, and those given beside it win. A closing `profile =>`
/// lets parameters change what the controller expects of the transport, and a closing `together`
/// block holds parameters against one another.
///
/// ```
/// incast_cc::params! {
///     form of {
///         /// Halving with room.
///         "roomy" = "some implementation" { beta = "0.4", high = "1000" }
///     }
///     /// Factor of the decrease.
///     beta: f64 = "0.5", "", "RFC 5681", "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
///     /// Smallest window.
///     low: f64 = "1.0", "packets", "own choice";
///     /// Largest window.
///     high: f64 = "100.0", "packets", "own choice";
///     together {
///         "low": "at most high" => |p| p.low <= p.high;
///     }
/// }
/// use incast_cc::registry::{ParamError, ParamSet};
///
/// let mut params = Params::default();
/// assert_eq!(params.set("beta", "0.7"), Ok(()));
/// assert_eq!(params.beta, 0.7);
/// assert!(matches!(params.set("beta", "1.5"), Err(ParamError::BadValue { .. })));
/// assert_eq!(params.set("low", "200"), Ok(()));
/// assert_eq!(params.check().unwrap_err().key, "low");
/// assert_eq!(params.set("form", "roomy"), Ok(()));
/// assert_eq!((params.beta, params.low, params.high), (0.4, 1.0, 1000.0));
/// ```
#[macro_export]
macro_rules! params {
    (
        $($form:ident of {
            $(
                $(#[doc = $form_doc:literal])+
                $form_name:literal = $form_source:literal { $($form_key:ident = $form_value:literal),+ $(,)? }
            )+
        })?
        $(
            $(#[doc = $doc:literal])+
            $name:ident: $type:ty = $default:literal, $unit:literal, $source:literal
            $(, $expected:literal => $test:expr)?;
        )*
        $(profile => $profile:expr;)?
        $(together { $($blame:literal: $rule:literal => $holds:expr;)+ })?
    ) => {
        /// Parameters, each documented at its declaration.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Params {
            $(
                /// The named set of values that the others started from.
                pub $form: $crate::registry::FormName,
            )?
            $($(#[doc = $doc])+ pub $name: $type,)*
        }

        impl Default for Params {
            fn default() -> Params {
                use $crate::registry::Value;
                Params {
                    $($form: $crate::registry::FormName($crate::registry::STANDARD),)?
                    // A default that does not parse is a mistake in the declaration, not an
                    // input; the registry's tests build every default.
                    $($name: <$type>::parse($default).expect(concat!("default of ", stringify!($name))),)*
                }
            }
        }

        impl $crate::registry::ParamSet for Params {
            const PARAMS: &'static [$crate::registry::Param] = &[
                $($crate::registry::Param {
                    name: stringify!($form),
                    kind: $crate::registry::ValueKind::Choice,
                    unit: "",
                    default: $crate::registry::STANDARD,
                    expected: concat!("one of: \"standard\"" $(, " \"", $form_name, "\"")+),
                    source: "own choice",
                    doc: concat!(
                        "Named set of values of the other parameters; those given beside it win. \"standard\": the \
                         defaults below."
                        $(
                            , " \"", $form_name, "\":", $($form_doc,)+ " From ", $form_source, ": "
                            , $crate::params!(@list $($form_key = $form_value),+), "."
                        )+
                    ),
                    choices: &[$crate::registry::STANDARD $(, $form_name)+],
                },)?
                $($crate::registry::Param {
                    name: stringify!($name),
                    kind: <$type as $crate::registry::Value>::KIND,
                    unit: $unit,
                    default: $default,
                    expected: $crate::params!(@expected $type $(, $expected)?),
                    source: $source,
                    doc: $crate::registry::prose(concat!($($doc),+)),
                    choices: <$type as $crate::registry::Value>::CHOICES,
                },)*
            ];

            fn set(&mut self, key: &str, value: &str) -> Result<(), $crate::registry::ParamError> {
                #[allow(unused_imports)]
                use $crate::registry::Value;
                match key {
                    $(stringify!($form) => {
                        let expected = concat!("one of: \"standard\"" $(, " \"", $form_name, "\"")+);
                        let (name, values): (&'static str, &[(&str, &str)]) = match value.trim() {
                            $crate::registry::STANDARD => ($crate::registry::STANDARD, &[]),
                            $($form_name => ($form_name, &[$((stringify!($form_key), $form_value)),+]),)+
                            _ => return Err($crate::registry::ParamError::BadValue { expected }),
                        };
                        *self = Params::default();
                        self.$form = $crate::registry::FormName(name);
                        values.iter().try_for_each(|(key, value)| self.set(key, value))
                    })?
                    $(stringify!($name) => {
                        let expected = $crate::params!(@expected $type $(, $expected)?);
                        let valid: fn(&$type) -> bool = $crate::params!(@test $(, $test)?);
                        self.$name = <$type>::parse(value.trim())
                            .filter(valid)
                            .ok_or($crate::registry::ParamError::BadValue { expected })?;
                        Ok(())
                    })*
                    _ => {
                        let _ = value;
                        Err($crate::registry::ParamError::UnknownKey)
                    }
                }
            }

            fn write(&self, key: &str, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
                #[allow(unused_imports)]
                use $crate::registry::Value;
                match key {
                    $(stringify!($form) => out.write_str(self.$form.0),)?
                    $(stringify!($name) => Value::write(&self.$name, out),)*
                    _ => {
                        let _ = out;
                        Ok(())
                    }
                }
            }

            fn check(&self) -> Result<(), $crate::registry::Conflict> {
                $($({
                    let holds: fn(&Params) -> bool = $holds;
                    if !holds(self) {
                        return Err($crate::registry::Conflict { key: $blame, expected: $rule });
                    }
                })+)?
                Ok(())
            }

            fn profile(&self, profile: $crate::Profile) -> $crate::Profile {
                let _ = self;
                $(
                    let adapt: fn(&Params, $crate::Profile) -> $crate::Profile = $profile;
                    return adapt(self, profile);
                )?
                #[allow(unreachable_code)]
                profile
            }

            fn base(&self) -> Params {
                #[allow(unused_mut)]
                let mut base = Params::default();
                $(
                    // a form's values are a declaration like the defaults: the registry's tests set each
                    base.set("form", self.$form.0).expect("a form that was set");
                )?
                base
            }

            fn agrees(&self, key: &str, other: &Params) -> bool {
                match key {
                    $(stringify!($form) => self.$form == other.$form,)?
                    $(stringify!($name) => self.$name == other.$name,)*
                    _ => {
                        let _ = other;
                        true
                    }
                }
            }
        }
    };
    (@list $key:ident = $value:literal $(, $more:ident = $other:literal)*) => {
        concat!("`", stringify!($key), " = ", $value, "`" $(, ", `", stringify!($more), " = ", $other, "`")*)
    };
    (@expected $type:ty) => { <$type as $crate::registry::Value>::EXPECTED };
    (@expected $type:ty, $expected:literal) => { $expected };
    (@test) => { |_| true };
    (@test, $test:expr) => { $test };
}

/// Declares an enum whose values users write as words.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $type:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $type {
            $($(#[doc = $variant_doc])+ $variant,)+
        }

        impl $crate::registry::Value for $type {
            const KIND: $crate::registry::ValueKind = $crate::registry::ValueKind::Choice;
            const EXPECTED: &'static str = concat!("one of:" $(, " \"", $word, "\"")+);
            const CHOICES: &'static [&'static str] = &[$($word),+];
            fn parse(text: &str) -> Option<$type> {
                match text {
                    $($word => Some($type::$variant),)+
                    _ => None,
                }
            }
            fn write(&self, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
                out.write_str(match self {
                    $($type::$variant => $word,)+
                })
            }
        }
    };
}

/// Makes a controller of a type whose only field is one: the same rules under other parameters.
macro_rules! acts_as_its_part {
    ($type:ident) => {
        impl $crate::Controller for $type {
            #[inline]
            fn on_ack(&mut self, ack: &$crate::Ack) {
                self.0.on_ack(ack);
            }

            fn on_loss(&mut self, event: &$crate::Congestion) {
                self.0.on_loss(event);
            }

            fn on_ecn(&mut self, event: &$crate::Congestion) {
                self.0.on_ecn(event);
            }

            fn on_timeout(&mut self, event: &$crate::Timeout) {
                self.0.on_timeout(event);
            }

            fn on_recovered(&mut self, now: $crate::Time, in_flight: u64) {
                self.0.on_recovered(now, in_flight);
            }

            fn on_undo(&mut self) {
                self.0.on_undo();
            }

            fn on_idle(&mut self, idle: &$crate::Idle) {
                self.0.on_idle(idle);
            }

            fn on_telemetry(&mut self, hops: &[$crate::Hop]) {
                self.0.on_telemetry(hops);
            }

            fn on_delivery(&mut self, sample: &$crate::Delivery) {
                self.0.on_delivery(sample);
            }

            fn on_cnp(&mut self, now: $crate::Time) {
                self.0.on_cnp(now);
            }

            fn wake_at(&self) -> $crate::Time {
                self.0.wake_at()
            }

            fn on_wake(&mut self, now: $crate::Time) {
                self.0.on_wake(now);
            }

            #[inline]
            fn cwnd(&self) -> f64 {
                self.0.cwnd()
            }

            fn ssthresh(&self) -> f64 {
                self.0.ssthresh()
            }

            fn pacing(&self) -> $crate::Pacing {
                self.0.pacing()
            }

            fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
                self.0.state(visit);
            }
        }
    };
}

/// Turns the list of controllers into [`Config`](crate::Config), [`Cc`](crate::Cc) and
/// [`KINDS`](crate::KINDS). An entry `file::Type` stands for a module `file` with `Params`, `KIND`
/// and `Type`, where `Type` is a [`Controller`](crate::Controller) made by
/// `Type::new(&Params, &Env)`. Modules are declared outside: what formats or mutates source looks
/// for `mod` and expands no macro.
macro_rules! controllers {
    ($($file:ident::$type:ident,)+) => {
        /// Every kind of controller, in the order of registration.
        pub static KINDS: &[&Kind] = &[$(&$file::KIND),+];

        /// A controller and its parameters, before there is a flow.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Config {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $type($file::Params),)+
            /// One that is not of this crate.
            Foreign($crate::foreign::Foreign),
        }

        impl Config {
            /// The controller of that name with its default parameters.
            pub fn new(kind: &str) -> Option<Config> {
                $(if kind == $file::KIND.name {
                    return Some(Config::$type($file::Params::default()));
                })+
                None
            }

            /// Its kind: name, source, declarations of its parameters.
            pub fn kind(&self) -> &'static Kind {
                match self {
                    $(Config::$type(_) => &$file::KIND,)+
                    Config::Foreign(_) => &$crate::foreign::KIND,
                }
            }

            /// What it expects of the transport.
            pub fn profile(&self) -> Profile {
                match self {
                    $(Config::$type(params) => params.profile($file::KIND.profile),)+
                    Config::Foreign(own) => own.0.profile(),
                }
            }

            /// Sets a parameter from the user's text.
            pub fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError> {
                match self {
                    $(Config::$type(params) => ParamSet::set(params, key, value),)+
                    Config::Foreign(_) => Err(ParamError::UnknownKey),
                }
            }

            /// The value of a parameter, in the text form that [`Config::set`] reads; `None` for
            /// an unknown key.
            pub fn get(&self, key: &str) -> Option<ParamValue<'_>> {
                let param = self.kind().params.iter().find(|param| param.name == key)?;
                let set: &dyn $crate::registry::WriteParam = match self {
                    $(Config::$type(params) => params,)+
                    Config::Foreign(_) => return None,
                };
                Some(ParamValue::new(set, param))
            }

            /// Holds the parameters against one another; call it after the last `set`. A parameter
            /// `form` is to be set before all others.
            pub fn check(&self) -> Result<(), Conflict> {
                match self {
                    $(Config::$type(params) => params.check(),)+
                    Config::Foreign(_) => Ok(()),
                }
            }

            /// The controller of a new flow.
            pub fn build(&self, env: &Env) -> Cc {
                match self {
                    $(Config::$type(params) => Cc::$type($file::$type::new(params, env)),)+
                    Config::Foreign(own) => Cc::Foreign(own.0.make(env)),
                }
            }
        }

        /// As a user would name it: its kind, and after a colon the parameters that differ from
        /// those of its form.
        impl core::fmt::Display for Config {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(Config::$type(params) => $crate::registry::write_short(&$file::KIND, params, f),)+
                    Config::Foreign(own) => own.fmt(f),
                }
            }
        }

        /// A controller of one flow, whichever it is: one `match` instead of a box and a virtual
        /// call per packet.
        #[derive(Debug)]
        pub enum Cc {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $type($file::$type),)+
            /// One that is not of this crate.
            Foreign(alloc::boxed::Box<dyn $crate::foreign::Outside>),
        }

        impl Controller for Cc {
            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                match self { $(Cc::$type(cc) => cc.on_ack(ack),)+ Cc::Foreign(cc) => cc.on_ack(ack) }
            }
            fn on_delivery(&mut self, sample: &Delivery) {
                match self { $(Cc::$type(cc) => cc.on_delivery(sample),)+ Cc::Foreign(cc) => cc.on_delivery(sample) }
            }
            fn on_cnp(&mut self, now: Time) {
                match self { $(Cc::$type(cc) => cc.on_cnp(now),)+ Cc::Foreign(cc) => cc.on_cnp(now) }
            }
            fn wake_at(&self) -> Time {
                match self { $(Cc::$type(cc) => cc.wake_at(),)+ Cc::Foreign(cc) => cc.wake_at() }
            }
            fn on_wake(&mut self, now: Time) {
                match self { $(Cc::$type(cc) => cc.on_wake(now),)+ Cc::Foreign(cc) => cc.on_wake(now) }
            }
            fn on_telemetry(&mut self, hops: &[Hop]) {
                match self { $(Cc::$type(cc) => cc.on_telemetry(hops),)+ Cc::Foreign(cc) => cc.on_telemetry(hops) }
            }
            #[inline]
            fn on_loss(&mut self, event: &Congestion) {
                match self { $(Cc::$type(cc) => cc.on_loss(event),)+ Cc::Foreign(cc) => cc.on_loss(event) }
            }
            #[inline]
            fn on_ecn(&mut self, event: &Congestion) {
                match self { $(Cc::$type(cc) => cc.on_ecn(event),)+ Cc::Foreign(cc) => cc.on_ecn(event) }
            }
            #[inline]
            fn on_timeout(&mut self, event: &Timeout) {
                match self { $(Cc::$type(cc) => cc.on_timeout(event),)+ Cc::Foreign(cc) => cc.on_timeout(event) }
            }
            #[inline]
            fn on_recovered(&mut self, now: Time, in_flight: u64) {
                match self {
                    $(Cc::$type(cc) => cc.on_recovered(now, in_flight),)+
                    Cc::Foreign(cc) => cc.on_recovered(now, in_flight),
                }
            }
            fn on_undo(&mut self) {
                match self { $(Cc::$type(cc) => cc.on_undo(),)+ Cc::Foreign(cc) => cc.on_undo() }
            }

            fn on_idle(&mut self, idle: &Idle) {
                match self { $(Cc::$type(cc) => cc.on_idle(idle),)+ Cc::Foreign(cc) => cc.on_idle(idle) }
            }
            #[inline]
            fn cwnd(&self) -> f64 {
                match self { $(Cc::$type(cc) => cc.cwnd(),)+ Cc::Foreign(cc) => cc.cwnd() }
            }
            #[inline]
            fn ssthresh(&self) -> f64 {
                match self { $(Cc::$type(cc) => cc.ssthresh(),)+ Cc::Foreign(cc) => cc.ssthresh() }
            }
            #[inline]
            fn pacing(&self) -> Pacing {
                match self { $(Cc::$type(cc) => cc.pacing(),)+ Cc::Foreign(cc) => cc.pacing() }
            }
            fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Cc::$type(cc) => cc.state(visit),)+ Cc::Foreign(cc) => cc.state(visit) }
            }
        }
    };
}
