//! Random scenarios of the whole grammar, and what must hold of every one (`make fuzz`).
//!
//! Scenario `number` of a seed is always the same. It is drawn from the schema ([`grammar`], with what the schema does
//! not say in [`hints`]), mended until the checks take it ([`case`], [`place`]), and run in every way ([`runs`]), whose
//! outcomes [`laws`] hold. One that breaks a law is made small ([`shrink`]).

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
