//! Workloads of SimAI and AICB.

use crate::fuzz::mutated;
use crate::support::{Random, codes, lines};
use incast_cc::{Bytes, Time};
use incast_workload::lint::lint;
use incast_workload::simai::Options;
use incast_workload::{Code, Graph, Kind, Pattern, Report, simai};

fn read(text: &str, gpus: Option<u64>) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    let graph = simai::read(&mut text.as_bytes(), Options { gpus, as_simai: false }, &mut report);
    (graph, report)
}

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 \
                    checkpoints: 0 checkpoint_initiates: 0 pp_comm 0.5";

fn file(head: &str, rows: &[&str]) -> String {
    format!("{head}\n{}\n{}\n", rows.len(), rows.join("\n"))
}

#[test]
fn a_row_is_forward_then_backward_with_a_collective_of_weights_that_does_not_block() {
    let rows =
        ["a -1 1 ALLREDUCE 100 2 ALLGATHER 200 3 REDUCESCATTER 300 4", "b -1 5 NONE 0 6 NONE 0 7 ALLTOALL_EP 80 8"];
    let (graph, report) = read(&file(HEAD, &rows), None);
    assert_eq!(codes(&report), [], "{}", lines(&report));
    let graph = graph.unwrap();
    let rank = graph.rank(3).unwrap();
    let shown = |task: incast_workload::Task| match graph.collective(task.tag).filter(|_| task.kind == Kind::Collective)
    {
        Some(what) => format!("{} {} {:?}", what.pattern.name(), what.bytes.0, graph.group(what.group)),
        None => format!("calc {}", task.duration().0 / 1000),
    };
    let tasks: Vec<String> = rank.iter().map(|(_, task)| shown(task)).collect();
    assert_eq!(
        tasks,
        [
            "calc 1",
            "all-reduce 100 [2, 3]",
            "calc 5",
            "calc 6",
            "calc 7",
            "all-to-all 80 [1, 3]",
            "calc 8",
            "calc 2",
            "all-gather 200 [2, 3]",
            "calc 3",
            "reduce-scatter 300 [1, 3, 5, 7]",
            "calc 4",
        ]
    );
    let chain: Vec<(u32, &[u32])> = (0..12).map(|i| (i, rank.successors(i).0)).collect();
    let expected: [(u32, &[u32]); 12] = [
        (0, &[1]),
        (1, &[2]),
        (2, &[3]),
        (3, &[4]),
        (4, &[5, 7]),
        (5, &[6]),
        (6, &[]),
        (7, &[8]),
        (8, &[9]),
        (9, &[10]),
        (10, &[11]),
        (11, &[]),
    ];
    assert_eq!(chain, expected);
    let mut report = Report::default();
    lint(&graph, &Default::default(), &mut report);
    assert_eq!(codes(&report), [], "{}", lines(&report));
}

#[test]
fn groups_are_tp_innermost_then_dp_and_experts_in_dp() {
    let rows = ["a -1 0 NONE 0 0 NONE 0 0 ALLREDUCE_DP_EP 64 0"];
    let (graph, _) = read(&file(HEAD, &rows), None);
    let graph = graph.unwrap();
    let groups: Vec<&[u32]> = graph.collectives().iter().map(|c| graph.group(c.group)).collect();
    assert_eq!(groups, [[0, 4], [1, 5], [2, 6], [3, 7]]);
}

#[test]
fn micro_has_the_collectives_of_weights_one_after_the_other() {
    let rows = ["a -1 9 ALLREDUCE 1 9 NONE 0 9 ALLREDUCE 4096 9", "a -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 8192 9"];
    let (graph, report) = read(&file("MICRO model_parallel_NPU_group: 1", &rows), Some(4));
    assert_eq!(codes(&report), []);
    let graph = graph.unwrap();
    assert_eq!((graph.ranks(), graph.tasks(0), graph.waits(0, 1)), (4, 2, 1));
    assert_eq!(graph.collective(graph.task(0, 1).tag).unwrap().bytes, Bytes(8192));
}

