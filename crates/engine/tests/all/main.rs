//! Tests of the engine, in one binary: it links once.

mod support;

mod application;
mod classes;
mod datagrams;
mod deadlines;
mod driven;
mod ecn_threshold;
mod explicit_rates;
mod explicit_windows;
mod failures;
mod grid;
mod homa;
mod hosts;
mod measurement;
mod messages;
mod pfc;
mod programs;
mod properties;
mod published;
mod radio;
mod random_drop;
mod red;
mod reference;
mod renewal;
mod reordering;
mod rewritten_windows;
mod routing;
mod shared_buffer;
mod symmetric;
mod tables;
mod tcp;
mod threads;
mod triggers;
mod trimming;
mod vectors;
