//! Recorded tasks of jobs against the times of their ranks.

use incast_record::{Outcome, RankRecord, TaskKind, TaskRecord};

type Span = (u64, u64);

/// Checks that recorded calculations and messages of a rank add up to its times, in every iteration that has ended.
pub fn add_up(o: &Outcome) {
    for rank in o.ranks.iter().filter(|rank| rank.finish_ps.is_some()) {
        let own: Vec<&TaskRecord> = o.tasks.iter().filter(|t| (t.job, t.rank) == (rank.job, rank.rank)).collect();
        if own.is_empty() {
            continue;
        }
        let of_iteration = own.iter().filter(|task| task.iteration == rank.iteration);
        assert!(of_iteration.clone().all(|task| task.finish_ps.is_some()), "all tasks have ended: {rank:?}");
        assert!(
            of_iteration.clone().all(|t| t.ready_ps <= t.start_ps.unwrap() && t.start_ps <= t.finish_ps),
            "{own:?}"
        );
        let end = rank.finish_ps.unwrap();
        let calculations: Vec<Span> = own
            .iter()
            .filter(|task| task.kind == TaskKind::Calc && task.start_ps.is_some())
            .map(|task| (task.start_ps.unwrap(), task.finish_ps.unwrap_or(o.end_ps)))
            .collect();
        let messages: Vec<Span> = own
            .iter()
            .filter_map(|task| Some((task.message_start_ps?, task.message_finish_ps.unwrap_or(o.end_ps))))
            .collect();
        check(rank, end, &calculations, &messages);
    }
}

fn check(rank: &RankRecord, end: u64, calculations: &[Span], messages: &[Span]) {
    let mut edges: Vec<u64> = calculations.iter().chain(messages).flat_map(|span| [span.0, span.1]).collect();
    edges.extend([rank.start_ps, end]);
    edges.sort_unstable();
    let [mut compute, mut exposed, mut idle, mut communication] = [0; 4];
    for pair in edges.windows(2).filter(|pair| pair[0] >= rank.start_ps && pair[1] <= end) {
        let covers = |spans: &[Span]| spans.iter().any(|span| span.0 <= pair[0] && pair[1] <= span.1);
        let length = pair[1] - pair[0];
        match (covers(calculations), covers(messages)) {
            (true, _) => compute += length,
            (false, true) => exposed += length,
            (false, false) => idle += length,
        }
        communication += if covers(messages) { length } else { 0 };
    }
    let found = (compute, exposed, idle, communication);
    let expected = (rank.compute_ps, rank.exposed_ps, rank.idle_ps, rank.communication_ps);
    assert_eq!(found, expected, "tasks and times of {rank:?}");
}
