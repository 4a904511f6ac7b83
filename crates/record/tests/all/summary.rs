//! The figures of a run against sums done by hand.

use incast_record::statistics::{jain, nearest_rank, percentile_nearest_rank};
use incast_record::summary::{figures, summarize, summary_text};
use incast_record::table::{self, Values};
use incast_record::{
    CollectiveFacts, CollectiveRecord, EngineRecord, FlowRecord, Histogram, JobRecord, MessageKind, MessageRecord,
    MonitorEntry, Outcome, PortRecord, Role,
};
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000_000;
const MS: u64 = SECOND / 1000;

fn histogram(values: &[u64]) -> Histogram {
    let mut h = Histogram::new();
    values.iter().for_each(|&v| h.record(v));
    h
}

/// Two groups: `load` with two endless flows, `query` with two transfers of which one finished.
/// Warm-up 1 s, measured interval 2 s.
fn outcome() -> Outcome {
    let load = FlowRecord { group: 0, sent: 200, delivered: 900, ..FlowRecord::default() };
    let flows = vec![
        FlowRecord {
            delivered_m: 1_000_000,
            sent_m: 100,
            arrived_m: 90,
            dropped_m: 10,
            retransmissions: 10,
            timeouts: 1,
            delay_sum_ps: 90 * 2 * MS,
            rtt_count: 10,
            rtt_sum_ps: 10 * 4 * MS,
            fm_rx_bytes: 1_000_000,
            fm_tx_packets: 100,
            fm_rx_packets: 90,
            fm_delay_sum_ps: 90 * MS,
            fm_first_tx_ps: Some(SECOND),
            fm_last_rx_ps: Some(2 * SECOND),
            ..load.clone()
        },
        // sends, and nothing ever arrives
        FlowRecord { flow: 1, sent_m: 4, dropped_m: 2, fm_tx_packets: 4, fm_first_tx_ps: Some(SECOND), ..load },
        FlowRecord {
            flow: 2,
            group: 1,
            size: Some(500_000),
            start_ps: SECOND,
            finish_ps: Some(SECOND + 30 * MS),
            ideal_fct_ps: Some(10 * MS),
            delivered_m: 500_000,
            sent_m: 50,
            arrived_m: 50,
            delay_sum_ps: 50 * 9 * MS,
            fm_rx_bytes: 512_000,
            fm_tx_packets: 50,
            fm_rx_packets: 50,
            fm_delay_sum_ps: 50 * 8 * MS,
            fm_first_tx_ps: Some(SECOND),
            fm_last_rx_ps: Some(SECOND + 500 * MS),
            ..FlowRecord::default()
        },
        // never opened in the measured interval: no packet, no finish
        FlowRecord { flow: 3, group: 1, size: Some(500_000), ideal_fct_ps: Some(10 * MS), ..FlowRecord::default() },
    ];
    let port = |name: &str, mean, busy_ps| PortRecord {
        name: name.into(),
        rate_bps: 1_000_000_000,
        packets: 10,
        accepted: 12,
        busy_ps,
        drops: 3,
        losses: 1,
        marks: 2,
        queue_mean_packets: mean,
        queue_p99_packets: Some(7.0),
        queue_max_packets: 8,
        ..PortRecord::default()
    };
    Outcome {
        seed: 42,
        end_ps: 3 * SECOND,
        measure_from_ps: SECOND,
        measure_to_ps: 3 * SECOND,
        queue_samples: 40,
        hops: 1234,
        groups: vec!["load".into(), "query".into()],
        controllers: vec!["dctcp".into()],
        flows,
        ports: vec![port("a>b", 1.0, SECOND), port("b>c", 5.5, SECOND / 2), port("c>d", 5.5, SECOND)],
        delay: vec![histogram(&[2 * MS; 90]), histogram(&[9 * MS; 50])],
        rtt: vec![histogram(&[4 * MS; 10]), histogram(&[])],
        ..Outcome::default()
    }
}

fn figure<'a>(summary: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(summary, |v, key| v.get(key).unwrap_or_else(|| panic!("no {key} of {path}")))
}

/// Equal up to the rounding of a handful of floating-point operations.
fn assert_near(summary: &Value, path: &str, expected: f64) {
    let value = figure(summary, path).as_f64().unwrap_or_else(|| panic!("{path} is no number"));
    assert!((value - expected).abs() <= 8.0 * f64::EPSILON * expected.abs(), "{path}: {value}, expected {expected}");
}

