//! Parts of a model: parameters and figures, each declared once. The declaration is the field of a struct, its
//! default and check, and its text on the command line, in Python and in the documentation.

use std::borrow::Cow;
use std::fmt;

/// Quantity measured by a number; determines how users write it.
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
            // twelve digits: 14.4e-6 s is written 14.4us despite the rounding of its double
            Some((scale, unit)) => format!("{}{unit}", (value / scale * 1e9).round() / 1e9),
            None if value.is_infinite() => format!("{value}"),
            None => format!("{value}{plain}"),
        }
    }
}

/// Declaration of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in Python and, with dashes, on the command line.
    pub name: &'static str,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Unit of a plain number; empty without a unit or if the quantity has one.
    pub unit: &'static str,
    /// Default; not a number for a required parameter.
    pub default: f64,
    /// Condition on a value.
    pub expected: &'static str,
    /// Source of the default.
    pub source: &'static str,
    /// Meaning.
    pub doc: &'static str,
}

impl Parameter {
    /// True if the parameter has no default.
    pub fn required(&self) -> bool {
        self.default.is_nan()
    }
}

/// Declaration of a figure that a model computes.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Name.
    pub name: &'static str,
    /// Unit; empty without one.
    pub unit: &'static str,
    /// Meaning.
    pub doc: &'static str,
}

/// A value outside the valid range of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Invalid {
    /// The parameter to blame.
    pub parameter: &'static str,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Value of the parameter.
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
    /// Parameters from values in the order of the declarations.
    fn from_values(values: &[f64]) -> Self;
    /// Computes the figures; the error names the parameter outside its valid range.
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
    /// Source.
    pub source: &'static str,
    /// Description, one or two sentences.
    pub what: &'static str,
    /// Assumptions, one per entry.
    pub assumptions: &'static [&'static str],
    /// Conditions under which it fails.
    pub fails: &'static [&'static str],
    /// Parameters of the model.
    pub parameters: &'static [Parameter],
    /// Figures of the model.
    pub figures: &'static [Figure],
    /// Computes figures from parameters, both in the order of their declarations.
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

/// Declares parameters, each with documentation and `field as "name": Quantity "unit" = default, "source of the
/// default", "expected" => check;`, and the type of the figures.
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
            /// Computes the figures; an error if a parameter is outside its valid range.
            pub fn solve(&self) -> Result<$figures, $crate::Invalid> {
                $({
                    let holds: fn(f64) -> bool = $check;
                    if !holds(self.$field) {
                        return Err(self.invalid($key, $expected));
                    }
                })*
                self.work_out()
            }

            /// Error of a parameter with an invalid value.
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

/// Declares figures, each with documentation and `field: "unit";`.
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
