//! Chakra execution traces.

use crate::fuzz::{cases, mutated};
use crate::support::{Random, codes, lines};
use incast_cc::{Bytes, Time};
use incast_workload::chakra::{Options, Reader};
use incast_workload::lint::lint;
use incast_workload::{Code, Graph, Kind, Pattern, Report, Task};

/// Trace of rank 0 of all_reduce of 4 NPUs of astra-sim's microbenchmarks, in hexadecimal digits and texts.
fn all_reduce_of_1_mib(rank: u8) -> Vec<u8> {
    let mut bytes = b"\x07\x0a\x050.0.4".to_vec();
    let id: &[u8] = if rank == 0 { &[] } else { &[0x08, rank] };
    bytes.push(0x48 + id.len() as u8);
    bytes.extend(id);
    bytes.extend(b"\x12\x14all_reduce_4npus_1MB\x18\x07");
    bytes.extend(b"\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0d\x0a\x09comm_type\x48\x00");
    bytes.extend(b"\x52\x0f\x0a\x09comm_size\x48\x80\x80\x40");
    bytes
}

fn read(files: &[Vec<u8>], groups: &str, options: Options) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    let mut reader = Reader::new(files.len() as u64, options, &mut report).unwrap();
    if !groups.is_empty() {
        reader.groups(groups);
    }
    for (rank, bytes) in files.iter().enumerate() {
        reader.rank(rank as u32, bytes);
    }
    let graph = reader.finish();
    (graph, report)
}

/// Fields of a node: `(number, value)`.
#[derive(Clone)]
enum Field {
    Number(u64, u64),
    Text(u64, &'static str),
    Part(u64, Vec<u8>),
}
use Field::{Number, Part, Text};

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn message(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        let (number, wire, value) = match field {
            Number(number, value) => (number, 0, varint(*value)),
            Text(number, text) => (number, 2, [varint(text.len() as u64), text.as_bytes().to_vec()].concat()),
            Part(number, part) => (number, 2, [varint(part.len() as u64), part.clone()].concat()),
        };
        bytes.extend(varint(number << 3 | wire));
        bytes.extend(value);
    }
    bytes
}

/// An attribute with an integer of the type with this field number.
fn attribute(name: &'static str, kind: u64, value: u64) -> Field {
    Part(10, message(&[Text(1, name), Number(kind, value)]))
}

fn file(nodes: &[Vec<Field>]) -> Vec<u8> {
    let mut bytes = vec![0];
    for node in nodes {
        let node = message(node);
        bytes.extend(varint(node.len() as u64));
        bytes.extend(node);
    }
    bytes
}

fn calc(id: u64, us: u64, after: Vec<u64>) -> Vec<Field> {
    let after: Vec<u8> = after.into_iter().flat_map(varint).collect();
    vec![Number(1, id), Text(2, "calc"), Number(3, 4), Part(5, after), Number(7, us)]
}

#[test]
fn the_microbenchmark_of_astra_sim_is_an_all_reduce_of_1_mib() {
    assert_eq!((all_reduce_of_1_mib(0).len(), all_reduce_of_1_mib(1)[8]), (81, 0x4a));
    let files: Vec<Vec<u8>> = (0..4).map(all_reduce_of_1_mib).collect();
    let (graph, report) = read(&files, "", Options::default());
    assert_eq!(codes(&report), []);
    let graph = graph.unwrap();
    assert_eq!((graph.ranks(), graph.total(), graph.collectives().len()), (4, 4, 1));
    let what = graph.collective(0).unwrap();
    assert_eq!(
        (what.pattern, what.bytes, graph.group(what.group)),
        (Pattern::AllReduce, Bytes(1 << 20), &[0, 1, 2, 3][..])
    );
    assert_eq!(graph.task(2, 0), Task::collective(0, 2, Bytes(1 << 20)).on_stream(1));
    let mut report = Report::default();
    lint(&graph, &Default::default(), &mut report);
    assert_eq!(codes(&report), [], "{}", lines(&report));
}

