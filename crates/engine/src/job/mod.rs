//! Ranks of training jobs: which task runs when.
//!
//! A [rank](rank::RankState) is a state machine without a network. It is told what has happened (a calculation ended, a
//! message was acknowledged, a message has arrived) and says what to do next ([`Act`]). Dependencies join tasks of one
//! rank, and ranks meet in messages alone.

mod account;
mod rank;
mod times;

pub use account::Account;
pub use rank::{Act, Part, RankState};
pub use times::{Arrived, TaskTimes};
