//! Random cases, the same on every machine. `PROPTEST_RNG_SEED` draws others.

use proptest::test_runner::{Config, RngSeed};

/// `n` cases for a property, of which `make test` runs the first quarter (see [`share`]).
pub fn cases(n: u32) -> Config {
    let default = Config { failure_persistence: None, ..Config::with_cases(share(n)) };
    match default.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(2), ..default },
        RngSeed::Fixed(_) => default,
    }
}

/// Seeds of the cases that a test draws by itself: [`share`] of `n`.
pub fn seeds(n: u32) -> std::ops::Range<u64> {
    0..u64::from(share(n))
}

/// Number of cases to run out of `n`: all if `INCAST_CASES` is `all` (`make properties`), otherwise a quarter.
///
/// # Panics
/// If `INCAST_CASES` is anything else.
fn share(n: u32) -> u32 {
    match std::env::var("INCAST_CASES").as_deref() {
        Ok("all") => n,
        Ok("") | Err(_) => n.div_ceil(4),
        Ok(other) => panic!("INCAST_CASES={other}: `all`, or nothing for a quarter of the cases"),
    }
}
