//! Credits at a port: the tokens that one waits for are there.

use crate::event::order::Timer;
use crate::ids::PortIx;
use crate::node::context::{Effects, NodeCtx};

impl<E: Effects> NodeCtx<'_, E> {
    /// There are tokens for a credit that waits at `port`.
    #[cold]
    pub fn tokens_are_there(&mut self, port: PortIx) {
        self.watch(port);
        let link = self.ports[port].link;
        if let Some(ends) = self.ports[port].go_on(self.now, &self.net.interval) {
            self.timer(ends, Timer::Departure(link));
        }
    }
}
