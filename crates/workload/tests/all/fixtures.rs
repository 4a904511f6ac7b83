//! Files of other projects, made anew: their sizes, and that they are read.
//!
//! spcl/HTSIM 8a33f33 (`htsim/sim/lgs`): one_send, comp, comp1, incast_8_1_2MiB, which is a ping-pong. spcl/LogGOPSim
//! 76451de: binary_tree_32. astra-sim/astra-sim 518bd51: microbenchmarks of collectives.

use crate::support::{codes, graph, lines};
use incast_cc::Time;
use incast_workload::chakra::{Options, Reader};
use incast_workload::lint::lint;
use incast_workload::{Code, Pattern, Report};

/// Statements by rank, as these projects write files.
fn goal(ranks: usize, of: &dyn Fn(usize) -> Vec<String>) -> String {
    let rank = |rank: usize| {
        let statements: String = of(rank).iter().map(|line| format!("{line}\n")).collect();
        format!("rank {rank} {{\n{statements}}}")
    };
    format!("num_ranks {ranks}\n\n{}", (0..ranks).map(rank).collect::<Vec<_>>().join("\n\n"))
}

/// A file of 16 ranks, of which the first and the last have these statements.
fn ends(first: &[&str], last: &[&str]) -> String {
    let own = |list: &[&str]| list.iter().map(|line| line.to_string()).collect();
    goal(16, &|rank| match rank {
        0 => own(first),
        15 => own(last),
        _ => Vec::new(),
    })
}

#[test]
fn goal_files_of_htsim_have_their_sizes_and_findings() {
    let (send, recv) = ("l1: send 80000000b to 15 tag 0", "l1: recv 80000000b from 0 tag 0");
    let one_send = ends(&[send], &[recv]);
    let comp = ends(
        &["l1: recv 80000000b from 15 tag 0"],
        &["l1: calc 8000", "l2: send 80000000b to 0 tag 0", "l2 requires l1"],
    );
    let comp1 = ends(&[], &["l1: calc 8000"]);
    let ping_pong =
        ends(&[send, "l2: recv 80000000b from 15 tag 0"], &[recv, "l2: send 80000000b to 0 tag 0", "l2 requires l1"]);
    for (text, size, total, found) in [
        (&one_send, 273, 2, vec![]),
        (&comp, 302, 3, vec![]),
        (&comp1, 224, 1, vec![Code::W03]),
        (&ping_pong, 351, 4, vec![]),
    ] {
        assert_eq!(text.len(), size);
        let job = graph(text);
        assert_eq!((job.ranks(), job.total()), (16, total));
        let mut report = Report::default();
        lint(&job, &Default::default(), &mut report);
        let others: Vec<Code> = codes(&report).into_iter().filter(|code| *code != Code::W07).collect();
        assert_eq!(others, found, "{}", lines(&report));
        assert!(report.count(Code::W07) >= 14, "ranks without tasks");
    }
    assert_eq!(graph(&comp).task(15, 0).duration(), Time::us(8));
}

#[test]
fn the_binary_tree_of_loggopsim_has_its_size() {
    let text = goal(32, &|rank| {
        let high = if rank == 0 { 0 } else { 1 << rank.ilog2() };
        let mut made = Vec::new();
        if rank > 0 {
            made.push(format!("l1: recv 1b from {} tag 0", rank - high));
        }
        let first = (high * 2).max(1);
        for (i, to) in (0..).map(|k| rank + (first << k)).take_while(|to| *to < 32).enumerate() {
            let label = i + 1 + usize::from(rank > 0);
            made.push(format!("l{label}: send 1b to {to} tag 0"));
            if rank > 0 {
                made.push(format!("l{label} requires l1"));
            }
        }
        made
    });
    // the file ends with the end of its last line
    assert_eq!(text.len() + 1, 2325);
    assert_eq!(graph(&text).total(), 62);
}

#[test]
fn microbenchmarks_of_astra_sim_have_81_to_88_bytes_a_rank() {
    let mut sizes = Vec::new();
    for (name, number, pattern) in [
        ("all_reduce", 0, Pattern::AllReduce),
        ("all_gather", 2, Pattern::AllGather),
        ("all_to_all", 6, Pattern::AllToAll),
        ("reduce_scatter", 7, Pattern::ReduceScatter),
    ] {
        for ranks in [4u8, 8, 16] {
            let name = format!("{name}_{ranks}npus_1MB");
            let file = |rank: u8| {
                let mut node = if rank == 0 { Vec::new() } else { vec![8, rank] };
                node.extend([0x12, name.len() as u8]);
                node.extend(name.as_bytes());
                node.extend(b"\x18\x07\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0d\x0a\x09comm_type\x48");
                node.push(number);
                node.extend(b"\x52\x0f\x0a\x09comm_size\x48\x80\x80\x40");
                [b"\x07\x0a\x050.0.4".to_vec(), vec![node.len() as u8], node].concat()
            };
            let mut report = Report::default();
            let options = Options { totals: Some(true), ..Options::default() };
            let mut reader = Reader::new(ranks.into(), options, &mut report).unwrap();
            for rank in 0..ranks {
                let bytes = file(rank);
                sizes.push(bytes.len());
                reader.rank(rank.into(), &bytes);
            }
            let job = reader.finish().unwrap();
            assert_eq!((codes(&report), job.total()), (vec![], ranks.into()));
            assert_eq!((job.collectives().len(), job.collectives()[0].pattern), (1, pattern));
        }
    }
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&81), Some(&88)));
}
