//! Figures of training jobs.

use incast_record::summary::{summarize, too_fast};
use incast_record::table::{self, Column, Values};
use incast_record::{CollectiveFacts, CollectiveRecord, JobRecord, Outcome, PartRecord, RankRecord, TransferRecord};

const US: u64 = 1_000_000;

fn rank(iteration: u32, rank: u32, start: u64, finish: Option<u64>) -> RankRecord {
    RankRecord {
        iteration,
        rank,
        host: 10 + rank,
        start_ps: start * US,
        finish_ps: finish.map(|at| at * US),
        compute_ps: 4 * US,
        exposed_ps: (2 + u64::from(rank)) * US,
        tasks: 5,
        left: if finish.is_some() { 0 } else { 2 },
        waits_for: finish.is_none().then(|| "task 3: a message".to_owned()),
        ..RankRecord::default()
    }
}

fn facts(pattern: &'static str, bytes: u64) -> CollectiveFacts {
    let (members, bus_factor, bound_ps) = (2, 1.5, Some(2 * US));
    CollectiveFacts { pattern, algorithm: "ring", group: 0, members, bytes, bus_factor, bound_ps }
}

/// A collective that both ranks have ended; rank `late` started it 3 us later.
fn ended(late: u32) -> CollectiveRecord {
    let mut record = CollectiveRecord::default();
    for rank in [1, 0] {
        let start_ps = if rank == late { 4 * US } else { US };
        let longest = Some((2 * US, 1 - rank));
        let part =
            PartRecord { rank, start_ps, finish_ps: Some((6 + u64::from(rank)) * US), longest, ..Default::default() };
        record.add(&part);
    }
    record
}

/// Three iterations of a job of two ranks: the second begins before the first has ended, and the third on one rank
/// alone.
fn outcome() -> Outcome {
    Outcome {
        jobs: vec![JobRecord {
            name: "j".into(),
            collective: Some((1_000_000, 1.5)),
            ranks: 2,
            iterations: 3,
            start_ps: 0,
            bound_ps: Some(5 * US),
            work_ps: Some(4 * US),
            warmup: 0,
            collectives: vec![facts("all-reduce", 1_000_000), facts("all-to-all", 500), facts("all-to-all", 800)],
        }],
        collectives: [((0, 0, 0), ended(1)), ((0, 0, 1), ended(0)), ((0, 0, 2), CollectiveRecord::default())].into(),
        ranks: vec![
            rank(0, 0, 0, Some(8)),
            rank(0, 1, 0, Some(10)),
            rank(1, 0, 8, Some(15)),
            rank(1, 1, 10, Some(18)),
            rank(2, 0, 15, Some(17)),
        ],
        transfers: vec![TransferRecord { start_ps: US, finish_ps: 3 * US, flow: None, ..TransferRecord::default() }],
        ..Outcome::default()
    }
}

fn column(columns: &[Column], name: &str) -> Values {
    columns.iter().find(|column| column.name == name).expect("a column of this name").values.clone()
}

fn table_of(name: &str) -> Vec<Column> {
    table::named(name).unwrap()(&outcome())
}

#[test]
fn an_iteration_lasts_from_the_end_of_the_one_before() {
    let jobs = table_of("jobs");
    assert_eq!(column(&jobs, "time_s"), Values::OptF64(vec![Some(10e-6), Some(8e-6), None]));
    // the first rank begins the second iteration before the other has ended the first
    assert_eq!(column(&jobs, "span_s"), Values::OptF64(vec![Some(10e-6), Some(10e-6), None]));
    assert_eq!(column(&jobs, "critical_rank"), Values::U32(vec![1, 1, 0]));
    assert_eq!(column(&jobs, "efficiency"), Values::OptF64(vec![Some(0.5), Some(0.5), None]));
    let per_s = |of: f64| Values::OptF64(vec![Some(of * 1e12 / 10e6), Some(of * 1e12 / 8e6), None]);
    assert_eq!(column(&jobs, "algbw_Bps"), per_s(1e6));
    assert_eq!(column(&jobs, "busbw_Bps"), per_s(1.5e6));
    assert_eq!(column(&jobs, "exposed_s"), Values::F64(vec![2.5e-6, 2.5e-6, 2e-6]));
    assert_eq!(column(&jobs, "exposed_max_s"), Values::F64(vec![3e-6, 3e-6, 2e-6]));
}

#[test]
fn an_iteration_that_a_rank_has_not_begun_has_not_ended() {
    let jobs = table_of("jobs");
    assert_eq!(column(&jobs, "ranks"), Values::U32(vec![2, 2, 1]));
    assert_eq!(column(&jobs, "finish_s"), Values::OptF64(vec![Some(10e-6), Some(18e-6), None]));
    let waits = Outcome { ranks: vec![rank(0, 0, 0, Some(8)), rank(0, 1, 0, None)], ..outcome() };
    let jobs = table::named("jobs").unwrap()(&waits);
    assert_eq!(column(&jobs, "waits_for"), Values::Str(vec!["rank 1, task 3: a message".to_owned()]));
}

