//! Quantities: exact in, exact out, and words for what is not one.

use incast_cc::{Bytes, Rate, Time};
use proptest::prelude::*;

#[test]
fn times_are_read_exactly() {
    for (text, ps) in [
        ("10us", 10_000_000),
        ("0.1us", 100_000),
        ("1.5ms", 1_500_000_000),
        ("2666ps", 2_666),
        ("1_000ns", 1_000_000),
        ("3 s", 3_000_000_000_000),
        ("\t7µs ", 7_000_000),
        (".5ns", 500),
        ("5.ns", 5_000),
        ("0.001000ns", 1),
        ("0", 0),
        ("0s", 0),
    ] {
        assert_eq!(text.parse(), Ok(Time(ps)), "{text}");
    }
}

#[test]
fn what_is_not_a_time_is_refused_with_an_example() {
    for text in
        ["", "10", "us", "1.2.3us", "-1us", "0.5ps", "0.0001ns", "10Us", "1e3us", ".us", "_us", "99999999s", "1us2"]
    {
        let error = text.parse::<Time>().expect_err(text);
        assert!(error.to_string().contains("such as \"10us\""), "{error}");
    }
}

#[test]
fn rates_and_sizes_have_decimal_and_binary_units() {
    assert_eq!("100Gbps".parse(), Ok(Rate::gbps(100)));
    assert_eq!("2.5Mbps".parse(), Ok(Rate(2_500_000)));
    for (short, long) in [("100G", "100Gbps"), ("400 Gbps", "400Gbps"), ("2.5M", "2.5Mbps"), ("1.6T", "1600Gbps")] {
        assert_eq!(short.parse::<Rate>(), long.parse());
        assert_eq!(short.parse::<Rate>().map(|rate| rate.to_string().parse()), Ok(long.parse::<Rate>()));
    }
    assert_eq!("inf".parse(), Ok(Rate::INFINITE));
    assert_eq!("128kB".parse(), Ok(Bytes(128_000)));
    assert_eq!("128KiB".parse(), Ok(Bytes(131_072)));
    assert_eq!("0.5KiB".parse(), Ok(Bytes(512)));
    assert_eq!("1.25MiB".parse(), Ok(Bytes(1_310_720)));
    for text in ["0.3KiB", "1.5B", "10", "1GBps", "18446744073709551615B"] {
        assert!(text.parse::<Bytes>().is_err(), "{text}");
    }
    for text in ["0.5bps", "10Gb", "-1Gbps", "infinite"] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
}

#[test]
fn quantities_are_written_in_their_own_unit() {
    for (time, text) in [
        (Time::ZERO, "0s"),
        (Time::us(10), "10us"),
        (Time::ns(1_500), "1.5us"),
        (Time(1_234_567), "1234.567ns"),
        (Time(1_050_000), "1.05us"),
        (Time(1_005_000), "1.005us"),
        (Time::ms(25), "25ms"),
    ] {
        assert_eq!(time.to_string(), text);
    }
    assert_eq!(Rate::gbps(30).to_string(), "30Gbps");
    assert_eq!(Rate::INFINITE.to_string(), "inf");
    assert_eq!(Bytes(131_072).to_string(), "131.072kB");
}

#[test]
fn serialization_rounds_to_the_nearest_picosecond() {
    assert_eq!(Rate::gbps(100).serialize(1), Time(80));
    assert_eq!(Rate::gbps(1).serialize(1500), Time::us(12));
    assert_eq!(Rate::gbps(30).serialize(1), Time(267)); // 266.67
    assert_eq!(Rate::gbps(30).serialize(3), Time(800));
    assert_eq!(Rate::INFINITE.serialize(1500), Time::ZERO);
    assert_eq!(Rate(0).serialize(1500), Time::NEVER);
    assert_eq!(Rate(1).serialize(u64::MAX), Time::NEVER);
}

#[test]
fn seconds_round_and_saturate() {
    assert_eq!(Time::from_secs_f64(1e-12), Time(1));
    assert_eq!(Time::from_secs_f64(1.4e-12), Time(1));
    assert_eq!(Time::from_secs_f64(-1.0), Time::ZERO);
    assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
    assert_eq!(Time::from_secs_f64(f64::INFINITY), Time::NEVER);
    assert_eq!(Time::us(3).saturating_sub(Time::us(5)), Time::ZERO);
    assert_eq!(Time::NEVER.saturating_add(Time(1)), Time::NEVER);
}

proptest! {
    #[test]
    fn every_quantity_reads_back_what_it_writes(n in 0..u64::MAX) {
        prop_assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
        prop_assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
        prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
    }

    /// The quick 64-bit division and the wide one are the same function.
    #[test]
    fn serialization_is_the_rounded_quotient(bytes in 0u64..1 << 40, rate in 1u64..1 << 50) {
        let exact = (u128::from(bytes) * 8_000_000_000_000 + u128::from(rate / 2)) / u128::from(rate);
        let expected = u64::try_from(exact).unwrap_or(u64::MAX);
        prop_assert_eq!(Rate(rate).serialize(bytes), Time(expected));
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".{0,40}", digits in "[0-9._]{0,60}(ps|s|KiB|Tbps)") {
        for text in [text, digits] {
            let _ = (text.parse::<Time>(), text.parse::<Rate>(), text.parse::<Bytes>());
        }
    }
}