#[test]
fn jain_of_known_shares() {
    assert_eq!(jain(&[10.0, 10.0, 10.0, 10.0]), Some(1.0));
    assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
    assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
    assert_eq!(jain(&[]), None);
    assert_eq!(jain(&[0.0, 0.0]), None);
}

#[test]
fn percentiles_by_nearest_rank() {
    let hundred: Vec<u32> = (1..=100).collect();
    for (p, expected) in [(0.0, 1), (0.001, 1), (0.01, 1), (0.5, 50), (0.505, 51), (0.99, 99), (0.991, 100), (1.0, 100)]
    {
        assert_eq!(percentile_nearest_rank(&hundred, p), Some(expected), "p {p}");
    }
    // fewer than 100 values: the 99th percentile is the largest
    assert_eq!(percentile_nearest_rank(&hundred[..99], 0.99), Some(99));
    assert_eq!(percentile_nearest_rank(&[7.5], 0.5), Some(7.5));
    assert_eq!(percentile_nearest_rank::<f64>(&[], 0.5), None);
}

#[test]
fn ranks_take_the_quantile_as_the_decimal_it_was_written_as() {
    // in binary, 0.07 * 100 comes out above 7 and 0.55 * 100 above 55
    for percent in 1..=100_u64 {
        for n in [100, 1_000, 1_000_000, 100_000_000_000] {
            assert_eq!(nearest_rank(percent as f64 / 100.0, n), Some(percent * n / 100), "{percent} % of {n}");
            let next = nearest_rank(percent as f64 / 100.0, n + 1);
            assert_eq!(next, Some((percent * (n + 1)).div_ceil(100)), "{percent} % of {}", n + 1);
        }
    }
    for no_quantile in [-0.1, 1.1, f64::NAN] {
        assert_eq!(nearest_rank(no_quantile, 10), None);
    }
    assert_eq!(nearest_rank(0.5, 0), None);
}

#[test]
fn figures_of_all_flows() {
    let s = summarize(&outcome(), "two-groups", "0.1.0");
    assert_eq!(
        s["run"],
        json!({"scenario": "two-groups", "seed": 42, "sim_s": 3.0, "measure_from_s": 1.0, "measure_to_s": 3.0,
               "hops": 1234, "version": "0.1.0"})
    );
    assert_eq!((figure(&s, "flows.count"), figure(&s, "flows.finished")), (&json!(4), &json!(1)));
    // 1.5 MB in 2 s over 4 flows
    assert_near(&s, "flows.goodput_total_bps", 6e6);
    assert_near(&s, "flows.throughput_mean_bps", 1.5e6);
    // 1 MB in the 2 s of the interval, nothing twice, and 500 kB in the 30 ms that the transfer took
    assert_near(&s, "flows.throughput_active_mean_bps", (4e6 + 0.5e6 * 8.0 / 30e-3) / 4.0);
    assert_near(&s, "flows.delay_mean_s", (90.0 * 2e-3 + 50.0 * 9e-3) / 140.0);
    assert_near(&s, "flows.delay_p99_s", 9e-3);
    assert_near(&s, "flows.rtt_mean_s", 4e-3);
    assert_near(&s, "flows.rtt_p99_s", 4e-3);
    // 10 %, 50 % and 0 %: the flow that sent nothing has no loss
    assert_near(&s, "flows.loss_mean_pct", 20.0);
    assert_near(&s, "flows.loss_total_pct", 100.0 * 12.0 / 154.0);
    assert_near(&s, "flows.delivery_pct", 100.0 * 140.0 / 154.0);
    assert_near(&s, "flows.jain", 1.5 * 1.5 / (4.0 * 1.25));
    assert_eq!((figure(&s, "flows.retransmissions"), figure(&s, "flows.timeouts")), (&json!(10), &json!(1)));
}

#[test]
fn completion_times_are_over_finished_flows_with_a_size() {
    let mut outcome = outcome();
    // an endless flow that its stop time ended is no completion
    outcome.flows[0].finish_ps = Some(2 * SECOND);
    let s = summarize(&outcome, "s", "v");
    assert_eq!(figure(&s, "flows.finished"), &json!(2));
    assert_eq!((figure(&s, "fct.count"), figure(&s, "fct.finished")), (&json!(2), &json!(1)));
    for key in ["mean_s", "p50_s", "p95_s", "p99_s", "max_s"] {
        assert_near(&s, &format!("fct.{key}"), 0.03);
    }
    assert_near(&s, "fct.slowdown_mean", 3.0);
    assert_near(&s, "fct.slowdown_p99", 3.0);
}

