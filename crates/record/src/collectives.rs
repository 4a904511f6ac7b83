//! Figures of the collectives of training jobs: `collectives.parquet`, and the part `collectives` of the summary.

use crate::figure::Of::{Index, OptTime, OptU64, Time, U32, U64, Whole, Word};
use crate::figure::{Column, Figure, Quantity, columns, rows};
use crate::jobs::faster;
use crate::statistics::{PS, ratio, seconds};
use crate::{CollectiveFacts, CollectiveRecord, Outcome};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A collective of an iteration.
pub(crate) struct Row<'o> {
    job: u32,
    iteration: u32,
    index: u32,
    is_warmup: bool,
    facts: &'o CollectiveFacts,
    record: &'o CollectiveRecord,
}

impl Row<'_> {
    fn has_begun(&self) -> bool {
        self.record.started == self.facts.members
    }

    /// End of the last member; `None` if one has not ended.
    fn finish(&self) -> Option<u64> {
        (self.record.ended == self.facts.members).then_some(self.record.last_finish.0)
    }

    fn time(&self) -> Option<u64> {
        Some(self.finish()? - self.record.first_start_ps)
    }

    fn skew(&self) -> Option<u64> {
        self.has_begun().then(|| self.record.last_start.0 - self.record.first_start_ps)
    }

    fn algorithm_bandwidth(&self) -> Option<f64> {
        ratio(self.facts.bytes as f64 * PS, self.time()? as f64)
    }

    fn bus_bandwidth(&self) -> Option<f64> {
        Some(self.algorithm_bandwidth()? * self.facts.bus_factor)
    }

    fn efficiency(&self) -> Option<f64> {
        ratio(self.facts.bound_ps? as f64, self.time()? as f64)
    }
}

/// Collectives that a rank has started, by job, iteration and index.
fn started(outcome: &Outcome) -> Vec<Row<'_>> {
    let row = |((job, iteration, index), record): (&(u32, u32, u32), _)| {
        let own = outcome.jobs.get(*job as usize)?;
        let (facts, is_warmup) = (own.collectives.get(*index as usize)?, *iteration < own.warmup);
        Some(Row { job: *job, iteration: *iteration, index: *index, is_warmup, facts, record })
    };
    outcome.collectives.iter().filter_map(row).collect()
}

fn names(outcome: &Outcome) -> Vec<String> {
    outcome.jobs.iter().map(|job| job.name.clone()).collect()
}

/// Columns of `collectives.parquet`.
fn columns_of_collectives<'o>() -> [Quantity<Row<'o>>; 25] {
    rows! {
        "job" [""] = Index(|c| c.job, names), "Job.";
        "iteration" [""] = U32(|c| c.iteration), "Number of the iteration, from 0.";
        "warmup" [""] = U32(|c| c.is_warmup.into()),
            "1 for an iteration of the warm-up, which means leave out, else 0.";
        "collective" [""] = U32(|c| c.index), "Number of the collective in the job, from 0.";
        "pattern" [""] = Word(|c| c.facts.pattern), "Pattern of the data: all-reduce, all-to-all ...";
        "algorithm" [""] = Word(|c| c.facts.algorithm), "Algorithm that carries it out.";
        "group" [""] = U32(|c| c.facts.group), "Number of the group of its members in the job.";
        "members" ["ranks"] = U32(|c| c.facts.members), "Members: n.";
        "bytes" ["B"] = U64(|c| c.facts.bytes),
            "Total S: the data of a member before a reduction, the gathered data after an all-gather, the data that a \
             member sends in an all-to-all, its own part included.";
        "first_start_s" ["s"] = Time(|c| c.record.first_start_ps),
            "Simulated time at which the first member starts it.";
        "last_start_s" ["s"] = OptTime(|c| c.has_begun().then_some(c.record.last_start.0)),
            "Simulated time at which the last member starts it; missing if one has not.";
        "first_finish_s" ["s"] = OptTime(|c| (c.record.ended > 0).then_some(c.record.first_finish_ps)),
            "Simulated time at which the first member has ended it; missing if none has.";
        "last_finish_s" ["s"] = OptTime(Row::finish),
            "Simulated time at which the last member has ended it; missing if one has not.";
        "time_s" ["s"] = OptTime(Row::time), "Collective time: last_finish_s - first_start_s.";
        "skew_s" ["s"] = OptTime(Row::skew), "last_start_s - first_start_s: what the members owe.";
        "after_last_start_s" ["s"] = OptTime(|c| Some(c.time()? - c.skew()?)),
            "last_finish_s - last_start_s: what the network owes.";
        "algbw_Bps" ["B/s"] = Whole(|c, _| c.algorithm_bandwidth()), "bytes / time_s.";
        "busbw_Bps" ["B/s"] = Whole(|c, _| c.bus_bandwidth()),
            "algbw_Bps times 2(n-1)/n for an all-reduce, (n-1)/n for a reduce-scatter, an all-gather and an \
             all-to-all, 1 for a broadcast and a reduce, of n members: the rate of the busiest link of a ring.";
        "bound_s" ["s"] = OptTime(|c| c.facts.bound_ps),
            "Lower bound of time_s: the longer of the critical path with no contention and the bytes of the busiest \
             member over the rate of its link; missing where members of one server and of others take part, with ranks \
             that calculate faster than the tasks say, and above a million tasks, but for rings and equal rounds.";
        "efficiency" ["1"] = Whole(|c, _| c.efficiency()), "bound_s / time_s, at most 1.";
        "slowest_rank" [""] = U32(|c| c.record.last_start.1.0),
            "Member that starts last, for which the others wait; the lowest of several.";
        "last_rank" [""] = OptU64(|c| (c.record.ended > 0).then_some(c.record.last_finish.1.0.into())),
            "Member that ends last; the lowest of several.";
        "slowest_from" [""] = OptU64(|c| Some(c.record.longest?.1.0.into())),
            "Sender of the message that takes longest, from its start to the arrival of its last byte; missing before \
             the first message.";
        "slowest_to" [""] = OptU64(|c| Some(c.record.longest?.2.0.into())), "Receiver of that message.";
        "slowest_message_s" ["s"] = OptTime(|c| Some(c.record.longest?.0)), "Time of that message.";
    }
}

