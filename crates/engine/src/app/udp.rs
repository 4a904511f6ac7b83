//! Datagrams, which their transport writes.

use super::application::{Application, Start};
use incast_cc::Time;

/// No transport beneath it (UDP): full segments at a pace from the flow's start to its stop. Nothing is
/// acknowledged or sent again, there is no window and no ECN; the controller has no part in it. Where the NIC takes
/// only so many packets of a flow, the ones beyond are never sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Udp {
    /// Time from one segment to the next, above 0: its mean where `random`.
    pub gap: Time,
    /// Times between segments are exponentially distributed (a Poisson process).
    pub random: bool,
}

/// It has no state.
pub type State = Udp;

impl Application for Udp {
    type Parameters = Udp;

    fn new(udp: Udp, _: Start) -> Udp {
        udp
    }

    fn rate(&self, mss: u32) -> f64 {
        8.0 * f64::from(mss) / self.gap.as_secs_f64()
    }
}
