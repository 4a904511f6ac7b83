//! Poisson arrivals: flows that come at random, of sizes from a table, as many as make a load.

use super::flows::Flows;
use super::flows::MAX_FLOWS;
use super::matrix::cells;
use super::place::check_two_hosts;
use crate::document::app::{App, Bulk};
use crate::document::arrivals::{Arrivals, MOST_LOAD, PACKET};
use crate::document::traffic::Traffic;
use crate::files::builtin;
use crate::files::builtin::usual_rule;
use crate::files::sizes::SizeTable;
use crate::files::traffic_matrix::{self, Cell};
use crate::text::problem::Problem;
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::spec;

/// A flow that arrives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: cc::Time,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) size: u64,
}

impl Arrivals {
    /// The flows of entry number `entry`, in order of time: every host is a Poisson process, each flow goes to
    /// one of the other hosts, all alike, and the first comes a gap after `start`. No more than `most`. Where there are
    /// `parts` of the load, a host sends what its row adds up to of it, and to each other host by the cell.
    pub(crate) fn flows(
        &self,
        entry: u32,
        start: cc::Time,
        most: Option<u64>,
        (file, parts): (Option<&str>, &[Cell<f64>]),
        flows: &Flows,
    ) -> Result<Vec<Arrival>, Vec<Problem>> {
        let path = &flows.path;
        let key = format!("{path}.arrivals.sizes");
        if let Some(name) = self.sizes.strip_prefix(builtin::PREFIX).filter(|n| !builtin::sizes().any(|s| s == *n)) {
            let known = builtin::sizes().collect::<Vec<_>>().join(", ");
            let message = format!("no table of sizes of this name comes with the program; expected one of {known}");
            let p = Problem::with_value(key, format!("\"{}\"", self.sizes), message);
            return Err(vec![p.suggest(name, builtin::sizes())]);
        }
        let text = crate::files::read_named(&key, flows.dir, &self.sizes).map_err(|p| vec![p])?;
        let table = SizeTable::read(&self.sizes, &text, self.packet.map_or(PACKET, |p| p.0.0))?;
        if let Some(packet) = self.packet.filter(|_| !table.counts_packets()) {
            let message = format!("the sizes of {} are bytes; expected none", self.sizes);
            return Err(vec![Problem::with_value(format!("{path}.arrivals.packet"), format!("\"{packet}\""), message)]);
        }
        let rule = self.rule.unwrap_or_else(|| usual_rule(&self.sizes));
        let mean = table.mean(rule);
        let until = self.until.map_or(flows.duration, |t| t.0);
        let seconds = until.saturating_sub(start).as_secs_f64();
        let mut rates = vec![0.0; flows.network.hosts as usize];
        for l in &flows.network.links {
            if let Some(rate) = rates.get_mut(l.from as usize) {
                *rate += l.rate.as_f64();
            }
        }
        let gaps: Vec<f64> = rates.iter().map(|rate| mean * 8.0 / (rate * self.load)).collect();
        let mut rows: Vec<Vec<(f64, u32)>> = vec![Vec::new(); gaps.len()];
        for cell in parts {
            let row = &mut rows[cell.src as usize];
            row.push((row.last().map_or(0.0, |(sum, _)| *sum) + cell.value, cell.dst));
        }
        let sum = |host: usize| if parts.is_empty() { 1.0 } else { rows[host].last().map_or(0.0, |(sum, _)| *sum) };
        if gaps.contains(&0.0) {
            let message = "a load needs hosts whose links have a rate; a link has rate = \"inf\"";
            return Err(vec![Problem::with_value(format!("{path}.arrivals.load"), self.load, message)]);
        }
        if let Some(host) = (0..gaps.len()).find(|h| sum(*h) * self.load > MOST_LOAD) {
            let message = format!(
                "expected a matrix whose rows add up to at most {} with load = {}; that of {} adds up to {}",
                MOST_LOAD / self.load,
                self.load,
                flows.network.names[host],
                sum(host)
            );
            let row = parts.iter().find(|c| c.src as usize == host).map_or(0, |c| c.line);
            let file = file.unwrap_or_default();
            return Err(vec![Problem::new(format!("{file}, line {row}"), message)]);
        }
        let expected: f64 = gaps.iter().enumerate().map(|(host, gap)| seconds / gap * sum(host)).sum();
        if expected > MAX_FLOWS as f64 {
            let message = format!(
                "{expected:.0} flows of {mean:.0} B on average would arrive by {until}; expected at most {MAX_FLOWS}"
            );
            return Err(vec![Problem::with_value(format!("{path}.arrivals.load"), self.load, message)]);
        }
        let mut found = Vec::with_capacity(expected as usize);
        let others = flows.network.hosts - 1;
        for (host, gap) in (0u32..).zip(&gaps) {
            // no entry's number alone is such a key
            let entity = (u64::from(entry) + 1) << 32 | u64::from(host);
            let mut at = start.as_secs_f64();
            let (row, whole) = (&rows[host as usize], sum(host as usize));
            if whole == 0.0 {
                continue;
            }
            for i in 0.. {
                let u = |purpose| hash::uniform(flows.seed, purpose, entity, i);
                at -= libm::log1p(-u(purpose::ARRIVAL)) * gap / whole;
                let when = cc::Time((at * 1e12) as u64);
                if when >= until {
                    break;
                }
                let dst = if row.is_empty() {
                    let to = hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entity, i), others);
                    to + u32::from(to >= host)
                } else {
                    let drawn = u(purpose::PLACEMENT) * whole;
                    let at = row.partition_point(|(sum, _)| *sum <= drawn).min(row.len() - 1);
                    row[at].1
                };
                let size = table.quantile(rule, u(purpose::SIZE));
                found.push(Arrival { at: when, src: host, dst, size });
            }
        }
        found.sort_unstable();
        found.truncate(most.map_or(usize::MAX, |n| n as usize));
        if found.is_empty() {
            let message = format!(
                "no flow arrives by {until}: {expected:.3} are expected, of {mean:.0} B on average; expected a longer \
                 run or more load"
            );
            return Err(vec![Problem::with_value(format!("{path}.arrivals.load"), self.load, message)]);
        }
        Ok(found)
    }
}

