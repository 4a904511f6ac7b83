//! Statements about every registered controller: its declarations, its page, its behaviour under
//! arbitrary events.

use crate::events::{MSS, ack, congestion, env, timeout, us};
use incast_cc::{Ack, Config, Controller, KINDS, Kind, Pacing, ParamError, Phase, Round, Time, ValueKind};
use proptest::prelude::*;
use std::fmt::Write;

#[test]
fn every_kind_is_found_by_its_name_and_described() {
    for kind in KINDS {
        let config = Config::new(kind.name).expect("a registered name");
        assert!(std::ptr::eq(config.kind(), *kind));
        assert_eq!(config.profile(), kind.profile);
        assert_eq!(config.check(), Ok(()));
        assert!(!kind.what.is_empty() && !kind.source.is_empty() && !kind.differences.is_empty(), "{}", kind.name);
        for param in kind.params {
            assert!(!param.doc.is_empty() && !param.source.is_empty(), "{}.{}", kind.name, param.name);
            assert!(!param.doc.contains("  ") && !param.doc.starts_with(' '), "{}.{}", kind.name, param.name);
        }
    }
    assert_eq!(Config::new("reno-but-newer"), None);
}

#[test]
fn names_are_unique() {
    for (i, kind) in KINDS.iter().enumerate() {
        assert!(KINDS[..i].iter().all(|other| other.name != kind.name));
        for (i, param) in kind.params.iter().enumerate() {
            assert!(kind.params[..i].iter().all(|other| other.name != param.name));
        }
    }
}

#[test]
fn defaults_are_written_as_they_are_declared_and_read_back() {
    for kind in KINDS {
        let mut config = Config::new(kind.name).unwrap();
        for param in kind.params {
            let text = config.get(param.name).unwrap().to_string();
            assert_eq!(text, param.default, "{}.{}", kind.name, param.name);
            assert_eq!(config.set(param.name, &text), Ok(()));
        }
        assert_eq!(config, Config::new(kind.name).unwrap());
    }
}

#[test]
fn every_choice_is_taken_and_comes_back() {
    for kind in KINDS {
        for param in kind.params {
            assert_eq!(param.kind == ValueKind::Choice, !param.choices.is_empty());
            for choice in param.choices {
                let mut config = Config::new(kind.name).unwrap();
                config.set(param.name, choice).unwrap();
                assert_eq!(config.get(param.name).unwrap().to_string(), *choice);
                assert!(param.expected.contains(choice));
                assert!(param.doc.contains(choice), "{}.{} does not explain {choice}", kind.name, param.name);
            }
        }
    }
}

#[test]
fn an_unknown_key_and_a_bad_value_are_told_apart() {
    for kind in KINDS {
        let mut config = Config::new(kind.name).unwrap();
        assert_eq!(config.set("no_such_key", "1"), Err(ParamError::UnknownKey));
        assert!(config.get("no_such_key").is_none());
        for param in kind.params {
            for nonsense in ["", "perhaps", "NaN", "inf", "-1", "1 parsec"] {
                let refused = config.set(param.name, nonsense);
                assert_eq!(refused, Err(ParamError::BadValue { expected: param.expected }), "{}", param.name);
            }
        }
        assert_eq!(config, Config::new(kind.name).unwrap(), "a refused value changes nothing");
    }
}

#[test]
fn the_words_of_an_error_say_what_was_expected() {
    let mut swift = Config::new("swift").unwrap();
    for (key, value, words) in [
        ("target", "fixed", "expected one of: \"published\" \"static\" \"min-rtt\""),
        ("h", "3", "expected \"auto\" or a time with a unit, such as \"25us\""),
        ("max_mdf", "1.5", "expected a number above 0, at most 1"),
        ("max_mdf", "0", "expected a number above 0, at most 1"),
        ("retx_reset_threshold", "0", "expected a whole number of at least 1"),
        ("flow_scaling", "yes", "expected true or false"),
        ("beta_", "0.5", "unknown parameter"),
    ] {
        assert_eq!(swift.set(key, value).unwrap_err().to_string(), words);
    }
    let mut dctcp = Config::new("dctcp").unwrap();
    for (key, value, taken) in [
        ("g", "1", true),
        ("g", "0", false),
        ("g", "1.01", false),
        ("initial_alpha", "0", true),
        ("initial_alpha", "1.01", false),
        ("floor", "0", true),
        ("floor", "-0.1", false),
    ] {
        assert_eq!(dctcp.set(key, value).is_ok(), taken, "{key} = {value}");
    }
}

#[test]
fn parameters_that_contradict_one_another_are_found() {
    let mut swift = Config::new("swift").unwrap();
    swift.set("max_cwnd", "0.0001").unwrap();
    assert_eq!(swift.check().unwrap_err().to_string(), "min_cwnd: expected at most max_cwnd");
    swift.set("min_cwnd", "0.0001").unwrap();
    assert_eq!(swift.check(), Ok(()));
    swift.set("fs_min_cwnd", "100").unwrap();
    assert_eq!(swift.check().unwrap_err().key, "fs_min_cwnd");
}

