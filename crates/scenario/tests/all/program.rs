//! `[[program]]`, from the file to the run.

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

/// Mean duration of queries in milliseconds, and drops.
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

#[test]
fn a_program_that_can_do_nothing_is_noted() {
    let notes = |name: &str, sets: &[(&str, &str)]| scenario(name, sets).notes().unwrap();
    let phantom = ("program", "[{ kind = \"phantom\" }]");
    let queue = ("queue", "{ kind = \"drop-tail\", limit = \"100p\" }");
    let no_flow = "program.0 (phantom) does nothing: no flow is ECN-capable, and other packets are not marked";
    assert_eq!(notes("dumbbell", &[phantom, queue, ("controller", "newreno")]), [no_flow]);
    assert_eq!(notes("dumbbell", &[phantom, queue, ("controller", "dctcp")]), [""; 0]);
    assert_eq!(notes("dumbbell", &[phantom, queue, ("controller", "newreno"), ("transport.ecn", "classic")]), [""; 0]);
    let rcp = notes("dumbbell", &[("program", "[{ kind = \"rcp\" }]"), ("controller", "newreno")]);
    assert_eq!(rcp.len(), 1);
    assert!(rcp[0].starts_with("program.0 (rcp) does nothing: no flow requests a rate"), "{rcp:?}");
    assert_eq!(notes("rcp-processor-sharing", &[]), [""; 0]);
    let xcp = notes("dumbbell", &[("program", "[{ kind = \"xcp\" }]"), ("controller", "newreno")]);
    assert_eq!(xcp.len(), 1);
    assert!(xcp[0].starts_with("program.0 (xcp) does nothing: no flow requests changes of its window"), "{xcp:?}");
    let idle = |program: &str| notes("sccp-incast", &[("program", program)]);
    let no_count = "program.0 (idle) does nothing: no program counts flows, as sccp and tables do";
    assert_eq!(idle("[{ kind = \"idle\" }]"), [no_count]);
    assert_eq!(idle("[{ kind = \"idle\" }, { kind = \"sccp\" }]"), [""; 0]);
}

/// Mean completion times in seconds of flows of the scenario `rcp-processor-sharing` that began in its measured
/// interval, by size: packets from, flows, mean packets, mean time.
fn completion_times(sets: &[(&str, &str)]) -> Vec<(u64, usize, f64, f64)> {
    let outcome = incast_engine::run(&scenario("rcp-processor-sharing", sets).build().unwrap(), &mut |_| true).unwrap();
    let bounds = [5, 16, 64, 256, u64::MAX];
    let class = |range: &[u64]| {
        let took: Vec<(f64, f64)> = { outcome.flows.iter() }
            .filter(|f| (range[0]..range[1]).contains(&(f.size.unwrap() / 1448)) && f.start_ps >= 5_000_000_000_000)
            .filter_map(|f| Some((f.size? as f64 / 1448.0, (f.received_ps? - f.start_ps) as f64 / 1e12)))
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| took.iter().map(of).sum::<f64>() / took.len() as f64;
        (range[0], took.len(), mean(|t| t.0), mean(|t| t.1))
    };
    bounds.windows(2).map(class).collect()
}

#[test]
fn explicit_rates_keep_short_flows_near_processor_sharing_where_slow_start_takes_several_times_as_long() {
    let rcp = completion_times(&[]);
    let tcp = completion_times(&[("controller", "newreno")]);
    println!("packets    flows   RCP   TCP   processor sharing   slow start alone, seconds");
    let mut ratios = Vec::new();
    for (rcp, tcp) in rcp.iter().zip(&tcp) {
        let &(from, flows, packets, took) = rcp;
        // packets of 1500 bytes at 150 Mb/s; a load of 0.9, and 100 ms
        let alone = packets * 12_000.0 / 150e6;
        let (sharing, slow_start) = (0.15 + alone / 0.1, ((packets + 1.0).log2() + 0.5) * 0.1 + alone);
        println!("{from:4} up {flows:10} {took:5.2} {:5.2} {sharing:19.2} {slow_start:12.2}", tcp.3);
        ratios.push((took / sharing, tcp.3 / sharing));
    }
    // flows of less than 16 packets are nine of ten
    assert!(rcp[0].1 > 2 * rcp[1].1 && rcp[1].1 > 100);
    assert!(ratios[0].0 < 1.25 && ratios[1].0 < 2.0, "{ratios:?}");
    assert!(ratios[0].1 > 3.0 && ratios[1].1 > 4.0, "{ratios:?}");
}

