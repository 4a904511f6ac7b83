//! Tests of the scenarios, in one binary: it links once.

mod arrivals;
mod beside;
mod bounds;
mod collectives;
mod connection_matrix;
mod docs;
mod elephants;
mod errors;
mod extent;
mod failures;
mod htsim;
mod ideal;
#[allow(dead_code, unused_imports)]
mod inside;
mod job_connections;
mod job_llm;
mod linux;
mod messages;
mod placement;
mod ports;
mod program;
mod radio;
mod rails;
mod routing;
mod scenario;
mod schemas;
mod spelling;
mod table;
mod topologies;
mod traffic_matrix;
mod wording;

// `crate::` in the sources of `inside`
#[allow(unused_imports)]
use incast_scenario::{Scenario, document, text, topology};
