//! A flow for every cell of a traffic matrix.

use super::flows::Flows;
use super::place::{check_two_hosts, host};
use crate::document::app::{App, Bulk};
use crate::document::traffic::Traffic;
use crate::files::read_named;
use crate::files::traffic_matrix::{self, Cell};
use crate::text::problem::Problem;
use incast_engine::spec;

/// Cells of the file `name` of the entry at work, row by row, each read by `value`.
pub(super) fn cells<T>(
    name: &str,
    flows: &Flows,
    value: fn(&str) -> Result<Option<T>, String>,
) -> Result<Vec<Cell<T>>, Vec<Problem>> {
    let text = read_named(&format!("{}.file", flows.path), flows.dir, name).map_err(|p| vec![p])?;
    traffic_matrix::read(name, &text, &|text, wrong| host(text, flows, wrong), value)
}

impl Traffic {
    /// A flow for every cell of a traffic matrix, row by row.
    pub(crate) fn add_cells(&self, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let cells = cells(&self.file.clone().unwrap_or_default(), flows, traffic_matrix::bytes)?;
        let has = cells.len() as u64;
        if let Some(n) = self.flows.filter(|n| *n > has) {
            let message = format!("the matrix has {has} cells above 0; expected at most as many");
            return Err(vec![Problem::with_value(format!("{}.flows", flows.path), n, message)]);
        }
        flows.reserve(self.flows.unwrap_or(has)).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, cell) in (0u64..).zip(&cells).take(self.flows.map_or(usize::MAX, |n| n as usize)) {
            let start = self.opening(entry, i, flows.seed);
            if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                let message = format!("flow {i} of the entry opens at {start}; expected a later stop");
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: Some(cell.value), write: write.0.0 };
            let flow = spec::FlowSpec { app, ..self.flow(cell.src, cell.dst, start, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }
}
