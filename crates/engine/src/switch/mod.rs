//! What a switch remembers and how it chooses among equal next hops.

pub mod routing;
