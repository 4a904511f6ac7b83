//! Files named by a scenario, and files that come with the program. Each is read and checked by itself;
//! [`traffic`](crate::traffic) applies it to a network.

mod beside;
pub mod builtin;
pub mod connection_matrix;
mod named;
pub(crate) mod rows;
pub mod sizes;
pub(crate) mod traffic_matrix;

pub use beside::Beside;
pub(crate) use named::{FNV, Tasks, fnv, read_file, read_named, tasks_named};
