//! Names of before, while the transport moves to those of now.

pub use crate::host::RunQueue as Turns;
pub use crate::node::context::NodeCtx as Io;
