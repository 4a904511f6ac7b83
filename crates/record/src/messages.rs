//! Figures of queries and closed-loop writes: their tables, and the parts `queries` and `writes` of the summary.

use crate::figure::Of::{Index, OptTime, Time, U32, U64, Whole};
use crate::figure::{Column, Figures, Quantity, columns, rows};
use crate::statistics::{PS, percentile_nearest_rank, ratio, seconds};
use crate::{MessageKind, MessageRecord, Outcome};

/// Columns that `queries.parquet` and `writes.parquet` share.
const COLUMNS: [Quantity<MessageRecord>; 9] = rows! {
    "group" [""] = Index(|m| m.group, |o| o.groups.clone()), "Traffic entry it belongs to.";
    "number" [""] = U64(|m| m.number), "Its number, from 0.";
    "bytes" ["B"] = U64(|m| m.bytes), "Bytes of the responses, or of the write.";
    "start_s" ["s"] = Time(|m| m.start_ps), "Simulated time at which the requests, or the write, were due.";
    "finish_s" ["s"] = OptTime(|m| m.finish_ps),
        "Simulated time of completion: the root had the last byte of the last response, or the last byte of the write \
         was acknowledged; missing if the run ended before.";
    "completion_s" ["s"] = OptTime(completion_ps), "finish_s - start_s.";
    "timeouts" ["events"] = U64(|m| m.timeouts),
        "Retransmission timeouts of its connections between its beginning and its end, whole run.";
    "deadline_s" ["s"] = OptTime(|m| m.deadline_ps),
        "Deadline: time from start_s until it must be complete; missing without a deadline.";
    "deadline_missed" [""] = Whole(|m, o| missed(m, o).map(|missed| f64::from(u8::from(missed)))),
        "1 if it was not complete within deadline_s of start_s; 0 if it was; missing without a deadline, or if the run \
         ended before the deadline.";
};
/// Columns of only one of the two tables.
const OWN: [Quantity<MessageRecord>; 3] = rows! {
    "root" [""] = U32(|m| m.host), "Host that sends the requests and receives the responses.";
    "workers" ["flows"] = U32(|m| m.workers), "Connections over which requests were sent.";
    "flow" [""] = U32(|m| m.flow), "Flow number.";
};

/// `queries.parquet`: one row per query that began, by traffic entry, root and number.
pub(crate) fn queries(outcome: &Outcome) -> Vec<Column> {
    let ([group, number, rest @ ..], [root, workers, _]) = (COLUMNS, OWN);
    columns(&[&[group, root, number, workers][..], &rest].concat(), &of_kind(outcome, MessageKind::Query), outcome)
}

/// `writes.parquet`: one row per closed-loop write that began, by traffic entry, flow and number.
pub(crate) fn writes(outcome: &Outcome) -> Vec<Column> {
    let ([group, rest @ ..], [.., flow]) = (COLUMNS, OWN);
    columns(&[&[group, flow][..], &rest].concat(), &of_kind(outcome, MessageKind::Write), outcome)
}

fn of_kind(outcome: &Outcome, kind: MessageKind) -> Vec<&MessageRecord> {
    outcome.messages.iter().filter(|m| m.kind == kind).collect()
}

/// True if a query or write has missed its deadline; `None` if unknown.
fn missed(message: &MessageRecord, outcome: &Outcome) -> Option<bool> {
    missed_by(message.start_ps, message.deadline_ps, message.finish_ps, outcome)
}

/// True if the deadline was missed, from start and completion times; `None` without a deadline, or if the run ended
/// before it.
pub(crate) fn missed_by(start: u64, deadline: Option<u64>, complete: Option<u64>, outcome: &Outcome) -> Option<bool> {
    let due = start.saturating_add(deadline?);
    match complete {
        Some(complete) => Some(complete > due),
        None => (due <= outcome.end_ps).then_some(true),
    }
}