#[test]
fn completion_percentiles_of_200_flows() {
    let flow = |ms: u64| FlowRecord {
        size: Some(1),
        start_ps: 5 * MS,
        finish_ps: Some((5 + ms) * MS),
        ideal_fct_ps: Some(MS),
        // half of the way back
        received_ps: Some((5 + ms) * MS - MS / 2),
        ideal_delivery_ps: Some(MS / 2),
        ..FlowRecord::default()
    };
    // longest first: the summary sorts
    let outcome = Outcome { flows: (1..=200).rev().map(flow).collect(), ..Outcome::default() };
    let s = summarize(&outcome, "s", "v");
    for (key, expected) in [("mean_s", 0.1005), ("p50_s", 0.1), ("p95_s", 0.19), ("p99_s", 0.198), ("max_s", 0.2)] {
        assert_near(&s, &format!("fct.{key}"), expected);
    }
    assert_near(&s, "fct.slowdown_mean", 100.5);
    assert_near(&s, "fct.slowdown_p99", 198.0);
    // (n - 0.5) / 0.5
    assert_near(&s, "fct.delivery_slowdown_mean", 200.0);
    assert_near(&s, "fct.delivery_slowdown_min", 1.0);
    assert_near(&s, "fct.delivery_slowdown_p99", 395.0);
}

#[test]
fn a_deadline_is_missed_by_a_picosecond_and_one_beyond_the_run_is_not_judged() {
    let flow = |deadline: Option<u64>, received: Option<u64>, unopened| FlowRecord {
        start_ps: MS,
        deadline_ps: deadline,
        received_ps: received,
        // the sender hears of it later
        finish_ps: received.map(|at| at + MS),
        size: Some(1),
        unopened,
        ..FlowRecord::default()
    };
    let due = Some(4 * MS);
    let flows = vec![
        flow(due, Some(5 * MS), false),
        flow(due, Some(5 * MS + 1), false),
        flow(due, None, false),
        flow(Some(SECOND), None, false),
        flow(due, None, true),
        flow(None, Some(9 * MS), false),
    ];
    let s = summarize(&Outcome { flows, end_ps: 100 * MS, ..Outcome::default() }, "s", "v");
    assert_eq!(figure(&s, "fct.deadlines"), &json!(3));
    assert_near(&s, "fct.deadlines_missed_pct", 200.0 / 3.0);
}

#[test]
fn the_busiest_port_has_the_largest_mean_queue_and_the_lowest_number() {
    let s = summarize(&outcome(), "s", "v");
    assert_eq!(
        s["queues"],
        json!({"drops": 9, "losses": 3, "marks": 6, "pauses": 0, "paused_s": 0.0, "deadlocked": 0, "samples": 40,
               "busiest": {"port": "b>c", "mean_packets": 5.5, "p99_packets": 7.0, "max_packets": 8,
               "utilisation": 0.25}})
    );
    let mut unlimited = outcome();
    unlimited.ports[1].rate_bps = 0;
    assert_eq!(figure(&summarize(&unlimited, "s", "v"), "queues.busiest.utilisation"), &Value::Null);
}

#[test]
fn losses_at_hosts_are_told_apart_and_the_busiest_engine_is_shown() {
    let mut o = outcome();
    let free = summarize(&o, "s", "v");
    assert_eq!(figure(&free, "flows.host_loss_total_pct"), &Value::Null);
    assert_eq!(figure(&free, "hosts.drops"), &Value::Null);
    let engine = |name: &str, mean, packets| EngineRecord {
        name: name.into(),
        packets,
        drops: 2,
        busy_ps: SECOND,
        queue_mean_packets: mean,
        queue_p99_packets: Some(4.0),
        queue_max_packets: 6,
        wait_sum_ps: SECOND,
        ..EngineRecord::default()
    };
    o.engines = vec![engine("h0.rx0", 0.5, 4), engine("h1.rx0", 1.5, 8), engine("h1.tx0", 1.5, 0)];
    let sent: u64 = o.flows.iter().map(|f| f.sent_m).sum();
    o.flows[0].host_dropped_m = 3;
    let s = summarize(&o, "s", "v");
    assert_near(&s, "flows.host_loss_total_pct", 300.0 / sent as f64);
    let busy = SECOND as f64 / (o.measure_to_ps - o.measure_from_ps) as f64;
    assert_eq!(
        s["hosts"],
        json!({"drops": 6, "busiest": {"engine": "h1.rx0", "mean_packets": 1.5, "p99_packets": 4.0, "max_packets": 6,
               "utilisation": busy, "wait_mean_s": 0.125}})
    );
}

