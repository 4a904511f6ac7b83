//! What a user reads when something is wrong: key, value, what was expected, and a suggestion.

use incast_scenario::{Errors, Scenario};
use std::path::{Path, PathBuf};

const GOOD: &str = r#"
controller = "dctcp"
[run]
duration = "10ms"
warmup = "1ms"
[topology]
kind = "fat-tree"
k = 4
link = { rate = "1Gbps", delay = "10us" }
[queue]
kind = "ecn-threshold"
limit = "100p"
mark = "20p"
[routing]
kind = "ecmp"
[transport]
preset = "linux"
[measure]
trace = [0]
[[traffic]]
name = "load"
pattern = "hotspot"
flows = 10
app = { kind = "bulk", size = "1MB" }
"#;

fn check(text: &str) -> Result<(), Errors> {
    Scenario::from_toml(text, Path::new("."), "test")?.build().map(drop)
}

/// The message for `GOOD` with one piece of text replaced by another.
fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the scenario");
    check(&GOOD.replacen(from, to, 1)).expect_err(to).to_string()
}

fn set(key: &str, value: &str) -> String {
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    match s.set(key, value) {
        Ok(()) => s.build().map(drop).expect_err(key).to_string(),
        Err(e) => {
            assert_eq!(
                s,
                Scenario::from_toml(GOOD, Path::new("."), "test").unwrap(),
                "a refused value changes nothing"
            );
            e.to_string()
        }
    }
}

#[test]
fn the_good_one_is_good() {
    check(GOOD).unwrap();
}

const TIME: &str = "expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"";
const RATE: &str = "expected a rate with a unit (bps, kbps, Mbps, Gbps, Tbps) or \"inf\", such as \"10Gbps\"";
const LIMIT: &str = "expected a limit in packets such as \"250p\", in bytes such as \"1MB\", or \"none\"";

#[test]
fn keys_and_words() {
    let cases = [
        (
            "k = 4",
            "kk = 4",
            "topology.kk: unknown key (did you mean \"k\"?)\ntopology.k: missing; expected an even number >= 2",
        ),
        ("[routing]", "[ruoting]", "ruoting: unknown key (did you mean \"routing\"?)"),
        ("warmup", "warm_up", "run.warm_up: unknown key (did you mean \"warmup\"?)"),
        (
            "duration = \"10ms\"",
            "",
            "run.duration: missing; expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"",
        ),
        (
            "\"fat-tree\"",
            "\"fatree\"",
            "topology.kind = \"fatree\": expected one of \"fat-tree\", \"dumbbell\", \"star\", \"leaf-spine\", \
             \"graph\" (did you mean \"fat-tree\"?)",
        ),
        (
            "kind = \"fat-tree\"",
            "",
            "topology.kind: missing; expected one of \"fat-tree\", \"dumbbell\", \"star\", \"leaf-spine\", \"graph\"",
        ),
        (
            "\"ecmp\"",
            "\"emcp\"",
            "routing.kind = \"emcp\": expected one of \"ecmp\", \"first-path\", \"spray\", \"spray-source\", \
             \"ns3-per-packet\", \"round-robin\", \"adaptive\", \"power-of-two\", \"flowlet\", \"ecmp-adaptive\", \
             \"reps\" (did you mean \"ecmp\"?)",
        ),
        (
            "\"hotspot\"",
            "\"hotpsot\"",
            "traffic.load.pattern = \"hotpsot\": expected one of \"hotspot\", \"random-hotspot\", \"random-pairs\", \
             \"permutation\", \"incast\", \"pairs\", \"file\", \"poisson\", \"matrix\", \"connection-matrix\", \
             \"elephants\", \"all-to-all\", \"ring-allreduce\" (did you mean \"hotspot\"?)",
        ),
        (
            "\"linux\"",
            "\"lunix\"",
            "transport.preset = \"lunix\": expected one of \"linux\", \"linux-default\", \"ns3\", \"htsim\", \
             \"swift\" (did you mean \"linux\"?)",
        ),
        ("flows = 10", "flow = 10", "traffic.load.flow: unknown key (did you mean \"flows\"?)"),
        ("flows = 10", "", "traffic.load.flows: missing; expected a whole number >= 1"),
        ("size = \"1MB\"", "sise = \"1MB\"", "traffic.load.app.sise: unknown key (did you mean \"size\"?)"),
    ];
    for (from, to, expected) in cases {
        assert_eq!(message(from, to), expected, "{to}");
    }
}

