//! Physical quantities as types: simulated time in integer picoseconds, rates in bits per
//! second, sizes in bytes.
//!
//! The text forms are the ones users write: `"10us"`, `"100Gbps"`, `"128kB"` (1000 B) and
//! `"128KiB"` (1024 B). Parsing is exact: `"0.1us"` is 100 000 ps, and a text finer than the
//! unit of the type (half a picosecond, half a bit) is refused rather than rounded.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};
use core::str::FromStr;

/// A point in simulated time, or a span of it, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(pub u64);

/// A rate in bits per second; [`Rate::INFINITE`] serializes in no time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A time in picoseconds, as a real number (exact below two hours).
#[inline]
pub(crate) fn ps(time: Time) -> f64 {
    time.0 as f64
}

impl Time {
    /// Units in picoseconds, those first in which times are written, largest first.
    pub const UNITS: [(&str, u64); 6] = [
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
        ("µs", 1_000_000),
    ];
    /// Description of a valid text.
    pub const EXPECTED: &str = "a time with a unit (ps, ns, us, ms, s), such as \"10us\"";
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// Later than every event; used for "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// `n` picoseconds.
    pub const fn ps(n: u64) -> Time {
        Time(n)
    }
    /// `n` nanoseconds.
    pub const fn ns(n: u64) -> Time {
        Time(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn us(n: u64) -> Time {
        Time(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn s(n: u64) -> Time {
        Time(n * 1_000_000_000_000)
    }
    /// The time in seconds (a float: for figures and plots, not for deciding order).
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The time in microseconds, as a float.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }
    /// The nearest picosecond to `s` seconds; negative and not-a-number become 0, huge becomes
    /// [`Time::NEVER`].
    pub fn from_secs_f64(s: f64) -> Time {
        Time(libm::round(s * 1e12) as u64)
    }
    /// Number of spans `other` that cover it: the quotient, rounded up.
    #[inline]
    pub fn div_ceil(self, other: Time) -> u64 {
        self.0.div_ceil(other.0)
    }
    /// Smallest multiple of `other` that is not below it.
    #[inline]
    pub fn next_multiple_of(self, other: Time) -> Time {
        Time(self.0.next_multiple_of(other.0))
    }
    /// Distance between the two.
    #[inline]
    pub fn abs_diff(self, other: Time) -> Time {
        Time(self.0.abs_diff(other.0))
    }
    /// `n` times as long, or [`Time::NEVER`] when that does not fit.
    #[inline]
    pub fn saturating_mul(self, n: u64) -> Time {
        Time(self.0.saturating_mul(n))
    }
    /// `self - other`, or zero when `other` is later.
    #[inline]
    pub fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
    /// `self + other`, or [`Time::NEVER`] when that does not fit.
    #[inline]
    pub fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident($a:ident, $b:ident: $other:ty) -> $out:ty { $result:expr })*) => {$(
        impl $trait<$other> for Time {
            type Output = $out;
            #[inline]
            fn $method(self, $b: $other) -> $out {
                let $a = self;
                $result
            }
        }
    )*};
}

operators! {
    Add add(a, b: Time) -> Time { Time(a.0 + b.0) }
    Sub sub(a, b: Time) -> Time { Time(a.0 - b.0) }
    Mul mul(a, n: u64) -> Time { Time(a.0 * n) }
    Div div(a, n: u64) -> Time { Time(a.0 / n) }
    Div div(a, b: Time) -> u64 { a.0 / b.0 }
    Rem rem(a, b: Time) -> Time { Time(a.0 % b.0) }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, o: Time) {
        *self = *self + o;
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, o: Time) {
        *self = *self - o;
    }
}
impl Bytes {
    /// Units in bytes, those first in which sizes are written, largest first.
    pub const UNITS: [(&str, u64); 7] = [
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    /// Description of a valid text.
    pub const EXPECTED: &str = "a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"128kB\"";
}

impl Rate {
    /// Units in bits per second, those first in which rates are written, largest first.
    pub const UNITS: [(&str, u64); 9] = [
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("kbps", 1_000),
        ("bps", 1),
        ("T", 1_000_000_000_000),
        ("G", 1_000_000_000),
        ("M", 1_000_000),
        ("k", 1_000),
    ];
    /// Description of a valid text.
    pub const EXPECTED: &str =
        "a rate with a unit (bps, kbps, Mbps, Gbps, Tbps; k, M, G, T for short) or \"inf\", such as \"10Gbps\"";
    /// No serialization delay at all; written `"inf"`.
    pub const INFINITE: Rate = Rate(u64::MAX);

