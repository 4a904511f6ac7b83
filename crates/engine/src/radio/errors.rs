//! Bit errors of O-QPSK with spreading (IEEE 802.15.4-2011, E.4.1.8).

use crate::hash::mix;
use libm::{exp, pow};

/// Binomial coefficients of 16 over 2 to 16, with signs.
const TERMS: [f64; 15] = [
    120.0, -560.0, 1820.0, -4368.0, 8008.0, -11440.0, 12870.0, -11440.0, 8008.0, -4368.0, 1820.0, -560.0, 120.0, -16.0,
    1.0,
];

/// Probability of a bit error at a ratio of signal to interference and noise, not in dB.
pub fn bit_error(ratio: f64) -> f64 {
    let sum: f64 = (2..).zip(TERMS).map(|(k, term)| term * exp(20.0 * ratio * (1.0 / k as f64 - 1.0))).sum();
    (sum * 8.0 / 15.0 / 16.0).clamp(0.0, 1.0)
}

/// Ratio from which, at 10 dB, fewer than one frame in 10^30 is destroyed.
const CLEAR: f64 = 10.0;

/// Number of cache entries in [`Survival`].
const PLACES: usize = 1024;

/// Probabilities that frames are received without error. Ratios repeat where powers are equal, and so do numbers of
/// bits. Caches the bit errors of the latest ratios, and the probabilities of the latest pairs.
#[derive(Clone, Debug)]
pub struct Survival {
    errors: Vec<(f64, f64)>,
    pairs: Vec<(f64, u64, f64)>,
}

impl Default for Survival {
    fn default() -> Survival {
        Survival { errors: vec![(f64::NAN, 0.0); PLACES], pairs: vec![(f64::NAN, 0, 0.0); PLACES] }
    }
}

impl Survival {
    /// Probability that `bits` bits are received without error.
    pub fn of(&mut self, ratio: f64, bits: u64) -> f64 {
        if ratio >= CLEAR {
            return 1.0;
        }
        let place = |number: u64| (number % PLACES as u64) as usize;
        let of_ratio = mix(ratio.to_bits());
        let pair = &mut self.pairs[place(of_ratio.wrapping_add(bits))];
        if (pair.0, pair.1) != (ratio, bits) {
            let errors = &mut self.errors[place(of_ratio)];
            if errors.0 != ratio {
                *errors = (ratio, bit_error(ratio));
            }
            *pair = (ratio, bits, pow(1.0 - errors.1, bits as f64));
        }
        pair.2
    }
}

/// Power in mW, from dBm.
pub fn milliwatts(dbm: f64) -> f64 {
    pow(10.0, dbm / 10.0)
}

#[cfg(test)]
mod tests {
    use super::{Survival, milliwatts};

    #[test]
    fn frames_survive_an_equal_interferer_as_in_ns3() {
        // ns-3.43's model: PSDU bytes, SINR in dB, probability that a frame with its PHY header survives
        let rows = [
            (127, 0.0, 0.842, 0.0005),
            (111, 0.0, 0.860, 0.0005),
            (60, 0.0, 0.918, 0.0005),
            (5, 0.0, 0.986, 0.0005),
            (127, -1.0, 0.294, 0.0005),
            (127, -2.0, 0.0039, 0.00005),
            (127, 1.0, 0.986, 0.0005),
        ];
        let mut survival = Survival::default();
        for (bytes, db, expected, tolerance) in rows.into_iter().chain(rows) {
            let survives = survival.of(milliwatts(db), (bytes + 6) * 8);
            assert!((survives - expected).abs() <= tolerance, "{bytes} B at {db} dB: {survives}");
        }
        let two = survival.of(0.5, (111 + 6) * 8);
        assert!(two < 1e-6, "{two}");
    }
}