#[test]
fn explicit_windows_make_short_flows_wait_for_what_explicit_rates_give_at_once() {
    let rcp = completion_times(&[]);
    let xcp = completion_times(&[("controller", "xcp"), ("program", "[{ kind = \"xcp\" }]")]);
    println!("packets    flows   RCP   XCP, seconds");
    for (rcp, xcp) in rcp.iter().zip(&xcp) {
        println!("{:4} up {:10} {:5.2} {:5.2}", rcp.0, xcp.1, rcp.3, xcp.3);
    }
    // Dukkipati and McKeown 2006: a flow of a few tens of packets takes several times as long
    let ratio = |class: usize| xcp[class].3 / rcp[class].3;
    assert!(ratio(0) > 1.2 && ratio(1) > 2.0 && ratio(2) > 2.0, "{} {} {}", ratio(0), ratio(1), ratio(2));
}

#[test]
fn windows_are_allowed_by_programs_and_bad_values_of_them_are_refused() {
    let base = [("controller", "xcp"), ("program", "[{ kind = \"xcp\" }]")];
    let with = |sets: &[(&str, &str)]| said("dumbbell", &[&base, sets].concat());
    let says = |message: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(message.contains(word), "{word} not in: {message}"));
    };
    assert_eq!(with(&[]), "");
    says(with(&[("program", "[]")]), &["controller = \"xcp\"", "kind = \"xcp\""]);
    says(with(&[("program", "[{ kind = \"rcp\" }]")]), &["controller = \"xcp\"", "kind = \"xcp\""]);
    for (key, value, words) in [
        ("alpha", "0.0", "above 0"),
        ("beta", "-0.1", "at least 0"),
        ("utilisation", "0.0", "above 0"),
        ("queue_share", "0.0", "above 0"),
        ("rtt", "0s", "100ns or more"),
    ] {
        let key = format!("program.0.{key}");
        says(with(&[(&key, value)]), &[&key, words]);
    }
}

#[test]
fn rates_are_granted_by_programs_and_bad_values_of_them_are_refused() {
    let with = |sets: &[(&str, &str)]| said("rcp-processor-sharing", sets);
    let says = |message: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(message.contains(word), "{word} not in: {message}"));
    };
    says(with(&[("program", "[]")]), &["controller = \"rcp\"", "traffic.pareto", "kind = \"rcp\""]);
    says(with(&[("program", "[{ kind = \"phantom\" }]")]), &["controller = \"rcp\"", "kind = \"rcp\""]);
    for (key, value, words) in [
        ("alpha", "0.0", "above 0"),
        ("beta", "-0.1", "at least 0"),
        ("utilisation", "0.0", "above 0"),
        ("initial", "0.0", "above 0"),
        ("period", "0s", "100ns or more"),
        ("rtt", "0s", "100ns or more"),
        ("least", "0B", "at least 1B"),
    ] {
        let key = format!("program.0.{key}");
        says(with(&[(&key, value)]), &[&key, words]);
    }
    // a program that nobody asks does nothing, and one at some nodes of a way is enough
    assert_eq!(with(&[("controller", "newreno")]), "");
    assert_eq!(with(&[("program.0.on", "left")]), "");
}

