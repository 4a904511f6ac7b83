//! Threads of one run: the same bytes on any number of them, failures of a thread, and stopped runs.

use super::support::*;
use incast_cc::external::{External, ExternalController, ExternalFactory};
use incast_cc::{Ack, Congestion, Controller, Env, Profile, Timeout};
use incast_engine::testing::{Done, Rule, Simulation, Threads, Visit, windows};
use incast_engine::{Cost, Progress, hash};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A permutation on a fat tree whose short queues drop packets.
fn lossy(size: u64) -> Spec {
    permutation(PathChoice::Spray, 6, size)
}

fn on(spec: &Spec, threads: Threads) -> String {
    format!("{:?}", windows::run(Simulation::new(spec).unwrap(), Visit::Forward, threads, &mut |_| true).unwrap())
}

fn cost(spec: &Spec, threads: Threads) -> Cost {
    windows::run_timed(Simulation::new(spec).unwrap(), Visit::Forward, threads, &mut |_| true).unwrap().1
}

/// Number of threads of a run.
fn threads_of(spec: &Spec, threads: usize) -> usize {
    cost(spec, Threads::Own(threads)).threads.len()
}

/// Clock on which two threads take half the time of one, and a window takes 1 us more.
fn half(_: bool, alone: Done, together: Done) -> u64 {
    let ns = |done: Done, of_one: u64| (done.windows + done.hops) * of_one;
    ns(alone, 100) + ns(together, 50) + together.windows * 1_000
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let spec = lossy(100_000);
    let alone = on(&spec, Threads::Own(1));
    assert_eq!([2, 3, 7].map(|threads| threads_of(&spec, threads)), [2, 3, 7]);
    for threads in [2, 3, 7, 16, 200] {
        assert_eq!(on(&spec, Threads::Own(threads)), alone, "{threads} threads");
        assert_eq!(on(&spec, Threads::Sequential(threads)), alone, "{threads} shares in turn");
    }
}

/// Runs with state beyond packets: ports that mark later know places of packets; self-serving ports are visited;
/// records of queries, a trace and series pass between collectors.
fn with_more_than_packets() -> [Spec; 4] {
    let mut marks = lossy(100_000);
    marks.queues[0] = queue(Discipline::EcnAtDeparture(EcnAtDeparture { mark: Limit::Packets(2) }), Limit::Packets(40));
    marks.transports[0].marks.ecn = Some(Ecn::Classic);
    let mut trimming = lossy(60_000);
    let header_limit = Limit::Bytes(4_000);
    let (header, headers_per_data, draws, drops, returns) = (64, 10, true, false, false);
    let trims = Trimming { header, header_limit, headers_per_data, draws, drops, returns, ecn: None };
    trimming.queues[0] = queue(Discipline::Trimming(trims), Limit::Packets(8));
    let mut watched = lossy(60_000);
    watched.observe.flows = vec![3, 11];
    watched.observe.ports = vec![7, 90];
    watched.observe.trace = vec![0, 5];
    // links as long as some 300 windows: packets are beyond the near windows
    let mut far = lossy(1_000_000);
    far.links.iter_mut().filter(|l| l.from % 3 == 0).for_each(|l| l.delay = Time::us(400));
    [marks, trimming, watched, far]
}

#[test]
fn changes_between_one_thread_and_several_give_the_same_bytes() {
    const RULES: [fn(u64) -> bool; 4] =
        [|_| true, often, |window| window == 40 || window == 41, |window| hash::mix(window).is_multiple_of(50)];
    for (i, spec) in with_more_than_packets().iter().chain([&lossy(100_000)]).enumerate() {
        let alone = on(spec, Threads::Own(1));
        for (rule, threads) in RULES.into_iter().zip([2, 3, 7, 16]) {
            let by = |in_turn| Threads::By(Rule::Given(rule), threads, in_turn);
            assert_eq!(on(spec, by(true)), alone, "network {i}, {threads} shares in turn");
            assert_eq!(on(spec, by(false)), alone, "network {i}, {threads} threads");
        }
    }
}

#[test]
fn a_sparse_run_that_may_take_several_threads_takes_one() {
    // a packet every 24 us from each of 16 hosts: a few hops a window
    let mut spec = fat_tree(6, Rate::gbps(100), Time::us(1));
    (spec.threads, spec.cores) = (None, Some(2));
    spec.flows = (0..16)
        .map(|h| FlowSpec { app: App::Udp(Udp { gap: Time::us(24), random: true }), ..bulk(h, (h + 17) % 54, None) })
        .collect();
    run_for(&mut spec, Time::ms(20));
    assert_eq!(Simulation::new(&spec).unwrap().thread_pool.threads(), 2);
    let (outcome, cost) = incast_engine::run_timed(&spec, &mut |_| true).unwrap();
    assert!(outcome.hops > 50_000, "{}", outcome.hops);
    assert_eq!((cost.in_step, cost.threads.len()), (0, 1));
    spec.threads = Some(2);
    let (as_asked, cost) = incast_engine::run_timed(&spec, &mut |_| true).unwrap();
    assert!(cost.in_step > 10_000 && cost.threads.len() == 2, "{} windows", cost.in_step);
    assert_eq!(format!("{outcome:?}"), format!("{as_asked:?}"));
}

