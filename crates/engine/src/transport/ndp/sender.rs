//! Sending endpoint: an unsolicited window, then one packet per pull.

use super::wire::ToSender;
use crate::event::packet::Packet;
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Ndp, QueueSpec, TransportSpec};
use crate::transport::packet::message::first_missing;
use crate::transport::packet::paths::Paths;
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, has_base, parameters};
use incast_cc::Time;

/// NDP sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    paths: Paths,
    /// Packets granted by pulls, and grants used.
    granted: u32,
    used: u32,
    /// Packets that may still go unsolicited, and unsolicited packets without a response.
    unsolicited: u32,
    first: u32,
    /// Number of responses. Each should bring a pull.
    answered: u32,
    outcomes: Outcomes,
    /// Set if the latest new packet was the last of what had been written.
    ended: bool,
    /// Set if switches return headers to the sender.
    returns: bool,
    rto: Rto,
}

/// Outcomes of the last twelve packets with a response.
#[derive(Debug, Default)]
struct Outcomes {
    /// One bit per packet, the latest lowest: set if the packet arrived complete.
    complete: u16,
    known: u32,
}

impl Outcomes {
    const MAX: u32 = 12;

    fn note(&mut self, complete: bool) {
        self.complete = (self.complete << 1 | complete as u16) & ((1 << Outcomes::MAX) - 1);
        self.known = (self.known + 1).min(Outcomes::MAX);
    }

    /// Returns whether more than a quarter arrived complete. A returned header then means that its path is worse than
    /// others.
    fn are_good(&self) -> bool {
        self.known < 4 * self.complete.count_ones()
    }
}

/// Retransmission timer: htsim's estimator, with a back-off.
#[derive(Debug)]
struct Rto {
    srtt: Time,
    mdev: Time,
    /// Consecutive timeouts.
    consecutive: u32,
    /// Time of the last response.
    last_response: Time,
}

impl Rto {
    fn sample(&mut self, rtt: Time) {
        if self.srtt == Time::ZERO {
            (self.srtt, self.mdev) = (rtt, rtt / 2);
            return;
        }
        let off = Time(self.srtt.0.abs_diff(rtt.0));
        self.mdev = self.mdev * 3 / 4 + off / 4;
        self.srtt = self.srtt * 7 / 8 + rtt / 8;
    }

    fn timeout(&self, t: &TransportSpec) -> Time {
        let timeout = match self.srtt {
            Time::ZERO => t.rto.rto_initial,
            srtt => (srtt + self.mdev * 4).max(t.rto.rto_min),
        };
        timeout.saturating_mul(1 << self.consecutive.min(20)).min(t.rto.rto_max.max(timeout))
    }
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let spec = net.flow(flow);
        let ndp = parameters::<Ndp>(net.transport(spec.transport));
        let count = net.paths.between(net.spec, spec.src, spec.dst);
        Sender {
            base: SenderBase::new(net, flow, host),
            paths: Paths::new(net.spec.seed, flow, false, count, ndp.paths),
            granted: 0,
            used: 0,
            unsolicited: ndp.window,
            first: 0,
            answered: 0,
            outcomes: Outcomes::default(),
            ended: false,
            returns: net.spec.queues.iter().any(QueueSpec::returns),
            rto: Rto { srtt: Time::ZERO, mdev: Time::ZERO, consecutive: 0, last_response: Time::ZERO },
        }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.ended && self.base.outstanding.is_empty() && self.base.app.backlog(ctx.now) > 0 {
            // all earlier data has arrived and its waiting pulls are gone: the flow begins anew
            self.ended = false;
            self.unsolicited = parameters::<Ndp>(ctx.net.transport(self.base.transport)).window;
            (self.used, self.answered) = (self.granted, self.granted);
            self.first = 0;
        }
        while self.unsolicited > 0 && !self.base.outstanding.has_lost() && self.send(ctx) {
            self.unsolicited -= 1;
            self.first += 1;
        }
        while self.used != self.granted && self.send(ctx) {
            self.used = self.used.wrapping_add(1);
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        self.rto.last_response = ctx.now;
        if let Some(number) = p.returned_number() {
            return self.on_returned(ctx, number);
        }
        let Some(message) = ToSender::decode(p) else { return };
        let mut pulled = message.pulls().is_some();
        if let ToSender::Ack { number, sent_at, .. } = message {
            self.note_answer(true);
            if self.base.outstanding.mark_arrived(number).is_some_and(|sent| sent.times == 1) {
                let rtt = ctx.now - sent_at;
                self.rto.sample(rtt);
                self.base.sample(ctx, rtt);
            }
        }
        self.base.acknowledge(ctx, first_missing(p));
        if let ToSender::Nack { number, .. } = message {
            self.note_answer(false);
            // uses a pull that had found nothing to send
            pulled |= self.base.outstanding.mark_lost(number) && self.used != self.granted;
        }
        if let Some(pulls) = message.pulls() {
            let more = pulls.wrapping_sub(self.granted) as i32;
            self.granted = self.granted.wrapping_add(more.max(0) as u32);
        }
        if (pulled || self.ended) && !self.base.app.is_finished() {
            self.on_backlog(ctx);
        } else {
            self.arm(ctx);
        }
    }