#[test]
fn groups_have_the_figures_of_their_flows_alone() {
    let s = summarize(&outcome(), "s", "v");
    let names: Vec<&String> = s["groups"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["load", "query"]);
    assert_near(&s, "groups.load.flows.delay_p99_s", 2e-3);
    assert_near(&s, "groups.load.flows.loss_mean_pct", 30.0);
    assert_near(&s, "groups.query.flows.goodput_total_bps", 2e6);
    assert_near(&s, "groups.query.fct.mean_s", 0.03);
    assert_eq!(figure(&s, "groups.load.fct.mean_s"), &Value::Null);
    assert_eq!(figure(&s, "groups.query.flows.rtt_mean_s"), &Value::Null);
    // the same keys as in total
    for part in ["flows", "fct"] {
        let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&s["groups"]["load"][part]), keys(&s[part]));
    }
}

/// The second transfer has run for 3 s, 300 times its ideal, when the run ends.
#[test]
fn bounds_count_unfinished_flows_with_their_time_so_far() {
    let mut o = outcome();
    let s = summarize(&o, "s", "v");
    for (part, seconds) in [("mean_s", 0.03), ("p99_s", 0.03), ("mean_at_least_s", 1.515), ("p99_at_least_s", 3.0)] {
        assert_near(&s, &format!("fct.{part}"), seconds);
    }
    assert_near(&s, "fct.finished_pct", 50.0);
    assert_near(&s, "fct.slowdown_p99", 3.0);
    assert_near(&s, "fct.slowdown_p99_at_least", 300.0);
    // a flow that was stopped ran until then, and no flow is faster than its ideal
    o.flows[3].stopped_ps = Some(5 * MS);
    let s = summarize(&o, "s", "v");
    assert_near(&s, "fct.mean_at_least_s", 0.0175);
    o.flows[2].ideal_fct_ps = Some(60 * MS);
    assert_near(&summarize(&o, "s", "v"), "fct.slowdown_p99_at_least", 1.0);
    // the bound is the figure where all finished
    o.flows.truncate(3);
    let s = summarize(&o, "s", "v");
    assert_eq!(s["fct"]["p99_at_least_s"], s["fct"]["p99_s"]);
    assert_eq!(s["fct"]["slowdown_p99_at_least"], s["fct"]["slowdown_p99"]);
}

#[test]
fn flows_that_crossed_a_failure_are_a_group_of_their_own() {
    let mut o = Outcome { failed_links: vec!["a>b".into()], ..outcome() };
    (o.flows[0].crossed_failure, o.flows[3].crossed_failure) = (true, true);
    let s = summarize(&o, "s", "v");
    assert_eq!(s["crossed_failure"]["links"], json!("a>b"));
    assert_eq!(s["crossed_failure"]["flows"]["count"], json!(2));
    assert_eq!(s["crossed_failure"]["fct"]["count"], json!(1));
    assert_eq!(s["crossed_failure"]["fct"]["finished"], json!(0));
    assert_near(&s, "crossed_failure.fct.slowdown_p99_at_least", 300.0);
    assert_eq!(s["crossed_failure"]["flows"]["delay_p99_s"], Value::Null);
    let columns = table::flows(&o);
    let last = columns.last().unwrap();
    assert_eq!((last.name, &last.values), ("crossed_failure", &Values::U64(vec![1, 0, 0, 1])));
    // nothing of it without failures
    let s = summarize(&outcome(), "s", "v");
    assert!(s.get("crossed_failure").is_none() && s["units"].get("crossed_failure.*").is_none());
    assert_ne!(table::flows(&outcome()).last().unwrap().name, "crossed_failure");
}