/// `collectives.parquet`: one row per job, iteration and collective that a rank has started.
pub(crate) fn collectives(outcome: &Outcome) -> Vec<Column> {
    columns(&columns_of_collectives(), &started(outcome).iter().collect::<Vec<_>>(), outcome)
}

/// Collectives of one job, pattern and size.
pub(crate) struct Class<'a, 'o> {
    began: usize,
    ended: usize,
    /// Collectives that ended, without those of the warm-up.
    finished: Vec<&'a Row<'o>>,
}

impl<'o> Class<'_, 'o> {
    fn mean(&self, of: impl Fn(&Row<'o>) -> Option<f64>) -> Option<f64> {
        let all: Option<Vec<f64>> = self.finished.iter().map(|row| of(row)).collect();
        all.and_then(|all| ratio(all.iter().sum(), all.len() as f64))
    }

    fn mean_time(&self, of: impl Fn(&Row<'o>) -> Option<u64>) -> Option<f64> {
        self.mean(|row| of(row).map(seconds))
    }
}

type OfClass = for<'b, 'a, 'o> fn(&'b Class<'a, 'o>) -> Value;

/// Part `collectives` of the summary, of each job and pattern.
pub(crate) const FIGURES: &[Figure<OfClass>] = &rows! {
    "collectives.*.*.count" ["collectives"] = |c| c.began,
        "Collectives of a job and a pattern that a rank has started; where a job has several sizes of one pattern, \
         each is apart, as all-reduce/8/1000000: members and bytes.";
    "collectives.*.*.finished" ["collectives"] = |c| c.ended,
        "Collectives that all members have ended; the figures below cover these alone, those of the warm-up left out.";
    "collectives.*.*.time_mean_s" ["s"] = |c| c.mean_time(Row::time),
        "Mean collective time: from the start of the first member to the end of the last.";
    "collectives.*.*.time_max_s" ["s"] = |c| c.finished.iter().filter_map(|row| row.time()).max().map(seconds),
        "Longest collective time.";
    "collectives.*.*.skew_mean_s" ["s"] = |c| c.mean_time(Row::skew),
        "Mean time from the start of the first member to that of the last.";
    "collectives.*.*.busbw_mean_Bps" ["B/s"] = |c| c.mean(Row::bus_bandwidth), "Mean bus bandwidth.";
    "collectives.*.*.efficiency_mean" ["1"] = |c| c.mean(Row::efficiency),
        "Mean of the lower bound over the collective time; at most 1.";
};

/// Collectives of a job and pattern, by members and bytes.
type Sizes<'a, 'o> = BTreeMap<(u32, u64), Vec<&'a Row<'o>>>;

/// Figures of the collectives of every job by name, and by pattern.
pub(crate) fn summary(outcome: &Outcome) -> Value {
    let all = started(outcome);
    let mut classes: BTreeMap<(u32, &str), Sizes<'_, '_>> = BTreeMap::new();
    for row in &all {
        let of_pattern = classes.entry((row.job, row.facts.pattern)).or_default();
        of_pattern.entry((row.facts.members, row.facts.bytes)).or_default().push(row);
    }
    let mut jobs: Map<String, Value> = Map::new();
    for ((job, pattern), sizes) in classes {
        let several = sizes.len() > 1;
        for ((members, bytes), rows) in sizes {
            let name = if several { format!("{pattern}/{members}/{bytes}") } else { pattern.to_owned() };
            let began = rows.len();
            let mut finished: Vec<_> = rows.into_iter().filter(|row| row.finish().is_some()).collect();
            let ended = finished.len();
            finished.retain(|row| !row.is_warmup);
            let class = Class { began, ended, finished };
            let figure = |figure: &Figure<OfClass>| {
                let key = figure.stated.key.rsplit('.').next().unwrap_or_default();
                (key.to_owned(), (figure.value)(&class))
            };
            let figures: Map<String, Value> = FIGURES.iter().map(figure).collect();
            let of_job = jobs.entry(outcome.jobs[job as usize].name.clone()).or_insert_with(|| Map::new().into());
            if let Some(of_job) = of_job.as_object_mut() {
                of_job.insert(name, Value::Object(figures));
            }
        }
    }
    Value::Object(jobs)
}

/// Words about a collective that is faster than its bound, which no network is.
pub(crate) fn too_fast(outcome: &Outcome) -> Option<String> {
    let rows = started(outcome);
    let row =
        rows.iter().find(|row| row.time().zip(row.facts.bound_ps).is_some_and(|(time, bound)| faster(time, bound)))?;
    let (job, [time, bound]) = (&outcome.jobs[row.job as usize].name, [row.time(), row.facts.bound_ps]);
    let ps = |time: Option<u64>| time.unwrap_or_default();
    Some(format!(
        "collective {} ({}) of iteration {} of job {job} took {} ps, and no network takes less than {} ps: a fault of \
         the simulator; please report it",
        row.index,
        row.facts.pattern,
        row.iteration,
        ps(time),
        ps(bound)
    ))
}