/// Time from the beginning of a query or write to its end.
fn completion_ps(message: &MessageRecord) -> Option<u64> {
    message.finish_ps.map(|finish| finish.saturating_sub(message.start_ps))
}

/// Flows with a size, queries or writes: the number that began, and completion times.
#[derive(Default)]
pub(crate) struct Completions {
    pub(crate) began: usize,
    /// Completion times (ps), ascending.
    pub(crate) times: Vec<u64>,
    /// Times so far (ps) of those that did not finish.
    pub(crate) pending_times: Vec<u64>,
    /// Slowdowns of flows (completion time over the ideal one), ascending.
    pub(crate) slowdowns: Vec<f64>,
    /// Slowdowns so far of the flows that did not finish.
    pub(crate) pending_slowdowns: Vec<f64>,
    /// Slowdowns of flows at their receivers, ascending.
    pub(crate) delivery_slowdowns: Vec<f64>,
    /// Flows only: time from the first beginning to the last end, if all finished.
    pub(crate) span_ps: Option<u64>,
    /// Queries and writes only: number of those that finished after a timeout.
    pub(crate) with_timeout: usize,
    /// Number with a deadline known to be met or missed, and number that missed it.
    pub(crate) due: usize,
    pub(crate) missed: usize,
}

impl Completions {
    /// Those with these completion times, and those that did not finish, with these times so far.
    pub(crate) fn new(mut times: Vec<u64>, pending_times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self { began: times.len() + pending_times.len(), times, pending_times, ..Self::default() }
    }

    /// Messages of one kind in the groups for which `here` holds.
    pub(crate) fn of(outcome: &Outcome, kind: MessageKind, here: impl Fn(usize) -> bool) -> Self {
        let all: Vec<_> = of_kind(outcome, kind).into_iter().filter(|m| here(m.group as usize)).collect();
        let with_timeout = all.iter().filter(|m| m.finish_ps.is_some() && m.timeouts > 0).count();
        let times = all.iter().filter_map(|m| completion_ps(m)).collect();
        let pending = all.iter().filter(|m| m.finish_ps.is_none());
        let pending_times = pending.map(|m| outcome.end_ps.saturating_sub(m.start_ps)).collect();
        Self { with_timeout, ..Self::new(times, pending_times) }.judged(all.iter().filter_map(|m| missed(m, outcome)))
    }

    /// Adds the outcome of deadlines; `missed` has one item per deadline known to be met or missed.
    pub(crate) fn judged(self, missed: impl Iterator<Item = bool>) -> Self {
        let (mut due, mut late) = (0, 0);
        for missed in missed {
            due += 1;
            late += usize::from(missed);
        }
        Self { due, missed: late, ..self }
    }

    pub(crate) fn missed_pct(&self) -> Option<f64> {
        ratio(100.0 * self.missed as f64, self.due as f64)
    }

    pub(crate) fn mean_s(&self) -> Option<f64> {
        ratio(sum(&self.times) as f64, self.times.len() as f64 * PS)
    }

    /// Per cent that finished.
    pub(crate) fn finished_pct(&self) -> Option<f64> {
        ratio(100.0 * self.times.len() as f64, self.began as f64)
    }

    /// Lower bound of the mean over all that began.
    pub(crate) fn mean_at_least_s(&self) -> Option<f64> {
        ratio((sum(&self.times) + sum(&self.pending_times)) as f64, self.began as f64 * PS)
    }

    /// Lower bound of a percentile over all that began.
    pub(crate) fn percentile_at_least_s(&self, p: f64) -> Option<f64> {
        let mut all = [&self.times[..], &self.pending_times].concat();
        all.sort_unstable();
        percentile_nearest_rank(&all, p).map(seconds)
    }

    /// Lower bound of a percentile of the slowdown over all flows that began.
    pub(crate) fn slowdown_at_least(&self, p: f64) -> Option<f64> {
        let mut all = [&self.slowdowns[..], &self.pending_slowdowns].concat();
        all.sort_unstable_by(f64::total_cmp);
        percentile_nearest_rank(&all, p)
    }

