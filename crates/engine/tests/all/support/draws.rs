//! Random cases that are the same on every machine; `PROPTEST_RNG_SEED` draws others.

use proptest::test_runner::{Config, RngSeed};

/// `n` cases a property.
pub fn cases(n: u32) -> Config {
    let default = Config { failure_persistence: None, ..Config::with_cases(n) };
    match default.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(2), ..default },
        RngSeed::Fixed(_) => default,
    }
}
