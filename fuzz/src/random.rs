//! Random draws: a sequence of numbers determined by a seed and the number of a scenario (SplitMix64).

/// A sequence of draws.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of scenario `number` under `seed`.
    pub fn new(seed: u64, number: u64) -> Random {
        let mut seeded = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        let first = seeded.bits();
        Random(first ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A whole number from `least` to `most`, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = (most as i128 - least as i128).max(0) as u128 + 1;
        (least as i128 + ((u128::from(self.bits()) * span) >> 64) as i128) as i64
    }

    /// A number from 0 to 1.
    pub fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.part() < probability
    }

    /// One element of a non-empty list.
    pub fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// A number from `least` to `most`, both above 0, below and above their geometric mean with equal probability.
    pub fn scaled(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.part())
    }
}
