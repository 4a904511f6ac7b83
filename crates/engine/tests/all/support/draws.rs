//! Random cases that are the same on every machine; `PROPTEST_RNG_SEED` draws others.

use proptest::test_runner::{Config, RngSeed};

/// `n` cases a property, of which `make test` takes the first quarter (see [`share`]).
pub fn cases(n: u32) -> Config {
    let default = Config { failure_persistence: None, ..Config::with_cases(share(n)) };
    match default.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(2), ..default },
        RngSeed::Fixed(_) => default,
    }
}

/// The seeds of the cases that a test draws for itself: of `n` those that [`share`] leaves.
pub fn seeds(n: u32) -> std::ops::Range<u64> {
    0..u64::from(share(n))
}

/// How many of `n` cases are tried: all of them where `INCAST_CASES` is `all` (`make properties`), else a quarter.
///
/// # Panics
/// Where `INCAST_CASES` is anything else.
fn share(n: u32) -> u32 {
    match std::env::var("INCAST_CASES").as_deref() {
        Ok("all") => n,
        Ok("") | Err(_) => n.div_ceil(4),
        Ok(other) => panic!("INCAST_CASES={other}: `all`, or nothing for a quarter of the cases"),
    }
}
