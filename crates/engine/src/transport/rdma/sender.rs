//! Sending endpoint: a queue pair under a window and a rate.

use super::wire::ToSender;
use crate::event::metadata::{Metadata, STAMPS, Telemetry};
use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet, flag};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Rdma, Repair, Stamps, Window, cut};
use crate::transport::packet::message::first_missing;
use crate::transport::packet::outstanding::{Outstanding, State};
use crate::transport::packet::sender_base::{Outgoing, SenderBase};
use crate::transport::packet::{PacketSender, has_base, parameters};
use crate::transport::timer::Alarm;
use incast_cc::{
    Ack, Bytes, Cc, Congestion, Controller, Ecn, Env, Hop, Pacing, Phase, Rate, Round, TcpAck, Time, Timeout,
};

/// Bytes of a unit of telemetry: of what a port has sent, and of its queue.
const SENT_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

/// Contents of a packet beyond its payload.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Bytes of headers and telemetry.
    header: u32,
    /// Flags.
    flags: u16,
    /// Set if ports stamp it.
    stamped: bool,
}

/// Pacing of a queue pair.
#[derive(Debug)]
struct Pace {
    /// Time of the last packet, and its bits.
    sent: Time,
    bits: f64,
    /// Time from which the next packet may go.
    from: Time,
    /// Set if a change of the rate moves that time.
    moves: bool,
    /// Unit to which gaps are cut.
    tick: Time,
}

/// RDMA sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    cc: Cc,
    form: Form,
    pace: Pace,
    /// Pacing, and the controller's timer.
    alarm: Alarm,
    /// Line rate, bits per second, and the bytes that the line sends in the base round-trip time.
    line: f64,
    bdp: u64,
    /// Bytes in flight, since the sender last went back.
    flight: u64,
    /// Bytes acknowledged and sent when the last NACK began a recovery: a controller hears of one loss a window.
    recovers_to: u64,
    srtt: Time,
    latest: Time,
    /// Time of the last progress: an acknowledgement of new packets, a NACK, or a packet sent with none in flight.
    progress: Time,
    timeouts: u32,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let mut base = SenderBase::new(net, flow, host);
        base.outstanding = Outstanding::unordered();
        let t = net.transport(base.transport);
        let own = parameters::<Rdma>(t);
        let config = &net.spec.controllers[net.flow(flow).controller as usize];
        let profile = config.profile();
        let env = net.envs.env(flow);
        let base_rtt = own.base_rtt.unwrap_or(env.base_rtt);
        let ecn = t.marks.ecn.unwrap_or(profile.ecn);
        // where departures are stamped, ports keep explicit queues, and look at every packet
        if profile.telemetry && net.spec.stamps == Stamps::Arrival {
            base.ip.flags |= flag::SLOW_PATH;
        }
        let line = env.line_rate.as_f64();
        Sender {
            base,
            cc: config.build(&Env { base_rtt, ..env }),
            form: Form {
                header: t.sizes.header + own.metadata(profile.telemetry),
                flags: if ecn == Ecn::Off { 0 } else { flag::ECT },
                stamped: profile.telemetry,
            },
            pace: Pace {
                sent: Time::ZERO,
                bits: 0.0,
                from: Time::ZERO,
                moves: own.repaces(profile.telemetry),
                // all links of a run have one tick
                tick: net.spec.links.first().map_or(Time::ZERO, |link| link.tick),
            },
            alarm: Alarm::default(),
            line,
            // a window of less than a byte would send nothing
            bdp: (line * base_rtt.0 as f64 / 8e12).clamp(1.0, u64::MAX as f64) as u64,
            flight: 0,
            recovers_to: 0,
            srtt: Time::ZERO,
            latest: Time::ZERO,
            progress: Time::ZERO,
            timeouts: 0,
        }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        while !self.base.waits_for_nic && self.may_send(ctx) && self.base.takes_slot(ctx, None) {
            self.send(ctx);
        }
        if self.base.app.backlog(ctx.now) == 0 && !self.base.app.is_finished() {
            self.base.app.wait(ctx);
        }
        self.arm(ctx);
    }

    fn on_metadata(&mut self, ctx: &mut NodeCtx<impl Effects>, metadata: &Metadata) {
        if let Metadata::Stamps(telemetry) = metadata {
            self.on_telemetry(ctx.net, telemetry);
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        let (sent_at, hops, marked) = match message {
            ToSender::Cnp {} => {
                self.cc.on_cnp(ctx.now);
                return self.after_event(ctx);
            }
            ToSender::Ack { sent_at, hops, marked } | ToSender::Nack { sent_at, hops, marked, .. } => {
                (sent_at, hops, marked)
            }
        };
        let in_flight = self.flight;
        let acked = self.acknowledge(ctx, first_missing(p));
        if acked > 0 {
            (self.progress, self.timeouts) = (ctx.now, 0);
        }
        let rtt = ctx.now - sent_at;
        self.latest = rtt;
        self.srtt = if self.srtt == Time::ZERO { rtt } else { self.srtt - self.srtt / 8 + rtt / 8 };
        self.base.sample(ctx, rtt);
        let mut delivered = acked;
        if let ToSender::Nack { number, .. } = message {
            delivered += self.repair(ctx, number);
        }
        if marked {
            self.cc.on_cnp(ctx.now);
        }
        self.cc.on_ack(&Ack {
            now: ctx.now,
            acked,
            delivered,
            rtt: Some(rtt),
            srtt: self.srtt,
            fabric_delay: Some(rtt),
            endpoint_delay: Some(Time::ZERO),
            hops,
            ece: marked,
            in_flight,
            lost_bytes: 0,
            round: self.round(),
            tcp: TcpAck { sent_to: self.round().sent },
            cwnd_limited: true,
            phase: Phase::Open,
        });
        self.after_event(ctx);
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.may_send(ctx) {
            self.send(ctx);
        }
        self.on_backlog(ctx);
    }

    fn on_own_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.alarm.fires(ctx.now) {
            while self.cc.wake_at() <= ctx.now {
                self.cc.on_wake(ctx.now);
            }
            self.after_event(ctx);
        }
    }

    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        match parameters::<Rdma>(ctx.net.transport(self.base.transport)).timeout {
            Time::ZERO => Time::NEVER,
            _ if self.flight == 0 => Time::NEVER,
            timeout => self.progress.saturating_add(timeout),
        }
    }

    #[cold]
    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        self.timeouts += 1;
        self.cc.on_timeout(&Timeout {
            now: ctx.now,
            in_flight: self.flight,
            window: self.allowed(ctx.net),
            rtt: self.latest,
            sent: self.round().sent,
            consecutive: self.timeouts,
            emptying: 0,
            phase: Phase::Open,
        });
        self.go_back(ctx.now);
        self.after_event(ctx);
    }

    fn is_at_rest(&self) -> bool {
        self.base.is_done() && self.flight == 0 && self.cc.wake_at() == Time::NEVER
    }

    fn window(&self) -> Option<u64> {
        let window = self.cc.cwnd();
        window.is_finite().then_some(window as u64)
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("cwnd_bytes", self.cc.cwnd());
        visit("in_flight_bytes", self.flight as f64);
        self.cc.state(visit);
    }
}

