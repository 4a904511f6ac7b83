//! Figures of training jobs: `jobs.parquet`, `ranks.parquet`, `messages.parquet`, and the part `jobs` of the summary.

use crate::figure::Of::{F64, Index, OptTime, OptU64, Text, Time, U32, U64, Whole};
use crate::figure::{Column, Figure, Quantity, columns, rows};
use crate::statistics::{PS, ratio, seconds};
use crate::{JobRecord, Outcome, RankRecord, TransferRecord};
use serde_json::{Map, Value};
use std::ops::Range;

/// An iteration of a job.
pub(crate) struct Iteration<'o> {
    /// Records of the ranks that began it.
    ranks: &'o [RankRecord],
    /// The job.
    job: &'o JobRecord,
    /// End of the iteration before; of the first one the start of the job.
    before: u64,
}

impl Iteration<'_> {
    fn start(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.start_ps).min().unwrap_or_default()
    }

    /// End of the last rank; `None` if one has not ended, or not begun.
    fn finish(&self) -> Option<u64> {
        let whole = self.ranks.len() >= self.job.ranks as usize;
        let last = self.ranks.iter().map(|rank| rank.finish_ps).try_fold(0, |last, finish| Some(last.max(finish?)));
        last.filter(|_| whole)
    }

    fn is_warmup(&self) -> bool {
        self.ranks[0].iteration < self.job.warmup
    }

    /// Time from the end of the iteration before.
    fn time(&self) -> Option<u64> {
        Some(self.finish()?.saturating_sub(self.before))
    }

    /// Time from the start of the first rank: iterations overlap where ranks run ahead.
    fn span(&self) -> Option<u64> {
        Some(self.finish()? - self.start())
    }

    /// Mean over the ranks, in seconds.
    fn mean(&self, of: fn(&RankRecord) -> u64) -> f64 {
        let sum: u128 = self.ranks.iter().map(|rank| u128::from(of(rank))).sum();
        ratio(sum as f64, self.ranks.len() as f64 * PS).unwrap_or(0.0)
    }

    fn most(&self, of: fn(&RankRecord) -> u64) -> u64 {
        self.ranks.iter().map(of).max().unwrap_or_default()
    }

    /// Rank that ends last, or the first that has not ended.
    fn critical(&self) -> u32 {
        let late = |rank: &&RankRecord| (rank.finish_ps.unwrap_or(u64::MAX), std::cmp::Reverse(rank.rank));
        self.ranks.iter().max_by_key(late).map_or(0, |rank| rank.rank)
    }

    fn waits(&self) -> String {
        let first = self.ranks.iter().find_map(|rank| Some((rank.rank, rank.waits_for.as_ref()?)));
        first.map_or(String::new(), |(rank, words)| format!("rank {rank}, {words}"))
    }
}

fn iterations(outcome: &Outcome) -> impl Iterator<Item = Iteration<'_>> {
    let mut before = None;
    let all = outcome.ranks.chunk_by(|a, b| (a.job, a.iteration) == (b.job, b.iteration));
    all.filter_map(move |ranks| {
        let number = ranks[0].job;
        let job = outcome.jobs.get(number as usize)?;
        let known = before.filter(|(of, _)| *of == number).map_or(job.start_ps, |(_, end)| end);
        let own = Iteration { ranks, job, before: known };
        before = Some((number, own.finish().unwrap_or(known)));
        Some(own)
    })
}

pub(crate) fn names(outcome: &Outcome) -> Vec<String> {
    outcome.jobs.iter().map(|job| job.name.clone()).collect()
}

/// Bytes of the collective over the time of an iteration, per second; times the factor of buses if `bus`.
fn bandwidth(iteration: &Iteration<'_>, bus: bool) -> Option<f64> {
    let (bytes, factor) = iteration.job.collective.filter(|(bytes, _)| *bytes > 0)?;
    let bytes = bytes as f64 * if bus { factor } else { 1.0 };
    ratio(bytes * PS, iteration.time()? as f64)
}

/// Lower bound of the span of an iteration, in seconds.
fn bound(iteration: &Iteration<'_>) -> Option<f64> {
    iteration.job.bound_ps.map(seconds)
}

