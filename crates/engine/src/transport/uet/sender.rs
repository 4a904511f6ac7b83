//! Sending endpoint: packets go as the window, the credit, or both allow.

use super::nscc::{Nscc, largest_window};
use super::sleek::Sleek;
use super::spread::{Feedback, Spreading};
use super::wire::ToSender;
use super::{FIRST_PULL, QUANTUM};
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{QueueSpec, Uet};
use crate::transport::packet::credits::PullTarget;
use crate::transport::packet::message::first_missing;
use crate::transport::packet::outstanding::{SentPacket, State};
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, has_base, parameters};
use incast_cc::Time;

/// Lower bound of the round trip for probes, as a part of the fabric's: the NACK of a packet that was just
/// retransmitted brings the smallest sample to zero.
const SHARE: u64 = 8;

/// UET sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    spreading: Spreading,
    nscc: Option<Box<Nscc>>,
    sleek: Option<Box<Sleek>>,
    rccc: Option<Rccc>,
    /// Bytes in flight.
    in_flight: i64,
    /// Bytes of packets to be retransmitted.
    lost: i64,
    /// Bytes received according to the receiver, modulo 2^32.
    received_bytes: u32,
    /// Time of the last request for credit.
    requested_at: Option<Time>,
    /// Number of the outstanding request.
    request: Option<u32>,
    /// Round-trip time of the fabric.
    rtt: Time,
}

