//! Start-up traces and steady states of the real Linux stack, from `parity/data/linux`: windows and acknowledged
//! bytes row by row, queues and marks of the cells.

use incast_engine::run;
use incast_record::{Outcome, summary};
use incast_scenario::Scenario;
use std::path::Path;

const SEGMENT: f64 = 1448.0;
/// Time of a full packet on the bottleneck: the largest shift of a trace.
const PACKET_PS: i64 = 12_112_000;

fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../parity/data/linux").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rows = text.lines().filter(|l| !l.starts_with('#')).skip(1);
    rows.map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

fn outcome(sets: &[(&str, &str)]) -> Outcome {
    let mut scenario = Scenario::load("linux-dumbbell").unwrap();
    for (key, value) in sets {
        scenario.set(key, value).unwrap_or_else(|e| panic!("{key}: {e}"));
    }
    run(&scenario.build().unwrap_or_else(|e| panic!("{e}")), &mut |_| true).unwrap()
}

/// Values of a series, in order.
fn series(o: &Outcome, entity: &str, name: &str) -> Vec<(i64, f64)> {
    let of = o.samples.iter().filter(|s| *s.entity == *entity && s.name == name);
    of.map(|s| (s.time_ps as i64, s.value)).collect()
}

fn at(series: &[(i64, f64)], t: i64, before: f64) -> f64 {
    match series.partition_point(|(time, _)| *time <= t) {
        0 => before,
        n => series[n - 1].1,
    }
}

/// Share of the rows of a trace whose window, bytes acknowledged and queue are within a segment, two
/// segments and two packets, at the best constant shift of at most a packet's time.
fn shares(trace: &str, sets: &[(&str, &str)]) -> [f64; 3] {
    let mut all = vec![
        ("run.warmup", "0s"),
        ("run.duration", "20.1ms"),
        ("traffic.bulk.start", "0s"),
        ("measure.series.interval", "change"),
        ("measure.series.flows", "[0]"),
        ("measure.series.ports", "[\"left>right\"]"),
    ];
    all.extend(sets);
    let o = outcome(&all);
    let window = series(&o, "flow 0", "cwnd_bytes");
    let acked = series(&o, "flow 0", "acked_bytes");
    let queue = series(&o, "left>right", "queue_packets");
    let ps = |text: &str| (text.parse::<f64>().unwrap() * 1e6).round() as i64;
    let value = |text: &str| text.parse::<f64>().unwrap();
    let flows = table(&format!("{trace}_flow.csv"));
    let queues = table(&format!("{trace}_queue.csv"));
    assert!(flows.len() > 300 && queues.len() > 1500, "{trace} is there");
    let share = |rows: &[Vec<String>], holds: &dyn Fn(&[String]) -> bool| {
        rows.iter().filter(|r| holds(r)).count() as f64 / rows.len() as f64
    };
    let shifts = (-4..=4).map(|i| i * PACKET_PS / 4);
    let of = |shift: i64| {
        let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by + 1e-6;
        [
            share(&flows, &|r| near(at(&window, ps(&r[0]) + shift, 10.0 * SEGMENT) / SEGMENT, value(&r[2]), 1.0)),
            // Linux counts SYN's sequence number
            share(&flows, &|r| near(at(&acked, ps(&r[0]) + shift, 0.0), (value(&r[3]) - 1.0).max(0.0), 2.0 * SEGMENT)),
            share(&queues, &|r| near(at(&queue, ps(&r[0]) + shift, 0.0), value(&r[1]), 2.0)),
        ]
    };
    shifts.map(of).max_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum())).unwrap()
}

const RENO: [(&str, &str); 3] = [
    ("controller", "newreno:form=linux"),
    ("queue", "{ kind = \"drop-tail\", limit = \"100p\", count_overhead = true }"),
    ("transport.scoreboard", "rack"),
];

#[test]
fn dctcp_starts_as_in_linux() {
    assert_eq!(shares("G_dctcp_rtt100_n1", &[]), [1.0, 1.0, 1.0]);
    let far = ("topology.bottleneck_link.back_delay", "499968ns");
    assert_eq!(shares("G_dctcp_rtt500_n1", &[far]), [1.0, 1.0, 1.0]);
}

#[test]
fn reno_starts_overshoots_and_recovers_as_in_linux() {
    let far = ("topology.bottleneck_link.back_delay", "499968ns");
    let sets: Vec<_> = RENO.into_iter().chain([far]).collect();
    assert_eq!(shares("G_reno_rtt500_n1", &sets), [1.0, 1.0, 1.0]);
    // one row more than a packet's time apart, of 1818
    assert!(shares("G_reno_rtt100_n1", &RENO).into_iter().all(|s| s > 0.999));
}

