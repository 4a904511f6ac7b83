//! State of a host: its matching as a receiver and as a sender, and its links, which give tokens.

use super::matching::{Clock, Draws, Proposal, Round, divide};
use super::wire::{Channels, ToReceiver, ToSender};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{DcPim, TransportSpec};
use crate::transport::packet::Receivers;
use crate::transport::packet::segmentation::Rank;
use crate::transport::packet::tokens::receiver;
use crate::transport::packet::tokens::rules::{CONTROL, PacketTime, TokenRules};
use crate::transport::packet::tokens::served::Limits;
use incast_cc::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// dcPIM receiver.
pub type Receiver = receiver::Receiver<DcPim>;

/// Priority of tokens of channels that are used before their data phase begins.
const AT_ONCE: u8 = 7;
/// Priority of tokens of the first link of a data phase; a later link's is that of the first plus the channels before.
const FIRST: u8 = 2;

/// Parameters that all transports of a host share.
#[derive(Clone, Debug)]
struct Plan {
    own: DcPim,
    clock: Clock,
    one: PacketTime,
    /// Packets that a channel carries in a data phase, at least 1.
    per_channel: u32,
}

impl Plan {
    fn new(own: &DcPim, one: PacketTime) -> Plan {
        let per_channel = (own.phase().0 / one.0.0.max(1) / own.channels as u64).clamp(1, u32::MAX as u64) as u32;
        Plan { own: own.clone(), clock: Clock::new(own), one, per_channel }
    }

    /// Expiry of tokens given now: their packets may use the data phase under way.
    fn expiry(&self, now: Time) -> Time {
        let rest = Time(self.own.control_rtt.0 / 2) + self.one.times(self.own.channels as f64);
        self.clock.end_of_phase(now).saturating_add(rest)
    }
}

/// Limits of a message's tokens in a link of so many channels.
fn limits(own: &DcPim, channels: u32) -> Limits {
    let window = (own.window as u64 * channels as u64 / own.channels as u64) as u32;
    let after_skip = (own.window / own.channels * channels).saturating_sub(1);
    Limits { window: window + 1, after_skip, skip: own.window_timeout, reissue: own.reissue }
}

/// Channels from one sender.
#[derive(Clone, Debug)]
struct Link {
    /// Node of the sender.
    src: u32,
    channels: u32,
    /// Channels of the next data phase that are used already.
    prompt: u32,
    /// Missing packets when the link was made.
    left: u32,
    priority: u8,
    /// Time of the next token; [`Time::NEVER`]: when a message wakes the link.
    at: Time,
    /// Set if a message may wake the link before.
    waits: bool,
}

/// Messages that a host lacks packets of, by sender.
#[derive(Clone, Debug, Default)]
struct Missing {
    by_sender: BTreeMap<u32, BTreeSet<Rank>>,
    /// Sender, position, and the time from which the message is considered.
    flows: BTreeMap<FlowId, (u32, Rank, Time)>,
}

impl Missing {
    /// Sets or removes the message of a flow.
    fn set(&mut self, flow: FlowId, message: Option<(u32, Rank, Time)>) {
        if let Some((src, rank, _)) = self.flows.remove(&flow)
            && let Some(ranks) = self.by_sender.get_mut(&src)
        {
            ranks.remove(&rank);
            if ranks.is_empty() {
                self.by_sender.remove(&src);
            }
        }
        if let Some((src, rank, from)) = message {
            self.by_sender.entry(src).or_default().insert(rank);
            self.flows.insert(flow, (src, rank, from));
        }
    }

    /// First message of a sender that may have tokens.
    fn first(&self, src: u32, now: Time) -> Option<Rank> {
        let may = |rank: &&Rank| self.flows.get(&rank.flow).is_some_and(|(_, _, from)| *from <= now);
        self.by_sender.get(&src)?.iter().find(may).copied()
    }
}

/// Channels that a host grants in a matching.
#[derive(Clone, Debug, Default)]
struct Offers {
    epoch: u64,
    /// Channels accepted in this matching, those of them used at once, and those of the matching before.
    accepted: u32,
    prompt: u32,
    in_use: u32,
    /// Requests of the round, and the time at which they are granted.
    requests: Vec<Proposal>,
    at: Option<Time>,
    /// Accepted channels to be taken back.
    returns: Vec<Proposal>,
}

