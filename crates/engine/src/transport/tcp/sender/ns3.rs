//! Recovery as ns-3.43 has it: its rate reduction, and its answer to partial ACKs.

use super::*;

impl Sender {
    /// ns-3 reduces its rate by ACKs that bring whole segments: what is left over waits for the next.
    pub(super) fn count_segments(&mut self, t: &TransportSpec, delivered: u64) {
        let bytes = self.prr.left_over as u64 + delivered;
        self.prr.left_over = (bytes % t.mss as u64) as u32;
        self.prr.whole_segment = bytes >= t.mss as u64;
    }

    /// ns-3's answer to an ACK that advances but ends no recovery: unless the first segment has
    /// been sent again already, one segment goes whatever the window: a lost one, a new one, or
    /// the first.
    pub(super) fn partial_ack_ns3(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        delivered: u64,
        was_retransmitted: bool,
    ) {
        self.recovery.partial_acks += 1;
        if t.recovery == Recovery::PrrNs3 && self.prr.whole_segment {
            self.prr_ns3(t, delivered, false, was_retransmitted);
        }
        let Some(first) = self.board.first().filter(|_| !self.board.retransmitted_to(self.una + t.mss as u64)) else {
            return;
        };
        let unsent = self.app.written.saturating_sub(self.nxt);
        let room = self.peer.edge.saturating_sub(self.nxt);
        if let Some(hole) = self.next_repair(t) {
            self.retransmit(ctx, hole);
        } else if unsent > 0 && room > 0 {
            self.send_new(ctx, unsent.min(room).min(t.mss as u64) as u32);
        } else {
            self.retransmit(ctx, first);
        }
    }

    /// ns-3.43's rate reduction, in its 32-bit arithmetic. `duplicate`: the ACK is one, or opens
    /// the episode; `safe`: it acknowledges a retransmission.
    pub(super) fn prr_ns3(&mut self, t: &TransportSpec, delivered: u64, duplicate: bool, safe: bool) {
        let prr = &mut self.prr;
        let pipe = self.board.pipe() as u32;
        if prr.delivered == 0 && prr.out == 0 && duplicate {
            // the episode's first step
            prr.recover_fs = pipe as u64;
        }
        let mut delivered = delivered as u32;
        if duplicate && prr.delivered < prr.recover_fs {
            delivered += t.mss;
        }
        if delivered == 0 {
            return;
        }
        prr.delivered += delivered as u64;
        let (arrived, out, ssthresh) = (prr.delivered as u32, prr.out as u32, prr.ssthresh as u32);
        let send = if pipe > ssthresh {
            let product = arrived.wrapping_mul(ssthresh) as f64;
            // what C++ makes of infinity is the least integer
            if prr.recover_fs == 0 {
                i32::MIN
            } else {
                (libm::ceil(product / prr.recover_fs as f64) - out as f64) as i32
            }
        } else {
            let owed = arrived.wrapping_sub(out).max(delivered).wrapping_add(if safe { t.mss } else { 0 });
            (owed as i32).min((ssthresh - pipe) as i32)
        };
        // the first segment goes whatever is in flight
        let least = if out > 0 { 0 } else { t.mss as i32 };
        self.recovery.window = pipe as f64 + send.max(least) as f64;
    }
}