#[test]
fn a_gpt_175b_row_of_tp_is_twice_the_activations_of_a_sequence() {
    // aliyun/aicb, workload/simAI/model_workload: micro-batch 1, sequence 2048, hidden 12,288, two bytes a value
    let bytes = 2 * 2048 * 12_288;
    let row = format!("attention_norm -1 2571000 ALLREDUCE {bytes} 2454000 NONE 0 2454000 NONE 0 100");
    let head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 8 checkpoints: 0 checkpoint_initiates: 0";
    let (graph, report) = read(&file(head, &[&row]), None);
    assert_eq!(codes(&report), [Code::W04], "no number of GPUs");
    let graph = graph.unwrap();
    assert_eq!((graph.ranks(), graph.task(0, 1).size), (8, 50_331_648));
    assert_eq!(graph.task(0, 0).duration(), Time::us(2571));
    assert_eq!(graph.collective(0).unwrap().pattern, Pattern::AllReduce);
}

#[test]
fn mistakes_are_named_with_line_and_column() {
    let row = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
    for (text, expected) in [
        (String::new(), "E00 line 1, column 1: policy \"\"; "),
        (file("DATA", &[row]), "E00 line 1, column 1: policy \"DATA\"; "),
        (file("MICRO tp: 4", &[row]), "E00 line 1, column 7: key \"tp:\"; "),
        (file("MICRO ep: x", &[row]), "E00 line 1, column 11: ep = \"x\"; "),
        (file("MICRO ep: 0", &[row]), "E08 line 1, column 11: ep = 0; "),
        (
            file("MICRO model_parallel_NPU_group: 3 all_gpus: 8", &[row]),
            "E08 line 1, column 1: TP 3 x PP 1 x EP 1 of 8 GPUs; ",
        ),
        (file("MICRO ep: 1 2", &[row]), "E00 line 1, column 13: key \"2\"; "),
        (file("MICRO ep: 4 all_gpus: 8 16 pp: 1 2 3 bogus", &[row]), "E00 line 1, column 25: key \"16\"; "),
        (file("MICRO ep: 1 eep: 4", &[row]), "E00 line 1, column 13: key \"eep:\"; "),
        (file("MICRO ep: pp: 1", &[row]), "E00 line 1, column 7: ep without a value; "),
        (file("MICRO ep: 1 pp: 1 ep 2", &[row]), "E00 line 1, column 19: ep twice; "),
        (file("MICRO ga: all", &[row]), "E00 line 1, column 11: ga = \"all\"; "),
        (file("MICRO pp_comm: much", &[row]), "E00 line 1, column 16: pp_comm = \"much\"; "),
        (file("MICRO checkpoints: 1 3 4", &[row]), "E00 line 1, column 24: key \"4\"; "),
        (file("MICRO all_gpus: 99999999999", &[row]), "E10 line 1, column 1: 99999999999 GPUs; "),
        (
            file("MICRO all_gpus: 4000000", &[row; 40]),
            "E10 line 1, column 1: 4000000 GPUs with about 320 tasks each, which take 44 GB; ",
        ),
        ("MICRO ep: 1 all_gpus: 1".into(), "E00 line 2, column 1: the file ends here; "),
        ("MICRO ep: 1 all_gpus: 1\n2\n".to_string() + row, "E00 line 3, column 1: the file ends behind 1 rows; "),
        ("MICRO ep: 1 all_gpus: 1\n0\n".to_string() + row, "E00 line 3, column 1: row 1; "),
        (file("MICRO all_gpus: 1", &["a -1 1 NONE"]), "E00 line 3, column 1: 4 words; "),
        (file("MICRO all_gpus: 1", &["a -1 1 NONE 0 1 NONE x 1 NONE 0 1"]), "E00 line 3, column 22: bytes = \"x\"; "),
        (
            file("MICRO all_gpus: 1", &["a -1 99999999999999999 NONE 0 1 NONE 0 1 NONE 0 1"]),
            "E10 line 3, column 6: time (ns) = \"99999999999999999\"; ",
        ),
    ] {
        let (graph, report) = read(&text, None);
        assert!(lines(&report).starts_with(expected) && graph.is_none(), "{text}\n{}", lines(&report));
    }
}