/// Receiver credit, in bytes.
#[derive(Clone, Copy, Debug)]
struct Rccc {
    credit: i64,
    speculating: bool,
    /// Upper bound of the credit.
    max_credit: i64,
    /// Cumulative credit from the receiver, in quanta.
    credit_granted: u32,
    pull_target: u32,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let t = net.transport(net.flow(flow).transport);
        let (uet, env) = (parameters::<Uet>(t), net.envs.env(flow));
        let rtt = uet.rtt.unwrap_or(env.base_rtt);
        let uncut = || net.spec.queues.iter().any(QueueSpec::drops_uncut);
        let target = uet.target_delay.unwrap_or_else(|| if uncut() { rtt } else { rtt.saturating_mul(3) / 4 });
        let nscc = || Box::new(Nscc::new(rtt, rtt, env.line_rate, target, t.sizes.mss, t.sizes.header));
        let max = largest_window(rtt, env.line_rate);
        Sender {
            base: SenderBase::new(net, flow, host),
            spreading: Spreading::new(uet.spread, net.spec.seed, flow, uet.entropies),
            nscc: uet.window().then(nscc),
            sleek: (uet.window() && uet.sleek).then(|| Box::new(Sleek::new(target))),
            rccc: uet.credit().then_some(Rccc {
                credit: max,
                speculating: true,
                max_credit: max,
                credit_granted: FIRST_PULL,
                pull_target: FIRST_PULL,
            }),
            in_flight: 0,
            lost: 0,
            received_bytes: 0,
            requested_at: None,
            request: None,
            rtt,
        }
    }

    fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.app.open(ctx);
        self.pump(ctx);
        self.arm(ctx);
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.pump(ctx);
        if self.rccc.is_some_and(|rccc| rccc.credit <= 0) && self.base.app.backlog(ctx.now) > 0 {
            // no packet may be under way to tell the receiver of the demand
            self.refresh_pull_target(ctx);
            self.request_credit(ctx);
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        match message {
            ToSender::Ack { .. } => self.on_ack(ctx, p, message),
            ToSender::Nack { number, marked, at_last_hop, .. } => {
                self.on_nack(ctx, p.entropy(), number, (marked, at_last_hop));
            }
            ToSender::Pull { credit } => {
                self.stop_speculating();
                if let Some(rccc) = &mut self.rccc
                    && credit > rccc.credit_granted
                {
                    let more = (credit - rccc.credit_granted) as i64 * QUANTUM as i64;
                    (rccc.credit, rccc.credit_granted) = ((rccc.credit + more).min(rccc.max_credit), credit);
                }
            }
        }
        if !self.base.app.is_finished() {
            self.pump(ctx);
            if matches!(message, ToSender::Pull { .. }) {
                self.request_more_credit(ctx);
            }
        }
        self.arm(ctx);
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.may_send(ctx.now) {
            self.send(ctx, 1);
            self.pump(ctx);
        }
    }

    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let works = self.next_size(ctx.now) > 0;
        self.base.deadline(ctx, works)
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.base.app.backlog(ctx.now) == 0 {
            self.base.app.wait(ctx);
        }
        let deadline = self.deadline(ctx);
        self.base.arm(ctx, deadline);
    }

    /// Handles a timeout of the oldest packet: retransmits it, or asks the receiver for credit.
    #[cold]
    fn on_retransmission_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let timeout = ctx.net.transport(self.base.transport).rto.rto_min;
        let others = self.base.outstanding.has_lost();
        match self.base.outstanding.oldest() {
            Some((at, number)) if at + timeout <= ctx.now => {
                self.base.timed_out(ctx);
                self.spreading.note(ctx.now, 0, Feedback::Lost);
                let asked = self.base.outstanding.get(number).is_some_and(|sent| sent.len == 0);
                if let Some(sleek) = self.sleek.as_mut().filter(|sleek| sleek.covers(number) && !asked) {
                    // the pass of SLEEK covers the packet, again if need be; ACKs of probes drive it
                    sleek.passes_again_from(number);
                    self.base.outstanding.forget_oldest();
                    if self.rccc.is_some()
                        && self.next_size(ctx.now) > 0
                        && !self.base.waits_for_nic
                        && !self.may_send(ctx.now)
                    {
                        self.refresh_pull_target(ctx);
                        self.request_credit(ctx);
                    }
                    return self.arm(ctx);
                }
                let size =
                    self.base.outstanding.get(number).map_or(0, |sent| sent.len as i64) + self.base.sizes.1 as i64;
                self.lose(number, size);
                if let Some(nscc) = &mut self.nscc {
                    nscc.lose(size);
                }
                if others {
                    self.stop_speculating();
                }
                self.pump(ctx);
                if self.htsim(ctx) {
                    self.request_as_htsim(ctx, size, others);
                    return self.arm(ctx);
                }
            }
            Some(_) => return self.arm(ctx),
            // htsim's timer exists for packets in flight only
            None if self.htsim(ctx) => return,
            None => {}
        }
        if self.next_size(ctx.now) > 0
            && !self.base.waits_for_nic
            && (self.rccc.is_some() || !others)
            && !self.may_send(ctx.now)
        {
            if !self.htsim(ctx) {
                // the latest target may not include later losses
                self.refresh_pull_target(ctx);
            }
            self.request_credit(ctx);
        }
        self.arm(ctx);
    }

    /// Handles the probe timer.
    #[cold]
    fn on_own_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let (Some(sleek), Some(nscc)) = (&mut self.sleek, &self.nscc) else { return };
        if let Some(number) = sleek.probes(ctx.now, nscc.base_rtt.max(self.rtt / SHARE)) {
            let size = ctx.net.transport(self.base.transport).sizes.ack_size;
            let entropy = self.spreading.take();
            let mut packet = self.base.control(ctx, Kind::Probe, number, size, entropy);
            packet.flags |= flag::ECT;
            ctx.emit(self.base.ip.host, Class::Fifo, &packet);
        }
        self.arm_probe(ctx);
    }

    fn window(&self) -> Option<u64> {
        self.nscc.as_ref().map(|nscc| nscc.cwnd as u64)
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("in_flight_bytes", self.in_flight as f64);
        if let Some(nscc) = &self.nscc {
            visit("cwnd_bytes", nscc.cwnd as f64);
        }
        if let Some(rccc) = &self.rccc {
            visit("credit_bytes", rccc.credit as f64);
        }
    }
}

