//! The tables of a run.

use incast_record::packed::{FrameSeries, FrameTable};
use incast_record::table::{self, Column, TABLES, Values};
use incast_record::{
    ClassRecord, FlowRecord, Happening, Label, MessageKind, MessageRecord, Outcome, PacketEvent, PortFrame, PortRecord,
    Sample, TransferRecord,
};
use std::ops::Range;

const SECOND: u64 = 1_000_000_000_000;
const MS: u64 = SECOND / 1000;

fn outcome() -> Outcome {
    let sample = |entity: &str, time_ps, value| Sample { entity: entity.into(), name: "cwnd_bytes", time_ps, value };
    let message = |kind, workers, number, finish_ps| MessageRecord {
        kind,
        group: 1,
        host: 7,
        flow: 3,
        number,
        workers,
        bytes: 500,
        start_ps: MS,
        finish_ps,
        timeouts: number,
        deadline_ps: Some(8 * MS),
    };
    Outcome {
        measure_from_ps: SECOND,
        measure_to_ps: 3 * SECOND,
        groups: vec!["load".into(), "query".into()],
        controllers: vec!["dctcp".into(), "swift:target=min-rtt".into()],
        flows: vec![
            FlowRecord {
                group: 1,
                controller: 1,
                src: 4,
                dst: 2,
                start_ps: SECOND,
                finish_ps: Some(SECOND + 30 * MS),
                size: Some(1000),
                ideal_fct_ps: Some(10 * MS),
                ideal_delivery_ps: Some(5 * MS),
                received_ps: Some(SECOND + 25 * MS),
                deadline_ps: Some(20 * MS),
                delivered_m: 500_000,
                arrived_m: 4,
                delay_sum_ps: 10 * MS,
                delay_max_ps: 4 * MS,
                rtt_count: 2,
                rtt_sum_ps: 6 * MS,
                rtt_min_ps: Some(2 * MS),
                ..FlowRecord::default()
            },
            FlowRecord { flow: 1, finish_ps: Some(SECOND), ..FlowRecord::default() },
        ],
        labels: vec![Label { name: "colour", definition: "It has one.", values: &["red", "blue"], of: vec![1, 0] }],
        ports: vec![
            PortRecord { name: "a>b".into(), rate_bps: 10, busy_ps: SECOND, ..PortRecord::default() },
            PortRecord {
                name: "b>a".into(),
                queue_mean_packets: f64::NAN,
                classes: vec![ClassRecord::default(); 2],
                ..PortRecord::default()
            },
        ],
        messages: vec![
            message(MessageKind::Query, 2, 0, Some(9 * MS)),
            message(MessageKind::Query, 2, 1, None),
            message(MessageKind::Write, 0, 4, Some(3 * MS)),
        ],
        samples: vec![sample("flow 1", 5 * MS, 1.0), sample("flow 1", 6 * MS, f64::NAN), sample("flow 0", MS, 3.0)],
        trace: vec![PacketEvent {
            time_ps: 80_001,
            flow: 1,
            place: "edge0>h1".into(),
            event: Happening::Drop,
            seq: 1460,
            ack: 0,
            payload: 1460,
            size: 1500,
            flags: "ACK|CE".into(),
        }],
        ..Outcome::default()
    }
}

fn made(name: &str) -> Vec<Column> {
    TABLES.iter().find(|(table, _)| *table == name).unwrap().1(&outcome())
}

fn values(table: &[Column], name: &str) -> Values {
    table.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}")).values.clone()
}

fn dict(codes: &[u32], names: &[&str]) -> Values {
    Values::Dict { codes: codes.to_vec(), names: names.iter().map(|n| n.to_string()).collect() }
}

fn tables(outcome: &Outcome) -> Vec<(String, Vec<Column>)> {
    TABLES.iter().map(|(name, make)| (format!("{name}.parquet"), make(outcome))).collect()
}

