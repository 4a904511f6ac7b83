//! A flow for every cell of a traffic matrix.

use super::flows::Flows;
use super::place::{check_two_hosts, host};
use crate::document::traffic::Traffic;
use crate::files::read_named;
use crate::files::traffic_matrix::{self, Cell};
use crate::text::problem::Errors;

/// Cells of the file `name` of the current entry, row by row, each read by `value`.
pub(super) fn cells<T>(
    name: &str,
    flows: &Flows,
    value: fn(&str) -> Result<Option<T>, String>,
) -> Result<Vec<Cell<T>>, Errors> {
    let text = read_named(&format!("{}.file", flows.path), flows.beside, name)?;
    traffic_matrix::read(name, &text, &|text, wrong| host(text, flows, wrong), value)
}

impl Traffic {
    /// Adds a flow for every cell of a traffic matrix, row by row.
    pub(crate) fn add_cells(&self, file: &str, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let cells = cells(file, flows, traffic_matrix::bytes)?;
        let has = cells.len() as u64;
        self.check_most(has, format_args!("the matrix has {has} cells above 0"), flows)?;
        let own = self.begin(entry, self.flows.unwrap_or(has), flows)?;
        for (i, cell) in (0u64..).zip(&cells).take(self.flows.map_or(usize::MAX, |n| n as usize)) {
            let start = self.opening(entry, i, flows.seed);
            self.check_stop(start, flows, format_args!("flow {i} of the entry opens"))?;
            let flow = own.transfer((cell.src, cell.dst), start, Some(cell.value));
            self.check_write(&flow, flows)?;
            flows.push(flow);
        }
        Ok(())
    }
}
