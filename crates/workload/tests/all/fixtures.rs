//! Files of other projects, made anew: their sizes, and that they are read.
//!
//! spcl/HTSIM 8a33f33 (`htsim/sim/lgs`): one_send, comp, comp1, incast_8_1_2MiB, which is a ping-pong. spcl/LogGOPSim
//! 76451de: binary_tree_32. amerinor01/pcm eeba9e7 (`apps/htsim_atlahs/example_incast`): text and binary of 4 and 16
//! ranks. astra-sim/astra-sim 518bd51: microbenchmarks of collectives, a custom ring of 8.

use crate::msccl::ring;
use crate::support::{codes, graph, lines, sha256, to_binary};
use incast_cc::Time;
use incast_workload::chakra::{Options, Reader};
use incast_workload::lint::lint;
use incast_workload::{Code, Kind, Pattern, Report};

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

/// Sends of 1 GiB to rank 0, with the tags of each rank, and calculations of no time around them.
fn incast(tags: &[&[&str]], after: &dyn Fn(usize) -> usize) -> String {
    let size = 1 << 30;
    let all: Vec<(usize, &str)> =
        (1..).zip(tags).flat_map(|(rank, own)| own.iter().map(move |tag| (rank, *tag))).collect();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    let of = |rank: usize| {
        let own = if rank == 0 { &sorted } else { &all };
        let messages = own.iter().filter(|(from, _)| rank == 0 || *from == rank).map(|(from, tag)| match rank {
            0 => format!("recv {size}b from {from} tag {tag}"),
            _ => format!("send {size}b to 0 tag {tag}"),
        });
        let mut made: Vec<String> = std::iter::once("calc 0 cpu 0".to_string()).chain(messages).collect();
        made = (1..).zip(made).map(|(label, text)| format!("l{label}: {text}")).collect();
        made.push(format!("l{}: calc 0 cpu 0", after(made.len())));
        made
    };
    goal(tags.len() + 1, &of) + "\n"
}

#[test]
fn binary_files_of_pcm_are_what_ours_are_of_their_text() {
    let four = incast(&[&["010", "020"], &["020", "010"], &["010", "020"]], &|n| if n > 3 { n + 3 } else { n + 1 });
    let tags: Vec<&[&str]> = (1..16).map(|rank| if rank % 2 == 1 { &["010"][..] } else { &["020"][..] }).collect();
    let sixteen = incast(&tags, &|n| n + 1);
    for (text, size, digest, binary_size, binary_digest) in [
        (
            &four,
            617,
            "f29d5d8aedd4d167f71b2c25b8fbbf63a86c9d613a5b89e5fcd9a9b3acaa2894",
            970,
            "b501a8d9c68015eaf7e5384802dd55023d83620c896f8e49e6fcbd6dcaa4a450",
        ),
        (
            &sixteen,
            1819,
            "b9a60eba51905488d2a096488f8bb93c12803ebc833f5070f58ab6f70e8ea67e",
            3064,
            "25cf4f32003ea0f85359b0a3ae39253d0c47e85fc715eaf519e91d4c62a02acd",
        ),
    ] {
        assert_eq!((text.len(), sha256(text.as_bytes()).as_str()), (size, digest), "{text}");
        let binary = to_binary(&graph(text));
        assert_eq!((binary.len(), sha256(&binary).as_str()), (binary_size, binary_digest));
    }
}

/// Field of a protobuf message: a number, or bytes behind their length.
fn field(number: u64, value: Result<u64, &[u8]>) -> Vec<u8> {
    let varint = |mut value: u64| {
        let mut made = Vec::new();
        while value > 127 {
            made.push(value as u8 | 128);
            value >>= 7;
        }
        made.push(value as u8);
        made
    };
    match value {
        Ok(value) => [varint(number << 3), varint(value)].concat(),
        Err(bytes) => [varint((number << 3) | 2), varint(bytes.len() as u64), bytes.to_vec()].concat(),
    }
}

/// Execution trace of a rank of a ring of n that moves 1 MiB: a step waits for the one before, and additions take 7 us.
fn custom_ring(n: u64, rank: u64) -> Vec<u8> {
    let xml = ring(n as usize);
    let text = |name: &str, value: &str| {
        field(2, Err(&[field(1, Err(name.as_bytes())), field(29, Err(value.as_bytes()))].concat()))
    };
    let head = [text("schema", "1.0.2-chakra.0.0.4"), text("input_file", &xml), text("collective", "allreduce")];
    let number = |name: &str, kind: u64, value: u64| {
        field(10, Err(&[field(1, Err(name.as_bytes())), field(kind, Ok(value))].concat()))
    };
    let mut messages = vec![head.concat()];
    let mut node = |name: String, kind: u64, rest: Vec<u8>| {
        let id = messages.len() as u64 - 1;
        let own = if id == 0 { Vec::new() } else { field(1, Ok(id)) };
        let after = if id == 0 { Vec::new() } else { field(5, Err(&[id as u8 - 1])) };
        messages.push([own, field(2, Err(name.as_bytes())), field(3, Ok(kind)), after, rest].concat());
    };
    for step in 0..4 * (n - 1) {
        let (kind, peer, word, end) = if step % 2 == 0 {
            (5, (rank + 1) % n, "SEND", "comm_dst")
        } else {
            (6, (rank + n - 1) % n, "RECV", "comm_src")
        };
        let rest = [
            number("comm_type", 9, kind),
            number("comm_size", 9, (1 << 20) / n),
            number(end, 7, peer),
            number("comm_tag", 7, 0),
        ];
        node(format!("COMM_{word}_NODE_tb0_step{step}"), kind, rest.concat());
        if kind == 6 && step < 2 * (n - 1) {
            node(format!("COMP_NODE_tb0_step{step}"), 4, field(7, Ok(7)));
        }
    }
    messages.iter().flat_map(|message| field(0, Err(message)).split_off(1)).collect()
}

#[test]
fn the_custom_ring_of_astra_sim_has_its_bytes_and_is_read() {
    let digests = [
        "f44f8c59b51784c9678416aa0ccde150ed42365462ace31aef5db425b1baa110",
        "ad47cb066efbe85478b1a2b8f35ae7ef4a26da8122412c1501c1a7f448cad378",
    ];
    for (rank, digest) in (0..).zip(digests) {
        let bytes = custom_ring(8, rank);
        assert_eq!((bytes.len(), sha256(&bytes).as_str()), (29_581, digest));
    }
    let mut report = Report::default();
    let mut reader = Reader::new(8, Options::default(), &mut report).unwrap();
    for rank in 0..8 {
        reader.rank(rank, &custom_ring(8, rank.into()));
    }
    let job = reader.finish().unwrap();
    assert_eq!(codes(&report), [], "{}", lines(&report));
    let count = |kind| job.iter().flat_map(|(_, rank)| rank.iter()).filter(|(_, task)| task.kind == kind).count();
    assert_eq!((count(Kind::Send), count(Kind::Recv), count(Kind::Calc)), (112, 112, 56));
    assert_eq!(job.task(3, 2).duration(), Time::us(7));
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