fn rows(outcome: &Outcome) -> [usize; 20] {
    let of = |kind| outcome.messages.iter().filter(|m| m.kind == kind).count();
    [
        outcome.flows.len(),
        outcome.ports.len(),
        outcome.ports.iter().map(|p| p.classes.len()).sum(),
        outcome.engines.len(),
        outcome.entries.len(),
        outcome.radios.len(),
        of(MessageKind::Query),
        of(MessageKind::Write),
        outcome.ranks.chunk_by(|a, b| (a.job, a.iteration) == (b.job, b.iteration)).count(),
        outcome.ranks.len(),
        outcome.collectives.len(),
        outcome.transfers.len(),
        outcome.tasks.len(),
        outcome.samples.len(),
        outcome.trace.len(),
        outcome.pauses.rows.len(),
        outcome.port_frames.rows().count(),
        outcome.flow_frames.rows().count(),
        outcome.timeline_events.len(),
        outcome.paths.len(),
    ]
}

#[test]
fn parts_of_a_table_of_frames_are_the_whole_table() {
    let series = |port: u32| {
        let mut series = FrameSeries::default();
        let row = |frame| PortFrame { frame, busy_ps: u64::from(frame * 3 + port), ..PortFrame::default() };
        (1..2_000).for_each(|frame| series.push(&row(frame)));
        series
    };
    let outcome = Outcome {
        frame_ps: Some(10_000),
        end_ps: 20_000_000,
        port_frames: FrameTable::from(vec![series(1), series(2)]),
        ..Outcome::default()
    };
    let whole = table::timeline_ports(&outcome);
    let Values::U32(frames) = values(&whole, "frame") else { panic!("whole numbers") };
    assert_eq!(frames.len(), 2 * 1_999);
    for most in [7, 1_000, 1_024, 1_025, 3_000, 5_000] {
        let (mut joined, mut lengths) = (Vec::new(), Vec::new());
        assert!(table::parts("timeline_ports", &outcome, most, &mut |part| {
            let Values::U32(frames) = values(&part, "frame") else { panic!("whole numbers") };
            let Values::OptF64(busy) = values(&part, "busy") else { panic!("numbers that may be missing") };
            lengths.push(frames.len());
            joined.extend(frames.into_iter().zip(busy));
        }));
        let Values::OptF64(busy) = values(&whole, "busy") else { panic!("numbers that may be missing") };
        assert!(joined.into_iter().eq(frames.iter().copied().zip(busy)), "parts of {most}");
        let last = lengths.pop().unwrap();
        assert!(lengths.iter().all(|length| *length == most) && last <= most, "{lengths:?} and {last} of {most}");
    }
}

/// Some rows of a column.
fn some(values: &Values, at: Range<usize>) -> Values {
    match values {
        Values::U64(own) => Values::U64(own[at].to_vec()),
        Values::OptU64(own) => Values::OptU64(own[at].to_vec()),
        Values::F64(own) => Values::F64(own[at].to_vec()),
        Values::OptF64(own) => Values::OptF64(own[at].to_vec()),
        Values::U32(own) => Values::U32(own[at].to_vec()),
        Values::Str(own) => Values::Str(own[at].to_vec()),
        Values::Dict { codes, names } => Values::Dict { codes: codes[at].to_vec(), names: names.clone() },
    }
}