#[test]
fn integers_of_every_type_are_read() {
    // int32, int64, uint32, uint64 and bool as they are; sint32 and sint64 in zigzag
    for (kind, value) in [(7, 4096), (9, 4096), (11, 4096), (13, 4096), (15, 8192), (17, 8192)] {
        let node = vec![
            Number(3, 5),
            attribute("comm_dst", kind, 0),
            attribute("comm_size", kind, value),
            attribute("comm_tag", 13, 3),
        ];
        let take = vec![
            Number(1, 1),
            Number(3, 6),
            attribute("comm_src", 9, 0),
            attribute("comm_size", 9, 4096),
            attribute("comm_tag", 9, 3),
        ];
        let (graph, report) = read(&[file(&[node, take])], "", Options::default());
        assert_eq!((codes(&report), graph.unwrap().task(0, 0).size), (vec![], 4096), "type {kind}");
    }
    let fixed = |number: u64, bytes: &[u8]| {
        let wire = if bytes.len() == 8 { 1 } else { 5 };
        let value = [varint(number << 3 | wire), bytes.to_vec()].concat();
        Part(10, [message(&[Text(1, "comm_size")]), value].concat())
    };
    let eight = 4096u64.to_le_bytes();
    let four = 4096u32.to_le_bytes();
    for (number, bytes) in [
        (21, &eight[..]),
        (25, &eight),
        (19, &four),
        (23, &four),
        (3, &4096f64.to_le_bytes()),
        (5, &4096f32.to_le_bytes()),
    ] {
        let node = vec![Number(3, 7), attribute("comm_type", 9, 0), fixed(number, bytes)];
        let (graph, report) = read(&[file(&[node])], "", Options::default());
        assert_eq!((codes(&report), graph.unwrap().task(0, 0).size), (vec![], 4096), "type {number}");
    }
}

#[test]
fn durations_are_microseconds_and_dependencies_are_by_id() {
    let mut second = calc(70, 2, vec![7]);
    second.push(Number(4, 7));
    let (graph, report) = read(&[file(&[second, calc(7, 3, vec![])])], "", Options::default());
    assert_eq!(codes(&report), []);
    let graph = graph.unwrap();
    assert_eq!((graph.task(0, 0).duration(), graph.task(0, 1).duration()), (Time::us(2), Time::us(3)));
    assert_eq!((graph.waits(0, 0), graph.successors(0, 1).0), (1, &[0][..]), "once, though in both lists");
}

fn collective(id: u64, pattern: u64, size: u64, group: &'static str) -> Vec<Field> {
    let named = Part(10, message(&[Text(1, "pg_name"), Text(29, group)]));
    vec![Number(1, id), Number(3, 7), attribute("comm_type", 9, pattern), attribute("comm_size", 13, size), named]
}

#[test]
fn groups_come_from_json_and_members_meet_in_their_order() {
    let two = || file(&[collective(1, 0, 64, "5"), collective(2, 7, 32, "5")]);
    let files = [two(), file(&[]), two()];
    let (graph, report) = read(&files, "{\"5\": [2, 0]}", Options::default());
    assert_eq!(codes(&report), []);
    let graph = graph.unwrap();
    assert_eq!(
        (graph.group(graph.collectives()[0].group), graph.task(0, 1).tag, graph.task(2, 1).tag),
        (&[2, 0][..], 1, 1)
    );
    assert_eq!((graph.task(0, 0).peer, graph.task(2, 0).peer), (1, 0));
    let inputs = message(&[Text(1, "[{\"pg_name\": \"5\", \"ranks\": [0, 2], \"x\": {\"y\": null}}]")]);
    let pg = vec![Number(1, 9), Text(2, "## process_group:init ##"), Number(3, 1), Part(8, inputs)];
    let (graph, report) = read(
        &[file(&[pg, collective(1, 0, 64, "5")]), file(&[]), file(&[collective(1, 0, 64, "5")])],
        "",
        Options::default(),
    );
    assert_eq!(codes(&report), [], "{}", lines(&report));
    assert_eq!(graph.unwrap().task(0, 0).kind, Kind::Nop);
}

#[test]
fn an_all_gather_is_of_shards_unless_totals_are_said() {
    let files = || [file(&[collective(1, 2, 64, "")]), file(&[collective(1, 2, 64, "0")])];
    let of = |totals| {
        let (graph, report) = read(&files(), "", Options { totals, ..Options::default() });
        (graph.unwrap().collectives()[0].bytes.0, report.count(Code::W05))
    };
    assert_eq!((of(None), of(Some(false)), of(Some(true))), ((128, 1), (128, 0), (64, 0)));
}

/// Code, files that it fires on by these rules, and files that it does not.
type Case = (Code, Vec<Vec<u8>>, Options, Vec<Vec<u8>>);

