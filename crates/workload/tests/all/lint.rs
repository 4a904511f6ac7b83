//! The linter: of each code a job that it fires on, and a like one that it does not.

use crate::support::{codes, graph, lines, text};
use incast_cc::{Bytes, Time};
use incast_workload::collective::Methods;
use incast_workload::lint::{Options, lint, repeats, servers};
use incast_workload::{ANY, Builder, Code, Collective, Graph, Kind, Pattern, Place, Report, Task};

/// Findings of a file: of its reader and, if it can be read, of the linter.
fn found(source: &str) -> Report {
    let (graph, mut report) = text(source);
    if let Some(graph) = graph {
        lint(&graph, &Options::default(), &mut report);
    }
    report
}

fn found_in(graph: &Graph, options: &Options) -> Report {
    let mut report = Report::default();
    lint(graph, options, &mut report);
    report
}

/// Two ranks with these statements.
fn two(first: &str, second: &str) -> String {
    format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n")
}

/// A job that nothing is wrong with.
const GOOD: [&str; 2] = ["send 1000000b to 1 tag 1", "recv 1000000b from 0 tag 1"];

#[test]
fn a_job_without_mistakes_has_no_findings() {
    assert_eq!(codes(&found(&two(GOOD[0], GOOD[1]))), []);
}

#[test]
fn each_code_fires_on_its_file_and_not_on_a_like_one() {
    use Code::*;
    let big = "send 1000000b to 1";
    let take = "recv 1000000b from 0";
    let cases: [(Code, String, String); 16] = [
        (E00, two("send 1000000b at 1", take), two(big, take)),
        (E01, two(&format!("a: {big}\na requires a"), take), two(&format!("a: {big}\nb: calc 1\nb requires a"), take)),
        (
            E01,
            two(&format!("a: {big}\nb: calc 1\na requires b\nb irequires a"), take),
            two(&format!("a: {big}\nb: calc 1\na requires b\na irequires b"), take),
        ),
        (E02, two(&format!("a: {big}\nb requires c"), take), two(&format!("a: {big}\nc: calc 1\na requires c"), take)),
        (E03, "num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n".into(), two(big, take)),
        (E04, two("send 1000000b to 2", take), two(big, take)),
        (E05, two("send 1000000b to 1 tag 3", "recv 1000000b from 0 tag 4"), two(big, take)),
        (E06, two(big, "recv 1000001b from 0"), two(big, take)),
        (
            E07,
            "num_ranks 1\nrank 0 {\na: send 9000b to 0\nb: recv 9000b from 0\na requires b\n}\n".into(),
            "num_ranks 1\nrank 0 {\na: send 9000b to 0\nb: recv 9000b from 0\n}\n".into(),
        ),
        (E10, two(&format!("{big} cpu 256"), take), two(&format!("{big} cpu 255"), take)),
        (W03, two(&format!("{big}\ncalc 1000000000"), take), two(&format!("{big}\ncalc 1000"), take)),
        (W02, two(&format!("calc 100000000\n{big}"), take), two(&format!("calc 1000000\n{big}"), take)),
        (W06, two("send 4095b to 1", "recv 4095b from 0"), two("send 4096b to 1", "recv 4096b from 0")),
        (W07, two("calc 5", ""), two("calc 5", "calc 5")),
        (W08, two("send 9000b to 1 nic 1", take), two("send 9000b to 1 nic 0", take)),
        (W10, two(&format!("  {big}"), take), two(big, take)),
    ];
    for (code, fires, not) in cases {
        assert!(fires.lines().count() <= 10, "{fires}");
        let (with, without) = (found(&fires), found(&not));
        assert_eq!(
            (with.count(code) > 0, without.count(code)),
            (true, 0),
            "{code:?}\n{}{}",
            lines(&with),
            lines(&without)
        );
        let finding = with.findings().iter().find(|f| f.code == code).unwrap();
        assert_eq!(finding.error, code.is_error());
        assert!(!finding.what.is_empty() && !finding.remedy.is_empty() && !code.why().is_empty());
    }
}

