//! Events of hosts with receiver-driven transports.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::event::order::Timer;
use crate::host::receiver_driven::Next;
use crate::ids::{HostIx, NodeId};
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;

impl Endpoints {
    /// Called when the wire of host `node` is free.
    #[cold]
    pub fn on_tx_slot(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        // like other departures: effects at this instant belong to its generation
        ctx.generation = ctx.generation.saturating_sub(1);
        ctx.shared.receiver_driven[host.ix()].nic_queue.event_pending = false;
        let data_slot_period = ctx.shared.receiver_driven[host.ix()].data_slot_period;
        loop {
            let nic_queue = &mut ctx.shared.receiver_driven[host.ix()].nic_queue;
            if !nic_queue.is_free(ctx.now) {
                break;
            }
            match nic_queue.next(data_slot_period) {
                None => return,
                Some(Next::Packet(packet)) => ctx.put_on_wire(host, &packet),
                Some(Next::Sender(flow)) => {
                    let sender = &mut self.senders[ctx.net.ends[flow].sender];
                    observed(&mut self.probes, sender, ctx, |s, ctx| s.on_tx_ready(ctx));
                }
            }
        }
        ctx.await_tx_slot(host);
    }

    /// Called when a pull or a credit of host `node` is due.
    #[cold]
    pub fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        let receiver_driven = &ctx.shared.receiver_driven[host.ix()];
        let (pull, credit) = (receiver_driven.pulls.at == ctx.now, receiver_driven.credits.at == ctx.now);
        let scheduled = receiver_driven.scheduled.at == ctx.now;
        if pull && let Some(pull) = ctx.next_pull(host) {
            self.receivers[ctx.net.ends[pull.flow].receiver].pull(ctx, &pull);
        }
        if credit {
            self.grant(ctx, host, node);
        }
        if scheduled {
            self.grant_messages(ctx, host);
        }
    }

    /// Grants the messages of a host with the fewest missing bytes, until nothing is left to grant.
    fn grant_messages(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx) {
        ctx.shared.receiver_driven[host.ix()].scheduled.at = Time::NEVER;
        let Some(homa) = ctx.net.spec.transports.iter().find_map(|t| t.protocol.homa()) else { return };
        loop {
            let active = ctx.shared.receiver_driven[host.ix()].scheduled.active(homa.overcommit());
            let mut ended = false;
            for (rank, flow) in active.iter().enumerate() {
                let level = homa.level_of_rank(rank, active.len());
                if self.receivers[ctx.net.ends[*flow].receiver].grant_up(ctx, level) {
                    ctx.shared.receiver_driven[host.ix()].scheduled.set(*flow, None);
                    ended = true;
                }
            }
            ctx.shared.receiver_driven[host.ix()].scheduled.keep(active);
            if !ended {
                return;
            }
        }
    }

    /// Called when the next token of host `node` is due.
    #[cold]
    pub fn token(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        let tokens = &mut ctx.shared.receiver_driven[host.ix()].tokens;
        // an earlier timer came first
        if tokens.at != ctx.now {
            return;
        }
        tokens.at = Time::NEVER;
        if let Some(flow) = tokens.next(ctx.now) {
            self.receivers[ctx.net.ends[flow].receiver].give_token(ctx);
        }
        ctx.await_token(host);
    }

    /// Gives credit to the next flow of a host.
    fn grant(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, node: NodeId) {
        let credits = &mut ctx.shared.receiver_driven[host.ix()].credits;
        credits.at = Time::NEVER;
        let Some((flow, list)) = credits.pop() else { return };
        let Some(granted) = self.receivers[ctx.net.ends[flow].receiver].grant(ctx, list) else { return };
        let at = ctx.now + granted.gap;
        let credits = &mut ctx.shared.receiver_driven[host.ix()].credits;
        granted.next.into_iter().for_each(|list| credits.push_back(list, flow));
        // set even if no flow waits: the next one then waits for the end of the gap
        credits.at = at;
        ctx.timer(at, Timer::Pull(node));
    }
}
