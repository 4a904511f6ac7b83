//! Quantities as users write them in a scenario: strings with units, kept exact.

use incast_cc as cc;
use incast_engine::spec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Units of a format, each in the smallest one.
fn units(format: &str) -> &'static [(&'static str, f64)] {
    const BYTES: [(&str, f64); 8] = [
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("p", 1.0),
    ];
    match format {
        "time" => &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("µs", 1e6), ("ms", 1e9), ("s", 1e12)],
        "rate" => &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)],
        "size" => &BYTES[..7],
        "limit" => &BYTES,
        "headroom" => &BYTES[..7],
        "line-rate" => &[("%", 1e-2), ("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)],
        _ => &[],
    }
}

/// A number and what follows it.
fn parts(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// The text with its unit in the right case: `"1Gbps"` for `"1gbps"`.
pub fn suggestion(format: &str, text: &str) -> Option<String> {
    let (number, unit) = parts(text);
    let mut near = units(format).iter().filter(|(u, _)| *u != unit && u.eq_ignore_ascii_case(unit));
    let right = format!("{number}{}", near.next()?.0);
    (near.next().is_none() && check_format(format, &right).is_ok()).then_some(right)
}

/// Why a text that is a number with a unit is refused all the same.
fn out_of_range(format: &str, text: &str) -> Option<&'static str> {
    let (number, unit) = parts(text);
    let value = number.replace('_', "").parse::<f64>().ok()?;
    let exponent = unit.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    if exponent.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Some("exponents are not read; expected the digits written out, or a larger or smaller unit");
    }
    let (_, scale) = units(format).iter().find(|(u, _)| *u == unit)?;
    // 2^64 - 1 of the smallest unit.
    Some(match format {
        "line-rate" => return None,
        _ if unit == "p" && value * scale >= u64::MAX as f64 => "too large; \"none\" is no limit",
        _ if unit == "p" => "expected a whole number of packets",
        "time" if value * scale >= u64::MAX as f64 => "too large; expected less than 18446744s",
        "time" => "finer than 1ps, the smallest step of simulated time",
        "rate" if value * scale >= u64::MAX as f64 => "too large; expected less than 18446744Tbps, or \"inf\"",
        "rate" => "finer than 1bps, the smallest step of a rate",
        _ if value * scale >= u64::MAX as f64 => "too large; expected less than 18446744073GB",
        _ => "finer than 1B; expected a whole number of bytes",
    })
}

/// Why a text is not the quantity its format asks for: what was expected. The formats are those
/// the schema names.
pub fn check_format(format: &str, text: &str) -> Result<(), String> {
    parse_format(format, text).map_err(|message| match out_of_range(format, text) {
        // A rate of 0 is refused for itself.
        Some(reason) if expected(format).is_some_and(|e| message.ends_with(e)) => reason.to_owned(),
        _ => message,
    })
}

fn parse_format(format: &str, text: &str) -> Result<(), String> {
    let wrong = |e: cc::UnitError| e.to_string();
    match format {
        "time" => text.parse::<cc::Time>().map(drop).map_err(wrong),
        "rate" => match text.parse::<cc::Rate>() {
            Ok(cc::Rate(0)) => Err("expected a rate above 0".into()),
            other => other.map(drop).map_err(wrong),
        },
        "size" => text.parse::<cc::Bytes>().map(drop).map_err(wrong),
        "limit" => text.parse::<Limit>().map(drop),
        "line-rate" => text.parse::<PartOrRate>().map(drop),
        "headroom" => text.parse::<Room>().map(drop),
        _ => Ok(()),
    }
}

/// What a value of a format must be, in words.
pub fn expected(format: &str) -> Option<&'static str> {
    match format {
        "time" => Some("a time with a unit (ps, ns, us, ms, s), such as \"10us\""),
        "rate" => Some("a rate with a unit (bps, kbps, Mbps, Gbps, Tbps) or \"inf\", such as \"10Gbps\""),
        "size" => Some("a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"128kB\""),
        "limit" => Some(LIMIT),
        "line-rate" => Some(LINE_RATE),
        "headroom" => Some(HEADROOM),
        _ => None,
    }
}

const LIMIT: &str = "a limit in packets such as \"250p\", in bytes such as \"1MB\", or \"none\"";

const HEADROOM: &str = "\"link\", \"hpcc\", or a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"30kB\"";

const LINE_RATE: &str = "a part of the rate of the sender's link above 0%, at most 100%, such as \"50%\", or a rate \
                         with a unit (bps, kbps, Mbps, Gbps, Tbps), such as \"10Gbps\"";