#[test]
fn queries_and_writes_are_over_what_finished() {
    let message = |kind, group, number, took: Option<u64>, timeouts| MessageRecord {
        kind,
        group,
        host: 0,
        flow: 0,
        number,
        workers: 1,
        bytes: 1000,
        start_ps: 5_000_000_000,
        finish_ps: took.map(|ms| 5_000_000_000 + ms * 1_000_000_000),
        timeouts,
        deadline_ps: (kind == MessageKind::Query).then_some(9 * MS),
    };
    let (query, write) = (MessageKind::Query, MessageKind::Write);
    let messages = vec![
        message(query, 1, 0, Some(2), 0),
        message(query, 1, 1, Some(10), 3),
        message(query, 1, 2, None, 1),
        message(write, 0, 0, Some(7), 0),
    ];
    let s = summarize(&Outcome { messages, ..outcome() }, "s", "v");
    assert_eq!(s["queries"]["count"], json!(3));
    assert_eq!(s["queries"]["finished"], json!(2));
    assert_near(&s, "queries.mean_s", 6e-3);
    assert_near(&s, "queries.p50_s", 2e-3);
    assert_near(&s, "queries.max_s", 10e-3);
    assert_eq!(s["queries"]["with_timeout"], json!(1), "the unfinished one does not count");
    // of three one was late, and one is not there though the run is over
    assert_eq!(s["queries"]["deadlines"], json!(3));
    assert_near(&s, "queries.deadlines_missed_pct", 200.0 / 3.0);
    assert_eq!((&s["writes"]["deadlines"], &s["writes"]["deadlines_missed_pct"]), (&json!(0), &Value::Null));
    assert_near(&s, "writes.mean_s", 7e-3);
    assert_eq!(s["groups"]["query"]["queries"], s["queries"]);
    assert!(s["groups"]["query"].get("writes").is_none());
    assert_eq!(s["groups"]["load"]["writes"], s["writes"]);
}

#[test]
fn requests_are_no_share() {
    let flow = |role, delivered_m| FlowRecord { role, delivered_m, ..FlowRecord::default() };
    let flows = vec![flow(Role::Request, 100), flow(Role::Response, 1000), flow(Role::Data, 1000)];
    let s = summarize(&Outcome { flows, groups: Vec::new(), ..outcome() }, "s", "v");
    assert_near(&s, "flows.jain", 1.0);
    assert_near(&s, "flows.throughput_mean_bps", 1000.0 * 8.0 / 2.0);
    assert_near(&s, "flows.goodput_total_bps", 2100.0 * 8.0 / 2.0);
}

#[test]
fn flowmonitor_divides_by_1024_and_counts_what_never_arrived() {
    let s = summarize(&outcome(), "s", "v");
    // 1,000,000 B in 1 s; a flow without a reception; 512,000 B in 0.5 s; one never seen
    let expected = (7812.5 + 0.0 + 512_000.0 * 8.0 / 0.5 / 1024.0) / 3.0;
    assert_near(&s, "flowmonitor.throughput_kibps", expected);
    assert_near(&s, "flowmonitor.delay_s", (90.0 * 1e-3 + 50.0 * 8e-3) / 140.0);
    assert_near(&s, "flowmonitor.loss_pct", (10.0 + 100.0 + 0.0) / 3.0);

    let mut one = outcome();
    one.flows.truncate(1);
    assert_eq!(figure(&summarize(&one, "s", "v"), "flowmonitor.throughput_kibps"), &json!(7812.5));
}

