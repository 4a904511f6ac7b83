//! Collectives: their algorithms as messages, and their ideal times.
//!
//! A member of a collective is one task of a graph. [`expand()`] makes the messages of the algorithm out of it, in the
//! order of the source; a run may also carry the steps out one by one ([`Ring`]).

mod body;
mod chain;
mod exchange;
mod expand;
mod expansion;
mod ideal;
mod lane;
mod member;
mod method;
mod parts;
mod ring;
mod skew;
mod tree;

pub use body::Body;
pub use exchange::grouped_distances;
pub use expand::{MOST_TASKS, Place, alone, expand, expanded_tasks, member, messages, tags};
pub use expansion::{At, Expansion, Member, Tasks};
pub use ideal::{Step, bus_factor, ideal, incast, known_bound};
pub use method::{Algorithm, Method, Methods};
pub use parts::Parts;
pub use ring::Ring;
pub(crate) use skew::parts;
pub use skew::{shares, zipf};
pub use tree::{children, depth, parent};
