//! Processing of an ACK, in order: acknowledged data, the RTT sample, losses, the controller, the timers, and the
//! segments that may now be sent.

use super::{NEVER, Sender};
use crate::event::metadata::{Metadata, STAMPS, Telemetry};
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Recovery, Rules, Timing, TransportSpec};
use incast_cc::{Ack, Bytes, Controller, Ecn, Hop, Phase, Rate, Round, TcpAck, Time};

/// Contents of an acknowledgement, in bytes.
#[derive(Clone, Copy)]
pub(super) struct AckInfo {
    pub(super) acked: u64,
    /// Acknowledged segments.
    pub(super) segments: u32,
    /// Set if the ACK counts as a duplicate.
    pub(super) duplicate: bool,
    /// Set if the ACK reports nothing new at all.
    pub(super) idle: bool,
    /// Bytes newly acknowledged or SACKed.
    pub(super) delivered: u64,
    pub(super) newly_sacked: u64,
    /// Bytes reported as received twice.
    pub(super) twice: u64,
    /// Set if the ACK covers a retransmitted segment.
    pub(super) was_retransmitted: bool,
    /// Set if the ACK echoes a mark.
    pub(super) marked: bool,
    /// Set if the peer's window reaches further than before.
    pub(super) opens: bool,
    /// Echoed time stamp; [`NEVER`] without time stamps.
    pub(super) echoed: Time,
}

impl AckInfo {
    /// Contents of a predicted ACK that echoes a mark.
    #[inline(always)]
    pub(super) fn predicted(acked: u64, opens: bool, echoed: Time) -> AckInfo {
        AckInfo {
            acked,
            segments: 0,
            duplicate: false,
            idle: false,
            delivered: acked,
            newly_sacked: 0,
            twice: 0,
            was_retransmitted: false,
            marked: true,
            opens,
            echoed,
        }
    }
}

impl Sender {
    pub(super) fn on_ack(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        let t = ctx.net.transport(self.transport);
        // a FIN on the last data segment takes a number of its own
        let ack = if self.fin_rides(&t.connection) && self.closing.fin { p.ack.min(self.snd.nxt) } else { p.ack };
        if ack > self.snd.nxt || ack < self.snd.una {
            return;
        }
        if self.predicts(ext, ack) {
            return self.on_predicted(ctx, p, ack);
        }
        self.on_other_ack(ctx, p, ext, ack);
    }

    /// Handles an ACK that was not predicted.
    #[inline(never)]
    fn on_other_ack(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>, ack: u64) {
        let t = ctx.net.transport(self.transport);
        self.catch_up(ctx);
        let in_flight = self.pipe(&t.loss);
        let mut info = self.read_ack(ctx, p, ext, ack);

        let (rtt, later_sample) = self.sample_rtt(ctx, &info, p.echo());
        if info.acked > 0 && self.app.under_way().is_some() {
            self.complete_writes(ctx);
        }
        self.end_backoff(t, info.acked, rtt.is_some());
        if t.loss.recovery == Recovery::PrrNs3 && info.acked > 0 {
            self.recovery.prr.count_segments(info.delivered, self.mss);
        }
        if self.profile.delivery {
            self.report_delivery(ctx.now, &t.timing, info.delivered);
        }

        // losses, and undone reductions
        let ece = self.preempt_by_ecn(ctx, &t.loss, &info);
        self.recovery.newly_lost = false;
        self.recovery.undo.due |= info.marked;
        let (repaired, dubious) = match t.loss.tail_loss_probe || t.loss.adaptive_reordering {
            true => self.on_ack_of_probe(&info, ext.map_or(0, |ext| ext.sack.near(p.ack)[0].1)),
            false => (false, false),
        };
        if t.loss.recovery == Recovery::Linux && !t.loss.sack {
            info.delivered = self.reno_sack_delivered(&t.loss, info.acked, info.segments, info.duplicate);
        }
        let lost = self.recover_losses(ctx, t, &info);
        if !t.loss.ecn_preempts {
            self.leave_cwr(ctx);
        }
        if dubious && self.recovery.phase == Phase::Open {
            self.recovery.disorder = self.board.is_disordered();
        }

        // controller and reductions; the host's share of the RTT is spent in the receiving host, and in this one since
        // the ACK reached its NIC
        let host = p.host_delay() + ctx.held;
        self.cc.on_ack(&Ack {
            now: ctx.now,
            acked: info.acked,
            delivered: info.delivered,
            rtt,
            srtt: self.rtt.srtt,
            fabric_delay: rtt.map(|rtt| rtt.saturating_sub(host)),
            endpoint_delay: rtt.map(|rtt| rtt.min(host)),
            hops: p.echoed_hops() as u32,
            ece,
            in_flight,
            lost_bytes: self.board.take_found_lost(),
            round: Round { acked: self.snd.una, sent: self.snd.nxt },
            tcp: TcpAck { sent_to: self.snd.sent_to },
            cwnd_limited: !t.windows.cwnd_limited || self.usage.is_limited(self.cc.cwnd(), self.cc.ssthresh()),
            phase: self.recovery.phase,
        });
        self.reduce(ctx, t, &info, lost, repaired);

        self.restart_timers(ctx, t, &info, later_sample);
        self.publish_timeout(ctx);
        if self.board.waits_for_late() {
            self.watch_late(ctx);
        }
        self.pump(ctx);
        if self.snd.una >= self.app.written {
            self.check_finished(ctx);
        }
    }

