//! Events of hosts with receiver-driven transports.

use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed;
use crate::event::order::Timer;
use crate::host::driven::Next;
use crate::ids::{HostIx, NodeId};
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;

impl Endpoints {
    /// Called when the wire of host `node` is free.
    #[cold]
    pub fn turn(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        // like other departures: effects at this instant belong to its generation
        ctx.generation = ctx.generation.saturating_sub(1);
        ctx.shared.driven[host.ix()].outlet.awaited = false;
        let turns = ctx.shared.driven[host.ix()].turns;
        loop {
            let outlet = &mut ctx.shared.driven[host.ix()].outlet;
            if !outlet.is_free(ctx.now) {
                break;
            }
            match outlet.next(turns) {
                None => return,
                Some(Next::Packet(packet)) => ctx.put_on_wire(host, &packet),
                Some(Next::Sender(flow)) => {
                    let sender = &mut self.senders[ctx.net.ends[flow].sender];
                    observed(&mut self.probes, sender, ctx, |s, ctx| s.on_turn(ctx));
                }
            }
        }
        ctx.await_wire(host);
    }

    /// Called when a pull or a credit of host `node` is due.
    #[cold]
    pub fn pull(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        let driven = &ctx.shared.driven[host.ix()];
        let (pull, credit) = (driven.pulls.at == ctx.now, driven.credits.at == ctx.now);
        let scheduled = driven.scheduled.at == ctx.now;
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
        ctx.shared.driven[host.ix()].scheduled.at = Time::NEVER;
        let Some(homa) = ctx.net.spec.transports.iter().find_map(|t| t.protocol.homa()) else { return };
        loop {
            let active = ctx.shared.driven[host.ix()].scheduled.active(homa.overcommit());
            let mut ended = false;
            for (rank, flow) in active.iter().enumerate() {
                let level = homa.level_of_rank(rank, active.len());
                if self.receivers[ctx.net.ends[*flow].receiver].grant_up(ctx, level) {
                    ctx.shared.driven[host.ix()].scheduled.set(*flow, None);
                    ended = true;
                }
            }
            ctx.shared.driven[host.ix()].scheduled.keep(active);
            if !ended {
                return;
            }
        }
    }

    /// Called when the next token of host `node` is due.
    #[cold]
    pub fn token(&mut self, ctx: &mut NodeCtx<impl Effects>, node: NodeId) {
        let host = ctx.net.place[node.ix()].node.of_host();
        let tokens = &mut ctx.shared.driven[host.ix()].tokens;
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
        let credits = &mut ctx.shared.driven[host.ix()].credits;
        credits.at = Time::NEVER;
        let Some((flow, list)) = credits.pop() else { return };
        let Some(granted) = self.receivers[ctx.net.ends[flow].receiver].grant(ctx, list) else { return };
        let at = ctx.now + granted.gap;
        let credits = &mut ctx.shared.driven[host.ix()].credits;
        granted.next.into_iter().for_each(|list| credits.push_back(list, flow));
        // set even if no flow waits: the next one then waits for the end of the gap
        credits.at = at;
        ctx.timer(at, Timer::Pull(node));
    }
}