#[test]
fn rates_at_hosts_and_beside_a_shared_buffer_keep_flows_going() {
    let series = [("measure.series.ports", "[\"left>right\"]"), ("run.duration", "300ms"), ("run.warmup", "0s")];
    for sets in [("program.0.on", "switches, hosts"), ("buffer", "{ size = \"2MB\" }"), ("program.0.on", "left")] {
        let mut s = scenario("rcp-processor-sharing", &[&series[..], &[sets]].concat());
        s.set("traffic.pareto.arrivals.until", "200ms").unwrap();
        let outcome = incast_engine::run(&s.build().unwrap(), &mut |_| true).unwrap();
        assert!(outcome.samples.iter().any(|s| s.name == "rcp_rate_bps"), "{sets:?}");
        assert!(outcome.flows.iter().any(|f| f.received_ps.is_some()), "{sets:?}");
    }
}

#[test]
fn levels_and_rates_for_deadlines_are_refused_bad_values() {
    let says = |message: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(message.contains(word), "{word} not in: {message}"));
    };
    let qjump = |keys: &str| said("priority", &[("program", &format!("[{{ kind = \"qjump\", {keys} }}]"))]);
    assert_eq!(qjump("factors = [1.0, 20]"), "");
    for (keys, words) in [
        ("factors = []", ["program.0.factors", "class 0 first"]),
        ("factors = [1, 0]", ["program.0.factors.1 = 0", "above 0"]),
        ("factors = [1], epoch = \"1000s\"", ["program.0.epoch", "at most run.duration"]),
        ("factors = [1], processing = \"1000s\"", ["program.0.processing", "at most run.duration"]),
        ("factors = [1], packet = \"0B\"", ["program.0.packet", "1B to 1MiB"]),
        ("factors = [1], epoch = \"1ns\"", ["program.0.epoch", "100ns or more"]),
        ("factors = [1], on = \"switches\"", ["program.0.on", "expected hosts"]),
    ] {
        says(qjump(keys), &words);
    }
    let base = [("controller", "d3"), ("program", "[{ kind = \"d3\" }]")];
    let d3 = |sets: &[(&str, &str)]| said("dumbbell", &[&base, sets].concat());
    assert_eq!(d3(&[]), "");
    assert_eq!(d3(&[("controller", "rcp")]), "", "a flow of RCP has its fair share");
    says(d3(&[("program", "[]")]), &["controller = \"d3\"", "kind = \"d3\""]);
    for (key, value) in [("program.0.alpha", "1.5"), ("program.0.beta", "-0.1")] {
        let refused = scenario("dumbbell", &base).set(key, value).unwrap_err().to_string();
        says(refused, &[key, "from 0 to 1"]);
    }
    for (key, value, words) in [
        ("period", "0s", "100ns or more"),
        ("forget", "0s", "100ns or more"),
        ("least", "0B", "1B to 1MiB"),
        ("least", "2MiB", "1B to 1MiB"),
    ] {
        let key = format!("program.0.{key}");
        says(d3(&[(&key, value)]), &[&key, words]);
    }
    let notes = |name: &str, sets: &[(&str, &str)]| scenario(name, sets).notes().unwrap();
    assert!(notes("dumbbell", &[("program", "[{ kind = \"d3\" }]")])[0].contains("no flow requests a rate"));
    let slowest = |rate: &str| {
        let program = ("program", "[{ kind = \"qjump\", factors = [1] }]");
        let s = scenario("dumbbell", &[("topology.bottleneck_link.rate", rate), program]);
        match &s.build().unwrap().programs[0].program {
            incast_engine::spec::Program::Qjump(rule) => rule.rate,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(slowest("1Mbps"), Some(incast_cc::Rate::mbps(1)), "not that of the hosts' links, 10 Gb/s");
    let unlimited = [("traffic.mice.class", "1"), ("program", "[{ kind = \"qjump\", factors = [1] }]")];
    let elephants = [&unlimited[..], &[("traffic.mice.ack_class", "1"), ("traffic.elephants.ack_class", "1")]].concat();
    assert!(notes("priority", &elephants)[0].contains("no flow has a class with a factor"));
}