#[test]
fn numbers_and_units() {
    let cases = [
        ("k = 4", "k = 5", "topology.k = 5: expected an even number >= 2".to_owned()),
        ("k = 4", "k = 0", "topology.k = 0: expected an even number >= 2".to_owned()),
        ("k = 4", "k = -4", "topology.k = -4: expected an even number >= 2".to_owned()),
        ("k = 4", "k = \"4\"", "topology.k = \"4\": expected an even number >= 2".to_owned()),
        ("k = 4", "k = 200", "topology.k = 200: makes 2000000 hosts; expected at most 1048576 in all".to_owned()),
        ("\"1Gbps\"", "\"0Gbps\"", "topology.link.rate = \"0Gbps\": expected a rate above 0".to_owned()),
        ("\"1Gbps\"", "\"-1Gbps\"", format!("topology.link.rate = \"-1Gbps\": {RATE}")),
        ("\"1Gbps\"", "\"1Gb/s\"", format!("topology.link.rate = \"1Gb/s\": {RATE}")),
        ("\"1Gbps\"", "1000000000", format!("topology.link.rate = 1000000000: {RATE}")),
        ("\"10us\"", "\"10\"", format!("topology.link.delay = \"10\": {TIME}")),
        ("\"10us\"", "10", format!("topology.link.delay = 10: {TIME}")),
        ("\"100p\"", "100", format!("queue.limit = 100: {LIMIT}")),
        ("\"100p\"", "\"100packets\"", format!("queue.limit = \"100packets\": {LIMIT}")),
        (
            "\"100p\"",
            "\"0p\"",
            "queue.limit = \"0p\": expected room for at least one packet\n\
                                queue.mark = \"20p\": expected at most the limit, 0p: a queue never grows beyond \
                                it"
            .to_owned(),
        ),
        (
            "\"20p\"",
            "\"200p\"",
            "queue.mark = \"200p\": expected at most the limit, 100p: a queue never grows beyond \
                                 it"
            .to_owned(),
        ),
        ("flows = 10", "flows = 0", "traffic.load.flows = 0: expected a whole number >= 1".to_owned()),
        ("flows = 10", "flows = -1", "traffic.load.flows = -1: expected a whole number >= 0".to_owned()),
        (
            "flows = 10",
            "flows = 5000000",
            "traffic.load.flows = 5000000: expected at most 4000000 flows in all: the state and the record of a flow \
             take about a kilobyte"
                .to_owned(),
        ),
        (
            "\"1MB\"",
            "\"1Mb\"",
            "traffic.load.app.size = \"1Mb\": expected a size with a unit (B, kB, MB, GB, KiB, \
                                MiB, GiB), such as \"128kB\" (did you mean \"1MB\"?)"
                .to_owned(),
        ),
        ("\"1MB\"", "\"0B\"", "traffic.load.app.size = \"0B\": expected at least 1 byte".to_owned()),
        ("trace = [0]", "trace = [-1]", "measure.trace.0 = -1: expected a whole number >= 0".to_owned()),
        ("trace = [0]", "trace = 0", "measure.trace = 0: expected a list of whole numbers >= 0".to_owned()),
        ("trace = [0]", "trace = [10]", "measure.trace = 10: expected numbers of flows, from 0 to 9".to_owned()),
        (
            "trace = [0]",
            "series = { ports = [\"edge7>h16\"] }",
            "measure.series.ports = \"edge7>h16\": no such port; expected names such as \"agg0>core0\" (did you mean \
             \"edge7>h14\"?)"
                .to_owned(),
        ),
        (
            "preset = \"linux\"",
            "delayed_ack = 0",
            "transport.delayed_ack = 0: expected \"auto\" or a whole number >= \
                                                   1"
            .to_owned(),
        ),
        (
            "preset = \"linux\"",
            "initial_window = 0.0",
            "transport.initial_window = 0.0: expected a number above \
                                                        0"
            .to_owned(),
        ),
        (
            "preset = \"linux\"",
            "rto_min = \"200s\"",
            "transport.rto_min = \"200s\": expected at most rto_max, \
                                                      120s"
                .to_owned(),
        ),
        (
            "preset = \"linux\"",
            "send_buffer = \"1kB\"",
            "transport.send_buffer = \"1kB\": expected at least one \
                                                         segment, 1448B"
                .to_owned(),
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(message(from, to), expected, "{to}");
    }
}

#[test]
fn times_that_contradict() {
    assert_eq!(
        message("warmup = \"1ms\"", "warmup = \"10ms\""),
        "run.warmup = \"10ms\": expected less than run.duration, 10ms"
    );
    assert_eq!(message("duration = \"10ms\"", "duration = \"0s\""), "run.duration = \"0s\": expected a time above 0");
    assert_eq!(
        message("warmup = \"1ms\"", "warmup = \"1ms\"\nmeasure_until = \"11ms\""),
        "run.measure_until = \"11ms\": expected a time after run.warmup, 1ms, and at most run.duration, 10ms"
    );
    assert_eq!(
        message("flows = 10", "flows = 10\nstart = \"2ms\"\nstop = \"1ms\""),
        "traffic.load.stop = \"1ms\": expected a time after start, 2ms"
    );
    assert_eq!(
        message("flows = 10", "flows = 10\nstagger = \"1ms\"\nstop = \"5ms\""),
        "traffic.load.stop = \"5ms\": flow 5 of the entry opens at 5ms; expected a later stop"
    );
}

#[test]
fn traffic_after_the_end() {
    let end = "expected a time before the run ends, at run.duration, 10ms";
    // other flows may be varied beyond the end; queries that never begin are a mistake
    check(&GOOD.replacen("flows = 10", "flows = 10\nstart = \"10ms\"", 1)).unwrap();
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let query = "kind = \"query\", total = \"1MB\"";
    assert_eq!(
        message(bulk, &format!("{query}, first = \"20ms\"")),
        format!("traffic.load.app.first = \"20ms\": {end}")
    );
    check(&GOOD.replacen(bulk, &format!("{query}, first = \"9ms\""), 1)).unwrap();
}

/// What an unknown controller is answered with.
fn one_of_the_controllers() -> String {
    let names: Vec<_> = incast_cc::KINDS.iter().map(|kind| format!("\"{}\"", kind.name)).collect();
    format!("expected one of {}", names.join(", "))
}

#[test]
fn controllers() {
    let kinds = one_of_the_controllers();
    assert_eq!(message("\"dctcp\"", "\"dtcp\""), format!("controller = \"dtcp\": {kinds} (did you mean \"dctcp\"?)"));
    assert_eq!(
        message("\"dctcp\"", "{ kind = \"swfit\" }"),
        format!("controller.kind = \"swfit\": {kinds} (did you mean \"swift\"?)")
    );
    assert_eq!(
        message("\"dctcp\"", "\"swift:targt=min-rtt\""),
        "controller.targt: the controller swift has no parameter targt (did you mean \"target\"?)"
    );
    assert_eq!(
        message("\"dctcp\"", "\"swift:target=minrtt\""),
        "controller.target = \"minrtt\": expected one of: \"published\" \"static\" \"min-rtt\" (did you mean \
         \"min-rtt\"?)"
    );
    assert_eq!(
        message("\"dctcp\"", "\"swift:min-rtt\""),
        "controller = \"swift:min-rtt\": expected key=value after the colon, found \"min-rtt\""
    );
    assert_eq!(
        message("controller = \"dctcp\"", ""),
        "traffic.load.controller: missing; expected a controller such as \"dctcp\", here or at the top of the \
         scenario for all entries"
    );
}

#[test]
fn all_problems_at_once() {
    let text = GOOD
        .replace("k = 4", "k = 3")
        .replace("\"1Gbps\"", "\"fast\"")
        .replace("flows = 10", "flws = 10")
        .replace("\"20p\"", "true");
    assert_eq!(
        check(&text).unwrap_err().to_string(),
        format!(
            "topology.k = 3: expected an even number >= 2\n\
             topology.link.rate = \"fast\": {RATE}\n\
             queue.mark = true: {LIMIT}\n\
             traffic.load.flws: unknown key (did you mean \"flows\"?)"
        )
    );
}

/// DCTCP's parameters, as an error lists them.
fn dctcp_has() -> String {
    let dctcp = incast_cc::KINDS.iter().find(|k| k.name == "dctcp").unwrap();
    assert!(dctcp.params.iter().any(|p| p.name == "initial_alpha"));
    dctcp.params.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_set_is_checked_like_a_file() {
    assert_eq!(set("topology.k", "5"), "topology.k = 5: expected an even number >= 2");
    assert_eq!(set("topology.kk", "4"), "topology.kk: unknown key (did you mean \"k\"?)");
    assert_eq!(set("topolgy.k", "4"), "topolgy: unknown key (did you mean \"topology\"?)");
    assert_eq!(set("topology.link.dealy", "1us"), "topology.link.dealy: unknown key (did you mean \"delay\"?)");
    assert_eq!(set("topology.link.delay", "10"), format!("topology.link.delay = \"10\": {TIME}"));
    assert_eq!(set("traffic.flws", "4"), "traffic.flws: unknown key (did you mean \"flows\"?)");
    // what a table in it has; else all that it can have
    assert_eq!(set("traffic.size", "1MB"), "traffic.size: unknown key (did you mean \"app.size\"?)");
    assert_eq!(set("traffic.load.size", "1MB"), "traffic.load.size: unknown key (did you mean \"app.size\"?)");
    let told = set("run.length", "1ms");
    assert!(
        told.starts_with("run.length: unknown key; expected one of duration, ") && told.contains("warmup"),
        "{told}"
    );
    assert!(message("size = \"1MB\" }", "}\nsize = \"1MB\"").ends_with("(did you mean \"app.size\"?)"));
    assert_eq!(set("traffic.load.flows", "0"), "traffic.load.flows = 0: expected a whole number >= 1");
    assert_eq!(set("traffic.flows", "ten"), "traffic.flows = \"ten\": expected a whole number >= 0");
    assert_eq!(set("controller", "vegas"), format!("controller = \"vegas\": {}", one_of_the_controllers()));
    assert_eq!(
        set("controller.targt", "static"),
        format!("controller.targt: the controller dctcp has no parameter targt; it has {}", dctcp_has())
    );
    assert_eq!(set("", "1"), ": expected a key such as \"topology.k\"");
    assert_eq!(set("run..seed", "1"), "run..seed: expected a key such as \"topology.k\"");
    assert_eq!(set("run.seed", "-1"), "run.seed = -1: expected a whole number from 0 to 9223372036854775807");
    let two = GOOD.to_owned() + "[[traffic]]\nname = \"more\"\npattern = \"incast\"\nflows = 3\n";
    let mut s = Scenario::from_toml(&two, Path::new("."), "test").unwrap();
    assert_eq!(
        s.set("traffic.flows", "4").unwrap_err().to_string(),
        "traffic.flows: there are 2 traffic entries; expected traffic.load.KEY or traffic.more.KEY"
    );
    assert_eq!(
        s.set("traffic.mroe.flows", "4").unwrap_err().to_string(),
        "traffic.mroe.flows: there are 2 traffic entries; expected traffic.load.KEY or traffic.more.KEY (did you mean \
         \"more\"?)"
    );
    s.set("traffic.more.flows", "4").unwrap();
    assert_eq!(s.build().unwrap().flows.len(), 14);
    let twice = two.replace("\"more\"", "\"load\"");
    assert_eq!(
        check(&twice).unwrap_err().to_string(),
        "traffic.load.name = \"load\": another traffic entry has this name; expected a name of its own, as name = \
         \"...\""
    );
}

#[test]
fn entries_of_lists_are_set_by_number() {
    let failure = |at: &str| format!("[[failures]]\nlink = \"agg0>core0\"\nat = \"{at}\"\nuntil = \"3ms\"\n\n");
    let with = |more: &str| {
        let text = GOOD.replacen("[[traffic]]", &format!("{more}[[traffic]]"), 1);
        Scenario::from_toml(&text, Path::new("."), "test").unwrap()
    };
    let wrong = |s: &Scenario, key: &str, value: &str| {
        let mut other = s.clone();
        let told = other.set(key, value).unwrap_err().to_string();
        assert_eq!(&other, s, "a refused value changes nothing");
        told
    };
    let mut one = with(&failure("1ms"));
    one.set("failures.0.detection", "5us").unwrap();
    one.set("failures.0.at", "2ms").unwrap();
    one.set("failures.0.link", "agg1>core2").unwrap();
    let moved = failure("2ms").replace("agg0>core0", "agg1>core2").replace("until", "detection = \"5us\"\nuntil");
    assert_eq!(one, with(&moved));
    assert_eq!(
        wrong(&one, "failures.0.detecion", "5us"),
        "failures.0.detecion: unknown key (did you mean \"detection\"?)"
    );
    assert_eq!(wrong(&one, "failures.0.detection", "5"), format!("failures.0.detection = \"5\": {TIME}"));
    assert_eq!(wrong(&one, "failures.0.share", "2"), "failures.0.share = 2: expected a number from 0 to 1");
    for key in ["1", "00", "-1", "detection"] {
        let key = format!("failures.{key}");
        assert_eq!(wrong(&one, &key, "5us"), format!("{key}: there is one entry of failures; expected failures.0"));
    }
    let two = with(&(failure("1ms") + &failure("5ms")));
    assert_eq!(
        wrong(&two, "failures.2.at", "5ms"),
        "failures.2: there are 2 entries of failures; expected failures.0 to failures.1"
    );
    assert_eq!(
        set("failures.0.at", "5ms"),
        "failures.0: there is no entry of failures; expected the whole list, as failures=[...]"
    );
    let mut none = with("");
    none.set("failures", "[{ link = \"agg0>core0\", at = \"1ms\", until = \"3ms\" }]").unwrap();
    assert_eq!(none, with(&failure("1ms")));

    let mut links = with("[[links]]\nlink = \"agg0>core0\"\ndelay = \"5us\"\n\n");
    links.set("links.0.rate", "2Gbps").unwrap();
    let rate =
        |s: &Scenario| s.build().unwrap().links.iter().find(|l| l.name == "agg0>core0").unwrap().rate.to_string();
    assert_eq!(rate(&links), "2Gbps");
    assert_eq!(wrong(&links, "links.0.rat", "2Gbps"), "links.0.rat: unknown key (did you mean \"rate\"?)");

    // tables of kinds, and plain values
    let mut queue = with("");
    let class = "{ kind = \"red\", limit = \"20p\", min_th = \"5p\", max_th = \"9p\", use_ecn = true }";
    queue.set("queue", &format!("{{ kind = \"weighted\", classes = [{class}, {class}], weights = [1, 2] }}")).unwrap();
    queue.set("queue.classes.1.kind", "drop-tail").unwrap();
    queue.set("queue.classes.1.limit", "30p").unwrap();
    queue.set("queue.weights.0", "3").unwrap();
    queue.build().unwrap();
    let told = queue.resolved_toml().unwrap();
    assert!(told.contains("weights = [3.0, 2.0]") && told.matches("use_ecn").count() == 1, "{told}");
    assert_eq!(
        wrong(&queue, "queue.classes.1.use_ecn", "true"),
        "queue.classes.1.use_ecn: unknown key; expected one of kind, limit, device, count_in_service, count_overhead, \
         host"
    );
    assert_eq!(
        wrong(&queue, "queue.weights.2", "3"),
        "queue.weights.2: there are 2 entries of queue.weights; expected queue.weights.0 to queue.weights.1"
    );
    // of traffic, by name
    const MORE: &str = "[[traffic]]\nname = \"more\"\npattern = \"permutation\"\napp = { kind = \"bulk\" }\n";
    let by_name = "entries of traffic go by name; expected traffic.load.KEY";
    assert_eq!(set("traffic.0.flows", "3"), format!("traffic.0.flows: {by_name}"));
    assert_eq!(set("traffic.0", "3"), format!("traffic.0: {by_name}"));
    let two = Scenario::from_toml(&format!("{GOOD}{MORE}"), Path::new("."), "test").unwrap();
    assert_eq!(wrong(&two, "traffic.1.flows", "3"), format!("traffic.1.flows: {by_name} or traffic.more.KEY"));
    assert_eq!(set("measure.trace.0", "one"), "measure.trace.0 = \"one\": expected a whole number >= 0");
}

#[test]
fn traffic_that_contradicts() {
    assert_eq!(
        message("\"hotspot\"", "\"random-pairs\"\nreceiver = \"h3\""),
        "traffic.load.receiver: the pattern random-pairs draws its receivers; only hotspot and incast take one"
    );
    assert_eq!(
        message("\"hotspot\"", "\"hotspot\"\nreceiver = \"h33\""),
        "traffic.load.receiver = \"h33\": expected a host: h0 to h15, or a number from 0 to 15"
    );
    assert_eq!(
        message("\"hotspot\"", "\"hotspot\"\nreceiver = 16"),
        "traffic.load.receiver = 16: expected a host: h0 to h15, or a number from 0 to 15"
    );
    assert_eq!(
        message("\"hotspot\"", "\"pairs\""),
        "traffic.load.pattern = \"pairs\": expected a topology with senders and receivers: dumbbell or star"
    );
    assert_eq!(
        message("\"hotspot\"", "\"hotspot\"\nfile = \"flows.csv\""),
        "traffic.load.file: not used by the pattern hotspot; expected pattern = \"file\""
    );
    assert_eq!(
        message(
            "app = { kind = \"bulk\", size = \"1MB\" }",
            "sink_stop = \"5ms\"\napp = { kind = \"query\", total = \"1MB\" }"
        ),
        "traffic.load.sink_stop = \"5ms\": expected none with app.kind = \"query\": \
         both ends of its connections send and receive"
    );
    assert_eq!(
        message("kind = \"bulk\", size = \"1MB\"", "kind = \"cbr\", rate = \"inf\""),
        "traffic.load.app.rate = \"inf\": expected a finite rate; kind = \"bulk\" writes as fast as the transport \
         takes it"
    );
}

#[test]
fn buffers_that_contradict() {
    let buffer = |keys: &str| message("[queue]", &format!("[buffer]\n{keys}\n\n[queue]"));
    assert_eq!(
        buffer("size = \"1kB\""),
        "buffer.size = \"1kB\": expected at least 1500B, a full packet of the transport"
    );
    assert_eq!(buffer("size = \"1MB\"\nalpha = 0.0"), "buffer.alpha = 0: expected above 0, at most 1000000");
    assert_eq!(buffer("size = \"1MB\"\nalpha = 1e308"), "buffer.alpha = 1e308: expected above 0, at most 1000000");
    assert_eq!(buffer("size = \"1MB\"\nalpha = -1.0"), "buffer.alpha = -1: expected above 0, at most 1000000");
    let reserve = buffer("size = \"1MB\"\nreserve = \"600kB\"");
    assert!(reserve.starts_with("buffer.reserve = \"600kB\": expected at most "), "{reserve}");
    assert_eq!(buffer("size = \"1MB\"\nalpa = 1.0"), "buffer.alpa: unknown key (did you mean \"alpha\"?)");
    check(&GOOD.replace("[queue]", "[buffer]\nsize = \"1MB\"\n\n[queue]")).unwrap();
    let pfc = |keys: &str| buffer(&format!("size = \"4MB\"\npfc = {{ {keys} }}"));
    assert_eq!(pfc("classes = [1]"), "buffer.pfc.classes = 1: expected 0: the queues have one class");
    assert_eq!(pfc("classes = [0, 0]"), "buffer.pfc.classes = 0: is there twice");
    assert_eq!(
        pfc("classes = []"),
        "buffer.pfc.classes = []: expected at least one class; without flow control leave out buffer.pfc"
    );
    assert_eq!(pfc("alpha = 0.0"), "buffer.pfc.alpha = 0: expected above 0, at most 1000000");
    assert_eq!(
        pfc("alpha = 0.5, threshold = \"20kB\""),
        "buffer.pfc.alpha = 0.5: expected no alpha beside threshold, which stands in its place"
    );
    assert_eq!(
        pfc("headroom = \"3kb\""),
        "buffer.pfc.headroom = \"3kb\": expected \"link\", \"hpcc\", or a size with a unit (B, kB, MB, GB, KiB, MiB, \
         GiB), such as \"30kB\" (did you mean \"3kB\"?)"
    );
    assert_eq!(pfc("headrom = \"3kB\""), "buffer.pfc.headrom: unknown key (did you mean \"headroom\"?)");
    let room = pfc("headroom = \"1MB\"");
    assert!(room.starts_with("buffer.size = \"4MB\": expected more than "), "{room}");
    assert!(room.contains("reserves and headrooms that buffer.pfc sets apart for the links into "), "{room}");
    // what a link brings in ten hours is more than 64 bits hold: two delays, a frame of 64 B and a packet, and two
    // packets
    let absurd = |keys: &str| {
        let fast = GOOD.replace("rate = \"1Gbps\", delay = \"10us\"", "rate = \"1000000000Gbps\", delay = \"18000s\"");
        check(&fast.replace("[queue]", &format!("[buffer]\nsize = \"4MB\"\npfc = {{ {keys} }}\n\n[queue]")))
            .unwrap_err()
    };
    for (keys, least) in [("", "4500000000000000253000"), ("headroom = \"hpcc\"", "6750000000000000000000")] {
        let told = absurd(keys).to_string();
        assert!(told.starts_with("buffer.pfc: link "), "{told}");
        assert!(told.contains(&format!(": {least}")), "{told}");
        assert!(
            told.ends_with(
                " B may come until it has stopped, more than any buffer has; expected a lower rate or shorter delays"
            ),
            "{told}"
        );
    }
    // one is below 2^64 B, those of a switch together are not
    let many = absurd("headroom = \"10000000000GB\"").to_string();
    assert!(many.starts_with("buffer.size = \"4MB\": expected more than 40000000000000016384B: "), "{many}");
    let host = |host: &str| {
        message("[queue]", &format!("[buffer]\nsize = \"4MB\"\npfc = {{}}\n\n[queue.host]\n{host}\n\n[queue]"))
    };
    assert_eq!(
        host("kind = \"fair-nic\""),
        "queue.host.kind = \"fair-nic\": expected a queue that can be paused beside buffer.pfc: drop-tail, with limit \
         = \"none\""
    );
    let classes = "kind = \"strict-priority\"\nclasses = [{ kind = \"drop-tail\", limit = \"9p\" }, { kind = \
                   \"drop-tail\", limit = \"9p\" }]";
    assert_eq!(
        host(classes),
        "queue.host.classes = 2 of them: expected as many classes as the switches' queues have, 1: each is paused by \
         itself"
    );
    check(&GOOD.replace("[queue]", "[buffer]\nsize = \"4MB\"\npfc = {}\n\n[queue]")).unwrap();
}

/// Queues whose limits drop what flow control is to keep; a limit of the buffer's size drops nothing at a switch.
#[test]
fn limits_beside_priority_flow_control_are_noted() {
    let notes = |switch: &str, host: &str, pfc: &str| {
        let host = format!("[queue.host]\nkind = \"drop-tail\"\nlimit = \"{host}\"");
        let text = format!("{host}\n[buffer]\nsize = \"4MB\"\n{pfc}\n[routing]");
        let toml = GOOD.replace("limit = \"100p\"", &format!("limit = \"{switch}\"")).replace("[routing]", &text);
        Scenario::from_toml(&toml, Path::new("."), "test").unwrap().notes().unwrap()
    };
    assert_eq!(notes("none", "none", "pfc = {}"), [""; 0]);
    assert_eq!(notes("4MB", "none", "pfc = {}"), [""; 0]);
    assert_eq!(notes("100p", "100p", ""), [""; 0]);
    let limited = |ports: u32, first: &str| {
        format!(
            "{ports} ports, the first of them {first}, have queues with a limit: what comes beyond it is dropped, \
             although buffer.pfc pauses its class; limit = \"none\" keeps it (docs/queues/pfc.md)"
        )
    };
    assert_eq!(notes("none", "4MB", "pfc = {}"), [limited(16, "h0>edge0")]);
    assert_eq!(notes("3MB", "none", "pfc = {}"), [limited(80, "agg0>core0")]);
    assert_eq!(notes("100p", "9p", "pfc = {}"), [limited(96, "agg0>core0")]);
}

#[test]
fn queues_that_contradict() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    assert_eq!(
        message(queue, "kind = \"fair-nic\""),
        "queue.kind = \"fair-nic\": expected at hosts only, in [queue.host]; switches have no flows of their own"
    );
    assert_eq!(
        message(queue, "kind = \"red\"\nlimit = \"100p\"\nmin_th = \"30kB\"\nmax_th = \"60p\""),
        "queue.min_th = \"30kB\": expected the unit of the limit, 100p"
    );
    assert_eq!(
        message(queue, "kind = \"red\"\nlimit = \"100p\"\nmin_th = \"70p\"\nmax_th = \"60p\""),
        "queue.min_th = \"70p\": expected at most max_th, 60p"
    );
    assert_eq!(
        message(queue, "kind = \"drop-tail\"\nlimit = \"100p\"\nmark = \"20p\""),
        "queue.mark: unknown key; expected one of kind, limit, device, count_in_service, count_overhead, host"
    );
    let random = "kind = \"random-drop\"\nlimit = \"32kB\"\nthreshold = ";
    assert_eq!(
        message(queue, &format!("{random}\"5p\"")),
        "queue.threshold = \"5p\": expected the unit of the limit, 32kB"
    );
    assert_eq!(
        message(queue, &format!("{random}\"none\"")),
        "queue.threshold = \"none\": expected the unit of the limit, 32kB"
    );
    assert_eq!(
        message(queue, "kind = \"random-drop\"\nlimit = \"none\"\nthreshold = \"none\""),
        "queue.limit = \"none\": expected a limit: arrivals are dropped close to it"
    );
    assert_eq!(
        message(queue, &format!("{random}\"33kB\"")),
        "queue.threshold = \"33kB\": expected at most the limit, 32kB, beyond which all are dropped"
    );
    assert_eq!(
        message(queue, &format!("{random}\"20kB\"\nprobability = 1.5")),
        "queue.probability = 1.5: expected a number from 0 to 1"
    );
    check(&GOOD.replace(queue, &format!("{random}\"20kB\""))).unwrap();
    let trimming = |keys: &str| message(queue, &format!("kind = \"trimming\"\nlimit = \"12kB\"\n{keys}"));
    assert_eq!(
        trimming("header = \"2kB\""),
        "queue.header = \"2kB\": expected 20B to 1000B, an IP header and less than a full packet"
    );
    assert_eq!(trimming("header_limit = \"0p\""), "queue.header_limit = \"0p\": expected room for at least one packet");
    assert_eq!(trimming("headers_per_data = 0"), "queue.headers_per_data = 0: expected a whole number >= 1");
    assert_eq!(trimming("headr = \"64B\""), "queue.headr: unknown key (did you mean \"header\"?)");
    assert_eq!(
        message(queue, "kind = \"trimming\"\nlimit = \"none\""),
        "queue.limit = \"none\": expected a limit: nothing is trimmed without"
    );
    let drop_tail = "{ kind = \"drop-tail\", limit = \"20p\" }";
    let weighted = format!("kind = \"weighted\"\nclasses = [{drop_tail}, {drop_tail}]");
    assert_eq!(
        message(queue, &format!("{weighted}\nweights = [1]")),
        "queue.weights = [1.0]: expected a weight for each of the 2 classes"
    );
    for (bad, told) in [("-1.0", "-1"), ("0", "0"), ("2e9", "2000000000"), ("1e300", "1e300")] {
        assert_eq!(
            message(queue, &format!("{weighted}\nweights = [1, {bad}]")),
            format!("queue.weights.1 = {told}: expected a weight from a byte a round (1 / quantum) to 1000")
        );
    }
    assert_eq!(message(queue, &format!("{weighted}\nquantum = \"0B\"")), "queue.quantum = \"0B\": expected 1B to 1MiB");
    assert_eq!(
        message(queue, "kind = \"strict-priority\"\nclasses = []"),
        "queue.classes: there are 0 classes; expected 1 to 256, a queue each"
    );
    let strict = |class: &str| message(queue, &format!("kind = \"strict-priority\"\nclasses = [{class}]"));
    assert_eq!(
        strict("{ kind = \"fair-nic\" }"),
        "queue.classes.0.kind = \"fair-nic\": expected one of \"drop-tail\", \"ecn-threshold\", \"red\", \
         \"random-drop\""
    );
    assert_eq!(
        strict("{ kind = \"drop-tail\", limit = \"20p\", device = 3 }"),
        "queue.classes.0.device = 3: expected 0: there is no device queue below classes"
    );
    assert_eq!(
        strict("{ kind = \"drop-tail\", limit = \"20p\", count_in_service = true }"),
        "queue.classes.0.count_in_service: expected beside the classes, not in one of them: it is of the whole port"
    );
    assert_eq!(
        strict("{ kind = \"ecn-threshold\", limit = \"20p\", mark = \"30p\" }"),
        "queue.classes.0.mark = \"30p\": expected at most the limit, 20p: a queue never grows beyond it"
    );
    assert!(strict("{ kind = \"drop-tial\", limit = \"20p\" }").contains("(did you mean \"drop-tail\"?)"));
    assert!(strict("{ kind = \"drop-tail\", limt = \"20p\" }").contains("(did you mean \"limit\"?)"));
    assert_eq!(
        strict("{ kind = \"drop-tail\", limit = \"1kB\" }"),
        "queue.classes.0.limit = \"1kB\": expected at least 1500B, a full packet of the transport"
    );
    let of_class =
        |key: &str| check(&GOOD.replace(queue, &weighted).replace("pattern =", &format!("{key}\npattern =")));
    of_class("class = 1").unwrap();
    assert!(
        of_class("class = 2").unwrap_err().to_string().contains("class = 2: expected 0 to 1, the classes of queue")
    );
    assert!(
        of_class("ack_class = 9")
            .unwrap_err()
            .to_string()
            .contains("ack_class = 9: expected 0 to 1, the classes of queue")
    );
    let departing = format!("{queue}\nmark_at = \"departure\"");
    assert_eq!(
        message(queue, &format!("{departing}\nnon_ect = \"drop\"")),
        "queue.non_ect = \"drop\": expected \"pass\" with mark_at = \"departure\": what leaves is not dropped any more"
    );
    assert_eq!(
        message(queue, &format!("{departing}\ndevice = 100")),
        "queue.device = 100: expected 0 with mark_at = \"departure\", which counts all that waits in the port"
    );
    assert_eq!(
        message(queue, &format!("{departing}\ncount_dropped_marks = true")),
        "queue.count_dropped_marks = true: expected false with mark_at = \"departure\": what is dropped never leaves"
    );
    check(&GOOD.replace(queue, &departing)).unwrap();
}

#[test]
fn links_that_contradict() {
    let link = "delay = \"10us\"";
    let burst = |more: &str| message(link, &format!("{link}, burst = {more}"));
    assert_eq!(
        burst("\"100B\""),
        "topology.link.burst = \"100B\": expected at least 1500B, a full packet with its overhead: it would never leave"
    );
    assert_eq!(
        message("rate = \"1Gbps\", delay", "rate = \"inf\", burst = \"3kB\", delay"),
        "topology.link.burst = \"3kB\": expected none with rate = \"inf\": a token bucket fills at the link's rate"
    );
    assert_eq!(
        message(link, &format!("{link}, lose = [3], error_rate = 0.1")),
        "topology.link.error_rate = 0.1: expected 0 with lose: a link loses either by rate or what that list names; \
         error_rate = 0 leaves the list, lose = [] the rate"
    );
    assert_eq!(
        message(link, &format!("{link}, lose = [-3]")),
        "topology.link.lose.0 = -3: expected a whole number from 0 to 9223372036854775807"
    );
    let tier = |change: &str| message("k = 4", &format!("k = 4\ncore_link = {{ {change} }}"));
    assert_eq!(
        tier("burst = \"20B\""),
        "topology.core_link.burst = \"20B\": expected at least 1500B, a full packet with its overhead: it would never \
         leave"
    );
    assert_eq!(
        tier("lose = [1], error_rate = 1.0"),
        "topology.core_link.error_rate = 1: expected 0 with lose: a link loses either by rate or what that list names; \
         error_rate = 0 leaves the list, lose = [] the rate"
    );
    // The list is a set: its order does not matter.
    let lose = |list: &str| GOOD.replacen(link, &format!("{link}, lose = {list}"), 1);
    let links =
        |text: &str| format!("{:?}", Scenario::from_toml(text, Path::new("."), "t").unwrap().build().unwrap().links);
    assert_eq!(links(&lose("[5, 3, 3]")), links(&lose("[3, 5]")));
}

#[test]
fn single_links() {
    let routing = "[[traffic]]";
    let one = |keys: &str| message(routing, &format!("[[links]]\n{keys}\n\n{routing}"));
    assert_eq!(
        one("link = \"agg0>core7\""),
        "links.0.link = \"agg0>core7\": no such link; expected a name such as \"agg0>core0\" (did you mean \
         \"agg0>core0\"?)"
    );
    assert_eq!(one("delay = \"1us\""), "links.0.link: missing; expected a text in quotes");
    assert_eq!(one("link = \"h0>edge0\"\ndealy = \"1us\""), "links.0.dealy: unknown key (did you mean \"delay\"?)");
    assert_eq!(
        one("link = \"h0>edge0\"\nrate = \"1bps\"\n[[links]]\nlink = \"edge0>h0\"\ndelay = \"1us\""),
        "links.1.link = \"edge0>h0\": links.0 is about the same link; expected one entry a link"
    );
    assert_eq!(
        one("link = \"h0>edge0\"\nburst = \"20B\""),
        "links.0.burst = \"20B\": expected at least 1500B, a full packet with its overhead: it would never leave"
    );
    assert_eq!(
        one("link = \"h0>edge0\"\nlose = [1]\nerror_rate = 0.5"),
        "links.0.error_rate = 0.5: expected 0 with lose: a link loses either by rate or what that list names; \
         error_rate = 0 leaves the list, lose = [] the rate"
    );

    // What is not named stays; forward is the direction named.
    let links = |text: &str| Scenario::from_toml(text, Path::new("."), "t").unwrap().build().unwrap().links;
    let before = links(GOOD);
    let keys = "link = \"core0>agg0\"\nrate = \"2Gbps\"\ndelay = \"5us\"\nback_delay = \"7us\"\nlose = [3]";
    let after = links(&GOOD.replacen(routing, &format!("[[links]]\n{keys}\n\n{routing}"), 1));
    let differing: Vec<usize> =
        (0..before.len()).filter(|i| format!("{:?}", before[*i]) != format!("{:?}", after[*i])).collect();
    let told: Vec<String> = differing
        .iter()
        .map(|i| format!("{} {} {} {:?}", after[*i].name, after[*i].rate, after[*i].delay, after[*i].loss))
        .collect();
    assert_eq!(told, ["agg0>core0 2Gbps 7us None", "core0>agg0 2Gbps 5us List([3])"]);
}

#[test]
fn failures_of_links() {
    let traffic = "[[traffic]]";
    let one = |keys: &str| message(traffic, &format!("[[failures]]\n{keys}\n\n{traffic}"));
    let at = "at = \"1ms\"";
    let core = format!("link = \"agg0>core0\"\n{at}");
    assert_eq!(
        one("link = \"agg0>core0\""),
        "failures.0.at: missing; expected a time with a unit (ps, ns, us, ms, s), such as \"10us\""
    );
    assert_eq!(one(&format!("{core}\nuntill = \"2ms\"")), "failures.0.untill: unknown key (did you mean \"until\"?)");
    assert_eq!(
        one(&format!("link = \"agg0>core7\"\n{at}")),
        "failures.0.link = \"agg0>core7\": no such link; expected a name such as \"agg0>core0\" (did you mean \
         \"agg0>core0\"?)"
    );
    assert_eq!(one(at), "failures.0.link: missing; expected a link such as \"agg0>core0\", or between and share");
    let between = format!("between = [\"agg\", \"core\"]\n{at}");
    assert_eq!(one(&between), "failures.0.share: missing; expected with between, from 0 to 1");
    assert_eq!(
        one(&format!("{core}\nshare = 0.5")),
        "failures.0.share = 0.5: expected with between only, such as [\"agg\", \"core\"]"
    );
    assert_eq!(
        one(&format!("{core}\nbetween = [\"agg\", \"core\"]\nshare = 0.5")),
        "failures.0.link = \"agg0>core0\": expected either a link or links between two kinds of nodes"
    );
    for ends in ["[\"agg\"]", "[\"agg\", \"core\", \"edge\"]", "[]"] {
        assert_eq!(
            one(&format!("between = {ends}\nshare = 0.5\n{at}")),
            format!("failures.0.between = {ends}: expected a list of 2 texts in quotes")
        );
    }
    assert_eq!(one(&format!("{between}\nshare = 1e300")), "failures.0.share = 1e300: expected a number from 0 to 1");
    assert_eq!(one(&format!("{between}\nshare = 1.5")), "failures.0.share = 1.5: expected a number from 0 to 1");
    assert_eq!(
        one(&format!("{between}\nshare = 0.01")),
        "failures.0.share = 0.01: makes 0 of 16 links, of which 16 do not fail at that time already; expected at \
         least one, and no more than these"
    );
    assert_eq!(
        one(&format!("between = [\"agg\", \"spine\"]\nshare = 0.5\n{at}")),
        "failures.0.between = [\"agg\", \"spine\"]: no link joins such nodes; expected one of [\"agg\", \"core\"], \
         [\"edge\", \"agg\"], [\"h\", \"edge\"]"
    );
    assert_eq!(
        one("link = \"agg0>core0\"\nat = \"10ms\""),
        "failures.0.at = \"10ms\": expected a time before the run's end, 10ms"
    );
    assert_eq!(
        one(&format!("{core}\nuntil = \"1ms\"")),
        "failures.0.until = \"1ms\": expected a time after the failure begins, 1ms"
    );
    assert_eq!(
        one(&format!("{core}\nkind = \"degarded\"")),
        "failures.0.kind = \"degarded\": expected one of \"down\", \"degraded\" (did you mean \"degraded\"?)"
    );
    assert_eq!(
        one(&format!("{core}\nloss = 0.5")),
        "failures.0.loss = 0.5: expected none with kind = \"down\": nothing gets through; kind = \"degraded\" has it"
    );
    let degraded = format!("{core}\nkind = \"degraded\"");
    assert_eq!(one(&degraded), "failures.0: expected at least one of rate, delay and loss with kind = \"degraded\"");
    assert_eq!(one(&format!("{degraded}\nrate = \"0bps\"")), "failures.0.rate = \"0bps\": expected a rate above 0");
    assert_eq!(
        one(&format!("{degraded}\nloss = 0.1\ndetection = \"1us\"")),
        "failures.0.detection = \"1us\": expected none with kind = \"degraded\": switches do not route around what \
         works"
    );
    assert_eq!(
        one(&format!("{core}\n[[failures]]\nlink = \"core0>agg0\"\nat = \"2ms\"")),
        "failures.1.link = \"core0>agg0\": another entry is about this link at the same time; expected one after the \
         other"
    );
    // a host has one link; ten flows of the hotspot go somewhere else
    let said = one("link = \"edge0>h0\"\nat = \"1ms\"\ndetection = \"2us\"");
    assert!(said.starts_with("failures.0.link = \"edge0>h0\": leaves no path between h"), "{said}");
    assert!(
        said.contains(" from 1.002ms on, where flow ") && said.contains(" of traffic.load may have traffic; "),
        "{said}"
    );
    let said = one(&format!("between = [\"edge\", \"agg\"]\nshare = 1\n{at}"));
    assert!(said.starts_with("failures.0.between = [\"edge\", \"agg\"]: leaves no path between h"), "{said}");

    // over before it is seen: nobody is told, packets are lost
    let built = |keys: &str| {
        let text = GOOD.replacen(traffic, &format!("[[failures]]\n{keys}\n\n{traffic}"), 1);
        Scenario::from_toml(&text, Path::new("."), "t").unwrap().build().unwrap()
    };
    assert_eq!(built("link = \"edge0>h0\"\nat = \"1ms\"\nuntil = \"2ms\"\ndetection = \"1ms\"").failures.len(), 2);
    // which links fail the seed decides, half of sixteen, both directions
    let links = |seed: u64| -> Vec<u32> {
        let text = format!("{}\nkind = \"degraded\"\nloss = 0.5\nshare = 0.5", between);
        let text = GOOD.replacen(traffic, &format!("[[failures]]\n{text}\n\n{traffic}"), 1);
        let mut s = Scenario::from_toml(&text, Path::new("."), "t").unwrap();
        s.set("run.seed", &seed.to_string()).unwrap();
        s.build().unwrap().failures.iter().map(|f| f.link).collect()
    };
    assert_eq!(links(1), links(1));
    assert_eq!(links(1).len(), 16);
    assert_ne!(links(1), links(2));
}

#[test]
fn numbers_that_would_overflow() {
    let link = "rate = \"1Gbps\", delay = \"10us\"";
    let bucket = |text: &str| message(link, &format!("delay = \"10us\", {text}"));
    assert_eq!(
        bucket("rate = \"1bps\", burst = \"3MB\""),
        "topology.link.burst = \"3MB\": expected less with rate = \"1bps\": \
         the bucket would take more than 9000000s to fill"
    );
    assert_eq!(
        bucket("rate = \"1Gbps\", back_rate = \"1bps\", burst = \"3MB\""),
        "topology.link.burst = \"3MB\": expected less with back_rate = \"1bps\": \
         the bucket would take more than 9000000s to fill"
    );
    assert_eq!(
        bucket("rate = \"1Gbps\", burst = \"5GB\""),
        "topology.link.burst = \"5GB\": expected at most 4294967295B"
    );
    // Almost as much is not too much.
    check(&GOOD.replacen(link, "delay = \"10us\", rate = \"4kbps\", burst = \"4294967295B\"", 1)).unwrap();
    assert_eq!(
        set("topology.link.lose", "[18446744073709551615]"),
        "topology.link.lose = \"[18446744073709551615]\": \
         expected a list of whole numbers from 0 to 9223372036854775807"
    );
    assert_eq!(
        set("topology.core_link.lose", "[18446744073709551615]"),
        "topology.core_link.lose = \"[18446744073709551615]\": \
         expected a list of whole numbers from 0 to 9223372036854775807"
    );
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let app = |text: &str| message(bulk, text);
    assert_eq!(
        app("kind = \"closed-loop\", write = \"1MB\", count = 9223372036854775807"),
        "traffic.load.app.count = 9223372036854775807: expected at most 9223372036854 with write = \"1MB\": \
         a flow has at most 9223372036854775807 bytes"
    );
    assert_eq!(
        app("kind = \"bulk\", size = \"18446744073GB\""),
        "traffic.load.app.size = \"18446744073GB\": expected at most 9223372036854775807B"
    );
    assert_eq!(
        app("kind = \"closed-loop\", write = \"1kB\", outstanding = 4294967295"),
        "traffic.load.app.outstanding = 4294967295: expected a whole number from 1 to 1000000"
    );
    let on_off = |on: &str, off: &str| format!("kind = \"on-off\", rate = \"1Mbps\", on = \"{on}\", off = \"{off}\"");
    assert_eq!(
        app(&on_off("1ps", "18446744s")),
        "traffic.load.app.off = \"18446744s\": \
         expected at most 9000000s together with on, which is 1ps"
    );
    check(&GOOD.replacen(bulk, &on_off("1s", "8999999s"), 1)).unwrap();
    assert_eq!(set("transport.sack_block", "41"), "transport.sack_block = 41: expected a whole number from 0 to 40");
}

#[test]
fn writes_that_never_fit_into_the_send_buffer() {
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let at_a_rate = "expected at most transport.send_buffer, 4MiB: a write at a rate enters it whole or not at all";
    for kind in ["cbr", "on-off"] {
        assert_eq!(
            message(bulk, &format!("kind = \"{kind}\", rate = \"1Gbps\", write = \"10MB\"")),
            format!("traffic.load.app.write = \"10MB\": {at_a_rate}")
        );
    }
    let whole = "preset = \"linux\"\nwhole_writes = true\nsend_buffer = \"20kB\"";
    assert_eq!(
        message("preset = \"linux\"", whole),
        "traffic.load.app.write = \"64kB\": expected at most transport.send_buffer, 20kB: \
         with transport.whole_writes = true it enters it whole or not at all"
    );
    // A flow of less has less to write, and without whole_writes a write goes in parts.
    check(&GOOD.replacen("preset = \"linux\"", whole, 1).replacen("1MB", "20kB", 1)).unwrap();
    check(&GOOD.replacen("preset = \"linux\"", "send_buffer = \"20kB\"", 1)).unwrap();
}

#[test]
fn queues_that_do_not_go_with_a_token_bucket() {
    let with_burst = GOOD.replacen("delay = \"10us\"", "delay = \"10us\", burst = \"3kB\"", 1);
    let refused = |from: &str, to: &str| check(&with_burst.replacen(from, to, 1)).unwrap_err().to_string();
    let mark = "mark = \"20p\"";
    assert_eq!(
        refused(mark, &format!("{mark}\ndevice = 100")),
        "queue.device = 100: expected 0 with the burst of a link: there is no device queue below a token bucket"
    );
    assert_eq!(
        refused(mark, &format!("{mark}\nmark_at = \"departure\"")),
        "queue.mark_at = \"departure\": expected \"arrival\" with the burst of a link: \
         a token bucket has no departures to mark at"
    );
    assert_eq!(
        refused(mark, &format!("{mark}\nhost = {{ kind = \"fair-nic\" }}")),
        "queue.host.kind = \"fair-nic\": expected another kind with the burst of a link: a fair NIC has a transmitter"
    );
    assert_eq!(
        message(mark, &format!("{mark}\nmark_at = \"departure\"\ncount_overhead = true")),
        "queue.count_overhead = true: expected false with mark_at = \"departure\", which counts packets without it"
    );
    // What hosts have does not matter where only switches' links have a bucket.
    check(&GOOD.replacen("k = 4", "k = 4\ncore_link = { burst = \"3kB\" }", 1).replacen(
        mark,
        &format!("{mark}\nhost = {{ kind = \"fair-nic\" }}"),
        1,
    ))
    .unwrap();
}

#[test]
fn forms_and_messages_that_contradict() {
    let controller = |text: &str| set("controller", text);
    let one_of = "expected one of: \"standard\" \"ns3\" \"htsim\" \"linux\"";
    assert_eq!(controller("dctcp:form=nonsense"), format!("controller.form = \"nonsense\": {one_of}"));
    assert_eq!(controller("dctcp:form="), format!("controller.form = \"\": {one_of}"));
    assert_eq!(
        controller("newreno:form=htsim"),
        "controller.form = \"htsim\": expected one of: \"standard\" \"ns3\" \"linux\""
    );
    assert_eq!(controller("dctcp:form=ns3,floor=-1"), "controller.floor = \"-1\": expected a number of at least 0");
    assert_eq!(
        controller("swift:form=yasomam,max_cwnd=1"),
        "controller.min_cwnd = 1.3333333333333333: expected at most max_cwnd"
    );
    let app = |text: &str| message("{ kind = \"bulk\", size = \"1MB\" }", text);
    let size = "expected a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"128kB\"";
    assert_eq!(
        app("{ kind = \"query\", total = \"9B\" }"),
        "traffic.load.app.total = \"9B\": expected at least 10 bytes, one for each of the 10 workers"
    );
    assert_eq!(
        app("{ kind = \"query\", response = \"0B\" }"),
        "traffic.load.app.response = \"0B\": expected at least 1 byte"
    );
    assert_eq!(
        app("{ kind = \"query\", response = \"1kB\", total = \"1MB\" }"),
        "traffic.load.app.total = \"1MB\": expected either response, the bytes of every worker, or total, split among \
         them"
    );
    assert_eq!(app("{ kind = \"query\", total = 5 }"), format!("traffic.load.app.total = 5: {size}"));
    assert_eq!(
        app("{ kind = \"closed-loop\", write = \"1kB\", outstanding = 0 }"),
        "traffic.load.app.outstanding = 0: expected a whole number from 1 to 1000000"
    );
    assert_eq!(app("{ kind = \"closed-loop\" }"), format!("traffic.load.app.write: missing; {size}"));
    assert_eq!(
        message("\"hotspot\"", "\"random-pairs\"\nto_itself = \"skip\""),
        "traffic.load.to_itself: the pattern random-pairs has no flows to themselves; only hotspot takes it"
    );
    let file = |name: &str| message("\"hotspot\"", &format!("\"file\"\nfile = \"{name}\""));
    assert!(file("builtin:nonsense").starts_with(
        "traffic.load.file = \"builtin:nonsense\": no file of this name comes with the program; \
         expected builtin: and one of ns3-random-hotspot,"
    ));
    assert_eq!(
        message("\"hotspot\"\nflows = 10", "\"file\"\nfile = \"builtin:ns3-random-pairs\"\nflows = 9999"),
        "traffic.load.flows = 9999: the file has 2000 flows; expected at most as many"
    );
}

#[test]
fn a_path_that_takes_no_time() {
    assert_eq!(
        message("rate = \"1Gbps\", delay = \"10us\"", "rate = \"inf\", delay = 0"),
        (0..10)
            .map(|i| format!(
                "traffic.load, flow {i} (h{i} to h15): its whole path takes no time, there and back; \
                 expected a finite rate or a delay above 0 on at least one link of it"
            ))
            .collect::<Vec<_>>()
            .join("\n")
    );
    // One link that takes time is enough.
    check(
        &GOOD
            .replace("rate = \"1Gbps\", delay = \"10us\"", "rate = \"inf\", delay = 0")
            .replace("k = 4", "k = 4\nhost_link = { rate = \"1Gbps\" }"),
    )
    .unwrap();
}

#[test]
fn files_that_are_not_there() {
    let unknown =
        message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"builtin:htsim-permutation-swft\"");
    assert_eq!(
        unknown,
        "traffic.load.file = \"builtin:htsim-permutation-swft\": no file of this name comes with the program; expected \
         builtin: and one of ns3-random-hotspot, ns3-random-pairs, pfc-incast-victim, htsim-permutation-swift, \
         htsim-permutation-dctcp (did you mean \"htsim-permutation-swift\"?)"
    );
    let unknown = Scenario::load("hotspto").unwrap_err().to_string();
    assert!(
        unknown.starts_with("hotspto: no file and no built-in scenario of this name; built in are hotspot, "),
        "{unknown}"
    );
    assert!(unknown.ends_with("(did you mean \"hotspot\"?)"), "{unknown}");
    assert_eq!(Scenario::load("nowhere/x.toml").unwrap_err().to_string(), "nowhere/x.toml: no such file");
    assert_eq!(
        message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\""),
        "traffic.load.file: missing; expected the name of a CSV file of flows"
    );
    assert_eq!(
        message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"no.csv\""),
        "traffic.load.file = \"./no.csv\": no such file; file names start from the folder of the scenario file"
    );
}

