//! `[[program]]`, from the file to what happens.

use incast_record::Outcome;
use incast_scenario::Scenario;

fn scenario(name: &str, sets: &[(&str, &str)]) -> Scenario {
    let mut s = Scenario::load(name).unwrap();
    sets.iter().for_each(|(key, value)| s.set(key, value).unwrap());
    s
}

fn run(sets: &[(&str, &str)]) -> Outcome {
    incast_engine::run(&scenario("sccp-incast", sets).build().unwrap(), &mut |_| true).unwrap()
}

/// Milliseconds that queries take on average, and drops.
fn queries(sets: &[(&str, &str)]) -> (f64, u64) {
    let outcome = run(sets);
    let took: Vec<f64> = { outcome.messages.iter() }
        .filter(|m| m.workers > 1)
        .map(|m| (m.finish_ps.expect("it ends") - m.start_ps) as f64 / 1e9)
        .collect();
    (took.iter().sum::<f64>() / took.len() as f64, outcome.ports.iter().map(|p| p.drops).sum())
}

fn said(name: &str, sets: &[(&str, &str)]) -> String {
    match scenario(name, sets).build() {
        Ok(_) => String::new(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn windows_set_by_the_switch_keep_an_incast_without_loss() {
    let (plain, lost) = queries(&[("program", "[]")]);
    assert!(lost > 100 && plain > 20.0, "{lost} lost, {plain} ms");
    for (workers, at_most) in [("25", 9.6), ("100", 9.6), ("400", 13.5)] {
        let (took, lost) = queries(&[("traffic.flows", workers), ("topology.sources", workers)]);
        assert_eq!(lost, 0, "{workers} workers");
        // 1 MB take 8.4 ms of the link
        assert!((8.4..at_most).contains(&took), "{workers} workers: {took} ms");
    }
}

#[test]
fn a_floor_of_a_segment_keeps_windows_from_shrinking_further() {
    let series = [("measure.series.ports", "[\"gateway>sink\"]")];
    let least = |sets: &[(&str, &str)]| {
        let outcome = run(&[&series, sets].concat());
        let shares = outcome.samples.iter().filter(|s| s.name == "share_bytes").map(|s| s.value);
        shares.fold(f64::INFINITY, f64::min)
    };
    assert_eq!(least(&[]), 375.0, "37,500 bytes for 100");
    assert_eq!(least(&[("program.0.floor", "mss")]), 1460.0);
    assert_eq!(least(&[("program.0.floor", "500B")]), 500.0);
    assert_eq!(least(&[("program.0.common_rtt", "600us")]), 750.0);
}

#[test]
fn nodes_are_named_by_words_and_patterns() {
    let nodes = |on: &str| {
        let s = scenario("permutation", &[("topology.k", "4"), ("transport.preset", "linux")]);
        let mut s = s;
        s.set("routing.kind", "first-path").unwrap();
        s.set("program", &format!("[{{ kind = \"sccp\", on = \"{on}\" }}]")).unwrap();
        let spec = s.build().unwrap();
        let names = spec.programs[0].nodes.iter().map(|n| spec.node_names[*n as usize].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(nodes("switches").len(), 20);
    assert_eq!(nodes("hosts").len(), 16);
    assert_eq!(nodes("core*").len(), 4);
    assert_eq!(nodes("edge1, h0,edge*1"), ["h0", "edge1"]);
    assert_eq!(nodes("*").len(), 36);
}

#[test]
fn what_a_program_cannot_work_with_is_refused() {
    let with = |sets: &[(&str, &str)]| said("sccp-incast", sets);
    let says = |message: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(message.contains(word), "{word} not in: {message}"));
    };
    says(with(&[("program.0.on", "tor7")]), &["program.0.on = \"tor7\"", "no node is named tor7", "gateway"]);
    says(with(&[("program.0.common_rtt", "0s")]), &["program.0.common_rtt", "above 0"]);
    says(with(&[("program.0.floor", "0B")]), &["program.0.floor", "at least 1B"]);
    says(with(&[("program.0.rounding", "up")]), &["program.0.rounding", "scale above 0"]);
    says(with(&[("transport.handshake", "false")]), &["program.0.kind", "transport.handshake = true"]);
    let idle = |program: &str| with(&[("program", program)]);
    says(idle("[{ kind = \"idle\", timeout = \"0s\" }]"), &["program.0.timeout", "above 0"]);
    says(idle("[{ kind = \"idle\", on = \"switches\" }]"), &["program.0.on", "expected hosts: gateway is a switch"]);
    let late = idle("[{ kind = \"sccp\", on = \"hosts\" }, { kind = \"idle\" }]");
    says(late, &["program.1.kind", "expected it before program.0"]);
    assert_eq!(idle("[{ kind = \"idle\" }, { kind = \"sccp\", on = \"*\" }]"), "");
    let twice = "[{ kind = \"sccp\" }, { kind = \"sccp\", on = \"gateway\" }]";
    says(with(&[("program", twice)]), &["program.1.on", "program.0"]);
    let tree = |sets: &[(&str, &str)]| {
        let sccp = [("topology.k", "4"), ("transport.preset", "linux"), ("program", "[{ kind = \"sccp\" }]")];
        said("permutation", &[&sccp, sets].concat())
    };
    says(tree(&[("routing.kind", "spray")]), &["program.0.kind", "several", "keeps a flow to one path"]);
    says(tree(&[]), &["program.0.kind", "come back another way", "routing.symmetric = true"]);
    assert_eq!(tree(&[("routing.symmetric", "true")]), "");
    assert_eq!(tree(&[("routing.kind", "first-path")]), "");
}

#[test]
fn phantom_queues_leave_the_real_ones_nearly_empty() {
    let two = |sets: &[(&str, &str)]| {
        let dctcp = [
            ("controller", "dctcp"),
            ("topology.senders", "2"),
            ("traffic.flows", "2"),
            ("run.duration", "300ms"),
            ("run.warmup", "100ms"),
        ];
        let outcome =
            incast_engine::run(&scenario("dumbbell", &[&dctcp, sets].concat()).build().unwrap(), &mut |_| true);
        let outcome = outcome.unwrap();
        let port = outcome.ports.iter().max_by_key(|p| p.packets).unwrap().clone();
        (port.bytes as f64 * 8.0 / 0.2 / port.rate_bps as f64, port.queue_mean_packets)
    };
    let queue = ("queue", "{ kind = \"drop-tail\", limit = \"1000p\" }");
    let (used, length) = two(&[queue, ("program", "[{ kind = \"phantom\", mark = \"15kB\" }]")]);
    assert!((0.8..=0.951).contains(&used), "{used} of the link");
    assert!(length < 5.0, "{length} packets");
    let refused = said("dumbbell", &[("program", "[{ kind = \"phantom\" }]"), ("buffer", "{ size = \"1MB\" }")]);
    assert!(refused.contains("program.0.kind") && refused.contains("FIFO"), "{refused}");
    let refused = said("dumbbell", &[("program", "[{ kind = \"phantom\", drain = 0.0 }]")]);
    assert!(refused.contains("program.0.drain"), "{refused}");
}