#[test]
fn flowmonitors_entries_are_both_directions() {
    let mut o = Outcome { measure_to_ps: SECOND, ..Outcome::default() };
    let data = FlowRecord {
        fm_tx_packets: 100,
        fm_rx_packets: 80,
        fm_rx_bytes: 64_000,
        fm_delay_sum_ps: 80 * MS,
        dropped_m: 15,
        fm_first_tx_ps: Some(0),
        fm_last_rx_ps: Some(SECOND / 2),
        ..FlowRecord::default()
    };
    o.flows = vec![data.clone(), data.clone(), FlowRecord { flow: 2, ..FlowRecord::default() }];
    let s = summarize(&o, "s", "v");
    assert_near(&s, "flowmonitor.delivery_pct", 80.0);
    assert_near(&s, "flowmonitor.drop_pct", 15.0);
    assert_eq!(figure(&s, "flowmonitor.entries.delay_s"), &Value::Null, "not asked for");
    // one has an ACK direction, one whose SYN never came has none, and one sent nothing
    o.flows[0].fm_acks = Some(Box::new(MonitorEntry {
        tx_packets: 50,
        rx_packets: 40,
        rx_bytes: 2_048,
        lost_packets: 5,
        delay_sum_ps: 40 * MS / 4,
        first_tx_ps: Some(SECOND / 4),
        last_rx_ps: Some(SECOND / 2),
    }));
    o.flows[1].fm_acks = Some(Box::default());
    let s = summarize(&o, "s", "v");
    // 2 * 1000 Kibit/s of data, 64 of ACKs
    assert_near(&s, "flowmonitor.entries.throughput_kibps", (1000.0 + 1000.0 + 64.0) / 3.0);
    assert_near(&s, "flowmonitor.entries.delay_s", (160e-3 + 10e-3) / 200.0);
    assert_near(&s, "flowmonitor.entries.delivery_pct", 80.0);
    assert_near(&s, "flowmonitor.entries.drop_pct", 14.0);
    assert_near(&s, "flowmonitor.entries.loss_pct", 20.0);
    assert_near(&s, "flowmonitor.entries.missing_pct", 20.0);
    assert_near(&s, "flowmonitor.entries.delay_sum_s", 160e-3 + 10e-3);
    assert_near(&s, "flowmonitor.entries.sent", 250.0);
    assert_near(&s, "flowmonitor.entries.received", 200.0);
    assert_near(&s, "flowmonitor.entries.receiving_kibps", (1000.0 + 1000.0 + 64.0) / 3.0);
    assert_near(&s, "flowmonitor.throughput_kibps", 1000.0);

    // the first of them, by their first packets: an ACK direction comes before data that begins later
    o.flows[1].fm_first_tx_ps = Some(3 * SECOND / 8);
    let mut first = |n: u32| {
        o.monitored = Some(n);
        summarize(&o, "s", "v")
    };
    assert_near(&first(1), "flowmonitor.entries.throughput_kibps", 1000.0);
    assert_near(&first(2), "flowmonitor.entries.throughput_kibps", (1000.0 + 64.0) / 2.0);
    assert_near(&first(2), "flowmonitor.entries.delay_s", (80e-3 + 10e-3) / 120.0);
    assert_near(&first(3), "flowmonitor.entries.throughput_kibps", (1000.0 + 64.0 + 4000.0) / 3.0);
    assert_near(&first(9), "flowmonitor.entries.throughput_kibps", (1000.0 + 64.0 + 4000.0) / 3.0);
    // at one instant data directions come first
    o.flows[1].fm_first_tx_ps = Some(SECOND / 4);
    o.monitored = Some(2);
    let two = summarize(&o, "s", "v");
    assert_near(&two, "flowmonitor.entries.throughput_kibps", (1000.0 + 2000.0) / 2.0);
}

#[test]
fn what_does_not_exist_is_null() {
    let s = summarize(&Outcome::default(), "empty", "v");
    for path in [
        "flows.throughput_mean_bps",
        "flows.throughput_active_mean_bps",
        "flows.goodput_total_bps",
        "flows.delay_mean_s",
        "flows.delay_p99_s",
        "flows.rtt_mean_s",
        "flows.rtt_p99_s",
        "flows.loss_mean_pct",
        "flows.loss_total_pct",
        "flows.delivery_pct",
        "flows.jain",
        "fct.mean_s",
        "fct.p50_s",
        "fct.p95_s",
        "fct.p99_s",
        "fct.max_s",
        "fct.slowdown_mean",
        "fct.slowdown_p99",
        "fct.deadlines_missed_pct",
        "queries.mean_s",
        "queries.p50_s",
        "writes.p99_s",
        "queues.busiest.port",
        "queues.busiest.mean_packets",
        "queues.busiest.utilisation",
        "flowmonitor.throughput_kibps",
        "flowmonitor.delay_s",
        "flowmonitor.loss_pct",
        "flowmonitor.delivery_pct",
        "flowmonitor.drop_pct",
        "flowmonitor.entries.throughput_kibps",
        "flowmonitor.entries.drop_pct",
    ] {
        assert_eq!(figure(&s, path), &Value::Null, "{path}");
    }
    for path in
        ["flows.count", "flows.retransmissions", "fct.count", "queries.count", "writes.with_timeout", "queues.drops"]
    {
        assert_eq!(figure(&s, path), &json!(0), "{path}");
    }

    // an empty measured interval has no rate, and what is no number is null too
    let mut no_interval = outcome();
    no_interval.measure_from_ps = no_interval.measure_to_ps;
    no_interval.ports[1].queue_mean_packets = 9.0;
    no_interval.ports[2].queue_mean_packets = f64::NAN;
    let s = summarize(&no_interval, "s", "v");
    assert_eq!(figure(&s, "flows.throughput_mean_bps"), &Value::Null);
    assert_eq!(figure(&s, "queues.busiest.utilisation"), &Value::Null);
    assert!(!summary_text(&s).contains("NaN"));
}

