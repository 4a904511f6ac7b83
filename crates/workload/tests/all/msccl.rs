//! Algorithms of MSCCL as XML.

use crate::fuzz::mutated;
use crate::support::{Random, codes, lines, to_text};
use incast_cc::Bytes;
use incast_workload::collective::{Algorithm, Method, Methods, messages};
use incast_workload::lint::lint;
use incast_workload::msccl::{self, Options};
use incast_workload::{Code, Collective, Graph, Kind, Pattern, Report};

fn read(text: &str, bytes: u64) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    let graph = msccl::read(&mut text.as_bytes(), Options { bytes: Some(bytes) }, &mut report);
    (graph, report)
}

/// Attributes of a step, as msccl-tools orders them.
fn step(number: usize, word: &str, chunk: usize) -> String {
    format!(
        "      <step s=\"{number}\" type=\"{word}\" srcbuf=\"i\" srcoff=\"{chunk}\" dstbuf=\"i\" dstoff=\"{chunk}\" \
         cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    )
}

/// All-reduce by a ring of n in place, one channel.
pub fn ring(n: usize) -> String {
    let gpu = |r: usize| {
        let mut steps = String::new();
        for s in 0..2 * (n - 1) {
            let sent = (r + 2 * n - s) % n;
            steps += &step(2 * s, "s", sent);
            steps += &step(2 * s + 1, if s + 1 < n { "rrc" } else { "r" }, (sent + n - 1) % n);
        }
        format!(
            "  <gpu id=\"{r}\" i_chunks=\"{n}\" o_chunks=\"0\" s_chunks=\"0\">\n    \
             <tb id=\"0\" send=\"{}\" recv=\"{}\" chan=\"0\">\n{steps}    </tb>\n  </gpu>\n",
            (r + 1) % n,
            (r + n - 1) % n
        )
    };
    format!(
        "<algo name=\"allreduce_ring_1channelsperring\" proto=\"LL128\" nchannels=\"1\" nchunksperloop=\"{n}\" \
         ngpus=\"{n}\" coll=\"allreduce\" inplace=\"1\">\n{}</algo>\n",
        (0..n).map(gpu).collect::<String>()
    )
}

/// astra-sim/astra-sim 518bd51, `custom_ring_allreduce_8npus_1MB/custom_allreduce.xml`: 26,636 B.
#[test]
fn the_ring_of_astra_sim_has_its_bytes_and_the_messages_of_ours() {
    let text = ring(8);
    assert_eq!(text.len(), 26_636);
    let digest = "a6a6b97998848af6e566d132db3576be1d281163ecf0db6863c5dc96cef4c81b";
    assert_eq!(crate::support::sha256(text.as_bytes()), digest);
    let (graph, report) = read(&text, 1 << 20);
    assert_eq!(codes(&report), [], "{}", lines(&report));
    let graph = graph.unwrap();
    assert_eq!((graph.ranks(), graph.total()), (8, 8 * 28));
    let mut report = Report::default();
    lint(&graph, &Default::default(), &mut report);
    assert_eq!(codes(&report), [], "{}", lines(&report));
    let mut methods = Methods::default();
    methods.choose(Pattern::AllReduce, Method::new(Algorithm::Ring));
    let ours = messages(&Collective::new(Pattern::AllReduce, 0, Bytes(1 << 20)), 8, &methods).unwrap();
    let sent = |graph: &Graph, rank: u32| -> Vec<(u32, u64)> {
        let tasks = graph.rank(rank).unwrap().iter().map(|(_, task)| task);
        tasks.filter(|task| task.kind == Kind::Send).map(|task| (task.peer, task.size)).collect()
    };
    for rank in 0..8 {
        assert_eq!(sent(&graph, rank), sent(&ours, rank));
    }
}

const TWO: &str = "<?xml version='1.0'?><!-- two -->
<algo ngpus='2' nchunksperloop='4'>
<gpu id='0'><tb id='0' send='1' recv='-1' chan='3'><step s='0' type='s' cnt='3'/><step s='1' type='nop'/></tb>
<tb id='1' send='-1' recv='1' chan='0'><step s='0' type='cpy' depid='0' deps='0'/><step s='1' type='rrc'/></tb></gpu>
<gpu id='1'><tb id='0' send='0' recv='0' chan='3'><step s='0' type='r' cnt='3'/></tb>
<tb id='4' send='0' recv='-1' chan='0'><op step='0' type='s' depid='0' deps='0'/></tb></gpu></algo>";

#[test]
fn steps_wait_for_the_step_before_and_for_the_one_they_name() {
    let (graph, report) = read(TWO, 1000);
    assert_eq!(codes(&report), [], "{}", lines(&report));
    let text = to_text(&graph.unwrap());
    let expected = "num_ranks 2

rank 0 {
l0: send 750b to 1 tag 3
l1: calc 0
l2: calc 0
l3: recv 250b from 1
l1 irequires l0
l2 irequires l0
l3 requires l2
}

rank 1 {
l0: recv 750b from 0 tag 3
l1: send 250b to 0
l1 requires l0
}
";
    assert_eq!(text, expected);
}

#[test]
fn fused_steps_receive_then_send() {
    let text = "<algo ngpus='3' nchunksperloop='1'>
<gpu id='0'><tb id='0' send='1' recv='-1'><step s='0' type='s'/></tb></gpu>
<gpu id='1'><tb id='0' send='2' recv='0'><step s='0' type='rrcs'/><step s='1' type='nop'/></tb></gpu>
<gpu id='2'><tb id='0' send='-1' recv='1'><step s='0' type='r'/></tb></gpu></algo>";
    let graph = read(text, 8).0.unwrap();
    let rank = graph.rank(1).unwrap();
    assert_eq!((rank.tasks(), rank.kind(0), rank.kind(1)), (3, Kind::Recv, Kind::Send));
    assert_eq!((rank.successors(0).0, rank.successors(1)), (&[1][..], (&[][..], &[2][..])));
}

#[test]
fn mistakes_are_named_with_line_and_column() {
    for (from, to, expected) in [
        ("ngpus='2'", "ngpus='3'", "E03 job: ngpus = 3, and there are 2"),
        ("<gpu id='1'>", "<gpu id='0'>", "E03 line 5, column 1: gpu 0"),
        ("send='1' recv='-1' chan='3'", "send='2' recv='-1' chan='3'", "E04 line 3, column 13: send = 2"),
        (
            "id='4' send='0' recv='-1' chan='0'",
            "id='4' send='0' recv='-1' chan='3'",
            "E02 line 6, column 1: tb 4 and tb 0",
        ),
        ("<tb id='4'", "<tb id='0'", "E02 line 6, column 1: tb 0 twice"),
        (
            "deps='0'/></tb></gpu></algo>",
            "deps='7'/></tb></gpu></algo>",
            "E02 line 6, column 40: step 7 of tb 0 of gpu 1",
        ),
        ("type='cpy'", "type='copy'", "E00 line 4, column 40: type = \"copy\""),
        ("<step s='0' type='cpy'", "<step s='0' type='s'", "E09 line 4, column 40: tb 1: send = -1"),
        ("cnt='3'", "cnt='-3'", "E00 line 3, column 52: cnt = \"-3\""),
        ("cnt='3'", "cnt='99999999999'", "E10 line 3, column 52: cnt = \"99999999999\""),
        ("</algo>", "", "E00 line 6, column 93: the file ends inside <algo>"),
        ("</gpu></algo>", "</algo></gpu>", "E00 line 6, column 87: </algo> ends gpu"),
        ("nchunksperloop='4'", "", "E00 job: a buffer of no chunks"),
        ("<!-- two -->", "two", "E00 line 1, column 22: text between elements"),
        ("chan='3'>", "chan=3>", "E00 line 3, column 48: no value in quotes"),
        ("<gpu id='0'>", "<tb id='0'>", "E00 line 3, column 1: <tb> at depth 1"),
    ] {
        let text = TWO.replacen(from, to, 1);
        assert_ne!(text, TWO, "{from}");
        let (graph, report) = read(&text, 1000);
        assert!(graph.is_none(), "{to}");
        let found = report.first_error().unwrap().to_string();
        assert!(found.starts_with(expected), "{to}: {found}");
    }
    let mut report = Report::default();
    assert!(msccl::read(&mut TWO.as_bytes(), Options::default(), &mut report).is_none());
    assert_eq!(codes(&report), [Code::E00]);
    assert!(lines(&report).contains("--size"));
}

#[test]
fn counts_that_do_not_agree_are_found_by_the_linter() {
    let other = TWO.replacen("cnt='3'", "cnt='2'", 1);
    let graph = read(&other, 1000).0.unwrap();
    let mut report = Report::default();
    lint(&graph, &Default::default(), &mut report);
    assert!(report.count(Code::E06) > 0, "{}", lines(&report));
    let none = TWO.replace("<step s='0' type='r' cnt='3'/>", "");
    let (graph, report) = read(&none, 1000);
    assert!(graph.is_none() && report.count(Code::E02) == 1, "{}", lines(&report));
}

#[test]
fn any_algorithm_is_read_or_refused() {
    let text = ring(3);
    let words: [&[u8]; 8] = [
        b"<tb id='1' send='0' recv='1'>",
        b"</gpu>",
        b"type=\"rcs\"",
        b"=\"-1\"",
        b"99999999999999999999",
        b"<!--",
        b"\xff",
        b"'",
    ];
    let mut random = Random(7);
    let mut read_ones = 0;
    for _ in 0..crate::fuzz::cases() / 4 {
        let source = if random.below(2) == 0 { text.as_bytes() } else { TWO.as_bytes() };
        let bytes = mutated(source, &words, &mut random);
        let mut report = Report::default();
        match msccl::read(&mut &bytes[..], Options { bytes: Some(4096) }, &mut report) {
            Some(graph) => {
                read_ones += 1;
                lint(&graph, &Default::default(), &mut Report::default());
            }
            None => assert!(report.first_error().is_some(), "{bytes:?}"),
        }
    }
    assert!(read_ones > 0);
}
