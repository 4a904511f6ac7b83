//! Probe mode (Alizadeh et al., pFabric, SIGCOMM 2013, section 4.3): where one timeout follows another the fabric is
//! full of what is more urgent, and data sent again would only be dropped again. From the timeout on that
//! [`TransportSpec::probe_after`] names, headers alone go, one a timeout, until something comes back. The authors' ns-2
//! code counts timeouts anew at every ACK; here it is data acknowledged, or the answer to a probe.

use super::*;

impl Sender {
    /// A timeout that may be the last with data: whether a header goes in its place.
    #[cold]
    pub(super) fn falls_silent(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) -> bool {
        if self.timer.consecutive < t.probe_after {
            return false;
        }
        self.connection = Connection::Silent;
        self.emit(ctx, Kind::Data, self.una, 0, 0, t.ack_size);
        self.arm_rto(ctx);
        self.settled = true;
        true
    }

    /// What has come ends the silence, and is what it is.
    #[cold]
    #[inline(never)]
    pub(super) fn on_answer_to_probe(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        self.hears(ctx);
        self.on_packet(ctx, p, ext);
    }

    /// Something has come: data may flow again.
    #[cold]
    pub(super) fn hears(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.connection = Connection::Open;
        self.timer.consecutive = 0;
        // what the controller asked for meanwhile was not done
        self.watch_clock(ctx);
    }
}
