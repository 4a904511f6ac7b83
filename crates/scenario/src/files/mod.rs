//! Files: those that a scenario names, and those that come with the program. Each is read and checked by itself; what
//! it means to a network is found in [`traffic`](crate::traffic).

pub mod builtin;
pub mod connection_matrix;
mod named;
pub(crate) mod rows;
pub mod sizes;
pub(crate) mod traffic_matrix;

pub(crate) use named::{read_file, read_named};
