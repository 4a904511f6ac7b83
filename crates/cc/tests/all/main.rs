//! Tests of the controllers, in one binary: it links once.

extern crate alloc;
#[macro_use]
extern crate incast_cc;

mod events;

mod bbr;
mod bolt;
mod cubic;
mod d2tcp;
mod d3;
mod dcqcn;
mod dctcp;
mod dctcp_rate;
mod dx;
mod fastflow;
mod gcn;
mod hpcc;
#[allow(dead_code, unused_imports)]
mod inside;
mod lswift;
mod median;
mod mswift;
mod newreno;
mod poseidon;
mod powertcp;
mod rcp;
mod registry;
mod reno_window;
mod swift;
mod swift_ecn;
mod swift_emulation;
mod swift_endpoint;
mod swift_moving;
mod swift_rebase;
mod swift_v0;
mod theta_powertcp;
mod timely;
mod units;
mod vegas;
mod westwood;
mod westwood_plus;
mod xcp;

// `crate::` in the sources of `inside`
#[allow(unused_imports)]
use incast_cc::{Env, Pacing, Time};