/// Controllers that start with the path's capacity, or with a rate, as their pages say.
const OWN_START: [&str; 11] = [
    "fastflow",
    "timely",
    "hpcc",
    "dcqcn",
    "dctcp-rate",
    "rcp",
    "powertcp",
    "theta-powertcp",
    "poseidon",
    "bolt",
    "d3",
];

#[test]
fn times_that_delays_are_held_against_are_above_0() {
    let targets = [
        ("swift", "base_target"),
        ("swift", "endpoint_target"),
        ("lswift", "base_target"),
        ("mswift", "base_target"),
        ("swift-ecn", "base_target"),
        ("swift-moving", "base_target"),
        ("swift-moving", "loose_target"),
        ("swift-v0", "end_to_end_target"),
        ("fastflow", "base_rtt"),
        ("hpcc", "base_rtt"),
        ("powertcp", "base_rtt"),
        ("bolt", "base_rtt"),
        ("theta-powertcp", "base_rtt"),
        ("poseidon", "p"),
        ("timely", "t_low"),
        ("timely", "min_rtt"),
    ];
    for (kind, key) in targets {
        let with = |value| {
            let mut config = Config::new(kind).unwrap();
            config.set(key, value).map_err(|e| e.to_string()).and_then(|()| config.check().map_err(|e| e.to_string()))
        };
        assert!(with("0s").unwrap_err().contains("above 0"), "{kind}:{key}");
        assert_eq!(with("60us"), Ok(()), "{kind}:{key}");
    }
}

#[test]
fn a_built_controller_starts_at_the_initial_window() {
    for kind in KINDS.iter().filter(|kind| !OWN_START.contains(&kind.name)) {
        let cc = Config::new(kind.name).unwrap().build(&env(MSS, 10.0));
        assert_eq!(cc.cwnd(), 10_000.0, "{}", kind.name);
    }
}

/// Bounds of only some controllers: a timer once it runs, a threshold once slow start has ended or the window has
/// shrunk.
#[test]
fn a_new_flow_waits_for_no_timer_and_slow_start_has_no_end_where_there_is_none() {
    for kind in KINDS {
        let cc = Config::new(kind.name).unwrap().build(&env(MSS, 10.0));
        assert_eq!(cc.wake_at(), Time::NEVER, "{}", kind.name);
        assert_eq!(cc.ssthresh(), f64::INFINITY, "{}", kind.name);
    }
}

/// The compiler detects a listed module that is not declared, but not a file that is not listed.
#[test]
fn every_file_of_a_controller_is_in_the_list() {
    fn kinds(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                kinds(&path, found);
            } else if std::fs::read_to_string(&path).unwrap().contains("\npub static KIND: Kind") {
                // a folder's own file is the folder's
                let place = if path.file_stem().unwrap() == "mod" { folder } else { &path };
                found.push(place.file_stem().unwrap().to_str().unwrap().replace('_', "-"));
            }
        }
    }
    let mut files = Vec::new();
    kinds(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files.retain(|name| name != incast_cc::external::KIND.name);
    let mut listed: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
}

/// Part of a controller's page generated from its declarations.
fn reference(kind: &Kind) -> String {
    let mut text = String::new();
    writeln!(text, "Source: {}.\n", kind.source).unwrap();
    writeln!(text, "| parameter | default | value | meaning | source of the default |").unwrap();
    writeln!(text, "|---|---|---|---|---|").unwrap();
    for param in kind.params {
        let unit = if param.unit.is_empty() { String::new() } else { format!(" ({})", param.unit) };
        let default = param.default;
        writeln!(
            text,
            "| `{}` | `{default}` | {}{unit} | {} | {} |",
            param.name, param.expected, param.doc, param.source
        )
        .unwrap();
    }
    if !kind.state.is_empty() {
        writeln!(text, "\nTraced beside `cwnd` and `ssthresh`:\n").unwrap();
        for (name, meaning) in kind.state {
            writeln!(text, "- `{name}`: {meaning}").unwrap();
        }
    }
    writeln!(text, "\nDeliberate differences:\n").unwrap();
    for difference in kind.differences {
        writeln!(text, "- {difference}").unwrap();
    }
    text
}

