//! Packet-level discrete-event engine for data-center networks.
//!
//! [`run`] takes a complete [`spec::Spec`] and gives an [`incast_record::Outcome`]. The same
//! specification and seed give the same bytes, whatever the grouping of nodes into domains and
//! the order in which domains are visited.
//!
//! The way of a packet, in order: [`transport`] (a sender's `output`), [`node`] (`host`, then `transmit`), [`port`],
//! [`run`] (`windows`), [`domain`], [`switch`], and at the last host the receiver of [`transport`]. Below them
//! [`spec`] says what is simulated, [`event`] has the words of time and packets, [`host`] the state of hosts, [`map`]
//! the facts of the fabric. `domain::build` makes all of it from the specification, and `run::reference` is the plain
//! engine that tests compare with.

#![deny(unsafe_code)]

pub mod domain;
pub mod event;
pub mod host;
pub mod map;
pub mod node;
pub mod port;
pub mod run;
pub mod spec;
pub mod switch;
pub mod transport;

pub use run::progress::Progress;
pub use spec::RunError;

use incast_record::Outcome;
use spec::Spec;

/// Runs `spec` to its end. `progress` is called now and then (every few 10 ms of wall time) and
/// stops the run by returning false.
pub fn run(spec: &Spec, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, RunError> {
    run::windows::run(domain::build::Simulation::new(spec)?, run::windows::Visit::Forward, progress)
}
