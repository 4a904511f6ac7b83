//! Traffic: the flows created by the entries of a document in a network.

mod arrivals;
mod collectives;
mod connection_matrix;
pub(crate) mod elephants;
mod entry;
mod file;
pub(crate) mod flows;
mod job;
mod matrix;
mod near;
mod place;
mod queries;
mod roots;
mod shuffle;

use crate::document::pattern::Pattern;
use crate::document::traffic::Traffic;
use crate::text::problem::Errors;
use flows::Flows;

impl Traffic {
    /// Adds the flows of entry number `entry`.
    pub(crate) fn add(&self, pattern: Pattern, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        match pattern {
            Pattern::File { file, .. } => self.add_file(file, entry, flows),
            Pattern::Poisson { arrivals, parts, .. } => self.add_arrivals(arrivals, parts, entry, flows),
            Pattern::Matrix { file, .. } => self.add_cells(file, entry, flows),
            Pattern::ConnectionMatrix { file, unit, .. } => self.add_matrix(file, unit, entry, flows),
            Pattern::Elephants { of, flows: n, placement } => Ok(self.add_elephants(of, n, placement, entry, flows)?),
            Pattern::AllToAll { members, order } => Ok(self.add_collective(members, Some(order), entry, flows)?),
            Pattern::RingAllreduce { members } => Ok(self.add_collective(members, None, entry, flows)?),
            placed => self.add_placed(placed, entry, flows),
        }
    }
}
