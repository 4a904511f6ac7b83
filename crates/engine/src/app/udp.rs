//! Datagrams, written by their transport.

use super::application::{Application, Start};
use incast_cc::Time;

/// Full segments at a fixed pace from the flow's start to its stop, without a transport protocol (UDP): no
/// acknowledgements, retransmissions, window, ECN or congestion control. If the NIC accepts only a limited number of
/// packets of a flow, the excess ones are never sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Udp {
    /// Time from one segment to the next, above 0. With `random`: its mean.
    pub gap: Time,
    /// Exponentially distributed gaps (a Poisson process).
    pub random: bool,
}

/// Datagrams need no state.
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
