//! The echo of marks: latched until CWR (RFC 3168), or segment by segment (RFC 8257), or as notifications (DCQCN).

use super::*;

impl EcnEcho {
    /// Whether a segment calls for quick ACKs (Linux, __tcp_ecn_check_ce): the first with a mark since the sender last
    /// said that it reduced its window, and any that is not ECN-capable after one that was: it was probably sent again.
    /// Linux does not look at an `old` one, of which all has come before.
    pub(super) fn calls_for_quick_acks(&mut self, p: &Packet, old: bool) -> bool {
        self.marked &= !p.has(flag::CWR);
        if old {
            false
        } else if p.has(flag::CE) {
            self.capable = true;
            !std::mem::replace(&mut self.marked, true)
        } else {
            self.capable |= p.has(flag::ECT);
            self.capable && !p.has(flag::ECT)
        }
    }
}

impl Receiver {
    /// Takes the ECN field of a data segment in: whether it is marked, and whether that calls for an ACK at once.
    #[inline(always)]
    pub(super) fn take_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) -> (bool, bool) {
        let mut marked = p.has(flag::CE);
        if marked && t.ce_must_advance {
            marked = p.seq() >= self.ce_from;
            self.ce_from = self.ce_from.max(p.seq() + 1);
        }
        let mut at_once = false;
        match self.ecn.mode {
            Ecn::Off => {}
            Ecn::Classic => {
                if p.has(flag::CWR) {
                    self.ecn.ce = false;
                }
                // Linux looks at no mark on what has come before
                let old = t.classic_quickack && p.seq() + p.len as u64 <= self.next;
                self.ecn.ce |= marked && !old;
            }
            Ecn::Dctcp if p.len > 0 => {
                if marked != self.ecn.ce {
                    if self.acks.pending > 0 {
                        self.flush(ctx, t);
                    }
                    self.ecn.ce = marked;
                    at_once = t.ecn_change_ack;
                }
                self.ecn.prior = self.next;
            }
            Ecn::Dctcp => {}
        }
        (marked, at_once)
    }

    /// The first SYN that comes says whether the connection has ECN (RFC 3168 6.1.1), whatever a later one says.
    pub(super) fn negotiate_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        if t.handshake && self.syn_acked_at == NEVER && !p.has(flag::ECE) {
            self.ecn.mode = Ecn::Off;
            if let Some(side) = ctx.sides.get_mut(self.side as usize) {
                side.without_ecn = true;
            }
        }
    }

    /// The CE state changes while segments wait for an ACK.
    pub(super) fn flush(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        match t.ecn_flush {
            Flush::Pending => self.acknowledge(ctx, Kind::Ack, 0, t.ack_size),
            Flush::Prior => {
                let (next, echo) = (self.next, self.acks.echo);
                self.next = self.ecn.prior;
                self.acknowledge(ctx, Kind::Ack, 0, t.ack_size);
                (self.next, self.acks.echo) = (next, echo);
            }
        }
    }

    /// Marked data: the sender is notified, unless it was lately.
    #[cold]
    pub(super) fn notify(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if ctx.now < self.cnp.from {
            return;
        }
        self.cnp.from = ctx.now + self.cnp.interval;
        self.tell(ctx, Kind::Cnp, self.next, flag::ECE);
    }
}