    /// Reads an ACK up to `ack`.
    #[inline(always)]
    fn read_ack(&mut self, ctx: &NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>, ack: u64) -> AckInfo {
        let t = ctx.net.transport(self.transport);
        let outstanding = self.snd.outstanding();
        let old_edge = self.peer.edge;
        self.peer.take(t.windows.window_update, self.snd.una, ack, p.wnd);
        self.board.begin_ack(t.clock(ctx.now), self.rtt.min().unwrap_or_default());

        let acked = ack - self.snd.una;
        let (mut delivered, mut newly_sacked, mut twice, mut was_retransmitted) = (0, 0, 0, false);
        let before = self.board.len();
        if acked > 0 {
            self.snd.acknowledge(ack);
            (delivered, was_retransmitted) = self.board.acked(ack);
        }
        let segments = before - self.board.len();
        if let Some(ext) = ext {
            if let Some(metadata) = ext.metadata.as_deref() {
                self.on_metadata(ctx, p, metadata);
            }
            let blocks = ext.sack.near(p.ack);
            for (start, end) in blocks {
                newly_sacked += self.board.sack(start, end, self.snd.una);
            }
            delivered += newly_sacked;
            if t.loss.undo || t.loss.tail_loss_probe || t.loss.adaptive_reordering {
                twice = self.recovery.undo.duplicate_sack(ack, &blocks);
                // duplicates that left the network count with `undo` only; the other switches measure the effect of
                // their own rules
                if t.loss.undo {
                    delivered += twice;
                }
            }
        }
        // the sequence number of the FIN is no data
        if self.closing.fin && acked > 0 && Some(self.snd.una) == self.app.end().map(|e| e + 1) {
            delivered = delivered.saturating_sub(1);
        }
        let idle = acked == 0 && self.peer.edge == old_edge && !p.is(Kind::Piggyback);
        let sacks = newly_sacked > 0 && (acked == 0 || t.loss.scoreboard == Rules::Ns3);
        AckInfo {
            acked,
            segments,
            duplicate: outstanding > 0 && if t.loss.sack { sacks } else { idle },
            idle,
            delivered,
            newly_sacked,
            twice,
            was_retransmitted,
            marked: p.has(flag::ECE) && self.output.ecn != Ecn::Off,
            opens: self.peer.edge > old_edge,
            echoed: if t.timing.timestamps { p.echo() } else { NEVER },
        }
    }

