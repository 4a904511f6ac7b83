//! Flows that arrive at random, with sizes from tables: rules of drawing, means, rates, and error messages.

use incast_engine::spec::{App, Bulk, Spec};
use incast_scenario::files::builtin::usual_rule;
use incast_scenario::files::sizes::{Interpolation, SizeTable};
use incast_scenario::{Scenario, builtin};
use std::collections::BTreeMap;
use std::path::Path;

fn table(name: &str) -> SizeTable {
    SizeTable::read(name, builtin::file(name).unwrap(), 1_460).unwrap()
}

/// Means as stated by their sources, in bytes: HPCC's for interpolated tables; the first lines of Homa's files;
/// netbench's pairs of both for web search.
#[test]
fn means_are_the_published_ones() {
    let cases = [
        ("websearch", Interpolation::Linear, 1_711_250.0),
        ("websearch", Interpolation::Upper, 2_434_900.0),
        ("homa-w2", Interpolation::Upper, 440.791),
        ("homa-w3", Interpolation::Upper, 2_927.354),
        ("homa-w4", Interpolation::Upper, 127_797.0),
        ("homa-w5-packets", Interpolation::Upper, 1_744.70 * 1_460.0),
        ("homa-w5-knots-packets", Interpolation::Upper, 1_622.94 * 1_460.0),
        ("facebook-web-server", Interpolation::Upper, 62_874.3),
        ("facebook-cache-follower", Interpolation::Upper, 692_976.0),
    ];
    for (name, rule, mean) in cases {
        let ours = table(name).mean(rule);
        assert!((ours / mean - 1.0).abs() < 1e-5, "{name}: {ours}, published {mean}");
    }
}

#[test]
fn every_table_is_one_and_names_its_source() {
    let mut tables = 0;
    for name in builtin::sizes() {
        table(name);
        let header = builtin::header(builtin::file(name).unwrap());
        // one is a formula of a paper
        let of_file = header.contains("Source: GitHub") && header.contains("commit");
        assert!(of_file || name == "pareto-packets" && header.contains("Source: "), "{name}: {header}");
        let homa = header.contains("HomaSimulation");
        assert_eq!(
            usual_rule(&format!("builtin:{name}")),
            if homa { Interpolation::Upper } else { Interpolation::Linear },
            "{name}"
        );
        tables += 1;
    }
    assert_eq!(tables, 17);
}

/// Web search: 15 % of flows are below 10 kB, 20 % below 20 kB, 97 % below 10 MB.
#[test]
fn quantiles_by_hand() {
    let t = table("websearch");
    let cases = [
        (0.0, 1, 10_000),
        (0.075, 5_000, 10_000),
        (0.15, 10_000, 20_000),
        (0.16, 12_000, 20_000),
        // 0.53 to 0.6: 80 kB to 200 kB
        (0.565, 140_000, 200_000),
        // 0.97 to 1: 10 MB to 30 MB
        (0.985, 20_000_000, 30_000_000),
    ];
    for (u, linear, upper) in cases {
        assert_eq!(t.quantile(Interpolation::Linear, u), linear, "linear at {u}");
        let upper = if u == 0.0 { 10_000 } else { upper };
        assert_eq!(t.quantile(Interpolation::Upper, u), upper, "upper at {u}");
    }
    // whole packets, at least one
    let packets = SizeTable::read("t", "packets,cumulative\n0,0\n4,0.5\n10,1\n", 1_000).unwrap();
    for (u, linear, upper) in [(0.0, 1_000, 4_000), (0.2, 2_000, 4_000), (0.5, 4_000, 10_000), (0.8, 8_000, 10_000)] {
        assert_eq!(
            (packets.quantile(Interpolation::Linear, u), packets.quantile(Interpolation::Upper, u)),
            (linear, upper),
            "at {u}"
        );
    }
    // what a first line above 0 has is that size by both rules
    let step = SizeTable::read("t", "size,cumulative\n1kB,0.4\n3kB,1\n", 1).unwrap();
    assert_eq!([0.0, 0.39, 0.4, 0.7].map(|u| step.quantile(Interpolation::Linear, u)), [1_000, 1_000, 1_000, 2_000]);
    assert_eq!(
        (step.mean(Interpolation::Linear), step.mean(Interpolation::Upper)),
        (0.4 * 1e3 + 0.6 * 2e3, 0.4 * 1e3 + 0.6 * 3e3)
    );
}

fn spec(seed: u64, sets: &[(&str, &str)]) -> Spec {
    let mut s = Scenario::load("websearch").unwrap().with_seed(seed);
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    s.build().unwrap()
}

fn sizes(spec: &Spec) -> Vec<u64> {
    let size = |app: App| if let App::Bulk(Bulk { size: Some(size), .. }) = app { size } else { panic!("a size") };
    spec.flows.iter().map(|f| size(f.app)).collect()
}

