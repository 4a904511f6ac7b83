//! Windows below one packet, for large incasts (section 3.4): one packet every `rtt / cwnd`. ACKs clock larger
//! windows.

use crate::units::ps;
use crate::{Pacing, Time};

/// Pacing of a window of `w` packets: a pause between packets if it is below one.
#[cold]
pub(super) fn gap(rtt: Time, w: f64) -> Pacing {
    Pacing::Gap(Time(libm::round(ps(rtt) / w) as u64))
}
