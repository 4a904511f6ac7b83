//! Random cases, the same on every machine. `PROPTEST_RNG_SEED` draws others.

use proptest::test_runner::{Config, RngSeed};

/// `n` cases for a property, of which `make test` runs the first eighth.
pub fn cases(n: u32) -> Config {
    let default = Config { failure_persistence: None, ..Config::with_cases(seeds(n).end as u32) };
    match default.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(2), ..default },
        RngSeed::Fixed(_) => default,
    }
}

/// Seeds of the `n` cases that a test draws by itself, of which `make test` runs the first eighth.
pub fn seeds(n: u32) -> std::ops::Range<u64> {
    0..u64::from(if all() { n } else { n.div_ceil(8) })
}

/// Returns whether all cases run: if `INCAST_CASES` is `all` (`make properties`), otherwise a part of them.
///
/// # Panics
/// If `INCAST_CASES` is anything else.
pub fn all() -> bool {
    match std::env::var("INCAST_CASES").as_deref() {
        Ok("all") => true,
        Ok("") | Err(_) => false,
        Ok(other) => panic!("INCAST_CASES={other}: `all`, or nothing for a part of the cases"),
    }
}