#[test]
fn each_code_fires_on_its_trace_and_not_on_a_like_one() {
    let send = |fields: Vec<Field>| {
        let take = vec![Number(1, 1), Number(3, 6), attribute("comm_src", 9, 0), attribute("comm_tag", 9, 3)];
        file(&[[vec![Number(3, 5)], fields].concat(), take])
    };
    let data = Options { data_only: true, ..Options::default() };
    let both = Options::default();
    let control = || {
        let mut after = calc(2, 1, vec![]);
        after.push(Number(4, 1));
        file(&[calc(1, 1, vec![]), after])
    };
    let tag = || attribute("comm_tag", 9, 3);
    let stream = |number| {
        let mut node = calc(1, 1, vec![]);
        node.push(attribute("stream", 9, number));
        file(&[node])
    };
    let cases: Vec<Case> = vec![
        (Code::E00, vec![b"\x1f\x8b".to_vec()], both, vec![file(&[])]),
        (Code::E00, vec![vec![]], both, vec![vec![0]]),
        (Code::E00, vec![vec![0, 9, 1]], both, vec![vec![0, 2, 8, 1]]),
        (Code::E00, vec![vec![0, 0, 0]], both, vec![vec![0, 2, 8, 1]]),
        (Code::E01, vec![file(&[calc(1, 1, vec![1])])], both, vec![file(&[calc(1, 1, vec![])])]),
        (Code::E02, vec![file(&[calc(1, 1, vec![8])])], both, vec![file(&[calc(8, 1, vec![]), calc(1, 1, vec![8])])]),
        (Code::E02, vec![file(&[calc(1, 1, vec![]), calc(1, 1, vec![])])], both, vec![file(&[calc(1, 1, vec![])])]),
        (
            Code::E04,
            vec![send(vec![attribute("comm_dst", 9, 4), tag()])],
            both,
            vec![send(vec![attribute("comm_dst", 9, 0), tag()])],
        ),
        (
            Code::E05,
            vec![file(&[collective(1, 0, 64, "")]), file(&[collective(1, 0, 65, "")])],
            both,
            vec![file(&[collective(1, 0, 64, "")]), file(&[collective(1, 0, 64, "")])],
        ),
        (Code::E08, vec![file(&[collective(1, 0, 64, "7")])], both, vec![file(&[collective(1, 0, 64, "0")])]),
        (Code::E09, vec![send(vec![tag()])], both, vec![send(vec![attribute("comm_dst", 9, 0), tag()])]),
        (Code::E10, vec![file(&[calc(1, u64::MAX, vec![])])], both, vec![file(&[calc(1, 5, vec![])])]),
        (Code::W01, vec![file(&[collective(1, 4, 64, "")])], both, vec![file(&[collective(1, 9, 64, "")])]),
        (Code::W02, vec![file(&[calc(1, 0, vec![])])], both, vec![file(&[calc(1, 1, vec![])])]),
        (Code::W05, vec![file(&[collective(1, 2, 64, "")])], both, vec![file(&[collective(1, 0, 64, "")])]),
        (Code::W08, vec![control()], data, vec![file(&[calc(1, 1, vec![])])]),
        (Code::W08, vec![stream(255)], both, vec![stream(254)]),
    ];
    for (code, fires, options, not) in cases {
        let ((with, first), (without, second)) = (read(&fires, "", options), read(&not, "", options));
        assert_eq!(
            (first.count(code) > 0, second.count(code)),
            (true, 0),
            "{code:?}\n{}{}",
            lines(&first),
            lines(&second)
        );
        assert_eq!((with.is_none(), without.is_some()), (code.is_error(), true), "{code:?}");
    }
    let (graph, report) = read(&[send(vec![attribute("comm_dst", 9, 0)])], "", both);
    assert_eq!((report.count(Code::E09), report.errors(), graph.is_some()), (1, 0, true), "without a tag: a warning");
    let (graph, report) = read(&[file(&[])], "{\"1\": 5}", both);
    assert!(graph.is_none() && report.count(Code::E08) == 1);
    assert!(read(&[file(&[])], "[[[[[[[[[[[[[[[[[[[[", both).0.is_none());
}

#[test]
fn any_trace_is_read_or_refused() {
    let bytes =
        [all_reduce_of_1_mib(0), file(&[calc(8, 1, vec![]), calc(1, 1, vec![8]), collective(2, 0, 64, "")])].concat();
    let groups = "{\"1\": [0, 1], \"2\": [1]}";
    let mut random = Random(4);
    let mut done = 0;
    for _ in 0..cases() {
        let words: [&[u8]; 4] =
            [b"\x52\x0d\x0a\x09comm_type\x48\x02", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x0a", b"["];
        let changed = mutated(&bytes, &words, &mut random);
        let json =
            String::from_utf8_lossy(&mutated(groups.as_bytes(), &[b"[", b"\"", b"{", b"\\"], &mut random)).into_owned();
        let (graph, report) =
            read(&[changed, file(&[])], if random.below(2) == 0 { &json } else { groups }, Options::default());
        assert!(graph.is_some() || report.first_error().is_some());
        done += usize::from(graph.is_some());
    }
    assert!(done > 0);
}
