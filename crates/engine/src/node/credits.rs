//! Credits at a port: tokens have become available for a waiting credit.

use crate::event::order::Timer;
use crate::ids::PortIx;
use crate::node::context::{Effects, NodeCtx};

impl<E: Effects> NodeCtx<'_, E> {
    /// Called when there are tokens for a credit waiting at `port`.
    #[cold]
    pub fn on_tokens_available(&mut self, port: PortIx) {
        self.watch(port);
        let link = self.ports[port].link;
        if let Some(ends) = self.ports[port].go_on(self.now, &self.net.interval) {
            self.timer(ends, Timer::Departure(link));
        }
    }
}