/// 16 hosts at half of 10 Gb/s with 2927.354 B on average: 3.416 million arrivals a second, 68,321 in 20 ms.
#[test]
fn arrivals_are_poisson_at_the_load() {
    let s = spec(
        3,
        &[
            ("traffic.arrivals.sizes", "builtin:homa-w3"),
            ("run.duration", "25ms"),
            ("traffic.arrivals.until", "25ms"),
            ("traffic.start", "5ms"),
        ],
    );
    let expected = 16.0 * 5e9 / (8.0 * 2_927.354) * 20e-3;
    let n = s.flows.len() as f64;
    // five standard deviations of a Poisson count
    assert!((n - expected).abs() < 5.0 * expected.sqrt(), "{n} flows, {expected} expected");
    assert!(s.flows.is_sorted_by_key(|f| f.start));
    assert!(s.flows.iter().all(|f| f.start.0 > 5_000_000_000 && f.start.0 < 25_000_000_000 && f.src != f.dst));
    // of a host: gaps have the exponential's mean and, as only it has, a deviation that equals it
    let mut of_host: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    s.flows.iter().for_each(|f| of_host.entry(f.src).or_default().push(f.start.as_secs_f64()));
    assert_eq!(of_host.len(), 16);
    for times in of_host.values() {
        let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let second = gaps.iter().map(|g| g * g).sum::<f64>() / n;
        let should = 8.0 * 2_927.354 / 5e9;
        assert!((mean / should - 1.0).abs() < 5.0 / n.sqrt(), "mean gap {mean}");
        // E[g^2] = 2 mean^2, whose estimate has variance 20 mean^4 / n
        assert!((second / (should * should) - 2.0).abs() < 5.0 * (20.0 / n).sqrt(), "second moment {second}");
    }
    // pairs are all alike: chi-square with 239 degrees of freedom, whose 99.9 % quantile is 312
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    s.flows.iter().for_each(|f| *pairs.entry((f.src, f.dst)).or_default() += 1.0);
    let each = n / 240.0;
    let chi: f64 = pairs.values().map(|c| (c - each).powi(2) / each).sum();
    assert!(pairs.len() == 240 && chi < 312.0, "{} pairs, chi-square {chi}", pairs.len());
    // Sizes: the share below 10 kB is that of the table, within five deviations.
    let table = table("homa-w3");
    for u in [0.1, 0.5, 0.9, 0.99] {
        let at = table.quantile(Interpolation::Upper, u);
        let below = sizes(&s).iter().filter(|size| **size < at).count() as f64 / n;
        assert!(below <= u + 5.0 * (u * (1.0 - u) / n).sqrt(), "{below} below {at}");
        let up_to = sizes(&s).iter().filter(|size| **size <= at).count() as f64 / n;
        assert!(up_to >= u - 5.0 * (u * (1.0 - u) / n).sqrt(), "{up_to} up to {at}");
    }
}