#[test]
fn a_cycle_is_named_in_its_order_with_the_tasks_behind_it() {
    let source = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\nb requires a\n\
                  c requires b\nb requires c\nd requires c\n}\n";
    let report = found(source);
    let finding = &report.findings()[0];
    assert_eq!((finding.code, finding.place), (Code::E01, Place::Task(0, 1)));
    assert_eq!(finding.what, "tasks 1, 2, 1, each before the next; never start: 3");
}

#[test]
fn a_dependency_given_twice_is_named_but_not_one_on_end_and_start() {
    let chain = "a: calc 5\nb: calc 5\nb requires a\nb ";
    assert_eq!(found(&two(&format!("{chain}requires a"), "calc 5")).count(Code::W07), 1);
    assert_eq!(found(&two(&format!("{chain}irequires a"), "calc 5")).count(Code::W07), 0);
}

#[test]
fn numbers_of_sends_and_receives_are_named_with_pair_and_tag() {
    let report = found(&two("send 9000b to 1 tag 7\nsend 9000b to 1 tag 7", "recv 9000b from 0 tag 7"));
    let finding = &report.findings()[0];
    assert_eq!((finding.code, finding.place), (Code::E05, Place::Task(0, 1)));
    assert_eq!(finding.what, "rank 0 to rank 1, tag 7: sends 2, receives 1");
}

#[test]
fn receives_from_any_take_what_is_left_and_their_sizes_are_a_warning() {
    let sends = "send 9000b to 1 tag 7\nsend 8000b to 1 tag 8";
    let fits = found(&two(sends, "recv 9000b from -1 tag 7\nrecv 8000b from 0 tag -1"));
    assert_eq!(codes(&fits), [], "{}", lines(&fits));
    let sizes = found(&two(sends, "recv 9000b from -1 tag -1\nrecv 7000b from -1 tag -1"));
    assert_eq!((codes(&sizes), sizes.errors()), (vec![Code::E06], 0), "{}", lines(&sizes));
    let more = found(&two(sends, "recv 9000b from -1 tag -1"));
    assert_eq!(codes(&more), [Code::E05], "{}", lines(&more));
    let tag = found(&two(sends, "recv 9000b from -1 tag 7\nrecv 9000b from -1 tag 7"));
    assert!(tag.count(Code::E05) > 0, "{}", lines(&tag));
}

#[test]
fn receives_of_a_tag_from_any_rank_are_counted_by_tag_not_one_by_one() {
    // a pass over all messages for each receive would take minutes
    let count = 200_000;
    let mut job = Builder::new(2).unwrap();
    for i in 0..count {
        job.task(0, Task::send(Bytes(9_000), 1).tagged(5 + u32::from(i == count - 1))).unwrap();
        job.task(1, Task::recv(Bytes(9_000), ANY).tagged(5)).unwrap();
    }
    let report = found_in(&job.finish(), &Options::default());
    let finding = report.first_error().unwrap();
    assert_eq!((finding.code, finding.place), (Code::E05, Place::Task(1, count - 1)), "{}", lines(&report));
    assert_eq!(finding.what, "more receives of this source or tag than messages");
}

#[test]
fn sizes_of_a_pair_are_compared_in_any_order() {
    let other_way = "recv 8000b from 0\nrecv 9000b from 0";
    assert_eq!(codes(&found(&two("send 9000b to 1\nsend 8000b to 1", other_way))), []);
}

#[test]
fn receives_before_the_sends_of_both_ends_never_end_even_without_rendezvous() {
    let wait = |peer: u32| format!("a: recv 9000b from {peer}\nb: send 9000b to {peer}\nb requires a");
    let report = found(&two(&wait(1), &wait(0)));
    assert_eq!(codes(&report), [Code::E07, Code::E07]);
    assert!(report.findings()[0].what.contains("although sends do not wait; tasks that never end: 4"));
}

