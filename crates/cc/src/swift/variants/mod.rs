//! Swift's variants, published ones and designs of this project. Each includes the parameters that it shares with
//! [`crate::swift`] and has its own [`DelaySignal`](crate::swift::DelaySignal).

pub mod lswift;
pub mod mswift;
pub mod patience;
pub mod poseidon;
pub mod swift_ecn;
pub mod swift_moving;
pub mod swift_rebase;
pub mod swift_v0;
