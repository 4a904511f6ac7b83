//! Closed-form models of congestion control: throughput, window and queue that follow from a controller's equations
//! under the stated assumptions.
//!
//! One file is one model: its parameters with units and sources, its figures, its assumptions, its equations in the
//! order of the source. [`MODELS`] lists the models that are functions of numbers; [`fair`] shares links among flows.
//! The crate depends on nothing.
//!
//! ```
//! use incast_model::swift::Swift;
//!
//! // one path in a hundred is slow
//! let swift = Swift { q: 0.01, ..Swift::default() }.solve()?;
//! assert!((swift.mean_window_packets - 12.247).abs() < 1e-3);
//!
//! let all_slow = Swift { q: 1.0, ..Swift::default() }.solve().unwrap_err();
//! assert_eq!(all_slow.to_string(), "q = 1: expected a number above 0, at most 1/4");
//! # Ok::<(), incast_model::Invalid>(())
//! ```
//!
//! Numbers are SI: seconds, bits per second, bytes; windows and queues are in packets. A field's name ends with its
//! unit (`_s`, `_bps`, `_bytes`, `_packets`); a field without one is a plain number. A parameter without a default is
//! not a number until it is set, and every model refuses it.

#![forbid(unsafe_code)]

#[macro_use]
pub mod declaration;
pub mod astra;
pub mod dctcp;
pub mod dctcp_queue;
pub mod fair;
pub mod fastflow;
pub mod lswift;
pub mod mathis;
pub mod mswift;
pub mod paths;
pub mod sawtooth;
pub mod swift;
pub mod tcp;

pub use declaration::{Figure, Figures, Invalid, Model, Parameter, Parameters, Quantity};

/// All models that are functions of numbers.
pub static MODELS: [&Model; 9] = [
    &mathis::MODEL,
    &tcp::MODEL,
    &dctcp::MODEL,
    &swift::MODEL,
    &fastflow::MODEL,
    &lswift::MODEL,
    &mswift::MODEL,
    &dctcp_queue::MODEL,
    &astra::MODEL,
];

/// The model of this name.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.into_iter().find(|m| m.name == name)
}