/// Columns of `jobs.parquet`.
fn columns_of_jobs<'o>() -> [Quantity<Iteration<'o>>; 19] {
    rows! {
        "job" [""] = Index(|i| i.ranks[0].job, names), "Job.";
        "iteration" [""] = U32(|i| i.ranks[0].iteration), "Number of the iteration, from 0.";
        "warmup" [""] = U32(|i| i.is_warmup().into()),
            "1 for an iteration of the warm-up, which means leave out, else 0.";
        "ranks" ["ranks"] = U32(|i| i.ranks.len() as u32), "Ranks that began it.";
        "start_s" ["s"] = Time(Iteration::start), "Simulated time at which the first rank begins it.";
        "finish_s" ["s"] = OptTime(Iteration::finish),
            "Simulated time at which the last rank ends it; missing if the run ended before.";
        "time_s" ["s"] = OptTime(Iteration::time),
            "Iteration time: finish_s less that of the iteration before; of the first one less the start of the job.";
        "span_s" ["s"] = OptTime(Iteration::span),
            "finish_s - start_s: more than time_s where ranks begin an iteration before all have ended the last one.";
        "bound_s" ["s"] = Whole(|i, _| bound(i)),
            "Lower bound of span_s: the longest of the critical path with no contention, the bytes of the busiest host \
             over the rate of its link, and the calculations of the busiest stream; missing with links inside servers, \
             with ranks that calculate faster than the tasks say, and above a million tasks.";
        "efficiency" ["1"] = Whole(|i, _| ratio(bound(i)?, seconds(i.span()?))), "bound_s / span_s, at most 1.";
        "algbw_Bps" ["B/s"] = Whole(|i, _| bandwidth(i, false)),
            "Bytes of the collective over time_s; missing for a job that is no collective.";
        "busbw_Bps" ["B/s"] = Whole(|i, _| bandwidth(i, true)),
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
    rows_of_messages(outcome, 0..outcome.transfers.len())
}

/// Some rows of `messages.parquet`.
pub(crate) fn rows_of_messages(outcome: &Outcome, rows: Range<usize>) -> Vec<Column> {
    columns(&MESSAGES, &outcome.transfers[rows].iter().collect::<Vec<_>>(), outcome)
}

/// Iterations of one job.
pub(crate) struct Job<'o> {
    job: &'o JobRecord,
    ended: usize,
    /// Iterations that ended, without those of the warm-up.
    finished: Vec<Iteration<'o>>,
}

impl Job<'_> {
    fn mean(&self, of: impl Fn(&Iteration<'_>) -> f64) -> Option<f64> {
        ratio(self.finished.iter().map(of).sum(), self.finished.len() as f64)
    }

    /// Bytes of the collectives on the busiest link over the time of all iterations.
    fn bus(&self) -> Option<f64> {
        let (bytes, factor) = self.job.collective.filter(|(bytes, _)| *bytes > 0)?;
        ratio(bytes as f64 * factor * self.finished.len() as f64 * PS, self.times().sum::<u64>() as f64)
    }

    /// Lower bound of the time of all iterations over that time.
    fn efficiency(&self) -> Option<f64> {
        let (first, last) = (self.finished.first()?, self.finished.last()?);
        let all = (self.finished.len() as f64 * self.job.work_ps? as f64).max(self.job.bound_ps? as f64);
        ratio(all, last.finish()?.saturating_sub(first.start()) as f64)
    }

    fn times(&self) -> impl Iterator<Item = u64> {
        self.finished.iter().filter_map(Iteration::time)
    }
}

type OfJob = for<'a, 'o> fn(&'a Job<'o>) -> Value;

/// Part `jobs` of the summary, of each job.
pub(crate) const FIGURES: &[Figure<OfJob>] = &rows! {
    "jobs.*.iterations" ["iterations"] = |j| j.job.iterations,
        "Iterations that the job is to have; 0 for one that would begin at the end of the run.";
    "jobs.*.finished" ["iterations"] = |j| j.ended,
        "Iterations that all ranks have ended; the figures below cover these alone, those of the warm-up left out.";
    "jobs.*.iteration_mean_s" ["s"] = |j| ratio(j.times().sum::<u64>() as f64, j.finished.len() as f64 * PS),
        "Mean iteration time: from the start of the job, or the end of the warm-up, to the end of the last iteration \
         that finished, over their number.";
    "jobs.*.iteration_max_s" ["s"] = |j| j.times().max().map(seconds), "Longest iteration time.";
    "jobs.*.busbw_mean_Bps" ["B/s"] = |j| j.bus(),
        "Bus bandwidth of a collective by the mean iteration time; null for a job that is no collective.";
    "jobs.*.efficiency_mean" ["1"] = |j| j.efficiency(),
        "Lower bound of the time of all iterations over that time, at most 1: the bound of one, or the bytes of the \
         busiest host and the calculations of the busiest stream of all.";
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
    for (number, job) in (0u32..).zip(&outcome.jobs) {
        let own = iterations(outcome).filter(|i| i.ranks[0].job == number && i.finish().is_some());
        let mut finished: Vec<Iteration<'_>> = own.collect();
        let ended = finished.len();
        finished.retain(|i| !i.is_warmup());
        let job = Job { job, ended, finished };
        let of = FIGURES.iter().map(|figure| {
            let key = figure.stated.key.rsplit('.').next().unwrap_or_default();
            (key.to_owned(), (figure.value)(&job))
        });
        figures.insert(job.job.name.clone(), Value::Object(of.collect()));
    }
    Value::Object(figures)
}

/// Returns whether a time is shorter than a bound by more than the rounding of messages to picoseconds.
pub(crate) fn faster(time_ps: u64, bound_ps: u64) -> bool {
    time_ps.saturating_add(1_000 + bound_ps / 1_000_000) < bound_ps
}

/// Words about an iteration that is faster than its bound, which no network is.
pub(crate) fn too_fast(outcome: &Outcome) -> Option<String> {
    let fast = |i: &Iteration<'_>| i.span().zip(i.job.bound_ps).is_some_and(|(span, bound)| faster(span, bound));
    let own = iterations(outcome).find(fast)?;
    Some(format!(
        "iteration {} of job {} took {} ps, and no network takes less than {} ps: a fault of the simulator; please \
         report it",
        own.ranks[0].iteration,
        own.job.name,
        own.span().unwrap_or_default(),
        own.job.bound_ps.unwrap_or_default()
    ))
}
