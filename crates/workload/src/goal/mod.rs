//! GOAL, as text and binary: the format of LogGOPSim (spcl/LogGOPSim 76451de) and of simulators that use its files
//! (spcl/HTSIM 8a33f33, spcl/atlahs 8837294).
//!
//! GOAL has calculations, sends and receives. A [`crate::Kind::Nop`] is written as a calculation of no time, durations
//! are rounded to nanoseconds, and collectives are expanded before they are written.

pub mod binary;
mod labels;
mod line;
pub mod text;
pub mod written;
