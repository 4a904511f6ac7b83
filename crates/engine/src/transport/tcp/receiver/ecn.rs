//! The echo of marks: latched until CWR (RFC 3168), or segment by segment (RFC 8257), or as notifications (DCQCN).

use super::*;

impl Receiver {
    /// Takes the ECN field of a data segment in: whether it is marked, and whether that calls for an ACK at once.
    #[inline(always)]
    pub(super) fn take_ecn_field(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        p: &Packet,
    ) -> (bool, bool) {
        let mut marked = p.has(flag::CE);
        if marked && t.ce_must_advance {
            marked = p.seq >= self.ce_from;
            self.ce_from = self.ce_from.max(p.seq + 1);
        }
        let mut at_once = false;
        match self.ecn {
            Ecn::Off => {}
            Ecn::Classic => {
                if p.has(flag::CWR) {
                    self.ce = false;
                }
                self.ce |= marked;
            }
            Ecn::Dctcp if p.len > 0 => {
                if marked != self.ce {
                    if self.pending > 0 {
                        self.flush(ctx, t);
                    }
                    self.ce = marked;
                    at_once = t.ecn_change_ack;
                }
                self.prior = self.next;
            }
            Ecn::Dctcp => {}
        }
        (marked, at_once)
    }

    /// The CE state changes while segments wait for an ACK.
    pub(super) fn flush(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        match t.ecn_flush {
            Flush::Pending => self.acknowledge(ctx, 0, t.ack_size),
            Flush::Prior => {
                let (next, echo) = (self.next, self.echo);
                self.next = self.prior;
                self.acknowledge(ctx, 0, t.ack_size);
                (self.next, self.echo) = (next, echo);
            }
        }
    }

    /// Marked data: the sender is notified, unless it was lately.
    #[cold]
    pub(super) fn notify(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if ctx.now < self.cnp_from {
            return;
        }
        self.cnp_from = ctx.now + self.cnp_interval;
        self.tell(ctx, self.next, flag::ECE);
    }
}
