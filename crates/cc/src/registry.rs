//! Parameters of controllers: the `params!` macro that declares them, and their descriptions.
//!
//! A parameter is declared once, in its controller's file. That declaration is the field of the `Params` struct, its
//! default, its parser with the text of its error, its text form, and the row of `incast describe` and of the
//! documentation page. Defaults are written as a user would write them, and go through the same parser.

use crate::{Profile, Time};
use core::fmt;

/// A kind of controller: everything `describe` prints.
#[derive(Debug)]
pub struct Kind {
    /// Name in scenarios: `"swift"`.
    pub name: &'static str,
    /// Name in text: `"Swift"`.
    pub title: &'static str,
    /// Source: paper or RFC, with sections.
    pub source: &'static str,
    /// Description, one or two sentences.
    pub what: &'static str,
    /// Differences from the source, with reasons; one entry per difference.
    pub differences: &'static [&'static str],
    /// State exposed for tracing: (name, meaning).
    pub state: &'static [(&'static str, &'static str)],
    /// Requirements on the transport.
    pub profile: Profile,
    /// Parameters of the kind.
    pub params: &'static [Param],
}

/// Declaration of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key in scenarios.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ValueKind,
    /// Unit of a number (`"packets"`, `"segments"`); empty without a unit or if the value carries its own.
    pub unit: &'static str,
    /// Default, as a user would write it.
    pub default: &'static str,
    /// Condition on a value, e.g. `a number above 0, at most 1`.
    pub expected: &'static str,
    /// Source of the default.
    pub source: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Words allowed, for a parameter that takes one of a few words; else empty.
    pub choices: &'static [&'static str],
}

/// Type of a parameter's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A real number.
    Number,
    /// A real number, or `none`.
    OptionalNumber,
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

/// Reason for refusing a parameter. The caller knows key and value as the user wrote them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamError {
    /// The controller has no such parameter; [`Kind::params`] lists its parameters.
    UnknownKey,
    /// The parameter does not take this value.
    BadValue {
        /// The condition that the value breaks.
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

/// Two parameters, each valid by itself, that contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The parameter to blame.
    pub key: &'static str,
    /// The condition that the values break, e.g. `at most max_cwnd`.
    pub expected: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.key, self.expected)
    }
}

impl core::error::Error for Conflict {}

/// Type of a parameter: read from the user's text, written back the same way.
pub trait Value: Sized {
    /// Type as the user sees it.
    const KIND: ValueKind;
    /// Description of a valid text.
    const EXPECTED: &'static str;
    /// The words allowed, for choices.
    const CHOICES: &'static [&'static str] = &[];
    /// Reads a value.
    fn parse(text: &str) -> Option<Self>;
    /// Writes the value so that `parse` reads it again.
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Values that `FromStr` reads and a format writes.
macro_rules! values {
    ($($type:ty: $kind:ident, $expected:literal, $format:literal $(, $test:expr)?;)+) => {
        $(impl Value for $type {
            const KIND: ValueKind = ValueKind::$kind;
            const EXPECTED: &'static str = $expected;
            fn parse(text: &str) -> Option<$type> {
                text.parse().ok()$(.filter($test))?
            }
            fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
                write!(out, $format, self)
            }
        })+
    };
}

values! {
    f64: Number, "a number", "{:?}", |x: &f64| x.is_finite();
    u32: Integer, "a whole number", "{}";
    bool: Flag, "true or false", "{}";
    Time: Time, "a time with a unit, such as \"25us\"", "{}";
}

