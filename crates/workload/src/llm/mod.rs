//! Training jobs from the numbers of a model: tensor, pipeline, data and expert parallelism of a transformer.
//!
//! An iteration is `micro_batches` micro-batches through the stages of a pipeline ([`Schedule`]), each layer with its
//! collectives, and the exchange of gradients. [`Model::sizes`] has the bytes, [`Model::operations`] the
//! floating-point operations, [`build()`] makes the graph.
//!
//! Left out: optimizer steps, norms, biases, the router of experts, tied embeddings, and the collectives of embeddings
//! and of the loss.

mod build;
mod comms;
mod layout;
mod member;
mod model;
mod plan;
mod schedule;
mod sizes;
mod times;

pub use crate::collective::shares;
pub use build::{Made, build};
pub use layout::{Dimension, Order};
pub use model::{Model, Overlap, Wrong};
pub use plan::Volume;
pub use schedule::{Op, Pass, Schedule, ops};
pub use sizes::Sizes;
pub use times::Times;
