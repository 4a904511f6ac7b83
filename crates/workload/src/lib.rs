//! Jobs of AI clusters as graphs of tasks: calculations, sends, receives and collectives of each rank, and the order
//! between them.
//!
//! [`Graph`] is what a simulator runs. Dependencies join tasks of one rank; ranks meet only in messages and
//! collectives.
//!
//! ```
//! use incast_cc::{Bytes, Time};
//! use incast_workload::{Builder, Task};
//!
//! let mut job = Builder::new(2)?;
//! let calc = job.task(0, Task::calc(Time::us(1)))?;
//! let send = job.task(0, Task::send(Bytes(4096), 1))?;
//! job.requires(0, send, calc)?;
//! job.task(1, Task::recv(Bytes(4096), 0))?;
//! let graph = job.finish();
//! assert_eq!((graph.tasks(0), graph.waits(0, send)), (2, 1));
//! assert_eq!(graph.successors(0, calc), (&[send][..], &[][..]));
//! # Ok::<(), incast_workload::Refused>(())
//! ```
//!
//! Sizes are bytes, durations integer picoseconds ([`incast_cc::Time`]).

#![forbid(unsafe_code)]

pub mod bound;
pub mod chakra;
pub mod collective;
pub mod evaluate;
pub mod files;
pub mod finding;
pub mod goal;
pub mod graph;
pub mod isolate;
pub mod lint;
pub mod llm;
pub mod matching;
pub mod msccl;
pub mod pxn;
pub mod simai;
pub mod stats;

pub use finding::{Code, Finding, Place, Report};
pub use graph::{ANY, Builder, Collective, Graph, Kind, Pattern, Rank, RankBuilder, Refused, Task};
