//! Times of the 2.4 GHz O-QPSK PHY (IEEE 802.15.4-2011, 8.1.3, 10.1): 62,500 symbols a second, two symbols a byte.

use incast_cc::Time;

/// Duration of a symbol.
pub const SYMBOL: Time = Time::us(16);
/// Symbols before the PSDU: preamble, start-of-frame delimiter and PHY header.
pub const HEADER_SYMBOLS: u64 = 12;
/// Time between receiving and transmitting (aTurnaroundTime).
pub const TURNAROUND: Time = Time::us(16 * 12);
/// Duration of a clear channel assessment.
pub const ASSESSMENT: Time = Time::us(16 * 8);
/// Unit of the backoff (aUnitBackoffPeriod).
pub const BACKOFF: Time = Time::us(16 * 20);
/// Space after a frame whose PSDU is longer than [`SHORT`] (macLIFSPeriod).
pub const LONG_SPACE: Time = Time::us(16 * 40);
/// Space after a shorter frame (macSIFSPeriod).
pub const SHORT_SPACE: Time = Time::us(16 * 12);
/// Longest PSDU with a short space after it (aMaxSIFSFrameSize), bytes.
pub const SHORT: u8 = 18;
/// Timeout of an acknowledgement: backoff period, turnaround, header, six bytes (macAckWaitDuration).
pub const ACK_WAIT: Time = Time::us(16 * 54);
/// PSDU of an acknowledgement, bytes.
pub const ACK: u8 = 5;

/// Time of a frame on the air.
pub const fn airtime(psdu: u8) -> Time {
    Time(SYMBOL.0 * (HEADER_SYMBOLS + 2 * psdu as u64))
}

/// Number of bits in a time, rounded up.
pub const fn bits(time: Time) -> u64 {
    time.0.div_ceil(SYMBOL.0 / 4)
}

/// Space after a frame.
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
