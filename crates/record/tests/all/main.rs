//! Tests of the records of a run, in one binary: it links once.

mod flow_end;
mod histogram;
#[allow(dead_code, unused_imports)]
mod inside;
mod jobs;
mod radios;
mod summary;
mod table;

// `crate::` in the sources of `inside`
#[allow(unused_imports)]
use incast_record::{packed, store};