/// `websearch` with a custom table.
fn own(name: &str, table: &str, sets: &[(&str, &str)]) -> Spec {
    let dir = std::env::temp_dir().join(format!("incast-arrivals-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("own.csv"), table).unwrap();
    let text = builtin::text("websearch").unwrap().replace("builtin:websearch", "own.csv");
    let mut s = Scenario::from_toml(&text, &dir, "own").unwrap();
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    let spec = s.build().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    spec
}

/// With sizes that differ little the payload offered is the load, by either rule.
#[test]
fn the_mean_is_that_of_the_rule() {
    for (rule, mean) in [("linear", 1_000.0), ("upper", 1_500.0)] {
        let s = own(rule, "size,cumulative\n500,0\n1500,1\n", &[("traffic.arrivals.rule", rule)]);
        let offered = sizes(&s).iter().sum::<u64>() as f64 * 8.0 / (16.0 * 10e9 * 8e-3);
        let n = s.flows.len() as f64;
        // five deviations: of the count, and of uniform sizes around their mean
        assert!((offered / 0.5 - 1.0).abs() < 5.0 * (1.1 / n).sqrt(), "{rule}: load {offered} with mean {mean}");
        assert!((n - 0.5 * 160e9 * 8e-3 / 8.0 / mean).abs() < 5.0 * n.sqrt(), "{rule}: {n} flows");
    }
}

/// The first flows of a host are the same at any length of the run, and under any controller.
#[test]
fn arrivals_belong_to_the_seed() {
    let ends = |s: &Spec| s.flows.iter().map(|f| (f.start, f.src, f.dst)).collect::<Vec<_>>();
    let short = spec(1, &[("traffic.arrivals.until", "4ms")]);
    let long = spec(1, &[("controller", "swift")]);
    assert!(short.flows.len() < long.flows.len());
    assert_eq!(ends(&short), ends(&long)[..short.flows.len()]);
    assert_eq!(sizes(&short), sizes(&long)[..short.flows.len()]);
    assert_eq!(ends(&spec(1, &[("traffic.flows", "5")])), ends(&long)[..5]);
    assert_ne!(ends(&spec(2, &[])), ends(&long));
}

/// The offered load is on the wire: at load 0.4 the hosts' links carry payload 0.4 of the time, and all of it arrives.
#[test]
fn the_load_is_on_the_wire() {
    let sets = [("traffic.arrivals.load", "0.4"), ("run.duration", "8ms"), ("traffic.arrivals.until", "4ms")];
    let s = own("wire", "size,cumulative\n2kB,0\n4kB,1\n", &sets);
    let offered = sizes(&s).iter().sum::<u64>();
    let outcome = incast_engine::run(&s, &mut |_| true).unwrap();
    let delivered = outcome.flows.iter().map(|f| f.delivered).sum::<u64>();
    assert_eq!(delivered, offered);
    let load = delivered as f64 * 8.0 / (16.0 * 10e9 * 4e-3);
    // some 10,700 flows whose sizes deviate by a fifth of their mean: five deviations are 5 %
    assert!((load / 0.4 - 1.0).abs() < 0.05, "load {load}");
}

/// Segments of sizes as they are drawn: the mean over a million quantiles.
#[test]
fn mean_segments_are_those_of_the_sizes_that_are_drawn() {
    let own = "size,cumulative\n0,0\n3,0.1\n1442,0.3\n1443,0.5\n20kB,0.9\n20kB,0.95\n1MB,1\n";
    let packets = "packets,cumulative\n1,0.2\n4,0.2\n30,0.7\n900,1\n";
    for text in [own, packets, builtin::file("homa-w2").unwrap()] {
        let table = SizeTable::read("own", text, 1_460).unwrap();
        for (rule, mss) in [(Interpolation::Linear, 1442), (Interpolation::Upper, 1442), (Interpolation::Linear, 7)] {
            let drawn = |i: u32| table.quantile(rule, (i as f64 + 0.5) / 1e6).div_ceil(mss) as f64;
            let mean = (0..1_000_000).map(drawn).sum::<f64>() / 1e6;
            let ours = table.mean_segments(rule, mss);
            assert!((ours / mean - 1.0).abs() < 1e-4, "{rule:?}, {mss}: {ours}, drawn {mean}");
        }
    }
    // sizes up to 2^62 take no loop over them
    let vast = SizeTable::read("own", "size,cumulative\n1,0\n4611686018427387904,1\n", 1).unwrap();
    assert!((vast.mean_segments(Interpolation::Linear, 1000) / 2_f64.powi(61) * 1000.0 - 1.0).abs() < 1e-9);
}

/// Homa's configurations have payload for 0.657, 0.796, 0.887, 0.898 and 0.898 of the load of W1 to W5
/// (PlatformLab/HomaSimulation ab09ecb, homaTransportConfig.ini): 96 bytes beside each packet of 1442.
#[test]
fn a_load_of_the_wire_counts_what_is_sent_beside_payload() {
    let first = |sizes: &str, of: &str| {
        let sets = [
            ("traffic.arrivals.sizes", format!("builtin:{sizes}")),
            ("traffic.arrivals.load_of", of.to_owned()),
            ("transport.mss", "1442".to_owned()),
            ("transport.header", "58".to_owned()),
            ("topology.link.overhead", "38".to_owned()),
            ("run.duration", "100ms".to_owned()),
            ("traffic.arrivals.until", "100ms".to_owned()),
        ];
        let mut s = Scenario::load("websearch").unwrap();
        sets.iter().for_each(|(key, value)| s.set(key, value).unwrap());
        if sizes.ends_with("packets") {
            s.set("traffic.arrivals.packet", "1442B").unwrap();
        }
        s.set("traffic.flows", "1").unwrap();
        s.build().unwrap().flows[0].start.as_secs_f64()
    };
    let shares = [("homa-w2", 0.796), ("homa-w3", 0.887), ("homa-w4", 0.898), ("homa-w5-packets", 0.898)];
    for (sizes, published) in shares {
        let share = first(sizes, "payload") / first(sizes, "wire");
        assert!((share / published - 1.0).abs() < 0.045, "{sizes}: payload is {share} of the load, there {published}");
    }
    let said = wrong("load = 0.5, load_of = \"wires\", sizes = \"builtin:websearch\"");
    assert!(said.contains("payload") && said.contains("wire"), "{said}");
    let mut s = Scenario::load("websearch").unwrap();
    s.set("traffic.arrivals.load_of", "wire").unwrap();
    s.set("transport.mtu", "1000").unwrap();
    let said = s.build().unwrap_err().to_string();
    assert!(said.starts_with("traffic.websearch.arrivals.load_of = \"wire\": expected \"payload\""), "{said}");
}

fn wrong(arrivals: &str) -> String {
    entry(&format!("arrivals = {{ {arrivals} }}"))
}

fn entry(keys: &str) -> String {
    let text = builtin::text("websearch").unwrap();
    let at = text.find("arrivals = ").unwrap();
    let text = format!("{}{keys}\n", &text[..at]);
    let built = Scenario::from_toml(&text, Path::new("."), "test").and_then(|s| s.build());
    built.expect_err(keys).to_string()
}

#[test]
fn what_is_wrong_is_said() {
    let good = "load = 0.5, sizes = \"builtin:websearch\"";
    let cases = [
        (
            wrong("load = 0.0, sizes = \"builtin:websearch\""),
            "traffic.websearch.arrivals.load = 0: expected a number above 0, at most 10",
        ),
        (wrong("load = 0.1, sizes = \"builtin:websaerch\""), "(did you mean \"websearch\"?)"),
        (
            wrong(&format!("{good}, until = \"1s\"")),
            "traffic.websearch.arrivals.until = \"1s\": expected a time after start, 0s, and at most run.duration, \
             20ms",
        ),
        (
            wrong("load = 1e-9, sizes = \"builtin:websearch\""),
            "traffic.websearch.arrivals.load = 0.000000001: no flow arrives by 20ms: 0.000 are expected, of 1711250 B \
          on average; expected a longer run or more load",
        ),
        (
            wrong(&format!("{good}, packet = \"9kB\"")),
            "traffic.websearch.arrivals.packet = \"9kB\": the sizes of builtin:websearch are bytes; expected none",
        ),
        (
            entry(""),
            "traffic.websearch.arrivals: missing; expected a table such as { load = 0.5, sizes = \
             \"builtin:websearch\" }",
        ),
        (
            entry(&format!("arrivals = {{ {good} }}\njitter = \"1us\"")),
            "traffic.websearch.jitter = \"1us\": the pattern poisson has its own times; expected none",
        ),
        (
            entry(&format!("arrivals = {{ {good} }}\napp = {{ kind = \"bulk\", size = \"1MB\" }}")),
            "traffic.websearch.app.size = \"1MB\": sizes come from arrivals.sizes; expected no size here",
        ),
        (
            entry(&format!("arrivals = {{ {good} }}\napp = {{ kind = \"cbr\", rate = \"1Gbps\" }}")),
            "traffic.websearch.app.kind: expected \"bulk\": flows of the pattern poisson have sizes",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn a_bad_table_names_file_line_and_value() {
    let message = |text: &str| {
        let problems = SizeTable::read("own.csv", text, 1_460).expect_err(text);
        problems.to_string()
    };
    let cases = [
        (
            "size,cumulative\n10,0.5\n20,50\n",
            "own.csv, line 3, column cumulative = 50: expected a cumulative probability from 0 to 1",
        ),
        ("size,cumulative\n10,0.5\n5,1\n", "own.csv, line 3, column size = 5: expected at least 10, the line before"),
        (
            "size,cumulative\n10,0.5\n20,0.4\n30,1\n",
            "own.csv, line 3, column cumulative = 0.4: expected at least 0.5, the line before",
        ),
        (
            "size,cumulative\n10,0.5\n20,0.9\n",
            "own.csv, line 3, column cumulative = 0.9: expected 1 on the last line: no flow is larger",
        ),
        ("packets,cumulative\n1.5,1\n", "own.csv, line 2, column packets = 1.5: expected a whole number of packets"),
        (
            "size,cumulative\nmany,1\n",
            "own.csv, line 2, column size = many: expected a size in bytes or with a unit, such as 20000 or \"20kB\"",
        ),
        ("size,cumulative\n0,1\n", "own.csv, line 2, column size = 0: expected a size above 0 on the last line"),
        ("size,cumulative\n10,\n", "own.csv, line 2, column cumulative: empty; expected a value"),
        ("size,cumulative\n", "own.csv: no sizes; expected at least one line after the header"),
        ("size\n10\n", "own.csv, line 1: the column cumulative is missing"),
        (
            "size,packets,cumulative\n10,1,1\n",
            "own.csv = size,packets,cumulative: expected either a column size or a column packets",
        ),
        (
            "size,cumulative\n9223372036854775808,1\n",
            "own.csv, line 2, column size = 9223372036854775808: expected at most 9223372036854775807",
        ),
        (
            "packets,cumulative\n9223372036854775807,1\n",
            "own.csv, line 2, column packets = 9223372036854775807: expected at most 6317378107434777",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text), expected);
    }
}
