//! Credit pacer of a host: gives credit to one flow after the other, once per gap.

use crate::event::packet::Packet;
use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;
use std::collections::VecDeque;

/// Request of a sender, on its data and alone: up to where it could use credit, in quanta.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PullTarget(pub u32);

impl PullTarget {
    /// Writes the target to a packet.
    pub fn write(self, packet: &mut Packet) {
        packet.ack = self.0 as u64;
    }

    /// Target of a packet.
    pub fn read(p: &Packet) -> PullTarget {
        PullTarget(p.ack as u32)
    }
}

/// List of flows that wait for credit. A list is served while those before it are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// Flows with packets to retransmit.
    Retransmit,
    /// Flows that can use more credit.
    Active,
    /// Flows whose demand is met. They receive extra credit.
    Idle,
}

/// Result of giving credit to a flow, for the host's pacer.
#[derive(Clone, Copy, Debug)]
pub struct CreditGrant {
    /// Time until the next credit.
    pub gap: Time,
    /// List in which the flow continues to wait.
    pub next: Option<List>,
}

/// Flows of a host that wait for credit, given once per gap.
#[derive(Clone, Debug)]
pub struct Credits {
    lists: [VecDeque<FlowId>; 3],
    /// Time of the next credit; [`Time::NEVER`]: when a flow begins to wait.
    at: Time,
}

impl Default for Credits {
    fn default() -> Credits {
        Credits { lists: Default::default(), at: Time::NEVER }
    }
}

impl Credits {
    /// Lets a flow of `host` wait in a list.
    pub fn wait(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, list: List, flow: FlowId) {
        self.lists[list as usize].push_back(flow);
        if self.at == Time::NEVER {
            self.at = ctx.now;
            ctx.pacer_timer(host, self.at);
        }
    }

    /// Takes the next flow to give credit to, if credit is due.
    pub fn due(&mut self, now: Time) -> Option<(FlowId, List)> {
        if self.at != now {
            return None;
        }
        self.at = Time::NEVER;
        let lists = [List::Retransmit, List::Active, List::Idle];
        { lists }.into_iter().find_map(|list| Some((self.lists[list as usize].pop_front()?, list)))
    }

    /// Notes that a flow was given credit.
    pub fn granted(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, flow: FlowId, granted: CreditGrant) {
        granted.next.into_iter().for_each(|list| self.lists[list as usize].push_back(flow));
        // set even if no flow waits: the next one then waits for the end of the gap
        self.at = ctx.now + granted.gap;
        ctx.pacer_timer(host, self.at);
    }
}
