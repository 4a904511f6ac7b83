//! Sources with tests of private items, compiled into this binary: the crate has no second build for tests
//! (`test = false` in its manifest).

#[path = "../../src/flow_frame.rs"]
mod flow_frame;
#[path = "../../src/name.rs"]
mod name;
#[path = "../../src/packed/mod.rs"]
mod packed;
#[path = "../../src/port_frame.rs"]
mod port_frame;
#[path = "../../src/store.rs"]
mod store;
