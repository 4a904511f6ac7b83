//! How far a run has come, for those who wait for it.

use incast_cc::Time;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time reached.
    pub now: Time,
    /// Simulated end.
    pub end: Time,
    /// Hops so far.
    pub hops: u64,
}

/// Takes the progress of a run, and says whether it goes on.
pub type Listener<'a> = &'a mut dyn FnMut(Progress) -> bool;