    pub(crate) fn percentile_s(&self, p: f64) -> Option<f64> {
        percentile_nearest_rank(&self.times, p).map(seconds)
    }
}

fn sum(times: &[u64]) -> u128 {
    times.iter().map(|&t| u128::from(t)).sum()
}

/// Part `queries` of the summary.
pub(crate) const QUERIES: Figures<Completions> = &rows! {
    "queries.count" ["queries"] = |c| c.began, "Queries that began, whole run.";
    "queries.finished" ["queries"] = |c| c.times.len(),
        "Number of queries answered completely. The statistics below cover these queries only, except those named \
         at_least.";
    "queries.mean_at_least_s" ["s"] = |c| c.mean_at_least_s(),
        "Lower bound of the mean over all queries that began: one without an answer counts with its time so far.";
    "queries.p99_at_least_s" ["s"] = |c| c.percentile_at_least_s(0.99),
        "Lower bound of the 99th percentile over all queries that began, by the same rule.";
    "queries.mean_s" ["s"] = |c| c.mean_s(),
        "Mean query completion time: from writing the requests until the root has the last byte of the last response.";
    "queries.p50_s" ["s"] = |c| c.percentile_s(0.50),
        "50th percentile (median, nearest rank) of the query completion times.";
    "queries.p95_s" ["s"] = |c| c.percentile_s(0.95), "95th percentile of the query completion times.";
    "queries.p99_s" ["s"] = |c| c.percentile_s(0.99), "99th percentile; with fewer than 100 queries the largest.";
    "queries.max_s" ["s"] = |c| c.percentile_s(1.0), "Largest query completion time.";
    "queries.with_timeout" ["queries"] = |c| c.with_timeout,
        "Finished queries during which a retransmission timer of their connections fired.";
    "queries.deadlines" ["queries"] = |c| c.due,
        "Queries whose deadline was met or missed before the end of the run.";
    "queries.deadlines_missed_pct" ["%"] = |c| c.missed_pct(),
        "100 * missed deadlines / queries.deadlines: the query was not complete in time; null without a deadline.";
};

/// Part `writes` of the summary.
pub(crate) const WRITES: Figures<Completions> = &rows! {
    "writes.count" ["writes"] = |c| c.began, "Closed-loop writes that began, whole run.";
    "writes.finished" ["writes"] = |c| c.times.len(),
        "Number of completely acknowledged writes. The statistics below cover these writes only, except those named \
         at_least.";
    "writes.mean_at_least_s" ["s"] = |c| c.mean_at_least_s(),
        "Lower bound of the mean over all writes that began: an unfinished one counts with its time so far.";
    "writes.p99_at_least_s" ["s"] = |c| c.percentile_at_least_s(0.99),
        "Lower bound of the 99th percentile over all writes that began, by the same rule.";
    "writes.mean_s" ["s"] = |c| c.mean_s(),
        "Mean completion time of writes: from the instant the write is due until its last byte is acknowledged.";
    "writes.p50_s" ["s"] = |c| c.percentile_s(0.50),
        "50th percentile (median, nearest rank) of their completion times.";
    "writes.p95_s" ["s"] = |c| c.percentile_s(0.95), "95th percentile of their completion times.";
    "writes.p99_s" ["s"] = |c| c.percentile_s(0.99), "99th percentile; with fewer than 100 writes the largest.";
    "writes.max_s" ["s"] = |c| c.percentile_s(1.0), "Largest of their completion times.";
    "writes.with_timeout" ["writes"] = |c| c.with_timeout,
        "Finished writes during which the retransmission timer of their flow fired.";
    "writes.deadlines" ["writes"] = |c| c.due,
        "Writes whose deadline was met or missed before the end of the run.";
    "writes.deadlines_missed_pct" ["%"] = |c| c.missed_pct(),
        "100 * missed deadlines / writes.deadlines: the write was not acknowledged in time; null without a deadline.";
};
