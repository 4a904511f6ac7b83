//! Windows below one packet, for large incasts (section 3.4): one packet every `rtt / cwnd`. Larger windows are clocked
//! by their ACKs.

use crate::units::ps;
use crate::{Pacing, Time};

/// The pause between packets that a window of `w` packets makes, below one.
#[cold]
pub(super) fn gap(rtt: Time, w: f64) -> Pacing {
    Pacing::Gap(Time(libm::round(ps(rtt) / w) as u64))
}