/// Rules that decide the traces: each one, switched off, moves rows out of bounds.
#[test]
fn each_rule_of_the_traces_shows() {
    let dctcp = |set: (&'static str, &'static str)| shares("G_dctcp_rtt100_n1", &[set]);
    let reno = |set: (&'static str, &'static str)| {
        let sets: Vec<_> = RENO.into_iter().filter(|s| s.0 != set.0).chain([set]).collect();
        shares("G_reno_rtt100_n1", &sets)
    };
    let worst = |s: [f64; 3]| s.into_iter().fold(1.0, f64::min);
    assert!(worst(dctcp(("transport.window_growth", "false"))) < 0.9, "acknowledged one by one while the window grows");
    assert!(worst(dctcp(("transport.ecn_by_prr", "false"))) < 0.98, "cuts spread over a round trip");
    assert!(worst(reno(("transport.scoreboard", "rfc6675"))) < 0.9, "losses told by send times");
    assert!(worst(reno(("transport.recovery", "newreno"))) < 0.9, "proportional rate reduction");
}

#[test]
fn steady_states_of_dctcp_are_those_of_linux() {
    let rows = table("bulk.csv");
    for (name, delay, mark, delayed_ack) in [
        ("R1_rtt100_K20_n1", "99968ns", "30000B", "auto"),
        ("R1_rtt100_K20_n2", "99968ns", "30000B", "auto"),
        ("R1_rtt500_K65_n10", "499968ns", "97500B", "auto"),
        ("R1_rtt100_K20_n40", "99968ns", "30000B", "auto"),
        ("R1q_rtt100_K20_n1", "99968ns", "30000B", "1"),
    ] {
        let row = rows.iter().find(|r| r[0] == name).unwrap_or_else(|| panic!("{name} is measured"));
        let value = |i: usize| row[i].parse::<f64>().unwrap();
        let o = outcome(&[
            ("traffic.flows", &row[1]),
            ("topology.bottleneck_link.back_delay", delay),
            ("queue.mark", mark),
            ("transport.delayed_ack", delayed_ack),
        ]);
        let port = o.ports.iter().find(|p| p.name == "left>right").unwrap();
        let marked = port.marks as f64 / port.packets as f64;
        assert!((port.queue_mean_packets - value(8)).abs() <= 1.0, "{name}: queue {}", port.queue_mean_packets);
        // the same marks one by one: the table has four digits, and its interval ends a packet apart
        assert!((marked / value(13) - 1.0).abs() <= 5e-4, "{name}: marked {marked}");
        let goodput = summary::summarize(&o, name, "test")["flows"]["goodput_total_bps"].as_f64().unwrap();
        assert!((goodput / 1e6 / value(6) - 1.0).abs() <= 0.002, "{name}: goodput {goodput}");
        assert_eq!(port.drops, 0, "{name}");
    }
}

/// Each of 31 recoveries in 3 s loses as many packets as Linux', because the receiver compresses the SACKs: PRR then
/// sends in bursts.
#[test]
fn recoveries_of_reno_lose_as_many_segments_as_in_linux() {
    let drops = |compressed: &str| {
        let sets = [
            ("topology.bottleneck_link.back_delay", "499968ns"),
            ("run.warmup", "1s"),
            ("run.duration", "4s"),
            ("transport.sack_compression", compressed),
        ];
        let o = outcome(&RENO.into_iter().chain(sets).collect::<Vec<_>>());
        o.ports.iter().find(|p| p.name == "left>right").unwrap().drops
    };
    let rows = table("bulk.csv");
    let row = rows.iter().find(|r| r[0] == "R2_pf100_n1").expect("the cell is measured");
    assert_eq!(drops("true").to_string(), row[14]);
    assert!(drops("false") < drops("true"));
}

/// Controllers that react to marks by RFC 3168 take the preset as it is: only `ecn` differs.
#[test]
fn classic_ecn_takes_the_preset_as_it_is() {
    for controller in ["newreno", "cubic", "westwood"] {
        let mut s = Scenario::load("dumbbell").unwrap().with_controller(controller).unwrap();
        s.set("transport.preset", "linux").unwrap();
        s.set("transport.ecn", "classic").unwrap();
        let spec = s.build().unwrap_or_else(|e| panic!("{controller}: {e}"));
        assert_eq!(spec.transports[0].marks.ecn, Some(incast_cc::Ecn::Classic), "{controller}");
        assert!(
            spec.transports[0].acks.cwr_ack && spec.transports[0].loss.cwr_after_loss,
            "{controller}: as Linux answers CWR"
        );
        assert_eq!(s.notes().unwrap(), [""; 0], "{controller}");
    }
}