fn leaves(prefix: &str, value: &Value, found: &mut Vec<String>) {
    for (key, value) in value.as_object().expect("an object") {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(_) => leaves(&path, value, found),
            _ => found.push(path),
        }
    }
}

#[test]
fn every_figure_has_unit_and_definition_and_nothing_else_has() {
    let facts = CollectiveFacts { pattern: "reduce", members: 2, ..CollectiveFacts::default() };
    let jobs = vec![JobRecord { name: "j".into(), collectives: vec![facts], ..JobRecord::default() }];
    let collectives = [((0, 0, 0), CollectiveRecord::default())].into();
    let s = summarize(&Outcome { failed_links: vec!["a>b".into()], jobs, collectives, ..outcome() }, "s", "v");
    let mut found = Vec::new();
    for part in ["run", "flows", "fct", "queries", "writes", "queues", "hosts", "radios"] {
        leaves(part, &s[part], &mut found);
    }
    leaves("jobs.*", &s["jobs"]["j"], &mut found);
    leaves("collectives.*.*", &s["collectives"]["j"]["reduce"], &mut found);
    found.extend(["groups.*", "crossed_failure.*"].map(String::from));
    leaves("flowmonitor", &s["flowmonitor"], &mut found);
    let stated: Vec<&str> = figures().map(|f| f.key).collect();
    assert_eq!(found, stated);
    for figure in figures() {
        assert_eq!(s["units"][figure.key], figure.unit);
        assert_eq!(s["definitions"][figure.key], figure.definition);
        assert!(!figure.definition.is_empty(), "{}", figure.key);
    }
    let parts: Vec<&String> = s.as_object().unwrap().keys().collect();
    assert_eq!(
        parts,
        [
            "run",
            "flows",
            "fct",
            "queries",
            "writes",
            "queues",
            "hosts",
            "radios",
            "jobs",
            "collectives",
            "groups",
            "crossed_failure",
            "flowmonitor",
            "units",
            "definitions"
        ]
    );
}

#[test]
fn the_text_is_the_same_bytes_every_time_and_reads_back() {
    let s = summarize(&outcome(), "s", "v");
    let text = summary_text(&s);
    assert_eq!(text, summary_text(&summarize(&outcome(), "s", "v")));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), s);
    assert!(text.starts_with("{\n  \"run\": {\n    \"scenario\": \"s\",\n    \"seed\": 42,\n    \"sim_s\": 3.0,\n"));
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
}

#[test]
fn flows_that_did_not_open_have_no_throughput() {
    let opened = FlowRecord { delivered_m: 3000, ..FlowRecord::default() };
    let starved = FlowRecord { flow: 1, ..FlowRecord::default() };
    let waiting = FlowRecord { flow: 2, unopened: true, ..FlowRecord::default() };
    let of = |flows: &[&FlowRecord]| {
        let flows = flows.iter().map(|f| (*f).clone()).collect();
        summarize(&Outcome { flows, measure_to_ps: SECOND, ..Outcome::default() }, "s", "v")
    };
    let s = of(&[&opened, &starved, &waiting]);
    assert_near(&s, "flows.throughput_mean_bps", 12_000.0);
    assert_near(&s, "flows.jain", 0.5);
    assert_eq!(figure(&s, "flows.count"), 3);
    let s = of(&[&waiting]);
    assert_eq!(figure(&s, "flows.throughput_mean_bps"), &Value::Null);
    assert_eq!(figure(&s, "flows.goodput_total_bps"), 0.0, "sums over no flow are 0");
    let outcome = Outcome { flows: vec![starved, waiting], measure_to_ps: SECOND, ..Outcome::default() };
    let columns = table::flows(&outcome);
    let throughput = columns.iter().find(|c| c.name == "throughput_bps").unwrap();
    assert_eq!(throughput.values, Values::OptF64(vec![Some(0.0), None]));
}