#[test]
fn toml_that_is_not_toml() {
    let e = Scenario::from_toml("[run\nduration = 1", Path::new("."), "broken.toml").unwrap_err().to_string();
    assert!(e.starts_with("broken.toml: TOML parse error at line 1, column 5"), "{e}");
}

/// A folder of its own for a test's files.
fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("incast-scenario-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn flows(name: &str, csv: &str) -> Result<incast_engine::spec::Spec, Errors> {
    let dir = folder(name);
    std::fs::write(dir.join("flows.csv"), csv).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let result = Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build());
    std::fs::remove_dir_all(&dir).unwrap();
    result
}

#[test]
fn bad_lines_of_a_flow_file() {
    let csv = "start,source,destination,size,controller,path\n\
               0s,h0,h1,2MB,,\n\
               1,h0,h1,2MB,,\n\
               0s,h0,h16,2MB,,\n\
               0s,h2,2,2MB,,\n\
               0s,h0,h1,2Mb,,\n\
               0s,h0,h1,2MB,sift,\n\
               0s,h0,h4,2MB,,edge0 agg0 edge2\n\
               0s,h0,h2,2MB,,edge0 agg9 edge1\n\
               0s,,h2,2MB,,\n";
    let expected = format!(
        "flows.csv, line 3, column start = 1: {TIME}\n\
         flows.csv, line 4, column destination = h16: expected a host: h0 to h15, or a number from 0 to 15\n\
         flows.csv, line 5, column destination = 2: expected another host than the source, h2\n\
         flows.csv, line 6, column size = 2Mb: expected a size above 0, in bytes or with a unit, such as 2000000 or \
         \"2MB\"\n\
         flows.csv, line 7, column controller = sift: {} (did you mean \"swift\"?)\n\
         flows.csv, line 8, column path = edge0 agg0 edge2: no link goes from agg0 to edge2\n\
         flows.csv, line 9, column path = edge0 agg9 edge1: no node is called agg9; expected names of switches from \
         source to destination (did you mean \"agg0\"?)\n\
         flows.csv, line 10, column source: empty; expected a host's name or number",
        one_of_the_controllers()
    );
    assert_eq!(flows("bad-lines", csv).unwrap_err().to_string(), expected);
    assert_eq!(
        flows("bad-header", "start,source,dest\n0s,h0,h1\n").unwrap_err().to_string(),
        "flows.csv, line 1, column dest = dest: unknown column; expected some of \
         start,source,destination,size,controller,path,reverse_path,after\n\
         flows.csv, line 1: the column destination is missing"
    );
    assert_eq!(
        flows("too-wide", "start,source,destination\n0s,h0,h1,7\n").unwrap_err().to_string(),
        "flows.csv, line 2: 4 values under 3 columns; a value that holds a comma goes in quotes, such as \
         \"swift:target=min-rtt,epsilon=100us\""
    );
}