#[test]
fn ranks_and_messages_have_a_row_each() {
    assert_eq!(column(&table_of("ranks"), "left"), Values::U32(vec![0; 5]));
    assert_eq!(column(&table_of("ranks"), "host"), Values::U32(vec![10, 11, 10, 11, 10]));
    assert_eq!(column(&table_of("messages"), "time_s"), Values::F64(vec![2e-6]));
    assert_eq!(column(&table_of("messages"), "flow"), Values::OptU64(vec![None]));
}

#[test]
fn the_summary_covers_iterations_that_ended() {
    let s = summarize(&outcome(), "s", "v");
    let job = &s["jobs"]["j"];
    assert_eq!((job["iterations"].as_u64(), job["finished"].as_u64()), (Some(3), Some(2)));
    assert_eq!(job["iteration_mean_s"].as_f64(), Some(9e-6));
    assert_eq!(job["iteration_max_s"].as_f64(), Some(10e-6));
    assert_eq!(job["busbw_mean_Bps"].as_f64(), Some(3e6 * 1e12 / 18e6));
    // two iterations of 4 us of work each in 18 us
    assert_eq!(job["efficiency_mean"].as_f64(), Some(8.0 / 18.0));
    assert_eq!(summarize(&Outcome::default(), "s", "v").get("jobs"), None);
}

#[test]
fn iterations_of_the_warm_up_are_in_the_tables_and_in_no_mean() {
    let mut three = outcome();
    three.jobs[0].warmup = 1;
    let job = &summarize(&three, "s", "v")["jobs"]["j"];
    assert_eq!((job["iterations"].as_u64(), job["finished"].as_u64()), (Some(3), Some(2)));
    assert_eq!(job["iteration_mean_s"].as_f64(), Some(8e-6));
    // one iteration from the start of its first rank on, with its bound
    assert_eq!(job["efficiency_mean"].as_f64(), Some(0.5));
    assert_eq!(column(&table::named("jobs").unwrap()(&three), "warmup"), Values::U32(vec![1, 0, 0]));
    assert_eq!(column(&table::named("collectives").unwrap()(&three), "warmup"), Values::U32(vec![1, 1, 1]));
    let own = &summarize(&three, "s", "v")["collectives"]["j"]["all-reduce"];
    assert_eq!((own["finished"].as_u64(), own["time_mean_s"].as_f64()), (Some(1), None));
    three.ranks.truncate(2);
    assert_eq!(summarize(&three, "s", "v")["jobs"]["j"]["iteration_mean_s"].as_f64(), None);
}

#[test]
fn a_collective_lasts_from_its_first_start_to_its_last_end_and_names_who_was_late() {
    let table = table_of("collectives");
    let times = |name: &str, us: [Option<u64>; 3]| {
        let seconds = us.map(|us| us.map(|us| us as f64 * 1e-6)).to_vec();
        assert_eq!(column(&table, name), Values::OptF64(seconds), "{name}");
    };
    times("time_s", [Some(6), Some(6), None]);
    times("skew_s", [Some(3), Some(3), None]);
    times("after_last_start_s", [Some(3), Some(3), None]);
    times("slowest_message_s", [Some(2), Some(2), None]);
    assert_eq!(column(&table, "slowest_rank"), Values::U32(vec![1, 0, u32::MAX]));
    assert_eq!(column(&table, "last_rank"), Values::OptU64(vec![Some(1), Some(1), None]));
    // the lowest sender of two messages that took as long
    assert_eq!(column(&table, "slowest_from"), Values::OptU64(vec![Some(0), Some(0), None]));
    assert_eq!(column(&table, "slowest_to"), Values::OptU64(vec![Some(1), Some(1), None]));
    let Values::OptF64(bus) = column(&table, "busbw_Bps") else { panic!("numbers") };
    assert!((bus[0].unwrap() - 1.5 * 1_000_000.0 / 6e-6).abs() < 1.0);
    let s = summarize(&outcome(), "s", "v");
    let own = &s["collectives"]["j"];
    assert_eq!(own["all-reduce"]["time_mean_s"].as_f64(), Some(6e-6));
    assert_eq!(own["all-reduce"]["efficiency_mean"].as_f64().map(|own| (own * 3.0).round()), Some(1.0));
    // sizes are never pooled
    assert_eq!((&own["all-to-all/2/500"]["finished"], &own["all-to-all/2/800"]["finished"]), (&1.into(), &0.into()));
    assert_eq!(own.get("all-to-all"), None);
    assert_eq!(summarize(&Outcome::default(), "s", "v").get("collectives"), None);
}

#[test]
fn what_is_faster_than_its_bound_is_told() {
    assert_eq!(too_fast(&outcome()), None);
    let mut fast = outcome();
    fast.jobs[0].bound_ps = Some(11 * US);
    assert!(too_fast(&fast).unwrap().contains("iteration 0 of job j took 10000000 ps"));
    let mut fast = outcome();
    fast.jobs[0].collectives[1].bound_ps = Some(7 * US);
    assert!(too_fast(&fast).unwrap().contains("collective 1 (all-to-all) of iteration 0 of job j"));
}
