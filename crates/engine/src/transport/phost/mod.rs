//! pHost (Gao et al., "pHost: distributed near-optimal datacenter transport over commodity network fabric", CoNEXT
//! 2015).
//!
//! A sender announces a message by a request. Its receiver gives one token per full-packet time on its host's link, to
//! the message with the fewest missing packets. A token names the packet that it lets go, and expires soon. A sender
//! that leaves tokens unused is skipped for a time. Once all tokens have gone, tokens for missing packets go again. The
//! first packets of a message have tokens from the start.
//!
//! Rules are those of the authors' simulator (NetSys/simulator 179b64e, `ext/capability*`); they have not been checked
//! against the paper's text. Two additions: a lost request or acknowledgement is repeated, and any arrival wakes the
//! receiver. In the simulator control packets are never lost, and a paused receiver checks again only after the pause.

mod pacer;

use crate::ids::HostIx;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{PHost, RunError, Spec, TransportSpec};
use crate::transport::packet::check::Check;
use crate::transport::packet::tokens;
use crate::transport::packet::tokens::receiver::Service;
use crate::transport::packet::tokens::rules::{PacketTime, TokenRules};
use crate::transport::packet::tokens::served::{Limits, Served};
use crate::transport::packet::{Receivers, parameters};
use incast_cc::Time;
use pacer::{Eligibility, Tokens};

/// pHost sender.
pub type Sender = tokens::sender::Sender<PHost>;
/// pHost receiver.
pub type Receiver = tokens::receiver::Receiver<PHost>;

impl PHost {
    /// Limits of a message's tokens.
    fn limits(&self) -> Limits {
        Limits { window: self.window, after_skip: self.window - 1, skip: self.skip, reissue: self.reissue }
    }
}

impl TokenRules for PHost {
    fn of(t: &TransportSpec) -> &PHost {
        parameters(t)
    }

    fn free_of(&self, packets: u32) -> u32 {
        PHost::free_of(self, packets)
    }

    fn free_until(&self, now: Time, free: u32, one: PacketTime) -> Time {
        now.saturating_add(one.times(free as f64 + self.expiry))
    }

    fn until(&self, now: Time, _told: Time, one: PacketTime) -> Time {
        now.saturating_add(one.times(self.expiry))
    }

    fn class_of(&self, _packets: u32, size: u64, mss: u32) -> u8 {
        PHost::class_of(self, size, mss)
    }
}

impl Service for PHost {
    type Pacer = Tokens;

    fn reissue_of_free(&self, free: u32) -> f64 {
        2.0 * free as f64
    }

    fn reissue(&self) -> f64 {
        self.reissue
    }

    /// Adds the message to its host's waiting messages, or removes it.
    fn wait(receiver: &Receiver, ctx: &mut NodeCtx<impl Effects>, pacer: &mut Tokens) {
        let t = ctx.net.transport(receiver.base.transport);
        let (host, flow) = (receiver.base.ip.host, receiver.base.flow);
        let one = PacketTime::of(ctx, t, host);
        let limits = PHost::of(t).limits();
        let eligibility = |served: &Served| Eligibility { rank: served.rank(flow), from: served.from(&limits, one) };
        pacer.wait(ctx, host, flow, receiver.served().map(eligibility));
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        tokens: &mut Tokens,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        if !tokens.is_due(ctx.now) {
            return;
        }
        if let Some(receiver) = tokens.next(ctx.now).and_then(|flow| receivers.of(flow)) {
            let t = ctx.net.transport(receiver.base.transport);
            let own = PHost::of(t);
            tokens.give(ctx.now, PacketTime::of(ctx, t, host).times(own.gap));
            receiver.give_token(ctx, &own.limits(), 0, Time::ZERO);
            PHost::wait(receiver, ctx, tokens);
        }
        tokens.set_timer(ctx, host);
    }
}

impl Check for PHost {
    fn check(&self, spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
        tokens::check(spec, t, self)
    }
}
