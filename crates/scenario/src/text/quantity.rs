//! Quantities as written by users in a scenario: strings with units, kept exact.

use incast_cc as cc;
use incast_engine::spec::{self, Limit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Notation of a quantity, by the name of its format in the schema.
struct Format {
    name: &'static str,
    /// Units, each in the smallest one.
    units: &'static [(&'static str, u64)],
    /// Condition on a value, in words.
    expected: &'static str,
    read: fn(&str) -> Result<(), String>,
}

const LIMIT: &str = "a limit in packets such as \"250p\", in bytes such as \"1MB\", or \"none\"";
const HEADROOM: &str = "\"link\", \"hpcc\", or a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"30kB\"";
const LINE_RATE: &str = "a part of the rate of the sender's link above 0%, at most 100%, such as \"50%\", or a rate \
                         with a unit (bps, kbps, Mbps, Gbps, Tbps; k, M, G, T for short), such as \"10Gbps\"";

const FLOPS: &str = "a rate of floating-point operations with a unit (flops, kflops, Mflops, Gflops, Tflops), such as \
                     \"400Tflops\"";

static FORMATS: [Format; 7] = [
    Format {
        name: "time",
        units: &cc::Time::UNITS,
        expected: cc::Time::EXPECTED,
        read: |text| Time::read(text).map(drop),
    },
    Format {
        name: "rate",
        units: &cc::Rate::UNITS,
        expected: cc::Rate::EXPECTED,
        read: |text| Rate::read(text).map(drop),
    },
    Format {
        name: "size",
        units: &cc::Bytes::UNITS,
        expected: cc::Bytes::EXPECTED,
        read: |text| Size::read(text).map(drop),
    },
    Format { name: "limit", units: &cc::Bytes::UNITS, expected: LIMIT, read: |text| QueueLimit::read(text).map(drop) },
    Format {
        name: "line-rate",
        units: &cc::Rate::UNITS,
        expected: LINE_RATE,
        read: |text| LineRate::read(text).map(drop),
    },
    Format {
        name: "headroom",
        units: &cc::Bytes::UNITS,
        expected: HEADROOM,
        read: |text| Headroom::read(text).map(drop),
    },
    Format {
        name: "flops",
        units: &[
            ("flops", 1),
            ("kflops", 1_000),
            ("Mflops", 1_000_000),
            ("Gflops", 1_000_000_000),
            ("Tflops", 1_000_000_000_000),
        ],
        expected: FLOPS,
        read: |text| Flops::read(text).map(drop),
    },
];

fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Splits a number from the rest of the text.
fn parts(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// The text with its unit in the right case: `"1Gbps"` for `"1gbps"`.
pub fn suggestion(name: &str, text: &str) -> Option<String> {
    let (number, unit) = parts(text);
    let packets = (name == "limit").then_some("p");
    let units = format(name)?.units.iter().map(|(u, _)| *u).chain(packets);
    let mut near = units.filter(|u| *u != unit && u.eq_ignore_ascii_case(unit));
    let right = format!("{number}{}", near.next()?);
    (near.next().is_none() && check_format(name, &right).is_ok()).then_some(right)
}

/// Reason why a number with a unit is refused nevertheless.
fn out_of_range(format: &Format, text: &str) -> Option<&'static str> {
    let (number, unit) = parts(text);
    let value = number.replace('_', "").parse::<f64>().ok()?;
    let exponent = unit.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    if exponent.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Some("exponents are not read; expected the digits written out, or a larger or smaller unit");
    }
    let packets = format.name == "limit" && unit == "p";
    let scale = if packets { 1 } else { format.units.iter().find(|(u, _)| *u == unit)?.1 };
    // 2^64 - 1 of the smallest unit.
    let too_large = value * scale as f64 >= u64::MAX as f64;
    Some(match format.name {
        "line-rate" => return None,
        _ if packets && too_large => "too large; \"none\" is no limit",
        _ if packets => "expected a whole number of packets",
        "time" if too_large => "too large; expected less than 18446744s",
        "time" => "finer than 1ps, the smallest step of simulated time",
        "rate" if too_large => "too large; expected less than 18446744Tbps, or \"inf\"",
        "rate" => "finer than 1bps, the smallest step of a rate",
        _ if too_large => "too large; expected less than 18446744073GB",
        _ => "finer than 1B; expected a whole number of bytes",
    })
}