impl Sender {
    /// Waiting bytes, with headers.
    fn backlog(&mut self, now: Time) -> i64 {
        let bytes = self.base.app.backlog(now);
        let (mss, header) = (self.base.sizes.0 as u64, self.base.sizes.1 as u64);
        (bytes + bytes.div_ceil(mss) * header) as i64
    }

    /// Size of the next packet; 0 if there is none.
    fn next_size(&mut self, now: Time) -> i64 {
        let (mss, header) = (self.base.sizes.0 as u64, self.base.sizes.1 as i64);
        match self.base.outstanding.first_lost() {
            Some(sent) => sent.len as i64 + header,
            None => match self.base.app.backlog(now).min(mss) {
                0 => 0,
                len => len as i64 + header,
            },
        }
    }

    fn may_send(&mut self, now: Time) -> bool {
        let size = self.next_size(now);
        let repairs = self.sleek.as_deref().is_some_and(Sleek::recovers) && self.base.outstanding.has_lost();
        let window = |nscc: &Nscc| repairs || self.in_flight + size <= nscc.cwnd;
        size > 0 && self.nscc.as_deref().is_none_or(window) && self.rccc.is_none_or(|rccc| rccc.credit > 0)
    }

    /// Sends what may go, or queues for the NIC.
    fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        while !self.base.waits_for_nic && self.may_send(ctx.now) && self.base.takes_slot(ctx, None) {
            self.send(ctx, 0);
        }
    }

    /// Sends the first packet to be retransmitted, or a new one. `own`: 1 if this sender is among those that waited for
    /// the NIC.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>, own: i64) {
        let t = ctx.net.transport(self.base.transport);
        let Some(out) = self.base.take(ctx, u64::MAX) else { return };
        let size = (t.sizes.header + out.len) as i64;
        self.in_flight += size;
        if out.again {
            self.lost -= size;
        }
        if let Some(rccc) = &mut self.rccc {
            rccc.credit -= size;
        }
        let entropy = self.spreading.take();
        if out.len == 0 {
            return self.emit_request(ctx, out.number, entropy);
        }
        let backlog = self.backlog(ctx.now);
        self.set_pull_target(ctx, backlog, own);
        let full_window = |nscc: &Nscc| self.in_flight + size >= nscc.cwnd;
        let asks = backlog == 0
            || out.again
            || self.rccc.is_some_and(|rccc| rccc.credit <= 0)
            || self.nscc.as_deref().is_some_and(full_window);
        let mut packet = self.base.data(ctx, &out, t.sizes.header + out.len, entropy);
        packet.flags |= flag::ECT;
        PullTarget(self.pull_target()).write(&mut packet);
        packet.ask_for_ack(asks);
        ctx.send_in_slot(self.base.ip.host, &packet);
        self.arm(ctx);
    }

    /// Credit target; 0 without RCCC.
    fn pull_target(&self) -> u32 {
        self.rccc.map_or(0, |rccc| rccc.pull_target)
    }

    /// Sets the credit target from new data and retransmissions.
    fn set_pull_target(&mut self, ctx: &NodeCtx<impl Effects>, backlog: i64, own: i64) {
        let full = (self.base.sizes.0 + self.base.sizes.1) as i64;
        let Some(rccc) = &mut self.rccc else { return };
        let mut needs = backlog + self.lost;
        if let Some(nscc) = &self.nscc {
            needs = needs.min(nscc.cwnd + full);
        }
        needs = needs.min(rccc.max_credit) - rccc.credit;
        if rccc.speculating && needs < full && backlog > 0 {
            needs = full;
        }
        let senders = ctx.shared.nic_queues[self.base.ip.host.ix()].senders() as i64 + own;
        if senders > 1 {
            needs /= senders;
        }
        let needs = needs + rccc.credit_granted as i64 * QUANTUM as i64;
        rccc.pull_target = (needs.max(0) as u64).div_ceil(QUANTUM) as u32;
    }

    /// Sets the credit target from the current backlog.
    fn refresh_pull_target(&mut self, ctx: &NodeCtx<impl Effects>) {
        let backlog = self.backlog(ctx.now);
        self.set_pull_target(ctx, backlog, 0);
    }

    /// Requests more credit after a pull: if all the demand was met and still nothing may go, no data packet can raise
    /// the target.
    fn request_more_credit(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let short = self.rccc.is_some_and(|rccc| rccc.credit <= 0 && rccc.pull_target <= rccc.credit_granted);
        if short && !self.base.waits_for_nic && self.next_size(ctx.now) > 0 && !self.htsim(ctx) {
            self.refresh_pull_target(ctx);
            self.request_credit(ctx);
        }
    }

    fn htsim(&self, ctx: &NodeCtx<impl Effects>) -> bool {
        parameters::<Uet>(ctx.net.transport(self.base.transport)).htsim
    }

    fn on_ack(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, message: ToSender) {
        let ToSender::Ack { from, map, received, answers: (number, early), marked, again, probe } = message else {
            return;
        };
        let new = received.wrapping_sub(self.received_bytes) as i32;
        let new = new.max(0) as i64;
        self.received_bytes = self.received_bytes.wrapping_add(new as u32);
        self.in_flight -= new;
        let valid = |sent: &&SentPacket| sent.state == State::InFlight && sent.times == 1 + again as u8;
        let sent = self.base.outstanding.get(number).filter(valid).filter(|_| !probe).copied();
        if let Some(sent) = &sent {
            self.base.sample(ctx, ctx.now - sent.at);
        }
        let mut delay = Time::ZERO;
        if let Some(nscc) = &mut self.nscc {
            nscc.on_received(new);
            let probed = self.sleek.as_ref().filter(|_| probe).and_then(|sleek| sleek.took(number, ctx.now));
            delay = match (&sent, probed) {
                (Some(sent), _) if sent.len > 0 => nscc.sample(ctx.now - sent.at, marked),
                (None, Some(took)) if took < nscc.base_rtt => Time::ZERO,
                (None, Some(took)) => nscc.sample(took, marked),
                _ => nscc.average(),
            };
        }
        let next = first_missing(p);
        self.on_sack(ctx, next, map, from);
        self.spreading.note(ctx.now, p.entropy(), if marked { Feedback::Marked } else { Feedback::Good });
        if let Some(nscc) = &mut self.nscc {
            nscc.on_ack(ctx.now, marked, delay, new, self.in_flight);
        }
        self.repair(ctx, (next, early), probe.then_some(delay));
        self.stop_speculating();
    }

    /// Loss recovery by SLEEK after an ACK. `probe`: queueing delay, if the ACK answers a probe.
    fn repair(&mut self, ctx: &mut NodeCtx<impl Effects>, (next, early): (u32, u32), probe: Option<Time>) {
        let (Some(sleek), Some(nscc)) = (&mut self.sleek, &self.nscc) else { return };
        let end = self.base.outstanding.next();
        let backlog = self.base.app.backlog(ctx.now);
        sleek.await_ack(ctx.now, nscc.base_rtt.max(self.rtt / SHARE), (next < end, backlog > 0));
        let window = (nscc.cwnd, nscc.max, self.base.sizes.0 as i64);
        let missing = sleek.on_ack((next, early), end, probe, window, self.base.outstanding.has_lost());
        for number in missing {
            let Some(sent) = self.base.outstanding.get(number).filter(|sent| sent.state == State::InFlight) else {
                continue;
            };
            let size = sent.len as i64 + self.base.sizes.1 as i64;
            self.lose(number, size);
            self.sleek.iter_mut().for_each(|sleek| sleek.passed(number));
        }
        self.arm_probe(ctx);
    }

    /// Sets the probe timer, unless it fires before the probe is due anyway.
    fn arm_probe(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(due) = self.sleek.as_mut().and_then(|sleek| sleek.arms()) {
            ctx.timer(due.max(ctx.now), Timer::Sender(self.base.ip.flow));
        }
    }

    /// Takes in the cumulative number and the bitmap of an ACK. Packets that were taken for lost had left the flight;
    /// they are put back, because the receiver's byte count subtracts them too.
    fn on_sack(&mut self, ctx: &mut NodeCtx<impl Effects>, next: u32, map: u64, from: u32) {
        let header = self.base.sizes.1 as i64;
        let mut back = 0;
        let mut arrived = |sent: SentPacket| {
            if sent.state == State::Lost {
                back += sent.len as i64 + header;
            }
        };
        let bytes = self.base.outstanding.acknowledge_before(next, &mut arrived);
        for i in (0..64).filter(|i| map >> i & 1 > 0) {
            self.base.outstanding.mark_arrived(from + i).into_iter().for_each(&mut arrived);
        }
        self.in_flight += back;
        self.lost -= back;
        if bytes > 0 {
            self.base.app.on_acked(ctx, bytes);
        }
    }

    fn on_nack(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        entropy: u16,
        number: u32,
        (marked, last_hop): (bool, bool),
    ) {
        let sent = self.base.outstanding.get(number).filter(|sent| sent.state == State::InFlight).copied();
        let Some(sent) = sent else { return };
        let size = sent.len as i64 + self.base.sizes.1 as i64;
        if let Some(nscc) = &mut self.nscc {
            nscc.note_rtt(ctx.now - sent.at);
            nscc.on_nack(ctx.now, size, last_hop && self.rccc.is_some(), self.in_flight);
        }
        self.lose(number, size);
        self.stop_speculating();
        let what = match (last_hop, marked) {
            (false, _) => Feedback::Cut,
            (true, true) => Feedback::Marked,
            (true, false) => Feedback::Good,
        };
        // the packet is retransmitted before its path is penalised
        self.pump(ctx);
        self.spreading.note(ctx.now, entropy, what);
    }

    fn lose(&mut self, number: u32, size: i64) {
        if self.base.outstanding.mark_lost(number) {
            self.in_flight -= size;
            self.lost += size;
        }
    }

    fn stop_speculating(&mut self) {
        if let Some(rccc) = self.rccc.as_mut().filter(|rccc| rccc.speculating) {
            (rccc.speculating, rccc.credit) = (false, rccc.credit.min(0));
        }
    }

    /// Request of uet-htsim after the timeout of a packet of `size`, though that may have been retransmitted: if
    /// `others` wait, or if the window or the credit would not let another go.
    #[cold]
    fn request_as_htsim(&mut self, ctx: &mut NodeCtx<impl Effects>, size: i64, others: bool) {
        let full = self.nscc.as_deref().is_some_and(|nscc| nscc.cwnd < size + self.in_flight);
        let asks = match (self.rccc, others) {
            (Some(_), true) => true,
            (rccc, false) => full || rccc.is_some_and(|rccc| rccc.credit <= 0),
            (None, true) => false,
        };
        if asks {
            self.request_credit(ctx);
        }
    }

    /// Asks for credit, or for a response, at most once per round trip. A request without a response is repeated before
    /// another is made.
    fn request_credit(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.requested_at.is_some_and(|asked| ctx.now - asked < self.rtt) {
            return;
        }
        let last = self.request.filter(|_| !self.htsim(ctx));
        let Some((number, again)) = self.base.outstanding.send_request(ctx.now, last) else { return };
        if again {
            let size = self.base.sizes.1 as i64;
            self.in_flight += size;
            self.lost -= size;
        }
        self.request = Some(number);
        let entropy = self.spreading.take();
        self.emit_request(ctx, number, entropy);
    }

    fn emit_request(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32, entropy: u16) {
        let t = ctx.net.transport(self.base.transport);
        self.requested_at = Some(ctx.now);
        let mut packet = self.base.control(ctx, Kind::Rts, number, t.sizes.ack_size, entropy);
        PullTarget(self.pull_target()).write(&mut packet);
        ctx.emit(self.base.ip.host, Class::Fifo, &packet);
        self.arm(ctx);
    }
}