#[test]
fn throughput_of_a_flow_while_it_is_active_does_not_hang_on_the_last_flow() {
    let short = FlowRecord {
        size: Some(1000),
        delivered_m: 1000,
        start_ps: 10 * MS,
        received_ps: Some(19 * MS),
        finish_ps: Some(20 * MS),
        ..FlowRecord::default()
    };
    let long = FlowRecord { flow: 1, size: Some(9000), delivered_m: 6000, ..FlowRecord::default() };
    let of = |flows: &[&FlowRecord], from: u64, to: u64| {
        let flows = flows.iter().map(|f| (*f).clone()).collect();
        let outcome = Outcome { flows, measure_from_ps: from, measure_to_ps: to, ..Outcome::default() };
        let rates = table::flows(&outcome).into_iter().find(|c| c.name == "throughput_active_bps").unwrap().values;
        (summarize(&outcome, "s", "v"), rates)
    };
    for end in [SECOND, 100 * SECOND] {
        let (s, rates) = of(&[&short], 0, end);
        assert_near(&s, "flows.throughput_active_mean_bps", 8000.0 / 10e-3);
        assert_eq!(rates, Values::OptF64(vec![Some(8000.0 / 10e-3)]));
    }
    // one that has not ended is active to the end of the interval
    let (s, _) = of(&[&short, &long], 0, SECOND);
    assert_near(&s, "flows.throughput_active_mean_bps", (800_000.0 + 48_000.0) / 2.0);
    // from the start of the interval on, for one that was there before
    assert_near(&of(&[&short], 15 * MS, SECOND).0, "flows.throughput_active_mean_bps", 8000.0 / 5e-3);
    // a flow that was over before, and one of which only the last ACK was on its way, are not in the mean
    let (s, rates) = of(&[&short, &long], 19 * MS, SECOND);
    assert_near(&s, "flows.throughput_active_mean_bps", 48_000.0 / 0.981);
    let Values::OptF64(rates) = rates else { panic!("numbers that may be missing") };
    assert_eq!(rates[0], None);
    let waiting = FlowRecord { flow: 2, unopened: true, ..FlowRecord::default() };
    assert_eq!(figure(&of(&[&waiting], 0, SECOND).0, "flows.throughput_active_mean_bps"), &Value::Null);
}

#[test]
fn datagrams_have_no_part_in_what_is_late() {
    let counted =
        FlowRecord { sent_m: 110, arrived_m: 100, late: 7, reordering_buffer: 3_000, ..FlowRecord::default() };
    let datagrams = FlowRecord { datagrams: true, group: 1, sent_m: 900, arrived_m: 900, ..FlowRecord::default() };
    let groups = vec!["load".to_owned(), "elephants".to_owned()];
    let o = Outcome { groups, flows: vec![counted, datagrams], measure_to_ps: SECOND, ..Outcome::default() };
    let s = summarize(&o, "t", "");
    assert_eq!(s["flows"]["late_pct"], 7.0, "of the arrivals of which anybody knows");
    let own = &s["groups"]["elephants"]["flows"];
    assert_eq!((&own["late_pct"], &own["reordering_buffer_max_bytes"]), (&Value::Null, &Value::Null));
    for name in ["late_packets", "reordering_extent_max", "reordering_buffer_bytes"] {
        let columns = table::flows(&o);
        let column = columns.iter().find(|c| c.name == name).unwrap();
        assert!(matches!(&column.values, Values::OptU64(v) if v[0].is_some() && v[1].is_none()), "{name}");
    }
}

/// A transfer that was cut short at half a second, after 250 kB: no completion, no slowdown, goodput of what was
/// delivered until then.
#[test]
fn a_stopped_flow_has_no_completion_time() {
    let mut outcome = outcome();
    let flow = &mut outcome.flows[2];
    (flow.finish_ps, flow.stopped_ps, flow.delivered) = (None, Some(SECOND + 500 * MS), 250_000);
    let summary = summarize(&outcome, "s", "v");
    assert_eq!(figure(&summary, "fct.finished"), 0);
    assert!(figure(&summary, "fct.slowdown_min").is_null());
    let finished = figure(&summary, "flows.finished").as_u64();
    assert_eq!((figure(&summary, "flows.stopped").as_u64(), finished), (Some(1), Some(0)));
    assert!(figure(&summary, "fct.span_s").is_null());
}