impl Offers {
    /// Advances to matching `epoch`.
    fn advance(&mut self, epoch: u64) {
        if self.epoch < epoch {
            self.in_use = if self.epoch + 1 == epoch { self.accepted } else { 0 };
            (self.epoch, self.accepted, self.prompt) = (epoch, 0, 0);
        }
    }

    /// Counts accepted channels. Takes back those beyond the `all` channels of the host.
    fn accept(&mut self, flow: FlowId, of: Channels, all: u32) {
        let is_current = of.epoch == self.epoch as u32;
        let used = match of.epoch {
            _ if is_current => &mut self.accepted,
            epoch if epoch.wrapping_add(1) == self.epoch as u32 => &mut self.in_use,
            _ => return,
        };
        let taken = all.saturating_sub(*used).min(of.channels as u32);
        *used += taken;
        let prompt = taken.min(of.prompt as u32);
        self.prompt += if is_current { prompt } else { 0 };
        let (over, prompt) = (of.channels - taken as u8, of.prompt - prompt as u8);
        if over > 0 {
            self.returns.push(Proposal { flow, of: Channels { channels: over, prompt, ..of } });
        }
    }
}

/// Matching and links of a host.
#[derive(Debug)]
pub struct Matching {
    plan: Option<Box<Plan>>,
    missing: Missing,
    /// Grants of the round under way.
    grants: Vec<Proposal>,
    /// Links of the matching under way, and those of the data phase.
    matched: Vec<Link>,
    links: Vec<Link>,
    /// Number of packets without tokens that are on their way: each takes the time of a token.
    pub unscheduled: u32,
    offers: Offers,
    /// Bound of rounds that was handled last.
    handled: Option<Time>,
    /// Time of the event that is set.
    at: Time,
}

impl Default for Matching {
    fn default() -> Matching {
        Matching {
            plan: None,
            missing: Missing::default(),
            grants: Vec::new(),
            matched: Vec::new(),
            links: Vec::new(),
            unscheduled: 0,
            offers: Offers::default(),
            handled: None,
            at: Time::NEVER,
        }
    }
}

impl Matching {
    fn plan(&mut self, ctx: &NodeCtx<impl Effects>, t: &TransportSpec, host: HostIx) -> &Plan {
        self.plan.get_or_insert_with(|| Box::new(Plan::new(DcPim::of(t), PacketTime::of(ctx, t, host))))
    }

    /// Sets the served message of a flow, and wakes the links that wait for it.
    pub fn wait(&mut self, receiver: &Receiver, ctx: &mut NodeCtx<impl Effects>) {
        let host = receiver.base.ip.host;
        self.plan(ctx, ctx.net.transport(receiver.base.transport), host);
        self.note(receiver, ctx);
        let (flow, src) = (receiver.base.flow, ctx.net.flow(receiver.base.flow).src);
        if self.missing.first(src, ctx.now).is_some_and(|rank| rank.flow == flow) {
            let waits = |link: &&mut Link| link.src == src && (link.waits || link.at == Time::NEVER);
            self.links.iter_mut().filter(waits).for_each(|link| (link.at, link.waits) = (ctx.now, false));
        }
        self.set_timer(ctx, host);
    }

    /// Notes how much of the served message of a flow is missing.
    fn note(&mut self, receiver: &Receiver, ctx: &NodeCtx<impl Effects>) {
        let flow = receiver.base.flow;
        let message = receiver
            .served()
            .map(|served| (ctx.net.flow(flow).src, served.rank(flow), served.reissue_at().unwrap_or(Time::ZERO)));
        self.missing.set(flow, message);
    }

