//! Tests of the crate, in one binary: it links once.

mod graph;