#[test]
fn a_flow_file() {
    let csv = "# what, from where to where\n\
               start, source, destination, size, controller, path, reverse_path\n\
               0s, h0, 15, 2000000,\"swift:target=min-rtt,epsilon=100us\", edge0 agg1 core2 agg7 edge7, edge7 agg6 \
               core0 agg0 edge0\n\
               5us, 3, h0, , ,\n";
    let spec = flows("good", csv).unwrap();
    let f = &spec.flows[0];
    assert_eq!((f.src, f.dst, f.start.0), (0, 15, 0));
    assert_eq!(f.app, incast_engine::spec::App::Bulk { size: Some(2_000_000), write: 64_000 });
    let names = |links: &Option<Vec<u32>>| {
        links.as_ref().unwrap().iter().map(|l| spec.links[*l as usize].name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&f.path), "h0>edge0 edge0>agg1 agg1>core2 core2>agg7 agg7>edge7 edge7>h15");
    assert_eq!(names(&f.reverse_path), "h15>edge7 edge7>agg6 agg6>core0 core0>agg0 agg0>edge0 edge0>h0");
    assert_eq!(spec.controllers.len(), 2);
    assert_ne!(f.controller, spec.flows[1].controller);
    let g = &spec.flows[1];
    assert_eq!((g.src, g.dst, g.start.0, &g.path), (3, 0, 5_000_000, &None));
    assert_eq!(g.app, incast_engine::spec::App::Bulk { size: Some(1_000_000), write: 64_000 }, "the entry's app");
    // Swift wants an ACK for every packet, DCTCP lives with the preset's two.
    let acks = |f: usize| spec.transports[spec.flows[f].transport as usize].delayed_ack;
    assert_eq!((acks(0), acks(1)), (1, 2));
}

