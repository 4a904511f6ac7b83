//! Congestion controllers as pure state machines.
//!
//! The transport reports events to a controller ([`Ack`], [`Congestion`], [`Timeout`]), and the controller answers
//! with a congestion window, and optionally a pacing rule. It does no I/O, keeps no clock and knows nothing of the
//! simulator around it: the caller passes `now`. One file holds one controller: its parameters with their sources,
//! its state, and its equations in the order of the paper. To add one, write that file, declare it and add one line
//! to the `controllers!` list below; `docs/controllers/adding.md` has a worked example.
//!
//! ```
//! use incast_cc::{Config, Controller, Env, Rate, Time};
//!
//! let mut config = Config::new("swift").unwrap();
//! config.set("target", "static").unwrap();
//! let env = Env {
//!     flow: 0,
//!     mss: 1000,
//!     initial_window: 10_000.0,
//!     packet_time: Time::us(1),
//!     shortest_rtt: Time::us(20),
//!     shortest_hops: 2,
//!     hop_rtt: Time::us(10),
//!     base_rtt: Time::us(20),
//!     line_rate: Rate::gbps(10),
//!     line_packet_time: Time::us(1),
//! };
//! let cc = config.build(&env);
//! assert_eq!(cc.cwnd(), 10_000.0);
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
pub mod registry;
#[macro_use]
mod dispatch;

pub mod bandwidth;
pub mod bbr;
pub mod bolt;
pub mod controller;
pub mod cubic;
pub mod d2tcp;
pub mod d3;
pub mod dcqcn;
pub mod dctcp;
pub mod dctcp_rate;
pub mod dx;
pub mod external;
pub mod fastflow;
pub mod gcn;
pub mod hpcc;
pub mod median;
pub mod newreno;
pub mod paced_rate;
pub mod power;
pub mod powertcp;
pub mod rcp;
pub mod reno_window;
mod stamps;
pub mod swift;
pub mod theta_powertcp;
pub mod timely;
pub mod units;
pub mod vegas;
pub mod westwood;
pub mod westwood_plus;
pub mod xcp;

pub use controller::{
    Ack, Asks, Backlog, Congestion, Controller, Deadline, Delivery, Ecn, Env, Feedback, Hop, Idle, Late, Pacing, Phase,
    Profile, Round, TcpAck, Timeout,
};
pub use registry::{Conflict, Kind, Param, ParamError, ParamValue, ValueKind};
pub use swift::variants::{lswift, mswift, poseidon, swift_ecn, swift_moving, swift_rebase, swift_v0};
pub use units::{Bytes, Rate, Time, UnitError};

use registry::ParamSet;

// One line registers a controller: its file, declared above, and its type.
controllers! {
    newreno::NewReno,
    cubic::Cubic,
    westwood::Westwood,
    westwood_plus::WestwoodPlus,
    vegas::Vegas,
    dx::Dx,
    dctcp::Dctcp,
    d2tcp::D2tcp,
    gcn::Gcn,
    swift::Swift,
    swift_v0::SwiftV0,
    lswift::LSwift,
    mswift::MSwift,
    swift_moving::SwiftMoving,
    swift_ecn::SwiftEcn,
    swift_rebase::SwiftRebase,
    fastflow::FastFlow,
    timely::Timely,
    hpcc::Hpcc,
    dcqcn::Dcqcn,
    bbr::Bbr,
    rcp::Rcp,
    d3::D3,
    xcp::Xcp,
    bolt::Bolt,
    powertcp::Powertcp,
    theta_powertcp::ThetaPowertcp,
    poseidon::Poseidon,
    dctcp_rate::DctcpRate,
}