    /// Applies the reductions that an ACK calls for, and sets the window of a current one.
    #[inline]
    pub(super) fn reduce(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        info: &AckInfo,
        lost: bool,
        repaired: bool,
    ) {
        let AckInfo { acked, delivered, was_retransmitted, marked, .. } = *info;
        if lost && self.profile.own_recovery {
            self.cc.on_loss(&self.congestion(ctx));
        } else if lost {
            self.enter_recovery(ctx, delivered, marked);
            if t.loss.scoreboard == Rules::Ns3 && acked > 0 && t.loss.sack {
                self.partial_ack_ns3(ctx, t, delivered, was_retransmitted);
            }
        } else if marked
            && !t.loss.ecn_preempts
            && self.ecn.is_past(self.snd.una)
            && self.recovery.phase == Phase::Open
            && self.cc.heeds_mark()
        {
            self.reduce_for_ecn(ctx, &t.loss);
        } else if repaired {
            self.reduce_for_probe(ctx);
        }
        if self.recovery.is_reducing() && self.prr_governs(&t.loss) {
            match t.loss.recovery {
                Recovery::PrrNs3
                    if self.recovery.phase == Phase::Cwr && acked > 0 && self.recovery.prr.whole_segment =>
                {
                    self.reduce_rate_as_ns3(delivered, false, false)
                }
                Recovery::PrrNs3 => {}
                _ => self.reduce_rate(&t.loss, delivered, acked > 0),
            }
        }
    }

    /// Restarts the retransmission timer when new data was acknowledged (RFC 6298 5.3).
    #[inline(always)]
    pub(super) fn restart_timers(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        info: &AckInfo,
        later_sample: bool,
    ) {
        // a window below a segment may hold everything back: only the timer ends that
        let stalled = !t.windows.least_segment && self.app.written > self.snd.nxt;
        if self.board.is_empty() && !stalled {
            self.timer.rest(info.opens);
        } else if t.loss.reordering_timer
            && let Some(wait) = self.board.reordering_wait()
        {
            self.wait_for_reordering(ctx, t, wait);
        } else if later_sample
            || info.acked > 0
                && (self.recovery.inflates || self.recovery.phase != Phase::Recovery || self.recovery.partial_acks <= 1)
        {
            if t.loss.tail_loss_probe || t.loss.reordering_timer {
                self.restart_timer(ctx, t);
            } else {
                self.arm_rto(ctx);
            }
        }
    }

    /// Reports the delivery rate of an ACK to the controller.
    #[cold]
    fn report_delivery(&mut self, now: Time, timing: &Timing, delivered: u64) {
        // a coarse clock may have added a tick to the round trip
        let min_rtt = self.rtt.min().unwrap_or_default().saturating_sub(timing.timestamp_clock);
        if let Some(sample) = self.board.delivery(now, delivered, min_rtt) {
            self.cc.on_delivery(&sample);
        }
    }

    /// Reports to the controller what an ACK returns from ports and switches.
    #[cold]
    pub(super) fn on_metadata(&mut self, ctx: &NodeCtx<impl Effects>, p: &Packet, metadata: &Metadata) {
        match metadata {
            // data that acknowledges carries its own stamps
            Metadata::Stamps(telemetry) if !p.is(Kind::Piggyback) => self.on_telemetry(ctx, telemetry),
            Metadata::Stamps(_) => {}
            Metadata::Signals(signals) => {
                if let Some(answer) = signals.echoed {
                    self.on_signal(ctx, p.echo(), answer);
                }
            }
        }
    }

    /// Reports the port stamps that an ACK returns.
    fn on_telemetry(&mut self, ctx: &NodeCtx<impl Effects>, telemetry: &Telemetry) {
        let none = Hop { time: Time::ZERO, tx_bytes: Bytes(0), queue: Bytes(0), rate: Rate::INFINITE };
        let mut hops = [none; STAMPS];
        for (hop, stamp) in hops.iter_mut().zip(telemetry.stamps()) {
            *hop = Hop {
                time: stamp.time,
                tx_bytes: Bytes(stamp.sent),
                queue: Bytes(stamp.queue as u64),
                rate: ctx.net.spec.links[stamp.link].rate,
            };
        }
        if telemetry.count > 0 {
            self.cc.on_telemetry(&hops[..telemetry.count as usize]);
        }
    }
}
