//! Collective communication: all-to-all, and the steps of a ring all-reduce.
//!
//! Hosts know only what they have sent and received: a member continues when a flow of its own is acknowledged, or
//! when it has the data to pass on.

use super::flows::Flows;
use super::place::check_two_hosts;
use super::shuffle::shuffled;
use crate::document::app::{App, Bulk};
use crate::document::traffic::{Order, Traffic};
use crate::text::problem::Problem;
use incast_engine::hash::{self, purpose};
use incast_engine::spec::{self, Done, Triggered};

impl Traffic {
    /// Adds the flows of a collective: rounds or steps in order, and in each of them the members in theirs. A
    /// collective without an order is a ring.
    pub(crate) fn add_collective(
        &self,
        members: Option<u32>,
        order: Option<Order>,
        entry: u32,
        flows: &mut Flows,
    ) -> Result<(), Problem> {
        check_two_hosts(flows)?;
        let App::Bulk(Bulk { size: Some(size), .. }) = &self.app else { return Ok(()) };
        let members = taking_part(members, entry, flows)?;
        let n = members.len() as u32;
        let ring = order.is_none();
        if ring && size.0.0 < u64::from(n) {
            let message = format!("expected at least {n} bytes, one for each of the {n} members");
            return Err(Problem::quoted(format!("{}.app.size", flows.path), size, message));
        }
        let rounds = if ring { 2 * (n - 1) } else { n - 1 };
        let own = self.begin(entry, u64::from(rounds) * u64::from(n), flows)?;
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
                let trigger = match order {
                    None => before((i + n - 1) % n, Done::Received),
                    Some(Order::Rounds) => before(i, Done::Sent),
                    Some(Order::AtOnce) => None,
                };
                // flows that wait for nothing open at the entry's times
                let start =
                    if trigger.is_some() { self.start.0 } else { self.opening(entry, u64::from(i), flows.seed) };
                self.check_stop(start, flows, format_args!("member {i} opens its first flow"))?;
                let flow = own.transfer((members[i as usize], members[to as usize]), start, Some(bytes));
                self.check_write(&flow, flows)?;
                flows.push(spec::FlowSpec { trigger, ..flow });
            }
        }
        Ok(())
    }
}

/// Hosts that take part: all, or `n` drawn at random, in the order drawn.
fn taking_part(n: Option<u32>, entry: u32, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let hosts = flows.network.hosts;
    match n {
        None => Ok((0..hosts).collect()),
        Some(n) if n <= hosts => {
            let draw = |i, n| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, u64::from(i)), n);
            Ok(shuffled(hosts, draw).into_iter().take(n as usize).collect())
        }
        Some(n) => {
            let message = format!("expected at most as many as there are hosts, {hosts}");
            Err(Problem::with_value(format!("{}.members", flows.path), n, message))
        }
    }
}