macro_rules! quantity {
    ($(#[doc = $doc:literal])+ $name:ident, $inner:ty, $format:literal, $pattern:literal, $text:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text: fn($inner) -> String = $text;
                f.write_str(&text(self.0))
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
                check_format($format, &text).map_err(serde::de::Error::custom)?;
                text.parse().map($name).map_err(serde::de::Error::custom)
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

/// Bytes in the unit they were most likely given in: powers of 2 where only these leave a whole
/// number.
fn bytes(n: u64) -> String {
    let binary = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match binary.into_iter().find(|(_, unit)| n > 0 && n % unit == 0 && n % 1000 != 0) {
        Some((name, unit)) => format!("{}{name}", n / unit),
        None => cc::Bytes(n).to_string(),
    }
}

/// A string; a bare 0 is taken for `"0"`, so that `delay = 0` is accepted.
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

quantity!(
    /// A time: `"10us"`.
    Time, cc::Time, "time", r"^[0-9._]+ *(ps|ns|us|µs|ms|s)$|^0$", |t| t.to_string()
);
/// No time: the default of many keys.
pub(crate) fn zero() -> Time {
    Time(cc::Time::ZERO)
}

quantity!(
    /// A rate: `"10Gbps"`, or `"inf"` for no serialization delay.
    Rate, cc::Rate, "rate", r"^[0-9._]+ *(bps|kbps|Mbps|Gbps|Tbps)$|^inf$", |r| r.to_string()
);
quantity!(
    /// A size: `"2MB"` (10^6 bytes), `"2MiB"` (2^20 bytes).
    Size, cc::Bytes, "size", r"^[0-9._]+ *(B|kB|MB|GB|KiB|MiB|GiB)$", |b| bytes(b.0)
);
quantity!(
    /// A queue limit: `"250p"` in packets, `"1MB"` in bytes, or `"none"`.
    QueueLimit, Limit, "limit", r"^[0-9._]+ *(p|B|kB|MB|GB|KiB|MiB|GiB)$|^none$", |l| l.to_string()
);

quantity!(
    /// A rate of a sender: `"50%"` of its link's, or `"10Gbps"`.
    LineRate, PartOrRate, "line-rate", r"^[0-9._]+ *(%|bps|kbps|Mbps|Gbps|Tbps)$", |r| r.to_string()
);

quantity!(
    /// Headroom of a link under priority flow control: `"link"`, `"hpcc"`, or `"30kB"`.
    Headroom, Room, "headroom", r"^[0-9._]+ *(B|kB|MB|GB|KiB|MiB|GiB)$|^link$|^hpcc$", |r| r.to_string()
);

/// How much headroom a link has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Room {
    /// What it can bring until it has stopped.
    Link,
    /// Three times what it brings in its delay.
    Hpcc,
    /// Bytes.
    Bytes(u64),
}

impl FromStr for Room {
    type Err = String;
    fn from_str(text: &str) -> Result<Room, String> {
        match text.trim() {
            "link" => Ok(Room::Link),
            "hpcc" => Ok(Room::Hpcc),
            size => size.parse::<cc::Bytes>().map(|b| Room::Bytes(b.0)).map_err(|_| format!("expected {HEADROOM}")),
        }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Room::Link => f.write_str("link"),
            Room::Hpcc => f.write_str("hpcc"),
            Room::Bytes(n) => f.write_str(&bytes(*n)),
        }
    }
}

/// A part of a link's rate, or a rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PartOrRate {
    /// Millionths of the link's rate.
    Part(u32),
    /// A rate of its own.
    Rate(cc::Rate),
}

impl FromStr for PartOrRate {
    type Err = String;
    fn from_str(text: &str) -> Result<PartOrRate, String> {
        let wrong = || format!("expected {LINE_RATE}");
        match text.trim().strip_suffix('%') {
            Some(n) => {
                let part = n.trim().parse::<f64>().ok().map(|n| (n * 1e4).round()).filter(|n| (1.0..=1e6).contains(n));
                part.map(|n| PartOrRate::Part(n as u32)).ok_or_else(wrong)
            }
            None => match text.parse::<cc::Rate>() {
                Ok(rate) if rate.0 > 0 && rate != cc::Rate::INFINITE => Ok(PartOrRate::Rate(rate)),
                _ => Err(wrong()),
            },
        }
    }
}

impl fmt::Display for PartOrRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartOrRate::Part(n) => write!(f, "{}%", *n as f64 / 1e4),
            PartOrRate::Rate(rate) => rate.fmt(f),
        }
    }
}

/// A limit in packets, in bytes, or none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Limit {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// No limit.
    None,
}

impl FromStr for Limit {
    type Err = String;
    fn from_str(text: &str) -> Result<Limit, String> {
        let wrong = || format!("expected {LIMIT}");
        let text = text.trim();
        match text.strip_suffix('p') {
            Some(n) => n.trim().parse().map(Limit::Packets).map_err(|_| wrong()),
            None if text == "none" => Ok(Limit::None),
            None => text.parse::<cc::Bytes>().map(|b| Limit::Bytes(b.0)).map_err(|_| wrong()),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(n) => write!(f, "{n}p"),
            Limit::Bytes(n) => f.write_str(&bytes(*n)),
            Limit::None => f.write_str("none"),
        }
    }
}

impl QueueLimit {
    /// As the engine has it.
    pub fn spec(self) -> spec::Limit {
        match self.0 {
            Limit::Packets(n) => spec::Limit::Packets(n),
            Limit::Bytes(n) => spec::Limit::Bytes(n),
            Limit::None => spec::Limit::None,
        }
    }

    /// The number, for limits of the same unit.
    pub fn amount(self) -> Option<u64> {
        match self.0 {
            Limit::Packets(n) | Limit::Bytes(n) => Some(n),
            Limit::None => None,
        }
    }

    /// Both in packets, or both in bytes.
    pub fn same_unit(self, other: QueueLimit) -> bool {
        matches!((self.0, other.0), (Limit::Packets(_), Limit::Packets(_)) | (Limit::Bytes(_), Limit::Bytes(_)))
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
    /// The value given.
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