impl Sender {
    /// Bytes acknowledged, and sent for the first time.
    fn round(&self) -> Round {
        Round { acked: self.base.app.acked(), sent: self.base.app.taken() }
    }

    /// Rate in force, bits per second on the wire.
    fn rate(&self) -> f64 {
        match self.cc.pacing() {
            Pacing::Rate(rate) => rate,
            Pacing::None | Pacing::Gap(_) => self.line,
        }
    }

    /// Bytes in flight that the sender may have.
    fn allowed(&self, net: &FabricMap) -> f64 {
        let own = parameters::<Rdma>(net.transport(self.base.transport));
        // a chunk is acknowledged as a whole
        let least = if own.repair == Repair::GoBackChunk { (own.chunk + 1) as f64 } else { 0.0 };
        let window = match own.window {
            Window::Controller => self.cc.cwnd(),
            Window::None => f64::INFINITY,
            Window::Fixed => self.bdp as f64,
            Window::Rate => ((self.bdp as f64 * self.rate() / self.line) as u64).max(1) as f64,
        };
        window.max(least)
    }

    /// Returns whether a packet may go now; awaits its pacing time if only that is missing.
    fn may_send(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        if self.flight as f64 >= self.allowed(ctx.net)
            || !(self.base.outstanding.has_lost() || self.base.app.backlog(ctx.now) > 0)
        {
            return false;
        }
        if self.pace.from > ctx.now {
            self.await_until(ctx, self.pace.from);
            return false;
        }
        true
    }

    /// Sets the timer of pacing and of the controller.
    fn await_until(&mut self, ctx: &mut NodeCtx<impl Effects>, at: Time) {
        let at = at.max(ctx.now);
        if at != Time::NEVER && self.alarm.advance(at) {
            ctx.timer(at, Timer::Sender(self.base.ip.flow));
        }
    }

    /// Time from which a packet may follow the last one.
    fn paced(&self) -> Time {
        let gap = match self.cc.pacing() {
            Pacing::Gap(gap) => gap,
            Pacing::None => Time::ZERO,
            Pacing::Rate(rate) if rate > 0.0 => cut(Time((self.pace.bits * 1e12 / rate + 0.5) as u64), self.pace.tick),
            Pacing::Rate(_) => return Time::NEVER,
        };
        self.pace.sent.saturating_add(gap)
    }

