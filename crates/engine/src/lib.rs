//! Packet-level discrete-event engine for data-center networks.
//!
//! [`run()`] takes a complete [`spec::Spec`] and returns an [`incast_record::Outcome`]. The same specification and seed
//! give the same bytes, however nodes are grouped into domains and in whatever order domains are visited.
//!
//! A packet passes, in order: `transport` (a sender's `output`), `node` (`host`, then `transmit`), `port`, `run`
//! (`windows`), `domain`, `switch`, and at the last host the receiver in `transport`. Below them, [`spec`] describes
//! the simulation, `app` the sending applications, `event` time and packets, `host` the state of hosts, [`map`] the
//! facts of the fabric. `domain::build` builds all of it from the specification. `reference` is the naive engine that
//! tests compare with.

#![deny(unsafe_code)]

pub(crate) mod app;
pub(crate) mod domain;
pub(crate) mod event;
pub mod fast_paths;
pub mod hash;
pub(crate) mod host;
pub(crate) mod ids;
pub(crate) mod job;
pub mod map;
pub(crate) mod node;
pub(crate) mod port;
pub(crate) mod program;
pub(crate) mod radio;
pub(crate) mod reference;
pub(crate) mod run;
pub mod spec;
pub(crate) mod switch;
pub(crate) mod threads;
pub(crate) mod transport;
pub(crate) mod validate;

pub use ids::{CellId, EngineId, FlowId, LinkId, NodeId, OpeningId, TriggerId};
pub use spec::{About, RunError};
pub use threads::clock::Cost;
pub use threads::progress::Progress;

/// Internals that the tests of this workspace use. For nothing else.
#[doc(hidden)]
pub mod testing {
    pub use crate::app::{AppState, Start};
    pub use crate::domain::build::Simulation;
    pub use crate::event::interval::Interval;
    pub use crate::event::order::{Order, Timer};
    pub use crate::event::outbox::{Instant, Outbox, Stamp};
    pub use crate::event::packet::{Blocks, Ext, Kind, Packet, flag};
    pub use crate::hash::{purpose, uniform};
    pub use crate::host::messages::Tcb;
    pub use crate::ids::{HostIx, PoolIx, PortIx, QueryId, ReceiverIx, SenderIx};
    pub use crate::node::context::Env;
    pub use crate::port::buffer::{Account, Pool, SharedBuffer};
    pub use crate::port::explicit::Offered;
    pub use crate::port::{Port, Sent};
    pub use crate::program::{At, Programs, SwitchProgram, Verdict};
    pub use crate::radio::channel::ReceptionCounts;
    pub use crate::radio::frame::{Frame, What};
    pub use crate::radio::{Cell, Effect, Observed, Sighting};
    pub use crate::run::windows;
    pub use crate::run::windows::Threads;
    pub use crate::run::worker::Visit;
    pub use crate::switch::route::Planned;
    pub use crate::threads::mode::{Done, Rule};
    pub use crate::transport::ranges::Ranges;
    pub use crate::transport::reordering::Reordering;
    pub use crate::transport::tcp::receiver::Receiver;
    pub use crate::transport::tcp::rtt::RttEstimator;
    pub use crate::transport::tcp::scoreboard::{Hole, Scoreboard, rack};
    pub use crate::transport::tcp::sender::{Connection, Sender};
    pub use crate::transport::timer::fires_at;
    pub use crate::transport::{ReceiveEndpoint, SendEndpoint};

    /// The reference engine.
    pub mod reference {
        pub use crate::reference::run;
    }
}

use incast_record::Outcome;
use run::windows::Threads;
use spec::Spec;
use threads::progress::Monitor;

/// Refuses a specification that contradicts itself, as far as that shows without building it. [`run()`] checks too.
pub fn check(spec: &Spec) -> Result<(), RunError> {
    validate::check(spec)
}

/// Runs `spec` to its end. Calls `progress` every few 10 ms of wall time, also during set-up; false stops the run.
pub fn run(spec: &Spec, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, RunError> {
    run_timed(spec, progress).map(|(outcome, _)| outcome)
}

/// Runs `spec` as [`run()`] does. Returns the cost of the run as well.
pub fn run_timed(spec: &Spec, progress: &mut dyn FnMut(Progress) -> bool) -> Result<(Outcome, Cost), RunError> {
    let simulation = domain::build::Simulation::monitored(spec, &mut Monitor::new(progress, spec.duration))?;
    let threads = Threads::of(&simulation);
    run::windows::run_timed(simulation, run::worker::Visit::Forward, threads, progress)
}
