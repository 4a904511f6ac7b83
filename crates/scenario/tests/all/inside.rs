//! Sources with tests of private items, compiled into this binary: the crate has no second build for tests
//! (`test = false` in its manifest).

#[path = "../../src/text/expression.rs"]
mod expression;
#[path = "../../src/text/external.rs"]
mod external;
#[path = "../../src/traffic/near.rs"]
mod near;
#[path = "../../src/text/pattern.rs"]
mod pattern;
#[path = "../../src/text/problem.rs"]
mod problem;
#[path = "../../src/text/reading.rs"]
mod reading;
#[path = "../../src/build/state_limit.rs"]
mod state_limit;
