//! Random scenarios of the whole grammar, and laws that hold for every one (`make fuzz`).
//!
//! Scenario `number` of a seed is always the same. It is drawn from the schema ([`grammar`], with [`hints`] beyond
//! the schema), repaired until the checks accept it ([`case`], [`place`]), and run in every way ([`runs`]); [`laws`]
//! checks the outcomes. A scenario that breaks a law is shrunk ([`shrink`]).

#![forbid(unsafe_code)]

pub mod case;
pub mod files;
pub mod grammar;
pub mod hints;
pub mod hunt;
pub mod laws;
pub mod place;
pub mod random;
pub mod runs;
pub mod shrink;
pub mod trial;