#[test]
fn graph_files() {
    let dir = folder("graph-errors");
    let build = |file: &str, text: &str| {
        std::fs::write(dir.join(file), text).unwrap();
        let topology = format!("kind = \"graph\"\nfile = \"{file}\"");
        let text = GOOD.replace("kind = \"fat-tree\"\nk = 4\nlink = { rate = \"1Gbps\", delay = \"10us\" }", &topology);
        Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build()).map(drop).map_err(|e| e.to_string())
    };
    let base = "hosts = [\"a\", \"b\"]\nswitches = [\"s\"]\n";
    let link = |a: &str, b: &str| format!("[[links]]\na = \"{a}\"\nb = \"{b}\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n");
    assert_eq!(build("good.toml", &[base, &link("a", "s"), &link("s", "b")].concat()), Ok(()));
    assert_eq!(
        build("two.toml", &[base, &link("a", "s"), &link("s", "b"), &link("s", "b")].concat()),
        Err("two.toml, host b: has 2 links; expected exactly one".into())
    );
    assert_eq!(
        build("none.toml", &[base, &link("a", "s")].concat()),
        Err("none.toml, host b: has 0 links; expected exactly one".into())
    );
    assert_eq!(
        build("name.toml", &[base, &link("a", "s"), &link("s", "bb")].concat()),
        Err("name.toml, link 2.b = \"bb\": expected the name of a host or switch (did you mean \"b\"?)".into())
    );
    assert_eq!(
        build("key.toml", &[base, &link("a", "s").replace("delay", "dely")].concat()),
        Err("key.toml, links.0.dely: unknown key (did you mean \"delay\"?)".into())
    );
    assert_eq!(
        build("rate.toml", &[base, &link("a", "s").replace("rate = \"1Gbps\"", "")].concat()),
        Err("rate.toml, link 1.rate: missing; give it here or as topology.link.rate".into())
    );
    assert_eq!(
        build(
            "apart.toml",
            "hosts = [\"a\", \"b\"]\nswitches = [\"s\", \"t\"]\n[[links]]\na = \"a\"\nb = \"s\"\nrate = \"1Gbps\"\n\
             delay = \"1us\"\n[[links]]\na = \"b\"\nb = \"t\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n"
        ),
        Err((0..10)
            .map(|i| format!("traffic.load, flow {i} (a to b): no path joins the two hosts"))
            .collect::<Vec<_>>()
            .join("\n"))
    );
    assert_eq!(
        build("rows.csv", "kind,name,peer,rate,delay\nhost,a\nhost,b\nswich,s\nlink,a,s,1Gbps,1\n"),
        Err(format!(
            "rows.csv, line 4, column kind = swich: expected one of \"host\", \"switch\", \"link\" (did you mean \
             \"switch\"?)\n\
             rows.csv, line 5, column delay = 1: {TIME}"
        ))
    );
    assert_eq!(
        build(
            "good.csv",
            "kind,name,peer,rate,delay\nhost,a\nhost,b\nswitch,s\nlink,a,s,1Gbps,1us\nlink,s,b,1Gbps,1us\n"
        ),
        Ok(())
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn numbers_a_type_cannot_hold() {
    let top = 4_294_967_295u32;
    assert_eq!(
        set("topology.k", "4294967296"),
        format!("topology.k = 4294967296: expected an even number from 2 to {top}")
    );
    assert_eq!(
        set("topology.link.overhead", "4294967296"),
        format!("topology.link.overhead = 4294967296: expected a whole number from 0 to {top}")
    );
    assert_eq!(
        set("transport.syn_retries", "9223372036854775807"),
        format!("transport.syn_retries = 9223372036854775807: expected a whole number from 0 to {top}")
    );
    assert_eq!(
        set("transport.delayed_ack", "4294967296"),
        "transport.delayed_ack = 4294967296: expected \"auto\" or a whole number >= 1"
    );
    assert_eq!(
        message("trace = [0]", "trace = [4294967296]"),
        format!("measure.trace.0 = 4294967296: expected a whole number from 0 to {top}")
    );
    // The largest that fits is a number like others: refused for what it makes.
    let large = set("topology.k", "4294967294");
    assert!(large.starts_with("topology.k = 4294967294: makes ") && large.contains("at most 1048576"), "{large}");
    // The largest seed is taken, the next is not.
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("run.seed", "9223372036854775807").unwrap();
    assert_eq!(s.build().unwrap().seed, i64::MAX as u64);
    assert!(set("run.seed", "9223372036854775808").ends_with("expected a whole number from 0 to 9223372036854775807"));
    assert!(Scenario::schema().contains("\"maximum\": 9223372036854775807"));
}

#[test]
fn networks_that_do_not_fit_into_memory() {
    let tree = "kind = \"fat-tree\"\nk = 4\n";
    assert_eq!(
        message(tree, "kind = \"leaf-spine\"\nleaves = 2\nhosts_per_leaf = 4\nspines = 4000000000\n"),
        "topology.spines = 4000000000: makes 8000000000 links between leaves and spines; expected at most 4194304"
    );
}

#[test]
fn series_that_do_not_fit_into_memory() {
    let series = |interval: &str, flows: &str| {
        let ports = "[\"edge7>h15\", \"edge0>h0\"]";
        let text = GOOD.replace(
            "trace = [0]",
            &format!("series = {{ flows = {flows}, ports = {ports}, interval = \"{interval}\" }}"),
        );
        check(&text).map_err(|e| e.to_string())
    };
    // 10 ms of 8 values of each of 3 flows and of 2 ports: 26 values every 5.2 ns are 5e7.
    let refused = |interval: &str| {
        Err(format!(
            "measure.series.interval = \"{interval}\": expected at least 5.2ns for 3 flows and 2 ports over 10ms: \
             all series together have at most 50000000 values"
        ))
    };
    assert_eq!(series("1ps", "[0, 1, 2]"), refused("1ps"));
    assert_eq!(series("5199ps", "[0, 1, 2]"), refused("5.199ns"));
    assert_eq!(series("5200ps", "[0, 1, 2]"), Ok(()));
    assert_eq!(series("400ps", "[]"), Ok(()), "two values every 400 ps are 5e7");
    let zero = |key: &str| format!("{key} = \"0s\": expected a time above 0");
    assert_eq!(series("0s", "[0]"), Err(zero("measure.series.interval")));
    for none in ["0", "0s"] {
        assert_eq!(set("measure.queue_interval", none), zero("measure.queue_interval"));
    }
    // Nothing is sampled where nothing is asked for.
    check(&GOOD.replace("trace = [0]", "series = { interval = \"1ps\" }")).unwrap();
}

#[test]
fn flow_files_without_flows() {
    assert_eq!(
        flows("only-header", "start,source,destination\n# none yet\n").unwrap_err().to_string(),
        "traffic.load.file = \"flows.csv\": the file has no flows; expected at least one line after the header"
    );
}

#[test]
fn things_given_twice() {
    assert_eq!(
        flows("twice", "start,size,source,destination,size\n0s,1,h0,h1,2\n").unwrap_err().to_string(),
        "flows.csv, line 1: column size is given twice, as number 2 and number 5"
    );
    assert_eq!(message("\"dctcp\"", "\"dctcp:g=0.1,g=0.2\""), "controller.g = \"0.2\": given twice; expected once");
}

#[test]
fn every_line_of_a_flow_file_is_looked_at() {
    // An unquoted comma, and then more wrong lines than are printed.
    let csv = "start,source,destination,size,controller\n0s,h0,h1,1,swift:target=min-rtt,epsilon=100us\n".to_owned()
        + &"1,h0,h1,1,\n".repeat(30);
    let errors = flows("all-lines", &csv).unwrap_err();
    assert_eq!(errors.0.len(), 31);
    assert_eq!(
        errors.0[0].to_string(),
        "flows.csv, line 2: 6 values under 5 columns; a value that holds a comma goes in quotes, such as \
         \"swift:target=min-rtt,epsilon=100us\""
    );
    assert_eq!(errors.0[30].to_string(), format!("flows.csv, line 32, column start = 1: {TIME}"));
    assert!(errors.to_string().ends_with("\n... and 11 more"), "{errors}");
}

#[test]
fn queues_that_hold_no_packet() {
    // Linux: 1448 bytes and a header of 52.
    let limit = |queue: &str| message("limit = \"100p\"\nmark = \"20p\"", queue);
    let full = "expected at least 1500B, a full packet of the transport";
    assert_eq!(limit("limit = \"1B\"\nmark = \"20p\""), format!("queue.limit = \"1B\": {full}"));
    assert_eq!(limit("limit = \"1499B\"\nmark = \"1kB\""), format!("queue.limit = \"1.499kB\": {full}"));
    assert_eq!(
        limit("limit = \"100p\"\nmark = \"20p\"\nhost = { kind = \"drop-tail\", limit = \"1kB\" }"),
        format!("queue.host.limit = \"1kB\": {full}")
    );
    // The largest packet of all transports in use; fragments are no larger than the MTU.
    let own = |transport: &str| {
        let text = GOOD.replace("limit = \"100p\"\nmark = \"20p\"", "limit = \"1500B\"\nmark = \"20p\"");
        check(&text.replace("flows = 10", &format!("flows = 10\ntransport = {transport}"))).map_err(|e| e.to_string())
    };
    assert_eq!(own("{ mss = 1448 }"), Ok(()));
    assert_eq!(own("{ mss = 3000 }"), Ok(()));
    assert_eq!(
        own("{ preset = \"htsim\" }"),
        Err("queue.limit = \"1.5kB\": expected at least 4000B, a full packet of the transport".into())
    );
    // Packets and bytes are not compared.
    check(&GOOD.replace("mark = \"20p\"", "mark = \"1GB\"")).unwrap();
}

#[test]
fn parameters_of_another_controller() {
    let has_epsilon = |kind: &&&incast_cc::Kind| kind.params.iter().any(|param| param.name == "epsilon");
    let others: Vec<_> = incast_cc::KINDS.iter().filter(has_epsilon).map(|kind| kind.name).collect();
    let expected = format!(
        "controller.epsilon: the controller dctcp has no parameter epsilon, which is one of {}; it has {}",
        others.join(", "),
        dctcp_has()
    );
    assert_eq!(set("controller.epsilon", "50us"), expected);
    let near =
        "controller.initial_alpa: the controller dctcp has no parameter initial_alpa (did you mean \"initial_alpha\"?)";
    assert_eq!(set("controller.initial_alpa", "1"), near);
    // As a table, it is the same.
    let mut table =
        Scenario::from_toml(&GOOD.replace("\"dctcp\"", "{ kind = \"dctcp\" }"), Path::new("."), "test").unwrap();
    assert_eq!(table.set("controller.epsilon", "50us").unwrap_err().to_string(), expected);
    assert_eq!(table.set("controller.initial_alpa", "1").unwrap_err().to_string(), near);
}

#[test]
fn quantities_that_are_nearly_right() {
    let delay = |text: &str| message("\"10us\"", &format!("\"{text}\""));
    let rate = |text: &str| message("\"1Gbps\"", &format!("\"{text}\""));
    let limit = |text: &str| message("\"100p\"", &format!("\"{text}\""));
    assert_eq!(rate("1gbps"), format!("topology.link.rate = \"1gbps\": {RATE} (did you mean \"1Gbps\"?)"));
    assert_eq!(delay("1.5US"), format!("topology.link.delay = \"1.5US\": {TIME} (did you mean \"1.5us\"?)"));
    assert_eq!(limit("100P"), format!("queue.limit = \"100P\": {LIMIT} (did you mean \"100p\"?)"));
    assert_eq!(delay("0.1ps"), "topology.link.delay = \"0.1ps\": finer than 1ps, the smallest step of simulated time");
    assert_eq!(rate("0.5bps"), "topology.link.rate = \"0.5bps\": finer than 1bps, the smallest step of a rate");
    assert_eq!(limit("1.5p"), "queue.limit = \"1.5p\": expected a whole number of packets");
    assert_eq!(limit("1.5B"), "queue.limit = \"1.5B\": finer than 1B; expected a whole number of bytes");
    let exponent = "exponents are not read; expected the digits written out, or a larger or smaller unit";
    assert_eq!(delay("1e9s"), format!("topology.link.delay = \"1e9s\": {exponent}"));
    assert_eq!(rate("1.5E-3Gbps"), format!("topology.link.rate = \"1.5E-3Gbps\": {exponent}"));
    assert_eq!(delay("99999999s"), "topology.link.delay = \"99999999s\": too large; expected less than 18446744s");
    assert_eq!(
        rate("99999999Tbps"),
        "topology.link.rate = \"99999999Tbps\": too large; expected less than 18446744Tbps, or \"inf\""
    );
    assert_eq!(limit("99999999999GB"), "queue.limit = \"99999999999GB\": too large; expected less than 18446744073GB");
    // Where there is a word besides, the same.
    assert_eq!(
        set("measure.queue_interval", "0.1ps"),
        "measure.queue_interval = \"0.1ps\": finer than 1ps, the smallest step of simulated time"
    );
    assert_eq!(
        set("measure.series.interval", "1US"),
        "measure.series.interval = \"1US\": expected \"change\" or a time with a unit (ps, ns, us, ms, s), such as \
         \"10us\" (did you mean \"1us\"?)"
    );
    // And in a file.
    assert_eq!(
        flows("case", "start,source,destination\n1US,h0,h1\n").unwrap_err().to_string(),
        format!("flows.csv, line 2, column start = 1US: {TIME} (did you mean \"1us\"?)")
    );
}

#[test]
fn quotes_and_circles_in_a_flow_file() {
    assert_eq!(
        flows("quote", "start,source,destination\n# \"a comment\n0s,\"h0,h1\n0s,h2,h3\n").unwrap_err().to_string(),
        "flows.csv, line 3: a quote is opened and not closed; expected both around a value"
    );
    flows("quoted", "start,source,destination,controller\n0s,h0,h1,\"swift:target=min-rtt,epsilon=100us\"\n").unwrap();
    assert_eq!(
        flows("circle", "start,source,destination,path\n0s,h0,h15,edge0 agg0 edge1 agg0 core0 agg6 edge7\n")
            .unwrap_err()
            .to_string(),
        "flows.csv, line 2, column path = edge0 agg0 edge1 agg0 core0 agg6 edge7: passes agg0 twice; expected a path \
         that goes round no circle"
    );
}

#[test]
fn a_colon_promises_parameters() {
    for text in ["dctcp:", "dctcp: "] {
        assert_eq!(
            set("controller", text),
            format!("controller = \"{text}\": expected key=value after the colon, or no colon")
        );
    }
}

#[test]
fn what_toml_cannot_read_says_why() {
    let table = |rest: &str| set("traffic.app", &format!("{{ kind = \"query\", total = \"1MB\"{rest} }}"));
    assert!(
        table(", count = 99999999999999999999")
            .ends_with(": expected a table with the key kind; whole numbers end at 9223372036854775807")
    );
    let error = table(", count 5");
    assert!(error.contains(": expected a table with the key kind; as TOML: ") && !error.ends_with(": "), "{error}");
    let error = set("topology.link.lose", "[1,");
    assert!(error.contains(" from 0 to 9223372036854775807; as TOML: "), "{error}");
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.app", "{ kind = \"query\", total = \"1MB\" }").unwrap();
    assert_eq!(
        s.set("traffic.app.count", "99999999999999999999").unwrap_err().to_string(),
        "traffic.app.count = \"99999999999999999999\": expected a whole number >= 1; whole numbers end at \
         9223372036854775807"
    );
}

#[test]
fn what_is_of_another_kind_is_found_there() {
    use incast_scenario::catalogue::describe;
    assert_eq!(describe("app", "query").unwrap().kind, "applications");
    let error = describe("traffic", "query").unwrap_err().to_string();
    assert!(error.ends_with("; query is one of the applications: incast describe application query"), "{error}");
}

#[test]
fn a_form_beside_the_transport_of_another_world_is_noted() {
    let notes = |changes: &[(&str, &str)]| {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        for (key, value) in changes {
            s.set(key, value).unwrap();
        }
        s.notes().unwrap()
    };
    assert_eq!(
        notes(&[("controller", "swift:form=yasomam")]),
        ["controller.form = \"yasomam\" belongs beside transport.preset = \"ns3\", here it is \"linux\": what \
          runs is neither world's (docs/forms.md)"]
    );
    assert_eq!(
        notes(&[("traffic.controller", "dctcp:form=linux"), ("traffic.transport.preset", "htsim")]),
        ["traffic.load.controller.form = \"linux\" belongs beside traffic.load.transport.preset = \"linux\", here \
          it is \"htsim\": what runs is neither world's (docs/forms.md)"]
    );
    for (controller, preset) in [
        ("swift:form=yasomam", "ns3"),
        ("dctcp:form=htsim", "htsim"),
        ("newreno:form=linux", "linux"),
        ("swift", "ns3"),
    ] {
        assert_eq!(notes(&[("transport.preset", preset), ("controller", controller)]), [""; 0], "{controller}");
    }
}

/// The notes on the good scenario after changes.
fn notes(changes: &[(&str, &str)]) -> Vec<String> {
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    for (key, value) in changes {
        s.set(key, value).unwrap();
    }
    s.notes().unwrap()
}

#[test]
fn a_form_that_goes_with_its_controller_is_noted() {
    let htsim = ("controller", "swift:form=htsim,max_cwnd=50,target=min-rtt");
    let world = ("transport.preset", "htsim");
    assert_eq!(
        notes(&[htsim, world, ("controller.kind", "dctcp")]),
        ["controller.kind = \"dctcp\" drops what was set for swift: form = \"htsim\"; to give it to dctcp set \
          controller.form too"]
    );
    assert_eq!(notes(&[htsim, world, ("controller.kind", "dctcp"), ("controller.form", "htsim")]), [""; 0]);
    assert_eq!(notes(&[htsim, world, ("controller.kind", "dctcp"), ("controller", "newreno")]), [""; 0]);
    assert_eq!(notes(&[htsim, world, ("controller.kind", "swift")]), [""; 0], "it is swift already");
    assert_eq!(notes(&[("controller", "swift:max_cwnd=50"), ("controller.kind", "dctcp")]), [""; 0], "dctcp has none");
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.controller", "dctcp:form=linux").unwrap();
    s.set("traffic.controller.kind", "swift").unwrap();
    assert_eq!(
        s.set("traffic.controller.form", "linux").unwrap_err().to_string(),
        "traffic.controller.form = \"linux\": expected one of: \"standard\" \"yasomam\" \"htsim\""
    );
    assert!(s.notes().unwrap()[0].starts_with("traffic.controller.kind = \"swift\" drops what was set for dctcp"));
}

#[test]
fn values_without_effect_are_noted() {
    let without = ("transport.sack", "false");
    assert_eq!(notes(&[without]), [""; 0], "what the preset alone says is not");
    assert_eq!(
        notes(&[
            without,
            ("transport.dsack", "true"),
            ("transport.sack_compression", "true"),
            ("transport.sack_block", "8"),
            ("traffic.transport.segment_rtt", "true"),
            ("traffic.transport.timestamps", "false"),
        ]),
        [
            "transport.dsack = true does nothing with sack = false",
            "transport.sack_compression = true does nothing with sack = false",
            "transport.sack_block = 8 does nothing with sack = false",
            "traffic.load.transport.segment_rtt = true does nothing with timestamps = false",
        ]
    );
    let asked = [("transport.dsack", "true"), ("transport.segment_rtt", "true"), ("transport.fin_with_data", "true")];
    assert_eq!(notes(&asked), [""; 0]);
    assert_eq!(
        notes(&[asked[1], asked[2], ("transport.scoreboard", "ns3"), ("transport.handshake", "false")]),
        [
            "transport.fin_with_data = true does nothing with handshake = false",
            "transport.segment_rtt = true does nothing with scoreboard = \"ns3\"",
        ]
    );
    let probes = ("transport.tail_loss_probe", "true");
    let rack = [("transport.reordering_timer", "true"), ("transport.adaptive_reordering", "true")];
    assert_eq!(
        notes(&[without, probes, rack[0], rack[1]]),
        [
            "transport.tail_loss_probe = true does nothing with sack = false",
            "transport.reordering_timer = true does nothing unless scoreboard = \"rack\"",
            "transport.adaptive_reordering = true does nothing unless scoreboard = \"rack\"",
        ]
    );
    assert_eq!(notes(&[rack[0], rack[1], probes, ("transport.scoreboard", "rack")]), [""; 0]);
    assert_eq!(
        notes(&[probes, ("transport.scoreboard", "ns3")]),
        ["transport.tail_loss_probe = true does nothing with scoreboard = \"ns3\""]
    );
    let default = ("transport.preset", "linux-default");
    assert_eq!(notes(&[default, ("controller.form", "linux")]), [""; 0], "the same world");
    let robin = |at: &str, rounds: u32| {
        let routing = format!("{{ kind = \"round-robin\", at = \"{at}\", rounds = {rounds} }}");
        notes(&[("routing", &routing)])
    };
    assert_eq!(robin("source", 7), ["routing.rounds = 7 does nothing with at = \"source\""]);
    assert_eq!((robin("source", 5), robin("switch", 7)), (vec![], vec![]));
    let used = ("routing", "{ kind = \"adaptive\", by = \"utilisation\" }");
    let endless = |link: &str| notes(&[used, (link, "{ rate = \"inf\" }")]);
    assert_eq!((endless("topology.host_link"), endless("topology.core_link")), (vec![], vec![]));
    assert_eq!(
        notes(&[used, ("topology.link.rate", "inf"), ("topology.host_link", "{ rate = \"1Gbps\" }")]),
        ["routing.by = \"utilisation\" compares nothing: no link between switches has a finite rate"]
    );
    assert_eq!(
        notes(&[("links", "[{ link = \"agg0>core0\", delay = \"1us\" }, { link = \"agg0>core1\" }]")]),
        ["links.1 changes nothing: it names agg0>core1 alone"]
    );
}

#[test]
fn failures_that_change_nothing_are_noted() {
    let failures = |list: &str| notes(&[("failures", &format!("[{list}]"))]);
    // the links of GOOD
    let same = r#"{ kind = "degraded", link = "agg0>core0", at = "1ms", rate = "1Gbps", delay = "10us", loss = 0 }"#;
    assert_eq!(
        failures(same),
        ["failures.0 (rate = \"1Gbps\", delay = \"10us\", loss = 0) changes nothing: agg0>core0 is the same without \
             it"]
    );
    for other in [("1Gbps", "999Mbps"), ("10us", "11us"), ("loss = 0", "loss = 0.1")] {
        assert_eq!(failures(&same.replace(other.0, other.1)), [""; 0], "{other:?}");
    }
    let tier = r#"{ kind = "degraded", between = ["core", "agg"], share = 0.5, at = "1ms", rate = "1Gbps" }"#;
    let other = same.replace("loss = 0", "loss = 0.1").replace("agg0>core0", "edge0>agg0");
    let told = failures(&format!("{other}, {tier}"));
    assert!(told.len() == 1 && told[0].starts_with("failures.1 (rate = \"1Gbps\") changes nothing: agg"), "{told:?}");
    assert!(told[0].ends_with(" and the 7 others are the same without it"), "{told:?}");
    let one_is_slower = ("links", r#"[{ link = "agg0>core0", rate = "500Mbps" }]"#);
    let all = tier.replace("0.5", "1");
    assert_eq!(notes(&[one_is_slower, ("failures", &format!("[{all}]"))]), [""; 0]);
    // a link has two names
    let back = same.replace("agg0>core0", "core0>agg0");
    assert_eq!(failures(&back), [failures(same)[0].replace("agg0>core0", "core0>agg0")]);
}

/// Entries that do the same at the same time to other links of the same kind are told apart.
#[test]
fn a_note_on_a_failure_is_about_its_own_links() {
    let some = r#"{ kind = "degraded", between = ["core", "agg"], share = 0.125, at = "1ms", rate = "1Gbps" }"#;
    let link = |of: &str| some.replace(r#"between = ["core", "agg"], share = 0.125"#, &format!("link = \"{of}\""));
    let told = |of: &str, links: &str| notes(&[("links", links), ("failures", &format!("[{some}, {}]", link(of)))]);
    let failing = |failures: &str| {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        s.set("failures", failures).unwrap();
        let spec = s.build().unwrap();
        spec.failures.iter().step_by(2).map(|f| spec.links[f.link as usize].name.clone()).collect::<Vec<_>>()
    };
    let own = failing(&format!("[{some}]"));
    assert_eq!(own.len(), 2, "an eighth of 16");
    let other = ["agg0>core0", "agg0>core1", "agg1>core2"].into_iter().find(|l| !own.iter().any(|o| o == l)).unwrap();
    let first =
        format!("failures.0 (rate = \"1Gbps\") changes nothing: {} and the other one are the same without it", own[0]);
    let second = format!("failures.1 (rate = \"1Gbps\") changes nothing: {other} is the same without it");
    assert_eq!(told(other, "[]"), [first.clone(), second.clone()]);
    let slower = |link: &str| format!("[{{ link = \"{link}\", rate = \"500Mbps\" }}]");
    assert_eq!(told(other, &slower(other)), [first]);
    assert_eq!(told(other, &slower(&own[1])), [second]);
}

#[test]
fn what_a_buffer_has_for_queues_is_noted_where_links_have_accounts() {
    let told = |buffer: &str, queue: &str| notes(&[("buffer", buffer), ("queue", queue)]);
    let one = r#"{ kind = "drop-tail", limit = "none" }"#;
    assert_eq!(told(r#"{ size = "4MB", alpha = 0.5, reserve = "2kB" }"#, one), [""; 0]);
    assert_eq!(told(r#"{ size = "4MB", pfc = {} }"#, one), [""; 0]);
    assert_eq!(
        told(r#"{ size = "4MB", alpha = 0.5, reserve = "2kB", pfc = {} }"#, one),
        [
            "buffer.alpha = 0.5 does nothing beside buffer.pfc, which keeps every class by links and their \
             buffer.pfc.alpha",
            "buffer.reserve = \"2kB\" does nothing beside buffer.pfc, which keeps every class by links and their \
             buffer.pfc.reserve",
        ]
    );
    let queue = r#"{ kind = "drop-tail", limit = "none" }"#;
    let two = format!(r#"{{ kind = "strict-priority", classes = [{queue}, {queue}] }}"#);
    assert_eq!(told(r#"{ size = "4MB", alpha = 0.5, pfc = { classes = [1] } }"#, &two), [""; 0]);
    assert_eq!(told(r#"{ size = "4MB", alpha = 0.5, pfc = { classes = [0, 1] } }"#, &two).len(), 1);
}

#[test]
fn flows_that_never_start_are_noted() {
    let short = ("run.duration", "1ms");
    let warm = ("run.warmup", "0s");
    assert_eq!(notes(&[warm, short]), [""; 0]);
    assert_eq!(
        notes(&[warm, short, ("traffic.stagger", "200us")]),
        ["traffic.load: 5 of its 10 flows never start: the first of those would open at 1ms, and the run ends at \
          run.duration, 1ms"]
    );
    assert_eq!(
        notes(&[warm, short, ("traffic.start", "2s")]),
        ["traffic.load: none of its 10 flows starts: the first would open at 2s, and the run ends at run.duration, \
          1ms"]
    );
    assert_eq!(
        notes(&[warm, short, ("traffic.start", "2s"), ("traffic.flows", "1")]),
        ["traffic.load: its flow never starts: it would open at 2s, and the run ends at run.duration, 1ms"]
    );
    let query = ("traffic.app", "{ kind = \"query\", total = \"1MB\" }");
    assert_eq!(
        notes(&[warm, short, query, ("traffic.stagger", "200us")]),
        ["traffic.load: 5 of its 10 connections never start: the first of those would open at 1ms, and the run ends \
          at run.duration, 1ms"]
    );
}

#[test]
fn forms_of_a_flow_file_are_noted() {
    let dir = folder("forms");
    let csv = "start,source,destination,size,controller\n0s,h0,h1,1MB,dctcp:form=linux\n0s,h0,h1,1MB,\n\
               0s,h1,h2,1MB,swift:form=htsim\n0s,h2,h3,1MB,swift:form=htsim\n";
    std::fs::write(dir.join("flows.csv"), csv).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let mut s = Scenario::from_toml(&text, &dir, "test").unwrap();
    let foreign = "flows.csv, column controller: form = \"htsim\" belongs beside transport.preset = \"htsim\", here \
                   it is \"linux\": what runs is neither world's (docs/forms.md)";
    assert_eq!(s.notes().unwrap(), [foreign]);
    // the lines without a controller have the scenario's
    s.set("controller", "dctcp:form=ns3").unwrap();
    let own = "controller.form = \"ns3\" belongs beside transport.preset = \"ns3\", here it is \"linux\": what runs is \
               neither world's (docs/forms.md)";
    assert_eq!(s.notes().unwrap(), [own, foreign]);
    // the first line alone is at home, and nobody has the scenario's
    s.set("traffic.flows", "1").unwrap();
    assert_eq!(s.notes().unwrap(), [""; 0]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_flow_that_the_entry_moves_beyond_its_stop() {
    let dir = folder("moved");
    std::fs::write(dir.join("flows.csv"), "start,source,destination\n0s,h0,h1\n500us,h0,h1\n900us,h0,h1\n").unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let error = |changes: &[(&str, &str)]| {
        let mut s = Scenario::from_toml(&text, &dir, "test").unwrap();
        changes.iter().for_each(|(key, value)| s.set(key, value).unwrap());
        s.build().unwrap_err().to_string()
    };
    assert_eq!(
        error(&[("traffic.stop", "900us"), ("traffic.stagger", "200us"), ("traffic.start", "200us")]),
        "traffic.load.stop = \"900us\": flow 1 of flows.csv, listed at 500us, opens at 900us by the entry's start, \
         200us, and stagger, 200us; expected a later stop"
    );
    assert_eq!(
        error(&[("traffic.stop", "900us")]),
        "flows.csv, line 4, column start = 900us: expected a time before the entry's stop, 900us"
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn files_are_named_in_errors() {
    let dir = folder("named");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    std::fs::write(dir.join("a.toml"), "name = \"x\"\n[run\n").unwrap();
    let error = |name: &str| Scenario::load(&at(name)).unwrap_err().to_string();
    assert!(error("a.toml").starts_with(&format!("{}: TOML parse error at line 2, column 5", at("a.toml"))));
    assert_eq!(error(""), format!("{}: is a folder; expected a file", at("")));
    assert_eq!(
        Scenario::load("hotspot.toml").unwrap_err().to_string(),
        "hotspot.toml: no such file; the built-in scenario is called hotspot"
    );
    std::fs::create_dir_all(dir.join("flows.csv")).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let error = Scenario::from_toml(&text, &dir, "test").unwrap().build().unwrap_err().to_string();
    assert_eq!(error, format!("traffic.load.file = \"{}\": is a folder; expected a file", at("flows.csv")));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_kind_where_a_table_is_due() {
    for (key, word) in [("queue.host", "fair-nic"), ("queue", "drop-tail"), ("traffic.app", "bulk")] {
        let expected = format!("expected a table with the key kind, such as {{ kind = \"{word}\" }}");
        assert_eq!(set(key, word), format!("{key} = \"{word}\": {expected}"));
    }
}

#[test]
fn segments_are_timed_by_whole_parts_of_a_time_stamp() {
    let asked = [("transport.segment_rtt", "true"), ("transport.timestamps", "true")];
    for (tick, right) in [("10ms", false), ("3us", false), ("1ms", true), ("1us", true), ("0s", true)] {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        for (key, value) in asked {
            s.set(key, value).unwrap();
        }
        s.set("transport.timestamp_clock", tick).unwrap();
        let built = s.build().map(drop);
        if right {
            built.unwrap();
            continue;
        }
        let expected = "expected 0s or a divisor of 1ms with segment_rtt = true: its time stamps count milliseconds";
        let said = built.expect_err(tick).to_string();
        assert_eq!(said, format!("transport.timestamp_clock = \"{tick}\": {expected}"));
        // of time stamps alone any tick will do
        s.set("transport.segment_rtt", "false").unwrap();
        s.build().unwrap();
    }
}

/// Messages for `GOOD` with another traffic entry after its own.
fn and_more(entry: &str) -> String {
    check(&format!("{GOOD}[[traffic]]\nname = \"more\"\n{entry}")).expect_err(entry).to_string()
}

#[test]
fn elephants_that_cannot_be() {
    let elephants = |rest: &str| and_more(&format!("pattern = \"elephants\"\n{rest}"));
    assert_eq!(
        elephants(""),
        "traffic.more.flows: missing; expected how many flows become elephants\n\
         traffic.more.of: missing; expected the name of the entry, before this one, whose flows become elephants"
    );
    assert_eq!(
        elephants("of = \"laod\"\nflows = 1"),
        "traffic.more.of = \"laod\": no entry before this one has this name; expected one of load (did you mean \
         \"load\"?)"
    );
    assert_eq!(
        elephants("of = \"load\"\nflows = 10"),
        "traffic.more.flows = 10: expected fewer than the flows of load, of which there are 10"
    );
    assert_eq!(
        elephants("of = \"load\"\nflows = 4\nplacement = \"paper\""),
        "traffic.more.flows = 4: the paper has 0, 1, 2, 3 or 6 elephants; expected one of these, or placement = \
         \"random\""
    );
    let spine =
        GOOD.replace("kind = \"fat-tree\"\nk = 4", "kind = \"leaf-spine\"\nleaves = 4\nhosts_per_leaf = 4\nspines = 2");
    assert_ne!(spine, GOOD);
    assert_eq!(
        check(&format!(
            "{spine}[[traffic]]\nname = \"more\"\npattern = \"elephants\"\nof = \"load\"\nflows = 2\n\
             placement = \"paper\""
        ))
        .unwrap_err()
        .to_string(),
        "traffic.more.placement = \"paper\": asks for flows that share a leaf at one end and a pod at the other: the \
         topology has no pods; expected \"random\""
    );
    assert_eq!(
        elephants("of = \"load\"\nflows = 2\nplacement = \"far\""),
        "traffic.more.placement = \"far\": expected one of \"random\", \"paper\""
    );
    assert_eq!(
        elephants("of = \"load\"\nflows = 2\napp = { kind = \"query\", total = \"1MB\" }"),
        "traffic.more.app.kind: elephants send one way; expected another than \"query\""
    );
    // all flows of a hotspot have one destination: that is shared, and some flow's source is in the elephant's pod
    assert_eq!(
        elephants("of = \"load\"\nflows = 1\nplacement = \"paper\""),
        "traffic.more.placement = \"paper\": in 10000 draws of 1 of the 10 flows, the most affected 1 of the others \
         never were those that share a leaf at one end and nothing at the other: the topology cannot hold it; expected \
         \"random\", or a larger network"
    );
    assert_eq!(
        elephants("of = \"load\"\nflows = 2\nstop = \"1ms\"\nstagger = \"1ms\""),
        "traffic.more.stop = \"1ms\": elephant 1 opens at 1ms; expected a later stop"
    );
    assert_eq!(
        set("traffic.pattern", "elephants"),
        "traffic.load.of: missing; expected the name of the entry, before this one, whose flows become elephants"
    );
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.pattern", "elephants").unwrap();
    s.set("traffic.of", "load").unwrap();
    assert_eq!(
        s.build().unwrap_err().to_string(),
        "traffic.load.of = \"load\": no entry comes before this one; expected one whose flows become elephants"
    );
    let asking = GOOD.replace("{ kind = \"bulk\", size = \"1MB\" }", "{ kind = \"query\", total = \"1MB\" }");
    assert_eq!(
        check(&format!("{asking}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 1"))
            .unwrap_err()
            .to_string(),
        "traffic.elephants.of = \"load\": its flows are two-way connections; expected an entry of another app than \
         query"
    );
    assert_eq!(
        set("traffic.of", "load"),
        "traffic.load.of = \"load\": only pattern = \"elephants\" takes flows of another entry; expected none"
    );
    assert_eq!(
        set("traffic.placement", "paper"),
        "traffic.load.placement = \"paper\": only pattern = \"elephants\" has a placement; expected none"
    );
}

#[test]
fn datagrams_that_cannot_be() {
    let udp = |rate: &str| set("traffic.app", &format!("{{ kind = \"udp\", rate = \"{rate}\" }}"));
    let expected = "expected a part of the rate of the sender's link above 0%, at most 100%, such as \"50%\", or a \
                    rate with a unit (bps, kbps, Mbps, Gbps, Tbps), such as \"10Gbps\"";
    for wrong in ["50", "0%", "101%", "-1%", "0.00001%", "inf", "0bps", "%", "a lot"] {
        assert_eq!(udp(wrong), format!("traffic.app.rate = \"{wrong}\": {expected}"));
    }
    assert_eq!(udp("5gbps"), format!("traffic.app.rate = \"5gbps\": {expected} (did you mean \"5Gbps\"?)"));
    assert_eq!(udp("2Gbps"), "traffic.load.app.rate = \"2Gbps\": expected at most the rate of the link of h0, 1Gbps");
    let with = |from: &str, to: &str| {
        let text = GOOD.replace("{ kind = \"bulk\", size = \"1MB\" }", "{ kind = \"udp\", rate = \"50%\" }");
        check(&text.replace(from, to)).expect_err(to).to_string()
    };
    assert_eq!(
        with("rate = \"1Gbps\"", "rate = \"inf\""),
        "traffic.load.app.rate = \"50%\": the link of h0 has no finite rate; expected a rate such as \"10Gbps\""
    );
    let none = "expected none with app.kind = \"udp\"";
    assert_eq!(
        with("flows = 10", "flows = 10\nsink_stop = \"5ms\""),
        format!("traffic.load.sink_stop = \"5ms\": {none}: its receivers take what comes")
    );
    assert_eq!(
        with("flows = 10", "flows = 10\nread_rate = \"1Gbps\""),
        format!("traffic.load.read_rate = \"1Gbps\": {none}: its receivers take what comes")
    );
    assert_eq!(
        with("flows = 10", "flows = 10\ncontroller = \"dctcp\""),
        format!("traffic.load.controller = \"dctcp\": {none}: no controller governs it")
    );
    assert_eq!(
        set("run.until", "finsihed"),
        "run.until = \"finsihed\": expected one of \"idle\", \"finished\" (did you mean \"finished\"?)"
    );
}

#[test]
fn collectives_that_cannot_be() {
    let message = |from: &str, to: &str, pattern: &str| {
        let text = GOOD.replace("\"hotspot\"\nflows = 10", &format!("\"{pattern}\""));
        assert!(check(&text).is_ok(), "{:?}", check(&text));
        check(&text.replace(from, to)).expect_err(to).to_string()
    };
    let pattern = "pattern = \"all-to-all\"";
    let add = |key: &str| format!("{pattern}\n{key}");
    assert_eq!(
        message(pattern, &add("flows = 3"), "all-to-all"),
        "traffic.load.flows = 3: the pattern all-to-all has as many flows as its members make; expected none"
    );
    assert_eq!(
        message(pattern, &add("members = 17"), "all-to-all"),
        "traffic.load.members = 17: expected at most as many as there are hosts, 16"
    );
    assert_eq!(
        message(pattern, &add("members = 1"), "all-to-all"),
        "traffic.load.members = 1: expected a whole number >= 2"
    );
    assert_eq!(
        message(pattern, &add("order = \"rings\""), "all-to-all"),
        "traffic.load.order = \"rings\": expected one of \"rounds\", \"at-once\""
    );
    assert_eq!(
        message(", size = \"1MB\"", "", "all-to-all"),
        "traffic.load.app: expected kind = \"bulk\" with a size: the bytes of a member"
    );
    assert_eq!(
        message("\"1MB\"", "\"15B\"", "ring-allreduce"),
        "traffic.load.app.size = \"15B\": expected at least 16 bytes, one for each of the 16 members"
    );
    assert_eq!(
        message("\"ring-allreduce\"", "\"ring-allreduce\"\norder = \"at-once\"", "ring-allreduce"),
        "traffic.load.order = \"at-once\": the pattern ring-allreduce has no such order; expected pattern = \
         \"all-to-all\""
    );
    assert_eq!(
        set("traffic.members", "4"),
        "traffic.load.members = 4: the pattern hotspot has no members; expected pattern = \"all-to-all\" or \
         \"ring-allreduce\""
    );
    let all = GOOD.replace("\"hotspot\"\nflows = 10", "\"all-to-all\"");
    assert_eq!(
        check(&format!("{all}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 1")).unwrap_err().to_string(),
        "traffic.elephants.of = \"load\": its flow 16 waits for another; expected an entry whose flows wait for none"
    );
    let none = format!("{all}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 0\n");
    assert_eq!(check(&none), Ok(()), "a run without any takes none of those that wait");
}

#[test]
fn flows_of_a_file_that_wait_for_nothing() {
    let file = "start,source,destination,after\n0s,h0,h1,\n0s,h1,h2,1\n0s,h1,h2,7\n0s,h1,h2,0:sometime\n\
                0s,h1,h2,0:received 0\n";
    let wrong = |line: u32, value: &str, why: &str| {
        format!(
            "flows.csv, line {line}, column after = {value}: {value} is {why}; expected numbers of others from 0 to 4, \
             such as 0 or 0:received"
        )
    };
    let no_end = "no end of a flow of the file";
    let expected =
        [wrong(3, "1", "of this flow itself"), wrong(4, "7", no_end), wrong(5, "0:sometime", no_end)].join("\n");
    assert_eq!(flows("after-lines", file).unwrap_err().to_string(), expected);
    assert_eq!(
        flows("after-circle", "start,source,destination,after\n0s,h0,h1,1\n0s,h1,h2,0\n").unwrap_err().to_string(),
        "flows.csv, line 2: waits for itself by way of what it waits for; expected flows that wait for earlier ones \
         alone"
    );
    let dir = folder("after-left-out");
    std::fs::write(dir.join("flows.csv"), "start,source,destination,after\n0s,h0,h1,1\n0s,h1,h2,\n").unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"\nflows = 1");
    let left_out = Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build()).unwrap_err().to_string();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(
        left_out,
        "flows.csv, line 2, column after = 1: 1 is of a flow that flows = 1 leaves out; expected numbers of others \
         from 0 to 1, such as 0 or 0:received"
    );
}

#[test]
fn a_host_that_loses_its_own_window_is_noted() {
    let notes = |queue: &str| {
        let hosts = format!("[hosts]\nsend = {{ packet_time = \"300ns\", queue = \"{queue}\" }}\n[[traffic]]");
        Scenario::from_toml(&GOOD.replace("[[traffic]]", &hosts), Path::new("."), "test").unwrap().notes().unwrap()
    };
    let short = "hosts.send.queue = \"1p\" holds less than an initial window, 10 packets: what a flow sends at once \
                 beyond it is lost at its own host";
    assert_eq!(notes("1p"), [short]);
    assert_eq!((notes("10p"), notes("none")), (vec![], vec![]));
}
