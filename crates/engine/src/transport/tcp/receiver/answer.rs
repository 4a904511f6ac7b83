//! Packets sent back to the sender.

use super::sack::lay_out;
use super::window::UNSCALED;
use super::{NEVER, Receiver, SynAck};
use crate::event::metadata::{Metadata, Signals};
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::host::messages::NO_TCB;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{ConnectionRules, TransportSpec};
use incast_cc::{Ecn, Time};

impl Receiver {
    pub(super) fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: Kind, fin: u16, size: u32) {
        let t = ctx.net.transport(self.transport);
        self.window.read(ctx.now, 0);
        // the window field of a SYN is not scaled (RFC 7323)
        let max = if kind == Kind::Syn && !t.connection.lone_syn { UNSCALED as u32 } else { u32::MAX };
        let wnd = self.window.offer(self.next, t).min(max);
        let (ts, hops, arrived_at) = self.acks.echo.take().unwrap_or((ctx.now, 0, ctx.now));
        if self.tcb != NO_TCB {
            // data of the other flow keeps echoing the last echoed stamp (RFC 7323 4.3, TS.Recent)
            let tcb = &mut ctx.tcbs[self.tcb as usize];
            (tcb.ext.ts, tcb.ext.hops, tcb.arrived_at) = (ts, hops, arrived_at);
        }
        let mut flags = self.base_flags | fin;
        let syn = kind == Kind::Syn;
        let agrees = t.acks.ecn_fallback && syn && self.ecn.mode != Ecn::Off;
        if self.ecn.ce && !syn && !(t.connection.fin_with_data && fin != 0) || agrees {
            flags |= flag::ECE;
        }
        if t.marks.ect_control && self.ecn.mode == Ecn::Dctcp {
            flags |= flag::ECT;
        }
        let mut size = size;
        let mut ext = (t.loss.sack && (!self.ooo.is_empty() || self.sack.has_duplicate()))
            .then(|| self.sack.report(&self.ooo, self.next));
        self.sack.duplicate = (0, 0);
        if t.loss.sack_block > 0
            && kind == Kind::Ack
            && fin == 0
            && let Some(ext) = &mut ext
        {
            size += lay_out(ext, t);
        }
        if self.tcb != NO_TCB && kind == Kind::Syn {
            // the passive side takes its first RTT sample from the answer to this
            ext = Some(Ext { ts: ctx.now, ..Ext::default() });
        }
        if self.tcb != NO_TCB && !syn && t.windows.window_update.looks_at_seq() {
            ext.get_or_insert_default().number = self.number(ctx) as u32;
        }
        if let Some(held) = self.metadata.take().or_else(|| self.take_of_tcb(ctx)) {
            ext.get_or_insert_default().metadata = Some(held);
        }
        // time that the acknowledged segment spent in the host
        let host = if ctx.net.hosts_cost { ctx.now - arrived_at } else { Time::ZERO };
        let mut packet = self.answer(ctx, kind, self.next, flags, size);
        packet.wnd = wnd;
        packet.set_echo(ts, hops, host);
        self.shift(ctx, &mut packet);
        (self.acks.pending, self.acks.pushed) = (0, 0);
        self.uncompress(ctx);
        self.acks.acked = self.next;
        self.acks.deadline = NEVER;
        ctx.send(self.ip.host, &packet, ext.as_mut());
        self.watch_window(ctx, t);
    }

    /// Sets the timer that repeats a SYN-ACK, sent with `echo`, if only SYNs arrive (ns-3's
    /// `TcpSocketBase::SendEmptyPacket`: answers to repeated SYNs count, and leave the timer as it is).
    #[cold]
    pub(super) fn await_answer(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        connection: &ConnectionRules,
        echo: Option<(Time, u8, Time)>,
    ) {
        if self.has_data() {
            return;
        }
        if let Some(own) = &mut self.syn_ack {
            (own.echo, own.sent) = (echo, own.sent + 1);
            return;
        }
        let at = ctx.now.saturating_add(connection.syn_timeout);
        self.syn_ack = Some(Box::new(SynAck { echo, sent: 1, at }));
        ctx.timer(at, Timer::SynAck(self.flow));
    }

    /// Handles the timer of an unanswered SYN-ACK.
    #[cold]
    pub(super) fn repeat_syn_ack(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let done = self.has_data() || self.sink.closed;
        let Some(own) = self.syn_ack.as_mut().filter(|own| own.at == ctx.now) else { return };
        if done || own.sent > t.connection.syn_ack_retries {
            self.syn_ack = None;
            return;
        }
        own.at = ctx.now.saturating_add(t.connection.syn_timeout.saturating_mul(1 << own.sent.min(32)));
        own.sent += 1;
        let (at, echo) = (own.at, own.echo);
        self.acks.echo = echo;
        self.acknowledge(ctx, Kind::Syn, 0, if t.connection.lone_syn { t.sizes.ack_size } else { t.sizes.syn_size });
        ctx.timer(at, Timer::SynAck(self.flow));
    }

    /// Returns whether data, or its end, has arrived.
    fn has_data(&self) -> bool {
        self.next > 0 || !self.ooo.is_empty() || self.fin_at.is_some()
    }

    /// Sets the timer of the window update that reopens a closed window of a slow reader.
    #[inline]
    pub(super) fn watch_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if let Some(at) = self.window.plan_update(self.next, ctx.now, t) {
            ctx.timer(at, Timer::WindowUpdate(self.flow));
        }
    }

    /// Makes the next packet to the sender, with acknowledgement number `ack`.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        ctx: &NodeCtx<impl Effects>,
        kind: Kind,
        ack: u64,
        flags: u16,
        size: u32,
    ) -> Packet {
        let mut packet = Packet::reverse(kind, self.flow, self.src, ack);
        packet.id = self.packets as u16;
        self.packets = self.packets.wrapping_add(1);
        packet.size = size as u16;
        packet.flags = flags;
        if ctx.net.entropy {
            packet.set_entropy(self.entropy);
        } else {
            packet.set_cause(ctx.cause);
        }
        packet
    }

    /// Sends a control packet that acknowledges nothing: a CNP or a NACK.
    pub(super) fn send_control(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: Kind, ack: u64, ece: u16) {
        let size = ctx.net.transport(self.transport).sizes.ack_size;
        let flags = self.base_flags & !flag::ACK | ece;
        let mut packet = self.answer(ctx, kind, ack, flags, size);
        packet.set_echo(ctx.now, 0, Time::ZERO);
        self.shift(ctx, &mut packet);
        ctx.send(self.ip.host, &packet, None);
    }

    /// Sends a NACK for a trimmed segment.
    #[cold]
    pub(super) fn answer_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        self.ip.count_trimmed(ctx, p);
        self.entropy = p.entropy();
        self.send_control(ctx, Kind::Nack, p.seq(), 0);
    }

    /// Takes the signals that data of the other direction would return, if they count once.
    fn take_of_tcb(&self, ctx: &mut NodeCtx<impl Effects>) -> Option<Box<Metadata>> {
        let metadata = &mut ctx.tcbs.get_mut(self.tcb as usize)?.ext.metadata;
        metadata.take_if(|metadata| metadata.echoed().is_some_and(|answer| answer.counts_once()))
    }

    /// Holds the stamps or answers of ports for the next ACK; on a two-way connection data returns answers too.
    #[cold]
    pub(super) fn hold(&mut self, ctx: &mut NodeCtx<impl Effects>, ext: &mut Ext) {
        let Some(mut metadata) = ext.metadata.take() else { return };
        if let Metadata::Signals(signals) = &mut *metadata {
            let Some(mut answer) = signals.asks else { return };
            let mut tcb = ctx.tcbs.get_mut(self.tcb as usize);
            let waits = tcb.as_deref().map_or(self.metadata.as_deref(), |tcb| tcb.ext.metadata.as_deref());
            if let Some(before) = waits.and_then(Metadata::echoed) {
                answer.join(before);
            }
            *signals = Signals { asks: None, echoed: Some(answer) };
            if let Some(tcb) = &mut tcb {
                if answer.counts_once() {
                    tcb.ext.metadata = Some(metadata);
                    return;
                }
                tcb.ext.metadata = Some(metadata.clone());
            }
        }
        self.metadata = Some(metadata);
    }
}