#[test]
fn parts_of_many_flows_and_messages_are_the_whole_table() {
    let few = (1 << 17) as u32;
    let of = |count: u32| {
        let flow = |flow| FlowRecord { flow, rtt_min_ps: (flow % 3 > 0).then_some(5), ..FlowRecord::default() };
        let message = |task| TransferRecord { task, ..TransferRecord::default() };
        let label =
            Label { name: "colour", definition: "", values: &["red", "blue"], of: (0..count).map(|i| i % 2).collect() };
        Outcome {
            groups: vec!["a".to_owned()],
            controllers: vec!["dctcp".to_owned()],
            flows: (0..count).map(flow).collect(),
            transfers: (0..count).map(message).collect(),
            labels: vec![label],
            ..Outcome::default()
        }
    };
    let never = &mut |_| panic!("one part");
    assert!(!table::parts("flows", &of(few), 1 << 20, never) && !table::parts("messages", &of(few), 1 << 20, never));
    let many = of(few + 1);
    for (name, whole, counted) in
        [("flows", table::flows(&many), "flow"), ("messages", table::named("messages").unwrap()(&many), "task")]
    {
        let mut lengths = Vec::new();
        assert!(table::parts(name, &many, 1 << 20, &mut |part| {
            let Values::U32(numbers) = values(&part, counted) else { panic!("whole numbers") };
            let from = lengths.iter().sum::<usize>();
            lengths.push(numbers.len());
            let own = |column: &Column| some(&column.values, from..from + numbers.len());
            assert!(part.iter().zip(&whole).all(|(a, b)| a.name == b.name && a.values == own(b)), "{name}");
            assert_eq!(part.len(), whole.len());
        }));
        assert_eq!(lengths, [1 << 15, 1 << 15, 1 << 15, 1 << 15, 1], "{name}");
    }
}

#[test]
fn flows_in_units_of_the_edge() {
    let t = table::flows(&outcome());
    assert_eq!(values(&t, "group"), dict(&[1, 0], &["load", "query"]));
    assert_eq!(values(&t, "controller"), dict(&[1, 0], &["dctcp", "swift:target=min-rtt"]));
    assert_eq!(values(&t, "src"), Values::U32(vec![4, 0]));
    assert_eq!(values(&t, "colour"), dict(&[1, 0], &["red", "blue"]));
    let names = t.iter().map(|c| c.name).skip(4).take(4);
    assert_eq!(names.collect::<Vec<_>>(), ["src", "dst", "colour", "hops"], "labels stand behind the ends");
    assert_eq!(values(&t, "start_s"), Values::F64(vec![1.0, 0.0]));
    // a flow without a size has an end but no completion time
    assert_eq!(values(&t, "finish_s"), Values::OptF64(vec![Some(1.03), Some(1.0)]));
    assert_eq!(values(&t, "fct_s"), Values::OptF64(vec![Some(0.03), None]));
    // 1000 bytes in 30 ms
    assert_eq!(values(&t, "goodput_bps"), Values::OptF64(vec![Some(8000.0 / 0.03), None]));
    assert_eq!(values(&t, "slowdown"), Values::OptF64(vec![Some(3.0), None]));
    // the receiver had the last byte after 25 ms
    assert_eq!(values(&t, "delivery_slowdown"), Values::OptF64(vec![Some(5.0), None]));
    assert_eq!(values(&t, "deadline_s"), Values::OptF64(vec![Some(0.02), None]));
    assert_eq!(values(&t, "deadline_missed"), Values::OptF64(vec![Some(1.0), None]));
    assert_eq!(values(&t, "size_bytes"), Values::OptU64(vec![Some(1000), None]));
    assert_eq!(values(&t, "throughput_bps"), Values::OptF64(vec![Some(2e6), Some(0.0)]));
    assert_eq!(values(&t, "delay_mean_s"), Values::OptF64(vec![Some(0.0025), None]));
    assert_eq!(values(&t, "delay_max_s"), Values::OptF64(vec![Some(0.004), None]));
    assert_eq!(values(&t, "rtt_mean_s"), Values::OptF64(vec![Some(0.003), None]));
    assert_eq!(values(&t, "rtt_min_s"), Values::OptF64(vec![Some(0.002), None]));
}