/// Values that may be a word instead; the word stands for `None`.
macro_rules! or_word {
    ($($(#[doc = $doc:literal])+ $type:ty: $kind:ident, $expected:literal, $word:literal;)+) => {
        $($(#[doc = $doc])+
        impl Value for Option<$type> {
            const KIND: ValueKind = ValueKind::$kind;
            const EXPECTED: &'static str = $expected;
            fn parse(text: &str) -> Option<Option<$type>> {
                if text == $word { Some(None) } else { <$type>::parse(text).map(Some) }
            }
            fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
                let Some(value) = self else { return out.write_str($word) };
                value.write(out)
            }
        })+
    };
}

or_word! {
    /// `None` is `auto`: derived from the path when the controller is built.
    Time: AutoTime, "\"auto\" or a time with a unit, such as \"25us\"", "auto";
    /// `None` is `none`.
    f64: OptionalNumber, "\"none\" or a number", "none";
}

/// The part of a `Params` struct that `params!` generates.
pub trait ParamSet: Default {
    /// The declarations.
    const PARAMS: &'static [Param];
    /// Sets one parameter from the user's text.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError>;
    /// Writes the value of one parameter; nothing for an unknown key.
    fn write(&self, key: &str, out: &mut dyn fmt::Write) -> fmt::Result;
    /// Checks the parameters against each other.
    fn check(&self) -> Result<(), Conflict>;
    /// Requirements on the transport under these parameters; `profile` has those of the kind.
    fn profile(&self, profile: Profile) -> Profile;
    /// Parameters with only the form set.
    fn base(&self) -> Self;
    /// True if one parameter has the same value in both; true for an unknown key.
    fn agrees(&self, key: &str, other: &Self) -> bool;
}

/// Name of a form: one declared by a `form of` block, or [`STANDARD`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormName(pub &'static str);

/// Form of the defaults.
pub const STANDARD: &str = "standard";

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

/// Text of a doc comment without its leading blank.
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

/// Parameters that a `Params` declares itself or includes, for its table.
#[doc(hidden)]
pub struct Part {
    pub params: &'static [Param],
    /// Parameters declared anew: name, default, source, and the condition if it differs.
    pub changes: &'static [(&'static str, &'static str, &'static str, Option<&'static str>)],
    /// Names left out.
    pub without: &'static [&'static str],
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Part {
    const fn leaves_out(&self, name: &str) -> bool {
        let mut i = 0;
        while i < self.without.len() {
            if is_same(self.without[i], name) {
                return true;
            }
            i += 1;
        }
        false
    }

    const fn changed(&self, mut param: Param) -> Param {
        let mut i = 0;
        while i < self.changes.len() {
            let (name, default, source, expected) = self.changes[i];
            if is_same(name, param.name) {
                (param.default, param.source) = (default, source);
                if let Some(expected) = expected {
                    param.expected = expected;
                }
            }
            i += 1;
        }
        param
    }
}

/// Joins the tables of the parts, in their order, and counts the `N` parameters.
#[doc(hidden)]
pub const fn join<const N: usize>(parts: &[Part]) -> ([Param; N], usize) {
    const NONE: Param = Param {
        name: "",
        kind: ValueKind::Flag,
        unit: "",
        default: "",
        expected: "",
        source: "",
        doc: "",
        choices: &[],
    };
    let mut all = [NONE; N];
    let (mut n, mut part) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].params.len() {
            let param = parts[part].params[i];
            if !parts[part].leaves_out(param.name) {
                if n < N {
                    all[n] = parts[part].changed(param);
                }
                n += 1;
            }
            i += 1;
        }
        part += 1;
    }
    (all, n)
}

/// True if a value also passes the test of a `Params` that includes it.
#[doc(hidden)]
pub fn holds<T>(value: &T, test: fn(&T) -> bool) -> bool {
    test(value)
}

/// True if a `Params` has a parameter of that name.
#[doc(hidden)]
pub fn has<P: ParamSet>(key: &str) -> bool {
    P::PARAMS.iter().any(|param| param.name == key)
}