/// Two ranks with collectives on group [0, 1], by their order at each rank.
fn collectives(group: &[u32], orders: [&[u32]; 2]) -> Graph {
    let mut job = Builder::new(2).unwrap();
    let group = job.group(group);
    for _ in 0..2 {
        job.collective(Collective::new(Pattern::AllReduce, group, Bytes(1 << 20)));
    }
    for (rank, order) in (0..).zip(orders) {
        let tasks = order.iter().map(|index| job.task(rank, Task::collective(*index, rank, Bytes(1 << 20))).unwrap());
        let tasks: Vec<u32> = tasks.collect();
        for pair in tasks.windows(2) {
            job.requires(rank, pair[1], pair[0]).unwrap();
        }
    }
    job.finish()
}

#[test]
fn members_that_disagree_on_a_collective_are_named() {
    let all = |report: &Report| (codes(report), report.findings().first().map(|f| f.what.clone()));
    let found = |group: &[u32], orders| all(&found_in(&collectives(group, orders), &Options::default()));
    assert_eq!(found(&[0, 1], [&[0, 1], &[0, 1]]), (vec![], None));
    let (disagree, what) = found(&[0, 1], [&[0, 1], &[1, 0]]);
    assert_eq!(disagree, [Code::E05, Code::E05]);
    assert!(what.unwrap().starts_with("a member of a collective waits for others for ever"));
    let (missing, what) = found(&[0, 1], [&[0, 1], &[0]]);
    assert_eq!(
        (missing, what.unwrap()),
        (vec![Code::E05], "collective 1, all-reduce: of 2 members 1 take part".into())
    );
    assert_eq!(found(&[0, 1], [&[0, 1, 1], &[0, 1]]).0, [Code::E05]);
    assert_eq!(found(&[0, 1], [&[0, 9], &[0, 1]]).0, [Code::E08, Code::E05]);
    assert_eq!(found(&[0, 7], [&[0, 1], &[0, 1]]).1.unwrap(), "rank 7 of 2 ranks");
    assert_eq!(found(&[0, 1, 1], [&[0, 1], &[0, 1]]).1.unwrap(), "rank 1 twice");
    assert_eq!(found(&[], [&[0], &[0]]).1.unwrap(), "a group that is empty or unknown");
    assert_eq!(found(&[1, 0], [&[0, 1], &[0, 1]]).0[0], Code::E08, "positions are those of the group");
}

#[test]
fn places_and_fields_of_other_programs_are_options() {
    let job = graph(&two("send 3000000000b to 1", "recv 3000000000b from 0"));
    let mut options = Options::default();
    assert_eq!(codes(&found_in(&job, &options)), []);
    options.places = Some(8);
    assert_eq!(codes(&found_in(&job, &options)), [Code::W04]);
    options.places = Some(2);
    options.most_bytes = Some(Bytes(i32::MAX as u64));
    assert_eq!(codes(&found_in(&job, &options)), [Code::E10, Code::E10]);
}

/// Ranks 0 to n-1 with an all-reduce of these groups.
fn grouped(n: u32, groups: &[&[u32]], bytes: u64) -> Graph {
    let mut job = Builder::new(n.into()).unwrap();
    for members in groups {
        let group = job.group(*members);
        let index = job.collective(Collective::new(Pattern::AllReduce, group, Bytes(bytes)));
        for (position, rank) in (0..).zip(*members) {
            job.task(*rank, Task::collective(index, position, Bytes(bytes))).unwrap();
        }
    }
    job.finish()
}

fn in_servers(job: &Graph, methods: &Methods, gpus: u32, rails: bool) -> Vec<String> {
    let mut report = Report::default();
    servers(job, methods, gpus, rails, &mut report);
    assert!(report.findings().iter().all(|found| found.code == Code::W04));
    report.findings().iter().map(|found| found.what.clone()).collect()
}

#[test]
fn groups_that_could_lie_in_one_server_are_named() {
    let found = |groups: &[&[u32]]| in_servers(&grouped(8, groups, 4096), &Methods::default(), 4, false);
    assert_eq!(found(&[&[0, 1, 2], &[3, 4, 5]]), ["ranks 3 to 5, 3 neighbours, lie in servers 0 to 1"]);
    assert!(found(&[&[0, 1, 2, 3], &[4, 5, 6, 7]]).is_empty());
    assert!(found(&[&[0, 4], &[1, 5]]).is_empty(), "replicas are on different servers");
    assert!(found(&[&[0, 1, 2, 3, 4, 5, 6, 7]]).is_empty(), "larger than a server");
}

