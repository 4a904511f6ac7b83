//! Tables of the transports that number packets, and the values of keys for the engine. The engine declares the keys:
//! names, types, bounds and texts.

use super::rule::PacketTransport;
use crate::text::quantity::{Auto, Rate, Size, Time};
use crate::text::words::{Word, Words};
use incast_engine::spec::{self, Control, Feedback, Free, Repace, Repair, Spread, Walk, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Type of a key in scenarios: the engine's, or the one after `as`.
macro_rules! written {
    ($type:ty) => {
        $type
    };
    ($type:ty as $written:ty) => {
        $written
    };
}
pub(super) use written;

/// Value of a key as a user writes it.
pub(super) trait Written<T>: Clone {
    /// Value for the engine.
    fn value(self) -> T;

    /// Value for the engine of a key that is not given.
    fn missing() -> Option<T> {
        None
    }
}

/// Value of a key for the engine; `None` if it is missing.
pub(super) fn value<T, W: Written<T>>(given: &Option<W>) -> Option<T> {
    given.clone().map_or_else(W::missing, |given| Some(given.value()))
}

/// Declares the values for the engine of types in scenarios.
macro_rules! values {
    ($($written:ty => $type:ty: |$given:ident| $value:expr;)+) => {
        $(impl Written<$type> for $written {
            fn value(self) -> $type {
                let $given = self;
                $value
            }
        })+
    };
}

values! {
    bool => bool: |flag| flag;
    u8 => u8: |n| n;
    u32 => u32: |n| n;
    f64 => f64: |x| x;
    Size => u64: |size| size.0.0;
    Size => u32: |size| size.0.0.min(u32::MAX as u64) as u32;
    Auto<Size> => Option<u64>: |size| size.given().map(|size| size.0.0);
    Auto<Vec<Size>> => Option<Vec<u64>>: |sizes| sizes.given().map(Written::value);
    Time => incast_cc::Time: |time| time.0;
    Auto<Time> => Option<incast_cc::Time>: |time| time.given().map(|time| time.0);
    Auto<NonZeroU32> => Option<u32>: |n| n.given().map(NonZeroU32::get);
    // 0 stands for `auto`, until the controller is known
    Auto<NonZeroU32> => u32: |n| n.given().map_or(0, NonZeroU32::get);
    Rate => incast_cc::Rate: |rate| rate.0;
}

impl<T: Words> Written<T> for Word<T> {
    fn value(self) -> T {
        self.0
    }
}

impl Written<Vec<u64>> for Vec<Size> {
    fn value(self) -> Vec<u64> {
        self.into_iter().map(|size| size.0.0).collect()
    }

    fn missing() -> Option<Vec<u64>> {
        Some(Vec::new())
    }
}

/// Declares the table of a transport: optional keys, the merge with default values, and the values for the engine.
macro_rules! table {
    ($(#[doc = $about:literal])+ $group:ident: $name:ident {
        $($(#[doc = $doc:literal])+ $(#[schemars($($bound:tt)+)])? $key:ident: $type:ty $(as $written:ty)?,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[doc = $doc])+
            $(#[schemars($($bound)+)])?
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<written!($type $(as $written)?)>,)+
        }

        impl $name {
            /// Returns these values, with missing ones from `base`.
            pub(super) fn or(&self, base: &$name) -> $name {
                $name { $($key: Clone::clone(&self.$key).or_else(|| Clone::clone(&base.$key))),+ }
            }

            /// Values for the engine; `None` if one is missing.
            pub(super) fn engine(&self) -> Option<spec::Protocol> {
                Some(spec::Protocol::$name(spec::$name { $($key: value(&self.$key)?),+ }))
            }
        }
    };
}

incast_engine::ndp_keys! { table }
incast_engine::eqds_keys! { table }
incast_engine::uet_keys! { table }
incast_engine::homa_keys! { table }
incast_engine::expresspass_keys! { table }
incast_engine::phost_keys! { table }
incast_engine::roce_keys! { table }
incast_engine::dcpim_keys! { table }
incast_engine::rdma_keys! { table }

impl PacketTransport for Ndp {}
impl PacketTransport for Eqds {}
impl PacketTransport for Uet {}
impl PacketTransport for Roce {}

/// Merges the first with the second; `or` joins two.
pub(super) fn joined<T: Clone>(own: &Option<T>, base: &Option<T>, or: impl Fn(&T, &T) -> T) -> Option<T> {
    match (own, base) {
        (Some(own), Some(base)) => Some(or(own, base)),
        _ => own.clone().or_else(|| base.clone()),
    }
}
