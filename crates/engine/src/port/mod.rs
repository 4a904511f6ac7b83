//! Egress side of a link: queue and transmitter.
//!
//! A [`fifo`] port decides everything about a packet at its arrival, by arithmetic on its [`ring`] of departure times,
//! except marks at departure, which it [sets later](late_marking). Packets that are needed after their arrival wait
//! in [`explicit`] queues, one per traffic class, which a scheduler serves: by events, by few where packets are
//! [sent early](early_sending), or without any if the port has [lazy service](lazy_service). The counters of a port are
//! its [`account`], which is [advanced](advance) to an instant when it is read; [`report`] turns it into a record.

pub mod account;
mod advance;
mod ahead;
pub mod buffer;
pub mod class_queue;
mod credits;
pub mod discipline;
pub mod early_sending;
pub mod explicit;
pub mod fast_paths;
pub mod faults;
pub mod fifo;
pub mod frame_clock;
mod frames;
mod held;
pub mod in_flight;
pub mod late_marking;
pub mod lazy_service;
pub mod pause;
mod pending_marks;
#[expect(clippy::module_inception, reason = "the port is what the room is named after")]
pub mod port;
mod queues;
mod rank;
mod report;
mod returned;
mod ring;
mod scheduler;
pub mod settings;
mod tie_rank;
mod timeline;
mod tokens;
mod trim;

pub use fifo::Sent;
pub use port::Port;
pub use settings::Settings;