#[test]
fn ports_without_a_rate_have_no_utilisation() {
    let t = table::ports(&outcome());
    assert_eq!(values(&t, "port"), Values::Str(vec!["a>b".into(), "b>a".into()]));
    assert_eq!(values(&t, "rate_bps"), Values::OptU64(vec![Some(10), None]));
    assert_eq!(values(&t, "utilisation"), Values::OptF64(vec![Some(0.5), None]));
    assert_eq!(values(&t, "queue_mean_packets"), Values::OptF64(vec![Some(0.0), None]));
}

#[test]
fn the_share_of_a_queue_is_in_the_unit_of_its_limit() {
    let port = |limit_packets, limit_bytes, queue_mean_packets| PortRecord {
        limit_packets,
        limit_bytes,
        queue_mean_packets,
        queue_mean_bytes: 3000.0,
        ..PortRecord::default()
    };
    let ports = vec![
        port(Some(8), None, 2.0),
        port(None, Some(12_000), 2.0),
        port(None, None, 2.0),
        port(Some(8), None, f64::NAN),
        port(Some(0), None, 2.0),
    ];
    let t = table::ports(&Outcome { ports, ..Outcome::default() });
    assert_eq!(values(&t, "queue_mean_share"), Values::OptF64(vec![Some(0.25), Some(0.25), None, None, None]));
}

#[test]
fn queries_and_writes_have_a_table_each() {
    let t = made("queries");
    assert_eq!(values(&t, "root"), Values::U32(vec![7, 7]));
    assert_eq!(values(&t, "workers"), Values::U32(vec![2, 2]));
    assert_eq!(values(&t, "number"), Values::U64(vec![0, 1]));
    assert_eq!(values(&t, "completion_s"), Values::OptF64(vec![Some(0.008), None]));
    assert_eq!(values(&t, "timeouts"), Values::U64(vec![0, 1]));
    // complete to the picosecond, and the run ended before
    assert_eq!(values(&t, "deadline_missed"), Values::OptF64(vec![Some(0.0), None]));
    let t = made("writes");
    assert_eq!(values(&t, "group"), dict(&[1], &["load", "query"]));
    assert_eq!(values(&t, "flow"), Values::U32(vec![3]));
    assert_eq!(values(&t, "completion_s"), Values::OptF64(vec![Some(0.002)]));
}

#[test]
fn series_keep_their_order_and_each_name_is_stored_once() {
    let t = table::samples(&outcome());
    assert_eq!(values(&t, "entity"), dict(&[0, 0, 1], &["flow 1", "flow 0"]));
    assert_eq!(values(&t, "name"), dict(&[0, 0, 0], &["cwnd_bytes"]));
    assert_eq!(values(&t, "time_s"), Values::F64(vec![0.005, 0.006, 0.001]));
    assert_eq!(values(&t, "value"), Values::OptF64(vec![Some(1.0), None, Some(3.0)]));
}

#[test]
fn a_trace_keeps_exact_times_and_names_events() {
    let t = table::trace(&outcome());
    assert_eq!(values(&t, "time_ps"), Values::U64(vec![80_001]));
    assert_eq!(values(&t, "flags"), dict(&[0], &["ACK|CE"]));
    assert_eq!(values(&t, "place"), dict(&[0], &["edge0>h1"]));
    let names = ["send", "enqueue", "mark", "drop", "loss", "unreachable", "arrive", "receive", "transmit", "hear"];
    assert_eq!(values(&t, "event"), dict(&[3], &names));
}

#[test]
fn columns_are_of_one_length_with_distinct_names_and_codes_in_range() {
    for outcome in [outcome(), Outcome::default()] {
        for ((file, columns), rows) in tables(&outcome).into_iter().zip(rows(&outcome)) {
            let mut names: Vec<&str> = columns.iter().map(|c| c.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), columns.len(), "{file}: a name occurs twice");
            for c in &columns {
                assert_eq!(c.values.len(), rows, "{file} {}", c.name);
                if let Values::Dict { codes, names } = &c.values {
                    assert!(codes.iter().all(|&i| (i as usize) < names.len()), "{file} {}", c.name);
                }
            }
        }
    }
}