/// Declares the parameters of a controller as `struct Params`.
///
/// Each is a doc comment, `name: type = "default", "unit", "source of the default"`, and, if the type alone allows
/// too much, the text of the expected value and the test for it. A `form of` block comes first and declares a
/// parameter `form`: named sets of values of the other parameters, each with its meaning and source, and optionally
/// an older name after `|`. Setting the form sets every parameter, so it is set before the others, and explicit
/// values override it. A closing `profile =>` lets parameters change the requirements on the transport, and a closing
/// `together` block checks parameters against each other.
///
/// Parameters shared by controllers are a `Params` of their own, included before a controller's own parameters as
/// `..field: Type;`, or after them as `then ..field: Type;`. Braces after the type may contain `!name;` to leave a
/// parameter out, and `name = "default", "source"` to give it another default, optionally with another text and test.
///
/// ```
/// mod window {
///     incast_cc::params! {
///         /// Smallest window.
///         low: f64 = "1.0", "packets", "own choice";
///         /// Largest window.
///         high: f64 = "100.0", "packets", "own choice";
///         together {
///             "low": "at most high" => |p| p.low <= p.high;
///         }
///     }
/// }
/// incast_cc::params! {
///     form of {
///         /// Halving with room.
///         "roomy" = "some implementation" { beta = "0.4", high = "1000" }
///     }
///     /// Factor of the decrease.
///     beta: f64 = "0.5", "", "RFC 5681", "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
///     then ..window: window::Params { low = "2.0", "RFC 5681"; };
/// }
/// use incast_cc::registry::{ParamError, ParamSet};
///
/// let mut params = Params::default();
/// assert_eq!((params.beta, params.window.low), (0.5, 2.0));
/// assert_eq!(params.set("beta", "0.7"), Ok(()));
/// assert_eq!(params.beta, 0.7);
/// assert!(matches!(params.set("beta", "1.5"), Err(ParamError::BadValue { .. })));
/// assert_eq!(params.set("low", "200"), Ok(()));
/// assert_eq!(params.check().unwrap_err().key, "low");
/// assert_eq!(params.set("form", "roomy"), Ok(()));
/// assert_eq!((params.beta, params.window.low, params.window.high), (0.4, 2.0, 1000.0));
/// assert_eq!(Params::PARAMS.iter().map(|p| p.name).collect::<Vec<_>>(), ["form", "beta", "low", "high"]);
/// ```
#[macro_export]
macro_rules! params {
    (
        $($form:ident of { $($forms:tt)+ })?
        $(..$before:ident: $before_type:ty $({ $($before_changes:tt)* })?;)*
        $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:literal, $unit:literal, $source:literal
            $(, $expected:literal => $test:expr)?;)*
        $(then ..$after:ident: $after_type:ty $({ $($after_changes:tt)* })?;)*
        $(profile => $profile:expr;)?
        $(together { $($blame:literal: $rule:literal => $holds:expr;)+ })?
    ) => {
        $crate::params! {
            @make { $($form of { $($forms)+ })? }
            before { $($before)* } after { $($after)* }
            included {
                $($before: $before_type { $($($before_changes)*)? })*
                $($after: $after_type { $($($after_changes)*)? })*
            }
            own { $($(#[doc = $doc])+ $name: $type = $default, $unit, $source $(, $expected => $test)?;)* }
            profile { $($profile)? }
            together { $($($blame: $rule => $holds;)+)? }
        }
    };
    (
        @make { $($form:ident of {
            $(
                $(#[doc = $form_doc:literal])+
                $form_name:literal $(| $form_alias:literal)? = $form_source:literal
                    { $($form_key:ident = $form_value:literal),+ $(,)? }
            )+
        })? }
        before { $($before:ident)* } after { $($after:ident)* }
        included {
            $($part:ident: $part_type:ty {
                $(!$hidden:ident;)*
                $($key:ident = $key_default:literal, $key_source:literal
                    $(, $key_expected:literal => $key_test:expr)?;)*
            })*
        }
        own {
            $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:literal, $unit:literal, $source:literal
                $(, $expected:literal => $test:expr)?;)*
        }
        profile { $($profile:expr)? }
        together { $($blame:literal: $rule:literal => $holds:expr;)* }
    ) => {
        /// Parameters, each documented at its declaration.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Params {
            $(
                /// Form from which the others started.
                pub $form: $crate::registry::FormName,
            )?
            $($(#[doc = $doc])+ pub $name: $type,)*
            $(
                /// Included parameters.
                pub $part: $part_type,
            )*
        }

        impl Default for Params {
            fn default() -> Params {
                #[allow(unused_imports)]
                use $crate::registry::{ParamSet, Value};
                // A default that does not parse is a mistake in the declaration, not an
                // input; the registry's tests build every default.
                $(
                    #[allow(unused_mut)]
                    let mut $part = <$part_type>::default();
                    $($part.set(stringify!($key), $key_default).expect(concat!("default of ", stringify!($key)));)*
                )*
                Params {
                    $($form: $crate::registry::FormName($crate::registry::STANDARD),)?
                    $($name: <$type>::parse($default).expect(concat!("default of ", stringify!($name))),)*
                    $($part,)*
                }
            }
        }

        impl $crate::registry::ParamSet for Params {
            const PARAMS: &'static [$crate::registry::Param] = {
                #[allow(unused_imports)]
                use $crate::registry::{Param, ParamSet, Part, join};
                const OWN: Part = Part {
                    params: &[
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
                    ],
                    changes: &[],
                    without: &[],
                };
                $(
                    #[allow(non_upper_case_globals)]
                    const $part: Part = Part {
                        params: <$part_type as ParamSet>::PARAMS,
                        changes: &[
                            $((stringify!($key), $key_default, $key_source, $crate::params!(@some $($key_expected)?)),)*
                        ],
                        without: &[$(stringify!($hidden)),*],
                    };
                )*
                const PARTS: &[Part] = &[
                    $(Part {
                        params: &[Param {
                            name: stringify!($form),
                            kind: $crate::registry::ValueKind::Choice,
                            unit: "",
                            default: $crate::registry::STANDARD,
                            expected: concat!("one of: \"standard\"" $(, " \"", $form_name, "\"")+),
                            source: "own choice",
                            doc: concat!(
                                "Named set of values of the other parameters; explicit ones override it. \"standard\": \
                                 the defaults below."
                                $(
                                    , " \"", $form_name, "\":", $($form_doc,)+ " From ", $form_source, ": "
                                    , $crate::params!(@list $($form_key = $form_value),+), "."
                                )+
                            ),
                            choices: &[$crate::registry::STANDARD $(, $form_name)+],
                        }],
                        changes: &[],
                        without: &[],
                    },)?
                    $($before,)*
                    OWN,
                    $($after,)*
                ];
                const COUNT: usize = join::<0>(PARTS).1;
                const ALL: [Param; COUNT] = join(PARTS).0;
                &ALL
            };

            fn set(&mut self, key: &str, value: &str) -> Result<(), $crate::registry::ParamError> {
                #[allow(unused_imports)]
                use $crate::registry::{ParamError, Value};
                match key {
                    $(stringify!($form) => {
                        let expected = concat!("one of: \"standard\"" $(, " \"", $form_name, "\"")+);
                        let (name, values): (&'static str, &[(&str, &str)]) = match value.trim() {
                            $crate::registry::STANDARD => ($crate::registry::STANDARD, &[]),
                            $($form_name $(| $form_alias)? =>
                                ($form_name, &[$((stringify!($form_key), $form_value)),+]),)+
                            _ => return Err(ParamError::BadValue { expected }),
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
                            .ok_or(ParamError::BadValue { expected })?;
                        Ok(())
                    })*
                    _ if !$crate::registry::has::<Params>(key) => Err(ParamError::UnknownKey),
                    _ => {
                        $(if $crate::registry::has::<$part_type>(key) {
                            #[allow(unused_variables)]
                            let before = self.$part;
                            let set = self.$part.set(key, value);
                            $($(if key == stringify!($key)
                                && (set.is_err() || !$crate::registry::holds(&self.$part.$key, $key_test))
                            {
                                self.$part = before;
                                return Err(ParamError::BadValue { expected: $key_expected });
                            })?)*
                            return set;
                        })*
                        #[allow(unreachable_code)]
                        {
                            let _ = value;
                            Err(ParamError::UnknownKey)
                        }
                    }
                }
            }

            fn write(&self, key: &str, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
                #[allow(unused_imports)]
                use $crate::registry::Value;
                match key {
                    $(stringify!($form) => out.write_str(self.$form.0),)?
                    $(stringify!($name) => Value::write(&self.$name, out),)*
                    $(_ if $crate::registry::has::<$part_type>(key) => {
                        $crate::registry::ParamSet::write(&self.$part, key, out)
                    })*
                    _ => {
                        let _ = out;
                        Ok(())
                    }
                }
            }

            fn check(&self) -> Result<(), $crate::registry::Conflict> {
                // the part included last is checked first
                let parts: &[fn(&Params) -> Result<(), $crate::registry::Conflict>] = &[$(|p| p.$part.check()),*];
                parts.iter().rev().try_for_each(|check| check(self))?;
                $({
                    let holds: fn(&Params) -> bool = $holds;
                    if !holds(self) {
                        return Err($crate::registry::Conflict { key: $blame, expected: $rule });
                    }
                })*
                Ok(())
            }

            fn profile(&self, profile: $crate::Profile) -> $crate::Profile {
                $(let profile = self.$part.profile(profile);)*
                $(
                    let adapt: fn(&Params, $crate::Profile) -> $crate::Profile = $profile;
                    let profile = adapt(self, profile);
                )?
                profile
            }

            fn base(&self) -> Params {
                #[allow(unused_mut)]
                let mut base = Params::default();
                $(
                    // values of a form are declared like the defaults: the registry's tests set each
                    base.set("form", self.$form.0).expect("a form that was set");
                )?
                base
            }

            fn agrees(&self, key: &str, other: &Params) -> bool {
                match key {
                    $(stringify!($form) => self.$form == other.$form,)?
                    $(stringify!($name) => self.$name == other.$name,)*
                    $(_ if $crate::registry::has::<$part_type>(key) => self.$part.agrees(key, &other.$part),)*
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
    (@some) => { None };
    (@some $value:literal) => { Some($value) };
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