    /// Handles a message of a receiver's host.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, flow: FlowId, message: ToSender) {
        let plan = self.plan(ctx, ctx.net.transport(ctx.net.flow(flow).transport), host);
        let (all, clock) = (plan.own.channels, plan.clock);
        match message {
            ToSender::Request(of) => {
                let Some(round) = clock.round_at(ctx.now).filter(|round| of.is_of(*round)) else { return };
                let at = clock.grants_at(round);
                if at < ctx.now {
                    return;
                }
                if self.offers.at != Some(at) {
                    self.offers.requests.clear();
                    self.offers.at = Some(at);
                }
                self.offers.advance(round.epoch);
                self.offers.requests.push(Proposal { flow, of });
            }
            ToSender::Accept(of) => self.offers.accept(flow, of, all),
        }
        self.set_timer(ctx, host);
    }

    /// Handles a message of a sender's host.
    pub fn on_offer(&mut self, receiver: &Receiver, ctx: &mut NodeCtx<impl Effects>, message: ToReceiver) {
        let host = receiver.base.ip.host;
        let clock = self.plan(ctx, ctx.net.transport(receiver.base.transport), host).clock;
        let flow = receiver.base.flow;
        let Some(round) = clock.round_at(ctx.now) else { return };
        match message {
            ToReceiver::Grant(of) if of.is_of(round) => self.grants.push(Proposal { flow, of }),
            ToReceiver::TakeBack(of) if of.epoch == round.epoch as u32 => {
                let src = ctx.net.flow(flow).src;
                for link in self.matched.iter_mut().filter(|link| link.src == src) {
                    link.channels = link.channels.saturating_sub(of.channels as u32);
                    link.prompt = link.prompt.saturating_sub(of.prompt as u32);
                    if link.prompt == 0 {
                        link.at = Time::NEVER;
                    }
                }
            }
            _ => {}
        }
        self.set_timer(ctx, host);
    }

    /// Sets the event of what is next, unless it is set already.
    fn set_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx) {
        let Some(plan) = &self.plan else { return };
        let mut at = self.links.iter().chain(&self.matched).map(|link| link.at).min().unwrap_or(Time::NEVER);
        let matches = !self.missing.flows.is_empty()
            || !self.grants.is_empty()
            || !self.matched.is_empty()
            || !self.links.is_empty();
        if matches {
            let from = if self.handled == Some(ctx.now) { ctx.now + Time::ps(1) } else { ctx.now };
            at = at.min(plan.clock.next_bound(from));
        }
        at = at.min(self.offers.at.unwrap_or(Time::NEVER));
        if !self.offers.returns.is_empty() {
            at = ctx.now;
        }
        let at = if at == Time::NEVER { at } else { at.max(ctx.now) };
        if at < self.at {
            self.at = at;
            ctx.pacer_timer(host, at);
        }
    }

    /// Called when the host's event is due, perhaps another one.
    pub fn on_pacer(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        if self.at != ctx.now {
            return;
        }
        self.at = Time::NEVER;
        let Some(plan) = self.plan.take() else { return };
        if self.handled != Some(ctx.now) {
            if let Some(round) = plan.clock.ends(ctx.now) {
                self.handled = Some(ctx.now);
                self.accept(ctx, &plan, round, host, receivers);
                if plan.clock.is_last(round) {
                    self.begin_data_phase(ctx.now);
                }
            }
            if let Some(round) = plan.clock.begins(ctx.now) {
                self.handled = Some(ctx.now);
                self.request(ctx, &plan, round, receivers);
            }
        }
        self.offer(ctx, &plan, host, receivers);
        for i in 0..self.links.len() + self.matched.len() {
            self.give_token(ctx, &plan, i, receivers);
        }
        self.plan = Some(plan);
        self.set_timer(ctx, host);
    }

    /// Draws of a round, if it is one of random choices.
    fn draws(ctx: &NodeCtx<impl Effects>, plan: &Plan, round: Round, host: HostIx, grants: bool) -> Option<Draws> {
        let host = (ctx.hosts[host].node.0, grants);
        let is_random = round.round as u32 >= plan.own.shortest_first;
        is_random.then_some(Draws { seed: ctx.net.spec.seed, host, round })
    }

    /// Accepts grants of a round that ends.
    fn accept(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        plan: &Plan,
        round: Round,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        let grants = take(&mut self.grants).into_iter().filter(|grant| grant.of.is_of(round)).collect();
        let draws = Matching::draws(ctx, plan, round, host, false);
        for grant in divide(grants, self.free(plan), draws) {
            let Some(receiver) = receivers.of(grant.flow) else { continue };
            receiver.send_control(ctx, ToSender::Accept(grant.of).encode());
            let src = ctx.net.flow(grant.flow).src;
            let (channels, prompt) = (grant.of.channels as u32, grant.of.prompt as u32);
            let at = if prompt > 0 { ctx.now } else { Time::NEVER };
            match self.matched.iter_mut().find(|link| link.src == src) {
                Some(link) => {
                    (link.channels, link.prompt) = (link.channels + channels, link.prompt + prompt);
                    (link.at, link.waits) = (link.at.min(at), link.waits && prompt == 0);
                }
                None => {
                    let (left, priority) = (grant.of.left, AT_ONCE);
                    self.matched.push(Link { src, channels, prompt, left, priority, at, waits: false });
                }
            }
        }
    }

    /// Channels not yet matched, and those that may be used at once: the data phase does not use them.
    fn free(&self, plan: &Plan) -> (u32, u32) {
        let all = plan.own.channels;
        let sum = |links: &[Link], of: fn(&Link) -> u32| links.iter().map(of).sum::<u32>();
        let matched = sum(&self.matched, |link| link.channels);
        let used = sum(&self.links, |link| link.channels) + sum(&self.matched, |link| link.prompt);
        (all.saturating_sub(matched), all.saturating_sub(used))
    }

    /// Makes the matched channels the links of the data phase that begins, those with the shortest messages first.
    fn begin_data_phase(&mut self, now: Time) {
        self.links = take(&mut self.matched);
        self.links.retain(|link| link.channels > 0);
        self.links.sort_by_key(|link| link.left);
        let mut priority = FIRST as u32;
        for link in &mut self.links {
            link.priority = priority as u8;
            priority += link.channels;
            (link.prompt, link.at, link.waits) = (0, now, false);
        }
    }

    /// Asks each sender for the channels that its shortest message still needs.
    fn request(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        plan: &Plan,
        round: Round,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        let (free, at_once) = self.free(plan);
        if free == 0 {
            return;
        }
        for src in self.missing.by_sender.keys() {
            let Some(first) = self.missing.first(*src, ctx.now) else { continue };
            let links = self.links.iter().chain(&self.matched).filter(|link| link.src == *src);
            let has: u32 = links.map(|link| link.channels).sum();
            let left = first.left as u32;
            let needs = left.div_ceil(plan.per_channel).saturating_sub(has);
            if needs > 0
                && let Some(receiver) = receivers.of(first.flow)
            {
                let channels = needs.min(free);
                let prompt = channels.min(at_once);
                let of = Channels::new(round, channels, prompt, left);
                receiver.send_control(ctx, ToSender::Request(of).encode());
            }
        }
    }

    /// Grants what has been asked for, if it is time, and takes back what was not free.
    fn offer(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        plan: &Plan,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        let returns = take(&mut self.offers.returns).into_iter().map(|p| (p.flow, ToReceiver::TakeBack(p.of)));
        let mut messages: Vec<(FlowId, ToReceiver)> = returns.collect();
        if self.offers.at == Some(ctx.now)
            && let Some(round) = plan.clock.round_at(ctx.now)
        {
            self.offers.at = None;
            let Offers { accepted, prompt, in_use, .. } = self.offers;
            let all = plan.own.channels;
            let free = (all.saturating_sub(accepted), all.saturating_sub(in_use + prompt));
            let draws = Matching::draws(ctx, plan, round, host, true);
            let granted = divide(take(&mut self.offers.requests), free, draws);
            messages.extend(granted.into_iter().map(|p| (p.flow, ToReceiver::Grant(p.of))));
        }
        for (flow, message) in messages {
            let Some(sender) = receivers.sender(flow) else { continue };
            let size = ctx.net.transport(sender.transport).sizes.ack_size;
            let mut packet = sender.control(ctx, ToReceiver::KIND, message.epoch(), size, 0);
            message.write(&mut packet);
            packet.set_class(CONTROL);
            ctx.emit(host, Class::Control, &packet);
        }
    }

    /// Gives the next token of link `i`, counted from the first of the data phase on, if it is time.
    fn give_token(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        plan: &Plan,
        i: usize,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        let Some(link) = self.links.iter_mut().chain(&mut self.matched).nth(i) else { return };
        if link.at > ctx.now {
            return;
        }
        (link.at, link.waits) = (Time::NEVER, false);
        let channels = if link.prompt > 0 { link.prompt } else { link.channels };
        let next = ctx.now.saturating_add(plan.one.times(plan.own.channels as f64 / channels as f64));
        if self.unscheduled > 0 {
            self.unscheduled -= 1;
            link.at = next;
            return;
        }
        let Some(first) = self.missing.first(link.src, ctx.now) else { return };
        let Some(receiver) = receivers.of(first.flow) else { return };
        let limits = limits(&plan.own, channels);
        let pause = receiver.served().and_then(|served| served.pause_end(&limits, plan.one));
        if let Some(end) = pause.filter(|end| *end > ctx.now) {
            (link.at, link.waits) = (end, true);
        } else if receiver.give_token(ctx, &limits, link.priority, plan.expiry(ctx.now)) {
            link.at = next;
            self.note(receiver, ctx);
        }
    }
}
