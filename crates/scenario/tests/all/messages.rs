//! Queries and closed-loop writes: their specification, and error messages for wrong ones.

use incast_engine::spec::{self, App, ClosedLoop, ConnectionSpec, Messages};
use incast_scenario::Scenario;
use std::path::{Path, PathBuf};

const HEAD: &str = r#"
controller = "dctcp"
[run]
duration = "10ms"
[topology]
kind = "star"
sources = 4
source_link = { rate = "1Gbps", delay = "10us" }
sink_link = { rate = "1Gbps", delay = "10us" }
[queue]
kind = "drop-tail"
limit = "100p"
"#;

fn entry(pattern: &str, app: &str) -> Result<spec::Spec, String> {
    let text = format!("{HEAD}[[traffic]]\nname = \"t\"\n{pattern}\napp = {{ {app} }}\n");
    Scenario::from_toml(&text, Path::new("."), "test").and_then(|s| s.build()).map_err(|e| e.to_string())
}

fn to_sink(app: &str) -> Result<spec::Spec, String> {
    entry("pattern = \"incast\"\nreceiver = \"last\"\nflows = 3\nstart = \"1ms\"\nstagger = \"1us\"", app)
}

#[test]
fn a_connection_is_two_flows_and_the_receiver_asks() {
    let s = to_sink("kind = \"query\", total = \"1000B\", think = \"2us\", count = 7, first = \"3ms\"").unwrap();
    let root = s.hosts - 1;
    assert_eq!(s.flows.len(), 6);
    for (i, pair) in s.flows.chunks(2).enumerate() {
        let [request, response] = pair else { unreachable!() };
        assert_eq!((request.src, response.dst), (root, root));
        assert_eq!((request.dst, response.start.0), (response.src, 1_000_000_000 + 1_000_000 * i as u64));
        assert_eq!((request.app, response.app), (App::Messages(Messages), App::Messages(Messages)));
    }
    let [q] = &s.queries[..] else { panic!("one root, one query") };
    assert_eq!((q.root, q.first.0, q.think.0, q.count), (root, 3_000_000_000, 2_000_000, Some(7)));
    // what does not divide goes to the first workers
    assert_eq!(q.connections.iter().map(|c| c.response_size).collect::<Vec<_>>(), [334, 333, 333]);
    assert_eq!(q.connections[1], ConnectionSpec { request: 2, response: 3, request_size: 100, response_size: 333 });
}

