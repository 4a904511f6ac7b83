//! RTT samples of ACKs: by time stamps (RFC 7323), by Karn's rule (RFC 6298 section 3), or per segment (Linux).

use super::super::rtt::STAMP;
use super::Sender;
use super::ack::AckInfo;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Rules, TransportSpec};
use incast_cc::Time;

impl Sender {
    /// RTT sample of an ACK that echoes `echoed`, if it gives one, for the controller. Second: set if the
    /// retransmission timer restarts for it.
    #[inline(always)]
    pub(super) fn sample_rtt(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        info: &AckInfo,
        echoed: Time,
    ) -> (Option<Time>, bool) {
        let t = ctx.net.transport(self.transport);
        if self.samples.of_segments {
            let (samples, later) = self.sample_segments(t.clock(ctx.now), info.acked, echoed);
            let rtt = samples.map(|(first, last)| {
                self.rtt.sample(&t.rto, first, self.snd.una, self.snd.nxt);
                self.rtt.lower(last);
                self.samples.counted.add(ctx, first);
                last
            });
            return (rtt, later);
        }
        let sent = if t.timing.timestamps {
            let takes = match info.acked {
                0 => t.emulation.duplicate_rtt || self.profile.own_recovery,
                _ => self.snd.una > self.samples.not_below || self.profile.own_recovery,
            };
            takes.then_some(echoed)
        } else if t.loss.scoreboard == Rules::Ns3 {
            (info.acked > 0 && !info.was_retransmitted).then_some(echoed)
        } else {
            self.end_timing().filter(|_| !info.was_retransmitted)
        };
        (sent.map(|sent| self.take_rtt(ctx, sent)), false)
    }

    /// Ends the timing of a segment that is acknowledged. Returns its send time.
    fn end_timing(&mut self) -> Option<Time> {
        let (_, sent) = self.samples.timed.filter(|(end, _)| self.snd.una >= *end)?;
        self.samples.timed = None;
        Some(sent)
    }

    /// Ends the timer's back-off on an ACK with a valid sample (RFC 6298 5.7). An ACK of a retransmission gives none
    /// without time stamps.
    #[inline(always)]
    pub(super) fn end_backoff(&mut self, t: &TransportSpec, acked: u64, sampled: bool) {
        if acked > 0 {
            self.timer.consecutive = 0;
        }
        let ends = if acked > 0 {
            sampled || !t.marks.rtt_after_timeout
        } else {
            sampled && (self.samples.of_segments || t.emulation.duplicate_rtt)
        };
        if ends {
            self.rtt.reset_backoff();
        }
    }

    pub(super) fn take_rtt(&mut self, ctx: &mut NodeCtx<impl Effects>, echoed: Time) -> Time {
        let t = ctx.net.transport(self.transport);
        let rtt = match t.clock(ctx.now) - t.clock(echoed) {
            // a coarse clock counts whole ticks; zero ticks count as 1 us
            Time::ZERO if t.timing.timestamp_clock > Time::ZERO => Time::us(1),
            rtt => rtt,
        };
        self.rtt.sample(&t.rto, rtt, self.snd.una, self.snd.nxt);
        self.samples.counted.add(ctx, rtt);
        rtt
    }

    /// Linux' RTT samples from an ACK of `acked` bytes that echoes `echoed`. First: of the first acknowledged segment
    /// if none was retransmitted, else of the first newly SACKed one, else of the time stamp, which counts milliseconds
    /// and at least one. Second: of the last such segment, a SACKed one before an acknowledged one; for the smallest
    /// RTT and the controller. Third: set if the retransmission timer restarts, because a SACKed segment was sent
    /// before the last transmission of the first outstanding one.
    fn sample_segments(&self, now: Time, acked: u64, echoed: Time) -> (Option<(Time, Time)>, bool) {
        let [of_acked, of_sacked] = self.board.samples();
        let stamped = || (acked > 0).then(|| STAMP * (now / STAMP).saturating_sub(echoed / STAMP).max(1));
        let later = acked == 0
            && match (of_sacked, self.board.first_sent()) {
                (Some((rtt, _)), Some(sent)) => rtt > now - sent,
                _ => false,
            };
        let first = of_acked.or(of_sacked).map(|(first, _)| first).or_else(stamped);
        let last = of_sacked.or(of_acked).map(|(_, last)| last).or(first);
        (first.zip(last), later)
    }
}
