//! Traffic: the flows that the entries of a document make in a network.

mod arrivals;
mod collectives;
mod connection_matrix;
pub(crate) mod elephants;
mod entry;
mod file;
pub(crate) mod flows;
mod matrix;
mod place;
mod queries;

use crate::document::traffic::{Pattern, Traffic};
use crate::text::problem::Problem;
use flows::Flows;

impl Traffic {
    /// Adds the flows of entry number `entry`.
    pub(crate) fn add(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        if self.pattern == Pattern::File {
            return self.add_file(entry, flows);
        }
        if let Some(arrivals) = &self.arrivals {
            return self.add_arrivals(arrivals, entry, flows);
        }
        if self.pattern == Pattern::Matrix {
            return self.add_cells(entry, flows);
        }
        if let (Pattern::ConnectionMatrix, Some(unit)) = (self.pattern, self.start_unit) {
            return self.add_matrix(unit, entry, flows);
        }
        if self.pattern == Pattern::Elephants {
            return self.add_elephants(entry, flows).map_err(|p| vec![p]);
        }
        if self.pattern.is_collective() {
            return self.add_collective(entry, flows).map_err(|p| vec![p]);
        }
        self.add_placed(entry, flows)
    }
}
