//! Probe mode (Alizadeh et al., pFabric, SIGCOMM 2013, section 4.3): after consecutive timeouts the fabric is full of
//! more urgent data, and retransmissions would only be dropped again. From the timeout given by
//! `OutputRules::probe_after` on, only headers go, one per timeout, until a packet comes back. The authors' ns-2
//! code resets its count of timeouts at every ACK; here acknowledged data or the answer to a probe does.

use super::{Connection, Sender};
use crate::event::packet::{Ext, Kind, Packet};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;

impl Sender {
    /// Enters probe mode at a timeout, if enough have passed. Returns whether a header went in place of data.
    #[cold]
    pub(super) fn falls_silent(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) -> bool {
        if self.timer.consecutive < t.output.probe_after {
            return false;
        }
        self.connection = Connection::Silent;
        // the gap of a controller is one between data: otherwise a gap above the timeout would never pass
        let last_send = self.pacing.last_send;
        self.emit(ctx, Kind::Data, self.snd.una, 0, 0, t.sizes.ack_size);
        self.pacing.last_send = last_send;
        self.arm_rto(ctx);
        self.output.settled = true;
        true
    }

    /// Handles a packet in probe mode, and ends that mode.
    #[cold]
    #[inline(never)]
    pub(super) fn on_answer_to_probe(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        self.hears(ctx);
        self.on_packet(ctx, p, ext);
    }

    /// Ends probe mode: data may flow again.
    #[cold]
    pub(super) fn hears(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.connection = Connection::Open;
        self.timer.consecutive = 0;
        // catch up on timers that the controller asked for meanwhile
        self.watch_clock(ctx);
    }
}