impl Traffic {
    /// Flows that arrive at random, of sizes from a table.
    pub(crate) fn add_arrivals(&self, arrivals: &Arrivals, entry: u32, flows: &mut Flows) -> Result<(), Vec<Problem>> {
        check_two_hosts(flows).map_err(|p| vec![p])?;
        let parts = match &self.file {
            Some(file) => cells(file, flows, traffic_matrix::part)?,
            None => Vec::new(),
        };
        let found = arrivals.flows(entry, self.start.0, self.flows, (self.file.as_deref(), &parts), flows)?;
        flows.reserve(found.len() as u64).map_err(|p| vec![p])?;
        let controller = flows.controller(self.controller.as_ref()).map_err(|p| vec![p])?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let App::Bulk(Bulk { write, .. }) = &self.app else { return Ok(()) };
        for (i, a) in found.iter().enumerate() {
            if let Some(stop) = self.stop.filter(|s| s.0 <= a.at) {
                let message = format!("flow {i} of the entry opens at {}; expected a later stop", a.at);
                return Err(vec![Problem::with_value(format!("{}.stop", flows.path), format!("\"{stop}\""), message)]);
            }
            let app = spec::App::Bulk { size: Some(a.size), write: write.0.0 };
            let flow = spec::FlowSpec { app, ..self.flow(a.src, a.dst, a.at, transport, controller, entry) };
            self.check_write(&flow, flows).map_err(|p| vec![p])?;
            flows.push(flow);
        }
        Ok(())
    }
}
