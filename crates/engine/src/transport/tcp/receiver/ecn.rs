//! Echo of ECN marks: latched until CWR (RFC 3168), per segment (RFC 8257), or as notifications (DCQCN).

use super::{EcnEcho, NEVER, Receiver};
use crate::event::packet::{Kind, Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{ConnectionRules, Flush, TransportSpec};
use incast_cc::Ecn;

impl EcnEcho {
    /// Returns whether a segment calls for quick ACKs (Linux, __tcp_ecn_check_ce). This is the first marked segment
    /// since the sender last announced a reduction, and any segment that is not ECN-capable after one that was:
    /// probably a retransmission. Linux ignores an `old` segment, which brings nothing new.
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
    /// Processes the ECN field of a data segment. Returns whether it is marked, and whether an ACK must go at once.
    #[inline(always)]
    pub(super) fn take_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) -> (bool, bool) {
        let mut marked = p.has(flag::CE);
        if marked && t.marks.ce_must_advance {
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
                // Linux ignores marks on data that had arrived before
                let old = t.acks.classic_quickack && p.seq() + p.len as u64 <= self.next;
                self.ecn.ce |= marked && !old;
            }
            Ecn::Dctcp if p.len > 0 => {
                if marked != self.ecn.ce {
                    if self.acks.pending > 0 {
                        self.flush(ctx, t);
                    }
                    self.ecn.ce = marked;
                    at_once = t.marks.ecn_change_ack;
                }
                self.ecn.prior = self.next;
            }
            Ecn::Dctcp => {}
        }
        (marked, at_once)
    }

    /// Takes the ECN negotiation from the first SYN (RFC 3168 6.1.1), whatever a later one says.
    pub(super) fn negotiate_ecn(&mut self, ctx: &mut NodeCtx<impl Effects>, connection: &ConnectionRules, p: &Packet) {
        if connection.handshake && self.syn_acked_at == NEVER && !p.has(flag::ECE) {
            self.ecn.mode = Ecn::Off;
            if let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize) {
                tcb.without_ecn = true;
            }
        }
    }

    /// Acknowledges waiting segments on a change of the CE state.
    pub(super) fn flush(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        match t.marks.ecn_flush {
            Flush::Pending => self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size),
            Flush::Prior => {
                let (next, echo) = (self.next, self.acks.echo);
                self.next = self.ecn.prior;
                self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
                (self.next, self.acks.echo) = (next, echo);
            }
        }
    }

    /// Sends a CNP for marked data, unless one was sent lately.
    #[cold]
    pub(super) fn notify(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if ctx.now < self.cnp.from {
            return;
        }
        self.cnp.from = ctx.now + self.cnp.interval;
        self.send_control(ctx, Kind::Cnp, self.next, flag::ECE);
    }
}
