//! Deadlines of flows. They follow from the seed, so that both ends know them.

use super::fabric::FabricMap;
use crate::ids::{FlowId, QueryId};
use incast_cc::Time;

impl FabricMap<'_> {
    /// Deadline of a flow's transfer, relative to its start: of all its bytes (`number` 0), of a write, or of the
    /// responses to a query.
    pub fn deadline(&self, flow: FlowId, number: u64) -> Option<Time> {
        let deadline = self.flow(flow).deadline?;
        // the number of a flow alone is never that of a query
        let entity = match self.duplex(flow) {
            Some(duplex) => 1 << 32 | u64::from(duplex.query.0),
            None => u64::from(flow.0),
        };
        Some(deadline.of(self.spec.seed, entity, number))
    }

    /// Deadline of the responses to a query.
    pub fn deadline_of_query(&self, query: QueryId, number: u64) -> Option<Time> {
        self.deadline(FlowId(self.spec.queries[query].connections.first()?.response), number)
    }
}