#[test]
fn the_number_of_gpus_in_the_file_holds_and_another_is_a_warning() {
    let row = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1";
    let of = |gpus| {
        let (graph, report) = read(&file(HEAD, &[row]), gpus);
        (graph.unwrap().ranks(), report.count(Code::W04), report.errors())
    };
    assert_eq!((of(None), of(Some(8)), of(Some(16))), ((8, 0, 0), (8, 0, 0), (8, 1, 0)));
    let (graph, report) = read(&file("MICRO model_parallel_NPU_group: 2", &[row]), Some(16));
    assert_eq!((graph.unwrap().ranks(), codes(&report)), (16, vec![]));
}

#[test]
fn what_is_not_read_is_a_warning_and_what_is_has_none() {
    let count = |head: &str, word: &str, code| {
        let (graph, report) = read(&file(head, &[&format!("a -1 1 {word} 64 1 NONE 0 1 NONE 0 1")]), None);
        assert!(graph.is_some(), "{}", lines(&report));
        report.count(code)
    };
    assert_eq!((count(HEAD, "SUM", Code::W01), count(HEAD, "ALLREDUCE", Code::W01)), (1, 0));
    let stages = HEAD.replace("pp: 1", "pp: 2");
    assert_eq!((count(&stages, "NONE", Code::W08), count(HEAD, "NONE", Code::W08)), (1, 0));
    assert_eq!(count(&HEAD.replace("checkpoints: 0", "checkpoints: 3 1 2 3"), "NONE", Code::W08), 1);
}

#[test]
fn any_file_is_read_or_refused() {
    let rows =
        ["a -1 1 ALLREDUCE 100 2 ALLGATHER 200 3 REDUCESCATTER 300 4", "b -1 5 NONE 0 6 NONE 0 7 ALLTOALL_EP 80 8"];
    let text = file(HEAD, &rows);
    let mut random = Random(3);
    let mut read_ones = 0;
    for _ in 0..crate::fuzz::cases() / 4 {
        let words: [&[u8]; 6] =
            [b"ALLREDUCE_DP_EP", b"all_gpus: 16 ", b"\n", b" 99999999999999999999 ", b"\xff", b"NONE "];
        let bytes = mutated(text.as_bytes(), &words, &mut random);
        let mut report = Report::default();
        match simai::read(&mut &bytes[..], Options { gpus: Some(16), as_simai: false }, &mut report) {
            Some(_) => read_ones += 1,
            None => assert!(report.first_error().is_some(), "{bytes:?}"),
        }
    }
    assert!(read_ones > 0);
}

#[test]
fn as_simai_runs_it_there_is_one_stage_and_small_forward_collectives_have_4096_bytes() {
    let text = file(&HEAD.replace("pp: 1", "pp: 2"), &["a -1 1 ALLREDUCE 100 1 ALLREDUCE 100 1 ALLREDUCE 64 1"]);
    let sizes = |as_simai| {
        let mut report = Report::default();
        let graph = simai::read(&mut text.as_bytes(), Options { gpus: None, as_simai }, &mut report).unwrap();
        let of =
            |index: usize| (graph.collectives()[index].bytes.0, graph.group(graph.collectives()[index].group).len());
        let last = graph.collectives().len() - 1;
        (of(0), of(4), of(last), report.count(Code::W08))
    };
    assert_eq!(sizes(false), ((100, 2), (100, 2), (64, 2), 1));
    assert_eq!(sizes(true), ((4096, 2), (100, 2), (64, 4), 0));
}