/// Checks a text against a format named in the schema; the error has the expected form.
pub fn check_format(name: &str, text: &str) -> Result<(), String> {
    let Some(format) = format(name) else { return Ok(()) };
    (format.read)(text).map_err(|message| match out_of_range(format, text) {
        // A rate of 0 has its own error.
        Some(reason) if message.ends_with(format.expected) => reason.to_owned(),
        _ => message,
    })
}

/// Condition on a value of a format, in words.
pub fn expected(name: &str) -> Option<&'static str> {
    format(name).map(|format| format.expected)
}

/// A quantity that users write as text.
pub trait Quantity: Sized {
    /// Name of its format.
    const FORMAT: &'static str;
    /// Reads it; the error says what was expected.
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! quantity {
    ($(#[$about:meta])+ $name:ident($inner:ty), $format:literal, $pattern:literal, $read:expr, $write:expr) => {
        $(#[$about])+
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name(pub $inner);

        impl Quantity for $name {
            const FORMAT: &'static str = $format;
            fn read(text: &str) -> Result<$name, String> {
                let read: fn(&str) -> Result<$inner, String> = $read;
                read(text).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let write: fn($inner) -> String = $write;
                f.write_str(&write(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                let text = Text::deserialize(d)?.0;
                check_format($format, &text).and_then(|()| $name::read(&text)).map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format, "pattern": $pattern })
            }
        }
    };
}

/// A string; a bare 0 counts as `"0"`, so that `delay = 0` is accepted.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Text, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Number(i64),
        }
        Ok(Text(match Either::deserialize(d)? {
            Either::Text(t) => t,
            Either::Number(n) => n.to_string(),
        }))
    }
}

fn parse<T: FromStr<Err = cc::UnitError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: cc::UnitError| e.to_string())
}

/// Bytes in the unit most likely used: powers of 2 if only these leave a whole number.
fn bytes(n: u64) -> String {
    let binary = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match binary.into_iter().find(|(_, unit)| n > 0 && n % unit == 0 && n % 1000 != 0) {
        Some((name, unit)) => format!("{}{name}", n / unit),
        None => cc::Bytes(n).to_string(),
    }
}

quantity!(
    /// A time: `"10us"`.
    #[derive(Eq, PartialOrd, Ord)]
    Time(cc::Time), "time", r"^[0-9._]+ *(ps|ns|us|µs|ms|s)$|^0$", parse, |t| t.to_string()
);
quantity!(
    /// A rate: `"10Gbps"`, or `"inf"` for no serialization delay.
    Rate(cc::Rate), "rate", r"^[0-9._]+ *(bps|([kMGT](bps)?))$|^inf$",
    |text| match parse(text)? {
        cc::Rate(0) => Err("expected a rate above 0".into()),
        rate => Ok(rate),
    },
    |r| r.to_string()
);
quantity!(
    /// Floating-point operations in a second: `"400Tflops"`.
    Flops(u64), "flops", r"^[0-9._]+ *[kMGT]?flops$",
    |text| {
        // the prefixes are those of rates
        let bits = text.trim().strip_suffix("flops").map(|number| format!("{number}bps"));
        let rate = bits.and_then(|text| text.parse::<cc::Rate>().ok());
        rate.filter(|rate| rate.0 > 0).map(|rate| rate.0).ok_or_else(|| format!("expected {FLOPS}"))
    },
    |n| cc::Rate(n).to_string().replace("bps", "flops")
);
quantity!(
    /// A size: `"2MB"` (10^6 bytes), `"2MiB"` (2^20 bytes).
    Size(cc::Bytes), "size", r"^[0-9._]+ *(B|kB|MB|GB|KiB|MiB|GiB)$", parse, |b| bytes(b.0)
);
quantity!(
    /// A queue limit: `"250p"` in packets, `"1MB"` in bytes, or `"none"`.
    QueueLimit(Limit), "limit", r"^[0-9._]+ *(p|B|kB|MB|GB|KiB|MiB|GiB)$|^none$",
    |text| {
        let wrong = || format!("expected {LIMIT}");
        match text.trim().strip_suffix('p') {
            Some(n) => n.trim().parse().map(Limit::Packets).map_err(|_| wrong()),
            None if text.trim() == "none" => Ok(Limit::None),
            None => text.trim().parse::<cc::Bytes>().map(|b| Limit::Bytes(b.0)).map_err(|_| wrong()),
        }
    },
    |limit| match limit {
        Limit::Packets(n) => format!("{n}p"),
        Limit::Bytes(n) => bytes(n),
        Limit::None => "none".into(),
    }
);
quantity!(
    /// A rate of a sender: `"50%"` of its link's, or `"10Gbps"`.
    LineRate(PartOrRate), "line-rate", r"^[0-9._]+ *(%|bps|([kMGT](bps)?))$",
    |text| {
        let read = match text.trim().strip_suffix('%') {
            Some(n) => {
                let part = n.trim().parse::<f64>().ok().map(|n| (n * 1e4).round()).filter(|n| (1.0..=1e6).contains(n));
                part.map(|n| PartOrRate::Part(n as u32))
            }
            None => {
                let rate = text.parse::<cc::Rate>().ok().filter(|rate| rate.0 > 0 && *rate != cc::Rate::INFINITE);
                rate.map(PartOrRate::Rate)
            }
        };
        read.ok_or_else(|| format!("expected {LINE_RATE}"))
    },
    |rate| match rate {
        PartOrRate::Part(n) => format!("{}%", f64::from(n) / 1e4),
        PartOrRate::Rate(rate) => rate.to_string(),
    }
);
quantity!(
    /// Headroom of a link under priority flow control: `"link"`, `"hpcc"`, or `"30kB"`.
    Headroom(spec::Headroom), "headroom", r"^[0-9._]+ *(B|kB|MB|GB|KiB|MiB|GiB)$|^link$|^hpcc$",
    |text| match text.trim() {
        "link" => Ok(spec::Headroom::Link),
        "hpcc" => Ok(spec::Headroom::Delays),
        size => {
            let size = size.parse::<cc::Bytes>();
            size.map(|b| spec::Headroom::Bytes(b.0)).map_err(|_| format!("expected {HEADROOM}"))
        }
    },
    |headroom| match headroom {
        spec::Headroom::Link => "link".into(),
        spec::Headroom::Delays => "hpcc".into(),
        spec::Headroom::Bytes(n) => bytes(n),
    }
);

