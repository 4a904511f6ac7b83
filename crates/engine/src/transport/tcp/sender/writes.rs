//! Writes of the application that are timed until they are acknowledged.

use super::*;

impl Sender {
    /// Writes a message. What does not fit into the send buffer follows as it drains.
    pub fn on_message<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, bytes: u64) {
        self.app.ask(bytes);
        self.pump(io);
    }

    /// Closed-loop writes that are acknowledged now.
    #[cold]
    pub(super) fn complete_writes<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        while let Some(write) = self.app.completed(self.una, io.now) {
            let message = self.write_record(io.net, write, Some(io.now));
            io.rec.message(message);
        }
    }

    /// Closed-loop writes that the end of the run leaves unfinished.
    pub fn record_writes<R: Recorder>(&self, net: &FabricMap, rec: &mut R) {
        for write in self.app.under_way() {
            rec.message(self.write_record(net, write, None));
        }
    }

    pub(super) fn write_record(&self, net: &FabricMap, write: Write, finish_ps: Option<u64>) -> MessageRecord {
        let spec = net.flow(self.ip.flow);
        MessageRecord {
            kind: MessageKind::Write,
            group: spec.group,
            host: spec.src,
            flow: self.ip.flow,
            number: write.number,
            workers: 1,
            bytes: if let App::ClosedLoop { write, .. } = spec.app { write } else { 0 },
            start_ps: write.begun,
            finish_ps,
            timeouts: 0,
        }
    }

    /// Whether a write of the application, or the flow, ends at `end`.
    pub(super) fn ends_a_write(&mut self, end: u64) -> bool {
        let mut ends = Some(end) == self.app.end();
        while self.writes.front().is_some_and(|at| *at <= end) {
            ends = true;
            self.writes.pop_front();
        }
        ends
    }
}
