//! Tests of the records of a run, in one binary: it links once.

mod histogram;
mod radios;
mod summary;
mod table;