impl From<Time> for cc::Time {
    fn from(time: Time) -> cc::Time {
        time.0
    }
}

impl From<Size> for u64 {
    fn from(size: Size) -> u64 {
        size.0.0
    }
}

/// A part of a link's rate, or a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PartOrRate {
    /// Millionths of the link's rate.
    Part(u32),
    /// An absolute rate.
    Rate(cc::Rate),
}

impl QueueLimit {
    /// Number without the unit, for limits of the same unit.
    pub fn amount(self) -> Option<u64> {
        match self.0 {
            Limit::Packets(n) | Limit::Bytes(n) => Some(n),
            Limit::None => None,
        }
    }

    /// True if both are in packets, or both in bytes.
    pub fn same_unit(self, other: QueueLimit) -> bool {
        matches!((self.0, other.0), (Limit::Packets(_), Limit::Packets(_)) | (Limit::Bytes(_), Limit::Bytes(_)))
    }

    /// True if it is larger, in the same unit.
    pub fn is_above(self, other: QueueLimit) -> bool {
        self.same_unit(other) && self.amount() > other.amount()
    }
}

/// A value, or `"auto"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Auto<T> {
    /// `"auto"`: derived, as the key's documentation says.
    #[default]
    Auto,
    /// Given.
    Given(T),
}

impl<T> Auto<T> {
    /// True for `"auto"`.
    pub fn is_auto(&self) -> bool {
        matches!(self, Auto::Auto)
    }

    /// Explicit value, if any.
    pub fn given(self) -> Option<T> {
        match self {
            Auto::Auto => None,
            Auto::Given(v) => Some(v),
        }
    }
}

impl<T: Serialize> Serialize for Auto<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Auto::Auto => s.serialize_str("auto"),
            Auto::Given(v) => v.serialize(s),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Auto<T>, D::Error> {
        #[derive(Deserialize)]
        enum Word {
            #[serde(rename = "auto")]
            Auto,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either<T> {
            Word(Word),
            Given(T),
        }
        Ok(match Either::deserialize(d)? {
            Either::Word(Word::Auto) => Auto::Auto,
            Either::Given(v) => Auto::Given(v),
        })
    }
}

impl<T: JsonSchema> JsonSchema for Auto<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Auto_{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "auto" }, T::json_schema(generator)] })
    }
}
