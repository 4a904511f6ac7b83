//! Times of the 2.4 GHz O-QPSK PHY (IEEE 802.15.4-2011, 8.1.3, 10.1): 62,500 symbols a second, two symbols a byte.

use incast_cc::Time;

/// A symbol.
pub const SYMBOL: Time = Time::us(16);
/// Preamble, start-of-frame delimiter and PHY header: what precedes the PSDU.
pub const HEADER_SYMBOLS: u64 = 12;
/// Between receiving and transmitting (aTurnaroundTime).
pub const TURNAROUND: Time = Time::us(16 * 12);
/// A clear channel assessment.
pub const ASSESSMENT: Time = Time::us(16 * 8);
/// A step of the backoff (aUnitBackoffPeriod).
pub const BACKOFF: Time = Time::us(16 * 20);
/// After a frame whose PSDU is longer than [`SHORT`] (macLIFSPeriod).
pub const LONG_SPACE: Time = Time::us(16 * 40);
/// After another (macSIFSPeriod).
pub const SHORT_SPACE: Time = Time::us(16 * 12);
/// The longest PSDU that a short space follows (aMaxSIFSFrameSize), bytes.
pub const SHORT: u8 = 18;
/// An acknowledgement is waited for so long: backoff period, turnaround, header, six bytes (macAckWaitDuration).
pub const ACK_WAIT: Time = Time::us(16 * 54);
/// PSDU of an acknowledgement, bytes.
pub const ACK: u8 = 5;

/// Time of a frame on the air.
pub const fn airtime(psdu: u8) -> Time {
    Time(SYMBOL.0 * (HEADER_SYMBOLS + 2 * psdu as u64))
}

/// Bits that pass in a time, a part of one counted whole.
pub const fn bits(time: Time) -> u64 {
    time.0.div_ceil(SYMBOL.0 / 4)
}

/// The space after a frame.
pub const fn space(psdu: u8) -> Time {
    if psdu > SHORT { LONG_SPACE } else { SHORT_SPACE }
}

#[cfg(test)]
mod tests {
    use super::{ACK, airtime, bits};
    use incast_cc::Time;

    #[test]
    fn frames_take_as_long_as_in_the_standard() {
        assert_eq!(airtime(127), Time::us(4256));
        assert_eq!(airtime(125), Time::us(4192));
        assert_eq!(airtime(ACK), Time::us(352));
        assert_eq!(bits(airtime(111)), (111 + 6) * 8);
        assert_eq!(bits(Time::us(5)), 2);
    }
}