    /// Acts on what an event has changed: pacing, timer, and what may be sent.
    fn after_event(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.pace.moves && self.pace.bits > 0.0 {
            self.pace.from = self.paced();
        }
        self.await_until(ctx, self.cc.wake_at());
        self.on_backlog(ctx);
    }

    /// Sends the next packet.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.flight == 0 {
            self.progress = ctx.now;
        }
        let Some(out) = self.base.take(ctx, u64::MAX) else { return };
        self.put(ctx, &out);
    }

    /// Puts a packet on the wire.
    fn put(&mut self, ctx: &mut NodeCtx<impl Effects>, out: &Outgoing) {
        let size = out.len + self.form.header;
        let mut packet = self.base.data(ctx, out, size, 0);
        packet.flags |= self.form.flags;
        self.flight += out.len as u64;
        (self.pace.sent, self.pace.bits) = (ctx.now, 8.0 * size as f64);
        self.pace.from = self.paced();
        let ext = self.form.stamped.then(|| {
            let metadata = Some(Box::new(Metadata::Stamps(Telemetry::default())));
            Ext { metadata, ..Ext::default() }
        });
        ctx.send_in_slot_with(self.base.ip.host, &packet, ext);
    }

    /// Acknowledges all packets before `next`. Returns their bytes.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, next: u32) -> u64 {
        let flight = &mut self.flight;
        let bytes = self.base.outstanding.acknowledge_before(next, |packet| {
            if packet.state == State::InFlight {
                *flight -= packet.len as u64;
            }
        });
        if bytes > 0 {
            self.base.app.on_acked(ctx, bytes);
        }
        bytes
    }

    /// Acts on a NACK that packet `number` has caused. Returns the bytes that it reports beyond the gap.
    fn repair(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) -> u64 {
        let round = self.round();
        if round.acked >= self.recovers_to {
            self.recovers_to = round.sent;
            let (window, rtt) = (self.allowed(ctx.net), self.latest);
            let (now, in_flight, srtt) = (ctx.now, self.flight, self.srtt);
            self.cc.on_loss(&Congestion { now, in_flight, window, rtt, srtt });
        }
        self.progress = ctx.now;
        if parameters::<Rdma>(ctx.net.transport(self.base.transport)).repair != Repair::Selective {
            self.go_back(ctx.now);
            return 0;
        }
        let arrived = self.base.outstanding.mark_arrived(number);
        let bytes = arrived.map_or(0, |packet| {
            if packet.state == State::InFlight {
                self.flight -= packet.len as u64;
            }
            packet.len as u64
        });
        // packets sent before the one that has arrived are missing; those repeated since are under way
        let sent = arrived.map_or(Time::ZERO, |packet| packet.at);
        for i in self.base.outstanding.base()..number {
            let before = self.base.outstanding.get(i).copied();
            if before.is_some_and(|packet| packet.state == State::InFlight && packet.at <= sent)
                && self.base.outstanding.mark_lost(i)
            {
                self.flight -= before.map_or(0, |packet| packet.len as u64);
            }
        }
        bytes
    }

    /// Goes back to the first missing packet.
    fn go_back(&mut self, now: Time) {
        let outstanding = &mut self.base.outstanding;
        for number in outstanding.base()..outstanding.next() {
            outstanding.mark_lost(number);
        }
        (self.flight, self.progress) = (0, now);
    }

    /// Reports the stamps of ports to the controller.
    fn on_telemetry(&mut self, net: &FabricMap, telemetry: &Telemetry) {
        let multi = parameters::<Rdma>(net.transport(self.base.transport)).int_multi as u64;
        let none = Hop { time: Time::ZERO, tx_bytes: Bytes(0), queue: Bytes(0), rate: Rate::INFINITE };
        let mut hops = [none; STAMPS];
        let whole = |bytes: u64, unit: u64| if multi == 0 { bytes } else { bytes - bytes % (unit * multi) };
        for (hop, stamp) in hops.iter_mut().zip(telemetry.stamps()) {
            *hop = Hop {
                time: if multi == 0 { stamp.time } else { cut(stamp.time, Time::ns(1)) },
                tx_bytes: Bytes(whole(stamp.sent, SENT_UNIT)),
                queue: Bytes(whole(stamp.queue as u64, QUEUE_UNIT)),
                rate: net.spec.links[stamp.link].rate,
            };
        }
        if telemetry.count > 0 {
            self.cc.on_telemetry(&hops[..telemetry.count as usize]);
        }
    }
}