/// `UPDATE_SNAPSHOTS=1 cargo test -p incast-cc registry` brings the pages up to date.
#[test]
fn every_kind_has_a_page_that_agrees_with_its_declarations() {
    const BEGIN: &str = "<!-- from the registry -->\n";
    const END: &str = "<!-- end -->\n";
    for kind in KINDS {
        let path = format!("{}/../../docs/controllers/{}.md", env!("CARGO_MANIFEST_DIR"), kind.name);
        let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let (head, rest) = page.split_once(BEGIN).expect("the marker of the generated part");
        let (found, tail) = rest.split_once(END).expect("the marker of its end");
        let wanted = format!("\n{}\n", reference(kind));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, format!("{head}{BEGIN}{wanted}{END}{tail}")).unwrap();
        } else {
            assert_eq!(found, wanted, "{path} is not what the registry says; see this test's comment");
        }
    }
}

/// Any ACK a transport could report, sane or not.
fn any_ack() -> impl Strategy<Value = Ack> {
    (
        (0u64..3_000_000, 0u64..3_000_000, proptest::option::of(0u64..2_000_000_000_000), any::<bool>()),
        (0u32..20, any::<bool>(), 0u64..10_000_000, 0u64..10_000_000),
    )
        .prop_map(|((acked, delivered, rtt, ece), (hops, cwnd_limited, una, ahead))| Ack {
            delivered,
            rtt: rtt.map(Time),
            fabric_delay: rtt.map(Time),
            ece,
            hops,
            round: Round { acked: una, sent: una + ahead },
            cwnd_limited,
            phase: [Phase::Open, Phase::Cwr, Phase::Recovery, Phase::Loss][(ahead % 4) as usize],
            ..ack(Time::ZERO, acked, Time(rtt.unwrap_or(0)))
        })
}

#[derive(Clone, Debug)]
enum Event {
    Ack(Ack),
    Loss(u64),
    Ecn(u64),
    Timeout(u64, u32),
    Recovered(u64),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => any_ack().prop_map(Event::Ack),
        1 => (0u64..10_000_000).prop_map(Event::Loss),
        1 => (0u64..10_000_000).prop_map(Event::Ecn),
        1 => (0u64..10_000_000, 1u32..12).prop_map(|(flight, n)| Event::Timeout(flight, n)),
        1 => (0u64..10_000_000).prop_map(Event::Recovered),
    ]
}

proptest! {
    /// After any events the window is a positive number no larger than everything ever delivered allows, and the same
    /// events give the same window.
    #[test]
    fn every_window_stays_finite_and_positive(events in proptest::collection::vec(any_event(), 1..200)) {
        for kind in KINDS {
            let config = Config::new(kind.name).unwrap();
            let (mut cc, mut twin) = (config.build(&env(MSS, 10.0)), config.build(&env(MSS, 10.0)));
            let mut largest = cc.cwnd();
            let mut now = Time::ZERO;
            for event in &events {
                now += us(50.0);
                let play = |cc: &mut incast_cc::Cc| match event {
                    Event::Ack(event) => cc.on_ack(&Ack { now, ..*event }),
                    Event::Loss(flight) => cc.on_loss(&congestion(now, *flight)),
                    Event::Ecn(flight) => cc.on_ecn(&congestion(now, *flight)),
                    Event::Timeout(flight, n) => cc.on_timeout(&timeout(now, *flight, *n)),
                    Event::Recovered(flight) => cc.on_recovered(now, *flight),
                };
                play(&mut cc);
                play(&mut twin);
                if let Event::Ack(event) = event {
                    // An ACK may add what it covers, and one segment for a window completed.
                    largest += event.acked.max(event.delivered) as f64 + f64::from(MSS);
                }
                // Reductions may leave a share of a flight that is larger than the window, Vegas' three quarters of it.
                largest = largest.max(7_500_000.0);
                // Westwood+ may raise the window to what it takes for the path's bandwidth and shortest round trip.
                let mut path = [0.0, 0.0];
                cc.state(&mut |name, value| match name {
                    "bandwidth_bps" => path[0] = value,
                    "min_rtt_s" if value.is_finite() => path[1] = value,
                    _ => {}
                });
                largest = largest.max(path[0] * path[1] / 8.0);
                prop_assert!(cc.cwnd() > 0.0 && cc.cwnd() <= largest, "{}: {} at {event:?}", kind.name, cc.cwnd());
                prop_assert!(cc.ssthresh() > 0.0, "{}: ssthresh {}", kind.name, cc.ssthresh());
                prop_assert_eq!(cc.cwnd().to_bits(), twin.cwnd().to_bits());
                match cc.pacing() {
                    Pacing::None => prop_assert!(cc.cwnd() >= f64::from(MSS), "{}: nothing may be sent", kind.name),
                    Pacing::Rate(rate) => prop_assert!(rate > 0.0 && rate.is_finite()),
                    Pacing::Gap(gap) => prop_assert!(gap < Time::NEVER),
                }
                let mut state = Vec::new();
                cc.state(&mut |name, value| {
                    assert!(!value.is_infinite(), "{name}");
                    state.push(name);
                });
                let declared: Vec<_> = kind.state.iter().map(|(name, _)| *name).collect();
                prop_assert_eq!(state, declared);
            }
        }
    }
}