    /// `n` bits per second.
    pub const fn bps(n: u64) -> Rate {
        Rate(n)
    }
    /// `n` megabits (10^6) per second.
    pub const fn mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// `n` gigabits (10^9) per second.
    pub const fn gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }
    /// Serialization time of `bytes`, to the nearest picosecond. Computed from size and rate for every packet, so 30
    /// Gb/s has no accumulated rounding of a byte time. [`Time::NEVER`] at rate zero.
    pub fn serialize(self, bytes: u64) -> Time {
        if self == Rate::INFINITE {
            return Time::ZERO;
        }
        if self.0 == 0 {
            return Time::NEVER;
        }
        // 64-bit division is several times faster and enough for anything up to 2.3 MB.
        if let Some(sum) = bytes.checked_mul(8_000_000_000_000).and_then(|bits| bits.checked_add(self.0 / 2)) {
            return Time(sum / self.0);
        }
        let sum = u128::from(bytes) * 8_000_000_000_000 + u128::from(self.0 / 2);
        Time(u64::try_from(sum / u128::from(self.0)).unwrap_or(u64::MAX))
    }
    /// The rate in bits per second as a float.
    pub fn as_f64(self) -> f64 {
        if self == Rate::INFINITE { f64::INFINITY } else { self.0 as f64 }
    }
}

/// Reason why a text is not a quantity: the expected form, in words for the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitError {
    /// Description of a valid text, e.g. `a time such as "10us"`.
    pub expected: &'static str,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

/// Splits `"1.5us"` into the number's digits and its unit, and scales exactly: the digits as one integer, times the
/// unit, over the power of ten that the point stands for.
fn scaled(text: &str, units: &[(&str, u64)], expected: &'static str) -> Result<u64, UnitError> {
    let err = UnitError { expected };
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (text[..end].trim_matches('_'), text[end..].trim());
    let scale = units.iter().find(|(name, _)| *name == unit).ok_or(err)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if !number.bytes().any(|c| c.is_ascii_digit()) || fraction.contains('.') {
        return Err(err);
    }
    let mut digits: u128 = 0;
    for c in whole.bytes().chain(fraction.bytes()).filter(|c| *c != b'_') {
        digits = digits.checked_mul(10).and_then(|v| v.checked_add(u128::from(c - b'0'))).ok_or(err)?;
    }
    let places = fraction.bytes().filter(|c| *c != b'_').count() as u32;
    let parts = 10u128.checked_pow(places).ok_or(err)?;
    let value = digits.checked_mul(u128::from(scale)).ok_or(err)?;
    if value % parts != 0 {
        return Err(err);
    }
    u64::try_from(value / parts).ok().filter(|v| *v < u64::MAX).ok_or(err)
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Time, UnitError> {
        if text.trim() == "0" {
            return Ok(Time::ZERO);
        }
        scaled(text, &Time::UNITS, Time::EXPECTED).map(Time)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        if text.trim() == "inf" {
            return Ok(Rate::INFINITE);
        }
        scaled(text, &Rate::UNITS, Rate::EXPECTED).map(Rate)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        scaled(text, &Bytes::UNITS, Bytes::EXPECTED).map(Bytes)
    }
}

/// Writes `value` in the largest unit that leaves a short exact decimal.
fn display(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    for (name, scale) in units {
        if value >= *scale && value % (*scale / 1000).max(1) == 0 {
            let (whole, rest) = (value / scale, value % scale);
            if rest == 0 {
                return write!(f, "{whole}{name}");
            }
            let milli = rest / (scale / 1000);
            let (digits, width) = if milli % 100 == 0 {
                (milli / 100, 1)
            } else if milli % 10 == 0 {
                (milli / 10, 2)
            } else {
                (milli, 3)
            };
            return write!(f, "{whole}.{digits:0width$}{name}");
        }
    }
    write!(f, "{}{}", value, units[units.len() - 1].0)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::ZERO {
            return f.write_str("0s");
        }
        display(f, self.0, &Time::UNITS[..5])
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Rate::INFINITE {
            return f.write_str("inf");
        }
        display(f, self.0, &Rate::UNITS[..5])
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, self.0, &Bytes::UNITS[..4])
    }
}
