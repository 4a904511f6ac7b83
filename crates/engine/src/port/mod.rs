//! The egress side of a link: queue and transmitter.
//!
//! A [`fifo`] port decides everything about a packet at its arrival, by arithmetic on its [`ring`] of departure times,
//! but for marks at departures, which it [sets later](departure_marks). Packets that are needed later lie in
//! [`explicit`] queues, one for each traffic class, which a scheduler serves: as events come, or without any where the
//! port [serves itself](self_service). What a port counts is its [`account`],
//! which is [rolled](roll) up to an instant when somebody asks; [`report`] makes the record of it.

pub mod account;
mod ahead;
pub mod buffer;
pub mod class_queue;
mod credits;
pub mod departure_marks;
pub mod discipline;
pub mod explicit;
pub mod faults;
pub mod fifo;
pub mod frame_clock;
mod frames;
mod held;
pub mod in_flight;
pub mod pause;
mod pending_marks;
#[expect(clippy::module_inception, reason = "the port is what the room is named after")]
pub mod port;
mod queues;
mod rank;
mod report;
mod returned;
mod ring;
mod roll;
mod scheduler;
pub mod self_service;
pub mod settings;
mod tie_rank;
mod timeline;
mod tokens;
mod trim;

pub use fifo::Sent;
pub use port::Port;
pub use settings::Settings;