    /// Retransmission timeout: of the oldest packet, or, if none is outstanding, of the pull that would let more go.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let t = ctx.net.transport(self.base.transport);
        if parameters::<Ndp>(t).htsim {
            return Time::NEVER;
        }
        let timeout = self.rto.timeout(t);
        match self.base.outstanding.oldest() {
            Some((at, _)) => at.saturating_add(timeout),
            None if self.base.outstanding.has_lost() || self.base.app.backlog(ctx.now) > 0 => {
                self.rto.last_response.saturating_add(timeout)
            }
            None => Time::NEVER,
        }
    }

    /// Retransmits, without a pull, after a timeout.
    #[cold]
    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        let timeout = self.rto.timeout(ctx.net.transport(self.base.transport));
        while let Some((at, number)) = self.base.outstanding.oldest()
            && at.saturating_add(timeout) <= ctx.now
        {
            self.base.outstanding.mark_lost(number);
        }
        self.rto.consecutive += 1;
        self.rto.last_response = ctx.now;
        // one packet suffices to have the others pulled
        self.send(ctx);
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pulls", self.granted as f64);
    }
}

impl Sender {
    /// Sends the first packet to be retransmitted, or a new one.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        let t = ctx.net.transport(self.base.transport);
        let Some(out) = self.base.take(ctx, u64::MAX) else { return false };
        if !out.again {
            self.ended = out.last;
        }
        let padded = if parameters::<Ndp>(t).htsim { t.sizes.mss } else { out.len };
        let path = self.paths.take();
        let mut packet = self.base.data(ctx, &out, t.sizes.header + padded, path);
        if self.returns {
            packet.let_return();
        }
        ctx.emit(self.base.ip.host, Class::Data, &packet);
        true
    }

    /// Counts an answer to a packet, `complete` or trimmed.
    fn note_answer(&mut self, complete: bool) {
        self.first = self.first.saturating_sub(1);
        self.answered = self.answered.wrapping_add(1);
        self.outcomes.note(complete);
        self.rto.consecutive = 0;
    }

    /// Handles the returned header of packet `number`: a queue on its way was full. Normally the packet waits for a
    /// pull, since sending at once would repeat the incast. It goes at once if no pull is to come and at most one other
    /// packet of the first window is outstanding, or if only its path was full.
    #[cold]
    fn on_returned(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        if !self.base.outstanding.mark_lost(number) {
            // a timer has had the packet retransmitted since, or that copy has arrived
            return self.arm(ctx);
        }
        self.first = self.first.saturating_sub(1);
        self.outcomes.note(false);
        let pulls_come = self.answered.wrapping_sub(self.granted) as i32 > 0;
        if self.used != self.granted {
            return self.on_backlog(ctx);
        }
        if (!pulls_come && self.first <= 1) || self.outcomes.are_good() {
            self.send(ctx);
        }
        self.arm(ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::Outcomes;

    #[test]
    fn more_than_a_quarter_whole_of_the_last_twelve_is_good() {
        let after = |outcomes: &[bool]| {
            let mut last = Outcomes::default();
            outcomes.iter().for_each(|complete| last.note(*complete));
            last.are_good()
        };
        assert!(!after(&[]) && !after(&[false]) && after(&[true]));
        assert!(after(&[true, false, false]) && !after(&[true, false, false, false]));
        // htsim divides integers: 11 / 3 is at most 3, and 12 / 3 is not
        let of = |complete: usize, cut: usize| [vec![true; complete], vec![false; cut]].concat();
        assert!(after(&of(3, 8)) && !after(&of(3, 9)) && after(&of(4, 8)));
        // older outcomes do not count
        assert!(!after(&of(12, 9)) && after(&of(12, 8)) && !after(&of(30, 12)));
    }
}
