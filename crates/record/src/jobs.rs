//! Figures of training jobs: `jobs.parquet`, `ranks.parquet`, `messages.parquet`, and the part `jobs` of the summary.

use crate::figure::Of::{F64, Index, OptTime, OptU64, Text, Time, U32, U64, Whole};
use crate::figure::{Column, Figure, Quantity, columns, rows};
use crate::statistics::{PS, ratio, seconds};
use crate::{JobRecord, Outcome, RankRecord, TransferRecord};
use serde_json::{Map, Value};

/// An iteration of a job: its ranks' records.
pub(crate) struct Iteration<'o>(&'o [RankRecord]);

impl Iteration<'_> {
    fn start(&self) -> u64 {
        self.0.iter().map(|rank| rank.start_ps).min().unwrap_or_default()
    }

    /// End of the last rank; `None` if one has not ended.
    fn finish(&self) -> Option<u64> {
        self.0.iter().map(|rank| rank.finish_ps).try_fold(0, |last, finish| Some(last.max(finish?)))
    }

    fn time(&self) -> Option<u64> {
        Some(self.finish()? - self.start())
    }

    /// Mean over the ranks, in seconds.
    fn mean(&self, of: fn(&RankRecord) -> u64) -> f64 {
        let sum: u128 = self.0.iter().map(|rank| u128::from(of(rank))).sum();
        ratio(sum as f64, self.0.len() as f64 * PS).unwrap_or(0.0)
    }

    fn most(&self, of: fn(&RankRecord) -> u64) -> u64 {
        self.0.iter().map(of).max().unwrap_or_default()
    }

    /// Rank that ends last, or the first that has not ended.
    fn critical(&self) -> u32 {
        let late = |rank: &&RankRecord| (rank.finish_ps.unwrap_or(u64::MAX), std::cmp::Reverse(rank.rank));
        self.0.iter().max_by_key(late).map_or(0, |rank| rank.rank)
    }

    fn waits(&self) -> String {
        let first = self.0.iter().find_map(|rank| Some((rank.rank, rank.waits_for.as_ref()?)));
        first.map_or(String::new(), |(rank, words)| format!("rank {rank}, {words}"))
    }
}

fn iterations(outcome: &Outcome) -> impl Iterator<Item = Iteration<'_>> {
    outcome.ranks.chunk_by(|a, b| (a.job, a.iteration) == (b.job, b.iteration)).map(Iteration)
}

fn names(outcome: &Outcome) -> Vec<String> {
    outcome.jobs.iter().map(|job| job.name.clone()).collect()
}

/// Bytes of the collective over the time of an iteration, per second; times the factor of buses if `bus`.
fn bandwidth(iteration: &Iteration<'_>, outcome: &Outcome, bus: bool) -> Option<f64> {
    let (bytes, factor) = outcome.jobs.get(iteration.0[0].job as usize)?.collective?;
    let bytes = bytes as f64 * if bus { factor } else { 1.0 };
    ratio(bytes * PS, iteration.time()? as f64)
}

/// Lower bound of the time of an iteration, in seconds.
fn bound(iteration: &Iteration<'_>, outcome: &Outcome) -> Option<f64> {
    outcome.jobs.get(iteration.0[0].job as usize)?.bound_ps.map(seconds)
}

/// Columns of `jobs.parquet`.
fn columns_of_jobs<'o>() -> [Quantity<Iteration<'o>>; 17] {
    rows! {
        "job" [""] = Index(|i| i.0[0].job, names), "Job.";
        "iteration" [""] = U32(|i| i.0[0].iteration), "Number of the iteration, from 0.";
        "ranks" ["ranks"] = U32(|i| i.0.len() as u32), "Ranks that began it.";
        "start_s" ["s"] = Time(Iteration::start), "Simulated time at which the first rank begins it.";
        "finish_s" ["s"] = OptTime(Iteration::finish),
            "Simulated time at which the last rank ends it; missing if the run ended before.";
        "time_s" ["s"] = OptTime(Iteration::time), "Iteration time: finish_s - start_s.";
        "bound_s" ["s"] = Whole(bound),
            "Lower bound of time_s: the longest of the critical path with no contention, the bytes of the busiest host \
             over the rate of its link, and the calculations of the busiest stream; missing with links inside servers, \
             and with ranks that calculate faster than the tasks say.";
        "efficiency" ["1"] = Whole(|i, o| ratio(bound(i, o)?, seconds(i.time()?))), "bound_s / time_s, at most 1.";
        "algbw_Bps" ["B/s"] = Whole(|i, o| bandwidth(i, o, false)),
            "Bytes of the collective over time_s; missing for a job that is no collective.";
        "busbw_Bps" ["B/s"] = Whole(|i, o| bandwidth(i, o, true)),
            "algbw_Bps times 2(n-1)/n for an all-reduce, (n-1)/n for a reduce-scatter, an all-gather and an \
             all-to-all, 1 for a broadcast and a reduce, of n ranks: the rate of the busiest link of a ring.";
        "compute_s" ["s"] = F64(|i| i.mean(|rank| rank.compute_ps)),
            "Time with a calculation under way, mean over ranks.";
        "exposed_s" ["s"] = F64(|i| i.mean(|rank| rank.exposed_ps)),
            "Exposed communication: time with a message from or to the rank under way and no calculation, mean over \
             ranks.";
        "exposed_max_s" ["s"] = Time(|i| i.most(|rank| rank.exposed_ps)), "The same, of the rank with most.";
        "idle_s" ["s"] = F64(|i| i.mean(|rank| rank.idle_ps)),
            "Time with neither: a rank waits for others, mean over ranks.";
        "communication_s" ["s"] = F64(|i| i.mean(|rank| rank.communication_ps)),
            "Time with a message under way, beside calculations or not, mean over ranks.";
        "critical_rank" [""] = U32(Iteration::critical), "Rank that ends last, or the first that has not ended.";
        "waits_for" [""] = Text(Iteration::waits),
            "First rank and task that wait for a message at the end of the run; empty if none does.";
    }
}