#[test]
fn rings_that_leave_their_rail_are_named() {
    let job = grouped(8, &[&[0, 1, 2, 3, 4, 5, 6, 7]], 4096);
    let mut methods = Methods::default();
    let plain = in_servers(&job, &methods, 4, true);
    assert_eq!(plain, ["a ring of 8 ranks leaves its rail in 2 hops, the first from rank 3 to 4"]);
    assert!(in_servers(&job, &methods, 4, false).is_empty());
    let mut method = methods.of(Pattern::AllReduce).clone();
    method.order = vec![0, 1, 2, 3, 7, 6, 5, 4];
    methods.choose(Pattern::AllReduce, method);
    assert!(in_servers(&job, &methods, 4, true).is_empty());
}

#[test]
fn branches_beside_all_messages_and_ranks_that_do_nothing_are_named() {
    let branch =
        |rest: &str| found(&two(&format!("a: {}\nb: calc 5000\nc: calc 5000\nc requires b{rest}", GOOD[0]), GOOD[1]));
    let report = branch("");
    assert_eq!((codes(&report), report.findings()[0].place), (vec![Code::W07], Place::Task(0, 1)));
    assert!(report.findings()[0].what.starts_with("a branch of 2 tasks"));
    assert_eq!(codes(&branch("\na requires c")), []);
    assert_eq!(
        found(&two("calc 0", "calc 5")).findings()[0].what,
        "a rank whose 1 tasks take no time and send nothing"
    );
    let bytes = |bytes| found_in(&grouped(2, &[&[0, 1]], bytes), &Options::default()).count(Code::W07);
    assert_eq!((bytes(0), bytes(4096)), (1, 0));
}

#[test]
fn a_graph_that_was_built_is_held_to_the_same_rules() {
    let mut job = Builder::new(1).unwrap();
    job.task(0, Task::send(Bytes(9000), 3)).unwrap();
    let report = found_in(&job.finish(), &Options::default());
    assert_eq!(codes(&report), [Code::E04]);
    let empty = found_in(&Builder::new(0).unwrap().finish(), &Options::default());
    assert_eq!(codes(&empty), [Code::W03]);
}

#[test]
fn codes_have_names_and_kinds_too() {
    assert_eq!(Code::named("E07"), Some(Code::E07));
    assert_eq!(Code::named("E99"), None);
    assert!(Code::ALL.iter().all(|code| code.text().starts_with('E') == code.is_error() && !code.title().is_empty()));
    assert_eq!(Kind::ALL.map(Kind::name), ["calc", "send", "recv", "collective", "nop"]);
    assert_eq!(Task::calc(Time::ns(1)).bytes(), Bytes(0));
}

#[test]
fn two_sends_before_two_receives_are_a_deadlock_with_rendezvous_and_one_is_not() {
    let (both, free) =
        ("send 9000b to 1\nb: recv 9000b from 1", "a: send 9000b to 0\nb: recv 9000b from 0\nb requires a");
    let report = found(&two(&format!("a: {both}\nb requires a"), free));
    assert_eq!(codes(&report), [Code::E07, Code::E07], "{}", lines(&report));
    assert!(report.findings()[0].what.contains("where a send waits for its receive"));
    assert_eq!(report.errors(), 0, "without rendezvous it ends");
    assert_eq!(found(&two(both, free)).count(Code::E07), 0);
}

#[test]
fn repeats_that_differ_by_more_than_5_percent_are_named() {
    let found = |times: &[u64]| {
        let mut report = Report::default();
        repeats("all-reduce", &times.iter().map(|ns| Time::ns(*ns)).collect::<Vec<_>>(), &mut report);
        codes(&report)
    };
    assert_eq!((found(&[1000, 1050, 1020]), found(&[1000, 1051]), found(&[])), (vec![], vec![Code::W09], vec![]));
}