#[test]
fn connections_a_query_open_with_it() {
    let app = |rest: &str| format!("kind = \"query\", response = \"1kB\", first = \"3ms\", {rest}");
    let s = to_sink(&app("connections = \"per-query\"")).unwrap();
    assert_eq!(s.queries[0].close, Some(spec::Close::Worker));
    // the entry's stagger, from the first query on
    let starts: Vec<u64> = s.flows.iter().map(|f| f.start.0 / 1_000_000).collect();
    assert_eq!(starts, [3000, 3000, 3001, 3001, 3002, 3002]);
    for (word, close) in [("worker", spec::Close::Worker), ("root", spec::Close::Root), ("rst", spec::Close::Reset)] {
        let s = to_sink(&app(&format!("connections = \"per-query\", close = \"{word}\""))).unwrap();
        assert_eq!(s.queries[0].close, Some(close));
    }
    assert_eq!(to_sink(&app("connections = \"persistent\"")).unwrap().queries[0].close, None);
    let error = to_sink(&app("close = \"root\"")).unwrap_err();
    let expected = "traffic.t.app.close = \"root\": expected connections = \"per-query\" beside it";
    assert!(error.contains(expected), "{error}");
    let error = to_sink(&app("connections = \"twice\"")).unwrap_err();
    let expected = "traffic.t.app.connections = \"twice\": expected one of \"persistent\", \"per-query\"";
    assert!(error.contains(expected), "{error}");
    let (pattern, app) =
        ("pattern = \"incast\"\nflows = 3\ntransport = { preset = \"htsim\" }", app("connections = \"per-query\""));
    let error = entry(pattern, &app).unwrap_err();
    let expected = "traffic.t.app.connections = \"per-query\": expected a transport with handshake = true";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn rules_for_small_windows_are_keys_of_the_transport() {
    let with = |rest: &str| {
        let pattern = format!("pattern = \"incast\"\nflows = 3\ntransport = {{ preset = \"linux\"{rest} }}");
        entry(&pattern, "kind = \"query\", response = \"1kB\"")
    };
    let of = |s: spec::Spec| {
        let t = &s.transports[0];
        (t.windows.window_update, t.windows.whole_segments, t.windows.half_window_mss)
    };
    assert_eq!(of(with("").unwrap()), (spec::WindowUpdate::News, false, false));
    let linux = ", window_update = \"linux\", whole_segments = true, half_window_mss = true";
    assert_eq!(of(with(linux).unwrap()), (spec::WindowUpdate::Linux, true, true));
    assert_eq!(of(with(", window_update = \"rfc9293\"").unwrap()).0, spec::WindowUpdate::Rfc9293);
    let acks = |s: spec::Spec| {
        let t = &s.transports[0];
        (t.acks.push_half_window, t.acks.read_ack, t.acks.quickack_route, t.connection.close_after_write)
    };
    assert_eq!(acks(with("").unwrap()), (false, false, false, false));
    for (key, given) in [
        ("push_half_window", (true, false, false, false)),
        ("read_ack", (false, true, false, false)),
        ("quickack_route", (false, false, true, false)),
        ("close_after_write", (false, false, false, true)),
    ] {
        assert_eq!(acks(with(&format!(", {key} = true")).unwrap()), given);
    }
    let error = with(", window_update = \"never\"").unwrap_err();
    let expected = "window_update = \"never\": expected one of \"news\", \"rfc9293\", \"linux\"";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn every_root_has_its_query() {
    let s = entry("pattern = \"random-pairs\"\nflows = 40", "kind = \"query\", response = \"5kB\"").unwrap();
    assert_eq!(s.queries.iter().map(|q| q.connections.len()).sum::<usize>(), 40);
    assert!(s.queries.len() > 1);
    for q in &s.queries {
        assert!(q.connections.iter().all(|c| s.flows[c.request as usize].src == q.root));
        assert_eq!(q.first.0, 0, "the entry's start");
    }
}

#[test]
fn a_file_gives_sizes_and_paths_of_responses() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("query-file");
    std::fs::create_dir_all(&dir).unwrap();
    let build = |csv: &str, app: &str| {
        std::fs::write(dir.join("q.csv"), csv).unwrap();
        let text = format!("{HEAD}[[traffic]]\npattern = \"file\"\nfile = \"q.csv\"\napp = {{ {app} }}\n");
        Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build()).map_err(|e| e.to_string())
    };
    let csv = "start,source,destination,size\n0s,0,4,2000\n1us,1,4,\n";
    let s = build(csv, "kind = \"query\", response = \"1kB\"").unwrap();
    assert_eq!(s.queries[0].connections.iter().map(|c| c.response_size).collect::<Vec<_>>(), [2000, 1000]);
    assert_eq!(
        build(csv, "kind = \"query\"").unwrap_err(),
        "q.csv, line 3, column size: empty; expected the bytes of this worker's response: the entry's app has none"
    );
    assert_eq!(
        build(csv, "kind = \"query\", total = \"1MB\"").unwrap_err(),
        "q.csv, line 2, column size = 2000: the entry's app has a total to split; expected no size here"
    );
    assert_eq!(
        build(csv, "kind = \"closed-loop\", write = \"1kB\"").unwrap_err(),
        "q.csv, line 2, column size = 2000: closed-loop writes have a count and no size; expected no size here"
    );
}

#[test]
fn closed_loops() {
    let s = to_sink("kind = \"closed-loop\", write = \"8kB\", outstanding = 4, think = \"1us\"").unwrap();
    let think = incast_cc::Time::us(1);
    assert_eq!(s.flows[0].app, App::ClosedLoop(ClosedLoop { write: 8000, outstanding: 4, think, count: None }));
    assert!(s.queries.is_empty());
}

#[test]
fn mistakes() {
    let wrong = |app: &str| to_sink(app).unwrap_err();
    assert_eq!(
        wrong("kind = \"query\""),
        "traffic.t.app.response: missing; expected the bytes of a worker's response, or total for all workers together"
    );
    assert_eq!(
        wrong("kind = \"query\", response = \"1kB\", total = \"3kB\""),
        "traffic.t.app.total = \"3kB\": expected either response, the bytes of every worker, or total, split among them"
    );
    assert_eq!(
        wrong("kind = \"query\", total = \"2B\""),
        "traffic.t.app.total = \"2B\": expected at least 3 bytes, one for each of the 3 workers"
    );
    assert_eq!(
        wrong("kind = \"query\", response = \"1kB\", request = \"0B\""),
        "traffic.t.app.request = \"0B\": expected at least 1 byte"
    );
    assert_eq!(
        wrong("kind = \"closed-loop\", write = \"0B\""),
        "traffic.t.app.write = \"0B\": expected at least 1 byte"
    );
    let late = "pattern = \"incast\"\nflows = 3\nstop = \"2ms\"";
    assert_eq!(
        entry(late, "kind = \"query\", response = \"1kB\", first = \"2ms\"").unwrap_err(),
        "traffic.t.app.first = \"2ms\": expected a time before the entry's stop, 2ms"
    );
    for (app, key) in [
        ("kind = \"query\", response = \"1kB\", count = 0", "traffic.t.app.count"),
        ("kind = \"closed-loop\", write = \"1kB\", outstanding = 0", "traffic.t.app.outstanding"),
        ("kind = \"query\", response = \"1kB\", thinks = \"1us\"", "traffic.t.app.thinks"),
        ("kind = \"closed-loop\"", "traffic.t.app.write"),
    ] {
        assert!(wrong(app).starts_with(key), "{}", wrong(app));
    }
}