/// Columns of `ranks.parquet`.
const RANKS: [Quantity<RankRecord>; 13] = rows! {
    "job" [""] = Index(|r| r.job, names), "Job.";
    "iteration" [""] = U32(|r| r.iteration), "Number of the iteration, from 0.";
    "rank" [""] = U32(|r| r.rank), "Rank.";
    "host" [""] = U32(|r| r.host), "Host of the rank.";
    "start_s" ["s"] = Time(|r| r.start_ps), "Simulated time at which the rank begins the iteration.";
    "finish_s" ["s"] = OptTime(|r| r.finish_ps),
        "Simulated time at which its last task ends; missing if the run ended before.";
    "compute_s" ["s"] = Time(|r| r.compute_ps), "Time with a calculation under way.";
    "exposed_s" ["s"] = Time(|r| r.exposed_ps), "Time with a message from or to the rank under way and no calculation.";
    "idle_s" ["s"] = Time(|r| r.idle_ps), "Time with neither.";
    "communication_s" ["s"] = Time(|r| r.communication_ps), "Time with a message under way.";
    "tasks" ["tasks"] = U32(|r| r.tasks), "Tasks of the rank in an iteration.";
    "left" ["tasks"] = U32(|r| r.left), "Tasks that have not ended.";
    "waits_for" [""] = Text(|r| r.waits_for.clone().unwrap_or_default()),
        "First receive that waits for its message at the end of the run; empty if none does.";
};

/// Columns of `messages.parquet`.
const MESSAGES: [Quantity<TransferRecord>; 10] = rows! {
    "job" [""] = Index(|m| m.job, names), "Job.";
    "from" [""] = U32(|m| m.from), "Sending rank.";
    "to" [""] = U32(|m| m.to), "Receiving rank.";
    "task" [""] = U32(|m| m.task), "Task of the sending rank, from 0.";
    "tag" [""] = U32(|m| m.tag), "Tag.";
    "bytes" ["B"] = U64(|m| m.bytes), "Bytes.";
    "flow" [""] = OptU64(|m| m.flow.map(u64::from)), "Flow of the connection; missing for a message inside a server.";
    "start_s" ["s"] = Time(|m| m.start_ps), "Simulated time at which the sending task starts.";
    "finish_s" ["s"] = Time(|m| m.finish_ps), "Simulated time at which the last byte has arrived in order.";
    "time_s" ["s"] = Time(|m| m.finish_ps - m.start_ps), "finish_s - start_s.";
};

/// `jobs.parquet`: one row per job and iteration that began.
pub(crate) fn jobs(outcome: &Outcome) -> Vec<Column> {
    let all: Vec<Iteration<'_>> = iterations(outcome).collect();
    columns(&columns_of_jobs(), &all.iter().collect::<Vec<_>>(), outcome)
}

/// `ranks.parquet`: one row per job, iteration and rank that began it.
pub(crate) fn ranks(outcome: &Outcome) -> Vec<Column> {
    columns(&RANKS, &outcome.ranks.iter().collect::<Vec<_>>(), outcome)
}

/// `messages.parquet`: one row per message that has arrived, by job and start.
pub(crate) fn messages(outcome: &Outcome) -> Vec<Column> {
    columns(&MESSAGES, &outcome.transfers.iter().collect::<Vec<_>>(), outcome)
}

