//! Transports: the two endpoints of a flow. A host calls [`SendEndpoint`] and [`ReceiveEndpoint`] and nothing beyond
//! them. A transport that numbers packets is a folder, and a line of the list in [`protocol`](crate::spec::Protocol).

pub mod check;
mod dcpim;
mod end_table;
mod ends;
mod eqds;
mod expresspass;
mod homa;
pub mod ip;
mod ndp;
pub mod nearby;
mod opening;
mod other;
mod pacing;
mod packet;
mod phost;
pub mod ranges;
mod rdma;
pub mod reordering;
mod roce;
pub mod tcp;
pub mod timer;
pub mod udp;
mod uet;
mod writes;

pub use end_table::{EndTable, Known};
pub use ends::{ReceiveEndpoint, SendEndpoint};
pub use other::Pacers;
pub use pacing::on_pacer;
