//! Connections of a job: their number, and their settings by kind of message.

use incast_engine::spec::{self, Opens};
use incast_scenario::Scenario;
use std::path::Path;

/// A job of 4 ranks with these keys, at ports with four classes.
fn job(keys: &str) -> Result<spec::Spec, String> {
    let class = "{ kind = \"drop-tail\", limit = \"100p\" }";
    let text = format!(
        r#"
controller = "dctcp"
[run]
duration = "10ms"
[topology]
kind = "star"
sources = 4
source_link = {{ rate = "1Gbps", delay = "10us" }}
sink_link = {{ rate = "1Gbps", delay = "10us" }}
[queue]
kind = "strict-priority"
classes = [{class}, {class}, {class}, {class}]
[[job]]
name = "train"
class = 2
ack_class = 1
{keys}
"#
    );
    Scenario::from_toml(&text, Path::new("."), "test").and_then(|s| s.build()).map_err(|e| e.to_string())
}

const RING: &str = "collective = { kind = \"all-reduce\", size = \"400kB\", ranks = 4 }\n";

#[test]
fn a_pair_has_as_many_connections_as_queue_pairs() {
    // a rank of a ring sends 6 messages to the next
    for (qps, count) in [(1, 1), (4, 4), (6, 6), (7, 6)] {
        let s = job(&format!("{RING}qps = {qps}")).unwrap();
        assert_eq!((s.flows.len(), s.jobs[0].opens), (4 * count, Opens::Kept(qps)));
        assert!(s.flows.iter().all(|f| (f.class, f.ack_class) == (2, 1)));
    }
    let s = job(&format!("{RING}iterations = 2\nqps = 9")).unwrap();
    assert_eq!(s.flows.len(), 4 * 9);
    let s = job(&format!("{RING}iterations = 2\nconnections = \"message\"")).unwrap();
    assert_eq!((s.flows.len(), s.jobs[0].opens), (4 * 12, Opens::Each));
}

#[test]
fn kinds_of_messages_have_settings_of_their_own() {
    let by = "by.all-reduce = { controller = \"swift\", class = 3, transport = { mss = 500 } }";
    let s = job(&format!("{RING}{by}\nby.send = {{ class = 0 }}")).unwrap();
    assert_eq!(s.flows.len(), 4);
    for f in &s.flows {
        assert_eq!((f.class, f.ack_class), (3, 3));
        assert_eq!(s.controllers[f.controller as usize].to_string(), "swift");
        assert_eq!(s.transports[f.transport as usize].sizes.mss, 500);
    }
    // what is of another kind keeps the settings of the job
    let s = job(&format!("{RING}by.all-to-all = {{ controller = \"swift\" }}")).unwrap();
    assert!(s.flows.iter().all(|f| (f.class, f.ack_class) == (2, 1)));
    assert_eq!(s.controllers[s.flows[0].controller as usize].to_string(), "dctcp");
}

#[test]
fn wrong_connections_are_refused() {
    for (keys, part) in [
        ("qps = 0", "job.train.qps = 0: expected"),
        ("qps = 2\nconnections = \"message\"", "job.train.qps = 2: each message has a connection of its own"),
        ("connections = \"kept\"", "expected one of \"job\", \"message\""),
        ("by.all-reduce = { class = 4 }", "job.train.by.all-reduce.class = 4: expected 0 to 3"),
        ("by.all-reduce = { ack_class = 9 }", "job.train.by.all-reduce.ack_class = 9: expected 0 to 3"),
        ("by.gather = { class = 1 }", "job.train.by.gather"),
        ("by.send = { transport = { mss = 0 } }", "job.train.by.send.transport.mss"),
        ("iterations = 1000000\nconnections = \"message\"", "expected at most 4000000 flows"),
    ] {
        let error = job(&format!("{RING}{keys}")).err().unwrap_or_default();
        assert!(error.contains(part), "{keys}: {error:?}; expected {part:?}");
    }
}

#[test]
fn above_a_million_tasks_no_bound_is_without_the_algorithm() {
    let bounds = |kind: &str, size: &str, chunk: &str| {
        let chunks =
            format!("algorithm = \"{}\", chunk = \"{chunk}\"", if kind == "broadcast" { "chain" } else { "ring" });
        let keys = format!("collective = {{ kind = \"{kind}\", size = \"{size}\", ranks = 4, {chunks} }}\n");
        let job = job(&keys).unwrap().jobs.remove(0);
        (job.bound.is_some(), job.bounds)
    };
    // 20 us and 40,000 B at 1 Gb/s a hop, whatever the pieces
    let latency = incast_cc::Time::us(20);
    let piece = |bytes: u64| latency.saturating_add(incast_cc::Time::ns(8 * bytes));
    assert_eq!(bounds("broadcast", "40kB", "40kB"), (true, vec![Some(piece(40_000).saturating_mul(3))]));
    assert_eq!(bounds("broadcast", "400kB", "1B"), (false, vec![None]));
    // a ring of equal parts has its own by formula: 62,500 loops of 6 steps
    assert_eq!(bounds("all-reduce", "4MB", "16B"), (false, vec![Some(piece(16).saturating_mul(6 * 62_500))]));
    assert_eq!(bounds("all-reduce", "6400B", "16B"), (true, vec![Some(piece(16).saturating_mul(6 * 100))]));
}
