//! Parts of a model: parameters and figures, each declared once. The declaration is the field of a struct, its
//! default and check, and what the command line, Python and the documentation say of it.

use std::borrow::Cow;
use std::fmt;

/// The quantity that a number measures; it says how users write the number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// A plain number.
    Number,
    /// Seconds; written `14us`.
    Time,
    /// Bits per second; written `100Gbps`.
    Rate,
    /// Bytes; written `4kB`.
    Size,
}

impl Quantity {
    /// Writes a value as users do.
    pub fn write(self, value: f64) -> String {
        let (units, plain): (&[(f64, &str)], &str) = match self {
            Quantity::Number => return format!("{value}"),
            Quantity::Time => (&[(1e-12, "ps"), (1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")], "s"),
            Quantity::Rate => (&[(1.0, "bps"), (1e3, "kbps"), (1e6, "Mbps"), (1e9, "Gbps"), (1e12, "Tbps")], "bps"),
            Quantity::Size => (&[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")], "B"),
        };
        let largest = units.iter().rev().find(|(scale, _)| value.abs() >= *scale * (1.0 - 1e-9));
        match largest.filter(|_| value.is_finite()) {
            // twelve digits: 14.4e-6 s is 14.4us, whatever its double is
            Some((scale, unit)) => format!("{}{unit}", (value / scale * 1e9).round() / 1e9),
            None if value.is_infinite() => format!("{value}"),
            None => format!("{value}{plain}"),
        }
    }
}

/// A parameter, as declared.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in Python and, with dashes, on the command line.
    pub name: &'static str,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Unit of a plain number; empty where it has none or the quantity has one.
    pub unit: &'static str,
    /// Default; not a number where it must be given.
    pub default: f64,
    /// Condition on a value.
    pub expected: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// Meaning.
    pub doc: &'static str,
}

impl Parameter {
    /// It must be given.
    pub fn required(&self) -> bool {
        self.default.is_nan()
    }
}

/// A figure that a model gives, as declared.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Name.
    pub name: &'static str,
    /// Unit; empty where it has none.
    pub unit: &'static str,
    /// Meaning.
    pub doc: &'static str,
}

/// A value outside of what a model is valid for.
#[derive(Clone, PartialEq, Debug)]
pub struct Invalid {
    /// The parameter to blame.
    pub parameter: &'static str,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Its value.
    pub value: f64,
    /// The condition that the value breaks.
    pub expected: Cow<'static, str>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_nan() {
            write!(f, "{} = nan: expected {}", self.parameter, self.expected)
        } else {
            write!(f, "{} = {}: expected {}", self.parameter, self.quantity.write(self.value), self.expected)
        }
    }
}

impl std::error::Error for Invalid {}

/// The parameters of a model.
pub trait Parameters: Sized {
    /// Declarations, in the order of the values.
    const PARAMETERS: &'static [Parameter];
    /// The results of the model.
    type Figures: Figures;
    /// From values in the order of the declarations.
    fn from_values(values: &[f64]) -> Self;
    /// Works the model out, or says which parameter is outside of what it is valid for.
    fn figures(&self) -> Result<Self::Figures, Invalid>;
}

/// The figures of a model.
pub trait Figures {
    /// Declarations, in the order of the values.
    const FIGURES: &'static [Figure];
    /// Values in the order of the declarations.
    fn write(&self, values: &mut [f64]);
}

/// A model: everything `describe` prints, and the function.
#[derive(Debug)]
pub struct Model {
    /// Name on the command line.
    pub name: &'static str,
    /// Name in text.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Description, one or two sentences.
    pub what: &'static str,
    /// Assumptions, one an entry.
    pub assumptions: &'static [&'static str],
    /// Where it fails.
    pub fails: &'static [&'static str],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its figures.
    pub figures: &'static [Figure],
    /// Figures of parameters, both in the order of their declarations.
    pub evaluate: fn(&[f64], &mut [f64]) -> Result<(), Invalid>,
}

impl Model {
    /// Index of the parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }
}

/// [`Model::evaluate`] of the model with parameters `P`.
pub fn evaluate<P: Parameters>(values: &[f64], figures: &mut [f64]) -> Result<(), Invalid> {
    P::from_values(values).figures()?.write(figures);
    Ok(())
}

/// Declares parameters: documentation, `field as "name": Quantity "unit" = default, "source of the default", "expected"
/// => check;` each, and what the model gives.
macro_rules! parameters {
    (
        $(#[doc = $what:literal])*
        $name:ident gives $figures:ty {
            $(
                $(#[doc = $doc:literal])+
                $field:ident as $key:literal: $quantity:ident $unit:literal = $default:expr, $source:literal,
                    $expected:literal => $check:expr;
            )*
        }
    ) => {
        $(#[doc = $what])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: f64, )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default, )* }
            }
        }

        impl $name {
            /// The figures; an error where a parameter is outside of what the model is valid for.
            pub fn solve(&self) -> Result<$figures, $crate::Invalid> {
                $({
                    let holds: fn(f64) -> bool = $check;
                    if !holds(self.$field) {
                        return Err(self.invalid($key, $expected));
                    }
                })*
                self.work_out()
            }

            /// The error of a parameter with an invalid value.
            fn invalid(
                &self,
                parameter: &'static str,
                expected: impl Into<std::borrow::Cow<'static, str>>,
            ) -> $crate::Invalid {
                let (value, quantity) = match parameter {
                    $( $key => (self.$field, $crate::Quantity::$quantity), )*
                    _ => (f64::NAN, $crate::Quantity::Number),
                };
                $crate::Invalid { parameter, quantity, value, expected: expected.into() }
            }
        }

        impl $crate::Parameters for $name {
            const PARAMETERS: &'static [$crate::Parameter] = &[$(
                $crate::Parameter {
                    name: $key,
                    quantity: $crate::Quantity::$quantity,
                    unit: $unit,
                    default: $default,
                    expected: $expected,
                    source: $source,
                    doc: concat!($($doc),+),
                },
            )*];
            type Figures = $figures;
            fn from_values(values: &[f64]) -> $name {
                let mut values = values.iter().copied();
                $name { $( $field: values.next().unwrap_or($default), )* }
            }
            fn figures(&self) -> Result<$figures, $crate::Invalid> {
                self.solve()
            }
        }
    };
}

/// Declares figures: documentation and `field: "unit";` each.
macro_rules! figures {
    (
        $(#[doc = $what:literal])*
        $name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $unit:literal; )*
        }
    ) => {
        $(#[doc = $what])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: f64, )*
        }

        impl $crate::Figures for $name {
            const FIGURES: &'static [$crate::Figure] = &[$(
                $crate::Figure { name: stringify!($field), unit: $unit, doc: concat!($($doc),+) },
            )*];
            fn write(&self, values: &mut [f64]) {
                let figures = [$( self.$field, )*];
                values[..figures.len()].copy_from_slice(&figures);
            }
        }
    };
}