#[test]
fn a_dense_run_takes_all_threads_that_it_may() {
    let spec = lossy(8_000_000);
    let all = cost(&spec, Threads::Own(2)).in_step;
    let cost = cost(&spec, Threads::By(Rule::Quicker(half), 2, false));
    // except handshakes, the last repairs, and the time for measuring one thread's cost
    assert!(cost.in_step > all * 3 / 4, "{} of {all} windows", cost.in_step);
    assert_eq!(cost.threads.len(), 2);
}

#[test]
fn set_up_and_outcome_take_no_notice_of_the_threads_that_share_them() {
    let mut spec = lossy(100_000);
    spec.observe.flows = vec![3, 11];
    spec.observe.ports = vec![7, 90];
    spec.threads = Some(1);
    let alone = incast_engine::run_timed(&spec, &mut |_| true).unwrap();
    assert_eq!(alone.1.helpers, Duration::ZERO);
    for threads in [2, 3, 7, 16] {
        spec.threads = Some(threads);
        let (outcome, cost) = incast_engine::run_timed(&spec, &mut |_| true).unwrap();
        assert!(cost.helpers > Duration::ZERO, "{threads} threads");
        assert_eq!(format!("{outcome:?}"), format!("{:?}", alone.0), "{threads} threads");
    }
}

#[test]
fn of_several_mistakes_in_a_network_the_first_node_is_named_on_any_number_of_threads() {
    let mut spec = lossy(20_000);
    let nics: Vec<LinkSpec> = spec.links.iter().filter(|l| [9, 30, 50].contains(&l.from)).cloned().collect();
    spec.links.extend(nics);
    for threads in [1, 2, 7] {
        spec.threads = Some(threads);
        let error = Simulation::new(&spec).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "host h9 has 2 outgoing links, expected exactly one", "{threads} threads");
    }
}

#[test]
fn more_threads_than_domains_are_not_used() {
    let mut spec = lossy(20_000);
    spec.domain_of.fill(0);
    assert_eq!(threads_of(&spec, 16), 1);
    spec.domain_of = (0..spec.node_names.len() as u32).collect();
    assert_eq!(threads_of(&spec, 255), spec.node_names.len());
}

#[test]
fn whoever_listens_stops_all_threads() {
    let spec = lossy(20_000_000);
    let calls = Cell::new(0);
    let mut listener = |_| {
        calls.set(calls.get() + 1);
        calls.get() < 2
    };
    let simulation = Simulation::new(&spec).unwrap();
    let outcome = windows::run(simulation, Visit::Forward, Threads::Own(3), &mut listener);
    assert!(matches!(outcome, Err(RunError::Stopped)));
    assert_eq!(calls.get(), 2);
}

#[test]
fn whoever_listens_is_asked_every_few_windows_where_these_are_long() {
    // 128 packets a microsecond, and windows with 100 microseconds of them
    let mut spec = star(16, Rate::gbps(100), Time::us(100));
    let gap = Time::ns(125);
    spec.flows = (0..16)
        .map(|h| FlowSpec { app: App::Udp(Udp { gap, random: false }), ..bulk(h, (h + 1) % 16, None) })
        .collect();
    run_for(&mut spec, Time::s(1));
    let mut told = vec![0];
    let mut listener = |progress: Progress| {
        told.push(progress.hops);
        told.len() < 5
    };
    let outcome = incast_engine::run(&spec, &mut listener);
    assert!(matches!(outcome, Err(RunError::Stopped)));
    let between: Vec<u64> = told.windows(2).map(|two| two[1] - two[0]).collect();
    // earlier if windows take long
    assert!(between.iter().all(|hops| *hops < 500_000), "{between:?}");
}

#[test]
fn a_run_whose_records_take_too_much_ends_with_what_they_are_on_any_number_of_threads() {
    let mut spec = lossy(200_000);
    (spec.observe.trace, spec.observe.flows) = (vec![0, 5], vec![3]);
    spec.observe.max_kept = Some(100_000);
    let error = |threads| {
        let run = windows::run(Simulation::new(&spec).unwrap(), Visit::Forward, threads, &mut |_| true);
        run.map(|o| o.hops).unwrap_err().to_string()
    };
    let alone = error(Threads::Own(1));
    assert!(alone.contains("events of packets (measure.trace)") && alone.contains("of 20ms"), "{alone}");
    for threads in [2, 7] {
        assert_eq!(error(Threads::Own(threads)), alone, "{threads} threads");
        assert_eq!(error(Threads::Sequential(threads)), alone, "{threads} shares in turn");
    }
    spec.observe.max_kept = Some(100_000_000);
    assert!(windows::run(Simulation::new(&spec).unwrap(), Visit::Forward, Threads::Own(1), &mut |_| true).is_ok());
}

