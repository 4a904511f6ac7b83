//! Defaults of keys, named by serde and the schema: `#[serde(default = "number::<3>")]`.

use crate::text::quantity::{Rate, Size, Time};
use incast_cc as cc;

pub(crate) fn yes() -> bool {
    true
}

pub(crate) fn number<const N: u32>() -> u32 {
    N
}

pub(crate) fn thousandths<const N: u32>() -> f64 {
    f64::from(N) / 1e3
}

pub(crate) fn bytes<const N: u64>() -> Size {
    Size(cc::Bytes(N))
}

pub(crate) fn microseconds<const N: u64>() -> Time {
    Time(cc::Time::us(N))
}

pub(crate) fn infinite() -> Rate {
    Rate(cc::Rate::INFINITE)
}