/// Iterations of one job.
pub(crate) struct Job<'o> {
    finished: Vec<Iteration<'o>>,
    began: usize,
    bus: Option<f64>,
    efficiency: Option<f64>,
}

impl Job<'_> {
    fn mean(&self, of: impl Fn(&Iteration<'_>) -> f64) -> Option<f64> {
        ratio(self.finished.iter().map(of).sum(), self.finished.len() as f64)
    }

    fn times(&self) -> impl Iterator<Item = u64> {
        self.finished.iter().filter_map(Iteration::time)
    }
}

type OfJob = for<'a, 'o> fn(&'a Job<'o>) -> Value;

/// Part `jobs` of the summary, of each job.
pub(crate) const FIGURES: &[Figure<OfJob>] = &rows! {
    "jobs.*.iterations" ["iterations"] = |j| j.began, "Iterations that began.";
    "jobs.*.finished" ["iterations"] = |j| j.finished.len(),
        "Iterations that all ranks have ended; the figures below cover these alone.";
    "jobs.*.iteration_mean_s" ["s"] = |j| ratio(j.times().sum::<u64>() as f64, j.finished.len() as f64 * PS),
        "Mean iteration time: from the start of the first rank to the end of the last.";
    "jobs.*.iteration_max_s" ["s"] = |j| j.times().max().map(seconds), "Longest iteration time.";
    "jobs.*.busbw_mean_Bps" ["B/s"] = |j| j.bus,
        "Mean bus bandwidth of a collective over the iterations; null for a job that is no collective.";
    "jobs.*.efficiency_mean" ["1"] = |j| j.efficiency,
        "Mean of the lower bound over the iteration time; at most 1.";
    "jobs.*.compute_mean_s" ["s"] = |j| j.mean(|i| i.mean(|rank| rank.compute_ps)),
        "Time of a rank with a calculation under way, mean over ranks and iterations.";
    "jobs.*.exposed_mean_s" ["s"] = |j| j.mean(|i| i.mean(|rank| rank.exposed_ps)),
        "Exposed communication: time of a rank with a message under way and no calculation, mean over ranks and \
         iterations.";
    "jobs.*.idle_mean_s" ["s"] = |j| j.mean(|i| i.mean(|rank| rank.idle_ps)),
        "Time of a rank with neither, mean over ranks and iterations.";
};

/// Figures of every job by name.
pub(crate) fn summary(outcome: &Outcome) -> Value {
    let mut figures = Map::new();
    for (number, JobRecord { name, .. }) in (0u32..).zip(&outcome.jobs) {
        let own: Vec<Iteration<'_>> = iterations(outcome).filter(|i| i.0[0].job == number).collect();
        let began = own.len();
        let finished: Vec<Iteration<'_>> = own.into_iter().filter(|i| i.finish().is_some()).collect();
        let mean = |of: &dyn Fn(&Iteration<'_>) -> Option<f64>| {
            let all: Option<Vec<f64>> = finished.iter().map(of).collect();
            all.and_then(|all| ratio(all.iter().sum(), all.len() as f64))
        };
        let bus = mean(&|i| bandwidth(i, outcome, true));
        let efficiency = mean(&|i| ratio(bound(i, outcome)?, seconds(i.time()?)));
        let job = Job { finished, began, bus, efficiency };
        let of = FIGURES.iter().map(|figure| {
            let key = figure.stated.key.rsplit('.').next().unwrap_or_default();
            (key.to_owned(), (figure.value)(&job))
        });
        figures.insert(name.clone(), Value::Object(of.collect()));
    }
    Value::Object(figures)
}

/// Returns whether a time is shorter than a bound by more than the rounding of messages to picoseconds.
pub(crate) fn faster(time_ps: u64, bound_ps: u64) -> bool {
    time_ps.saturating_add(1_000 + bound_ps / 1_000_000) < bound_ps
}

/// Words about an iteration that is faster than its bound, which no network is.
pub(crate) fn too_fast(outcome: &Outcome) -> Option<String> {
    let bound = |i: &Iteration<'_>| outcome.jobs.get(i.0[0].job as usize).and_then(|job| job.bound_ps);
    let fast = |i: &Iteration<'_>| i.time().zip(bound(i)).is_some_and(|(time, bound)| faster(time, bound));
    let own = iterations(outcome).find(fast)?;
    Some(format!(
        "iteration {} of job {} took {} ps, and no network takes less than {} ps: a fault of the simulator; please \
         report it",
        own.0[0].iteration,
        outcome.jobs[own.0[0].job as usize].name,
        own.time().unwrap_or_default(),
        bound(&own).unwrap_or_default()
    ))
}
