//! Collective communication: all-to-all, and the steps of a ring all-reduce.
//!
//! Hosts know nothing but what they have sent and received: a member goes on when a flow of its own is acknowledged, or
//! when it has what it is to pass on.

use super::flows::Flows;
use super::place::{check_two_hosts, shuffled};
use crate::document::app::{App, Bulk};
use crate::document::traffic::{Order, Pattern, Traffic};
use crate::text::problem::Problem;
use incast_engine::hash::{self, purpose};
use incast_engine::spec::{self, Done, Triggered};

impl Traffic {
    /// Adds the flows of a collective: rounds or steps in their order, in each of them the members in theirs.
    pub(crate) fn add_collective(&self, entry: u32, flows: &mut Flows) -> Result<(), Problem> {
        check_two_hosts(flows)?;
        let path = flows.path.clone();
        let App::Bulk(Bulk { size: Some(size), write }) = &self.app else { return Ok(()) };
        let hosts = flows.network.hosts;
        let members: Vec<u32> = match self.members {
            None => (0..hosts).collect(),
            Some(n) if n <= hosts => {
                let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, u64::from(i)), n);
                shuffled(hosts, draw).into_iter().take(n as usize).collect()
            }
            Some(n) => {
                let message = format!("expected at most as many as there are hosts, {hosts}");
                return Err(Problem::with_value(format!("{path}.members"), n, message));
            }
        };
        let n = members.len() as u32;
        let ring = self.pattern == Pattern::RingAllreduce;
        if ring && size.0.0 < u64::from(n) {
            let message = format!("expected at least {n} bytes, one for each of the {n} members");
            return Err(Problem::with_value(format!("{path}.app.size"), format!("\"{size}\""), message));
        }
        let rounds = if ring { 2 * (n - 1) } else { n - 1 };
        flows.reserve(u64::from(rounds) * u64::from(n))?;
        let controller = self.governed_by(flows)?;
        let transport = flows.transport(self.transport.as_ref(), controller);
        let first = flows.len();
        for round in 0..rounds {
            for i in 0..n {
                let to = if ring { (i + 1) % n } else { (i + 1 + round) % n };
                // in step s member i passes on part i - s of the buffer
                let part = u64::from((i + 2 * n - round) % n);
                let bytes = match ring {
                    true => size.0.0 / u64::from(n) + u64::from(part < size.0.0 % u64::from(n)),
                    false => size.0.0,
                };
                let mut before = |member: u32, done| {
                    (round > 0).then(|| {
                        let trigger = flows.add_trigger(vec![(first + (round - 1) * n + member, done)]);
                        Triggered { trigger, activation: 1 }
                    })
                };
                let trigger = match (ring, self.order) {
                    (true, _) => before((i + n - 1) % n, Done::Received),
                    (false, Order::Rounds) => before(i, Done::Sent),
                    (false, Order::AtOnce) => None,
                };
                // a member opens what waits for nothing by the entry's times
                let start =
                    if trigger.is_some() { self.start.0 } else { self.opening(entry, u64::from(i), flows.seed) };
                if let Some(stop) = self.stop.filter(|s| s.0 <= start) {
                    let message = format!("member {i} opens its first flow at {start}; expected a later stop");
                    return Err(Problem::with_value(format!("{path}.stop"), format!("\"{stop}\""), message));
                }
                let ends = (members[i as usize], members[to as usize]);
                let flow = self.flow(ends.0, ends.1, start, transport, controller, entry);
                let app = spec::App::Bulk { size: Some(bytes), write: write.0.0 };
                let flow = spec::FlowSpec { app, trigger, ..flow };
                self.check_write(&flow, flows)?;
                flows.push(flow);
            }
        }
        Ok(())
    }
}