#[test]
fn counted_packets_of_ack_directions_are_bounded_too() {
    let mut spec = lossy(200_000);
    (spec.observe.acks, spec.observe.max_kept) = (true, Some(20_000));
    let error = |threads| {
        let run = windows::run(Simulation::new(&spec).unwrap(), Visit::Forward, threads, &mut |_| true);
        run.map(|o| o.hops).unwrap_err().to_string()
    };
    let alone = error(Threads::Own(1));
    let steps = "steps of counted packets (measure.acks)";
    assert!(alone.contains(steps) && !alone.contains(&format!(" 0 {steps}")), "{alone}");
    assert_eq!(error(Threads::Own(3)), alone);
    spec.observe.max_kept = Some(100_000_000);
    let bounded = on(&spec, Threads::Own(1));
    spec.observe.max_kept = None;
    assert_eq!(bounded, on(&spec, Threads::Own(1)));
}

#[test]
fn whoever_asks_is_told_once_in_each_interval_between_the_events() {
    // windows of some 10 us, without events in the first millisecond
    let mut spec = star(4, Rate::gbps(10), Time::us(10));
    spec.flows = vec![FlowSpec { start: Time::ms(1), ..bulk(0, 1, None) }];
    spec.progress_every = Some(Time::us(25));
    run_for(&mut spec, Time::ms(2));
    let told = |spec: &Spec| {
        let mut times = Vec::new();
        let mut listener = |progress: Progress| {
            times.push(progress.now);
            true
        };
        incast_engine::run(spec, &mut listener).unwrap();
        times
    };
    let times = told(&spec);
    assert_eq!(times.len(), 79);
    for (at, end) in times.iter().zip((1..).map(|i| Time::us(25) * i)) {
        assert!(end <= *at && *at < end + Time::us(11), "{at:?} for {end:?}");
    }
    spec.progress_every = None;
    assert_eq!(told(&spec), []);
}

#[test]
fn bytes_delivered_are_told_while_a_run_with_a_timeline_goes_on() {
    let mut spec = star(4, Rate::gbps(10), Time::us(10));
    // the third flow ends within a frame
    let short = FlowSpec { start: Time::ms(2), ..bulk(3, 1, Some(15_000)) };
    spec.flows = vec![FlowSpec { start: Time::ms(1), ..bulk(0, 1, None) }, bulk(2, 1, None), short];
    // three million hops
    run_for(&mut spec, Time::ms(1000));
    spec.threads = Some(1);
    let told = |spec: &Spec| {
        let mut reached = Vec::new();
        let mut listener = |progress: Progress| {
            reached.extend(progress.delivered);
            true
        };
        let outcome = incast_engine::run(spec, &mut listener).unwrap();
        (reached, outcome)
    };
    assert_eq!(told(&spec).0, []);
    let every = Time::ms(1);
    spec.observe.timeline = Some(TimelineSpec { every, most: 10_000 });
    let (reached, outcome) = told(&spec);
    assert!(reached.len() > 5 && reached.is_sorted());
    for (at, bytes) in reached {
        let over = outcome.flow_frames.rows().filter(|row| every * (row.frame as u64 + 1) <= at);
        assert_eq!(bytes, over.map(|row| row.delivered_bytes).sum::<u64>(), "by {at:?}");
    }
}

/// A controller that panics.
#[derive(Debug)]
struct Mistaken;

impl Controller for Mistaken {
    fn on_ack(&mut self, ack: &Ack) {
        assert!(ack.round.acked < 50_000, "a mistake in on_ack");
    }
    fn on_loss(&mut self, _: &Congestion) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn cwnd(&self) -> f64 {
        10_000.0
    }
}

impl ExternalController for Mistaken {}

impl ExternalFactory for Mistaken {
    fn name(&self) -> &str {
        "mistaken"
    }
    fn params(&self) -> &[(String, String)] {
        &[]
    }
    fn source(&self) -> &str {
        ""
    }
    fn profile(&self) -> Profile {
        Profile::TCP
    }
    fn make(&self, _: &Env) -> Box<dyn ExternalController> {
        Box::new(Mistaken)
    }
}

#[test]
fn a_panic_of_any_thread_ends_all_with_its_message() {
    // one flow, at the first host and at the last: they are on different threads, since each has its own share
    assert_eq!(threads_of(&lossy(20_000), 4), 4);
    for culprit in [0, 15] {
        let mut spec = lossy(200_000);
        spec.controllers.push(Config::External(External(Arc::new(Mistaken))));
        spec.flows[culprit].controller = spec.controllers.len() as u32 - 1;
        let simulation = Simulation::new(&spec).unwrap();
        let run = || windows::run(simulation, Visit::Forward, Threads::Own(4), &mut |_| true).map(|o| o.hops);
        let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the run goes on");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake in on_ack"), "flow {culprit}");
    }
}
