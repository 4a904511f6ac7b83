//! Datagrams: what a sender without a transport beneath it does, which is to send at its pace.

use super::*;

impl Sender {
    /// Sends a full segment, if the NIC takes it, and the next one `gap` later.
    pub(super) fn send_datagram<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, gap: u64) {
        let stop = io.net.flow(self.flow).stop.0;
        if io.now >= stop {
            return;
        }
        if io.has_room(self.host, self.flow) {
            let t = io.net.transport(self.transport);
            let seq = self.app.written;
            self.app.written += t.mss as u64;
            self.emit(io, seq, t.mss, flag::DATA, t.header + t.mss);
        }
        let next = io.now.saturating_add(gap);
        if next < stop {
            self.app_at = next;
            io.timer(next, TimerKind::App, self.flow);
        }
    }
}
