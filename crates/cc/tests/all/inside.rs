//! Sources with tests of private items, compiled into this binary: the crate has no second build for tests
//! (`test = false` in its manifest).

#[path = "../../src/median.rs"]
mod median;
#[path = "../../src/power.rs"]
mod power;
