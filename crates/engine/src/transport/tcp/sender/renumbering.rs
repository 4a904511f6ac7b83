//! What a timeout gave up goes again as new data (htsim's Swift).

use super::*;

/// What htsim's Swift does after a timeout.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Renumbering {
    /// A timeout gave up what lies between: all but the first goes again as new data. Both zero where nothing does.
    pub(super) range: (u64, u64),
    /// Such data was lost for good.
    pub(super) hung: bool,
}

impl Sender {
    /// A hole that goes again as new data.
    pub(super) fn is_renumbered(&self, hole: Hole) -> bool {
        self.renumbering.range.0 < hole.seq && hole.seq < self.renumbering.range.1
    }
}
