//! Figures of queries and closed-loop writes: the tables of their own, and the parts `queries` and `writes` of the
//! summary.

use crate::figure::Of::{Index, OptTime, Time, U32, U64, Whole};
use crate::figure::{Column, Figures, Quantity, columns, rows};
use crate::statistics::{PS, percentile_nearest_rank, ratio, seconds};
use crate::{MessageKind, MessageRecord, Outcome};

/// Columns that `queries.parquet` and `writes.parquet` share.
const COLUMNS: [Quantity<MessageRecord>; 9] = rows! {
    "group" [""] = Index(|m| m.group, |o| o.groups.clone()), "Traffic entry it belongs to.";
    "number" [""] = U64(|m| m.number), "Its number, from 0.";
    "bytes" ["B"] = U64(|m| m.bytes), "Bytes of the responses, or of the write.";
    "start_s" ["s"] = Time(|m| m.start_ps), "Simulated time at which it began: the requests, or the write, were due.";
    "finish_s" ["s"] = OptTime(|m| m.finish_ps),
        "Simulated time at which it was complete: the root had the last byte of the last response, or the last byte \
         of the write was acknowledged; missing where the run ended before.";
    "completion_s" ["s"] = OptTime(completion_ps), "finish_s - start_s.";
    "timeouts" ["events"] = U64(|m| m.timeouts),
        "Retransmission timeouts of its connections between its beginning and its end, whole run.";
    "deadline_s" ["s"] = OptTime(|m| m.deadline_ps),
        "Time from start_s within which it was to be complete; missing where that did not matter.";
    "deadline_missed" [""] = Whole(|m, o| missed(m, o).map(|missed| f64::from(u8::from(missed)))),
        "1 where it was complete later than deadline_s after start_s, or is not though the run went on until then; 0 \
         where it was complete by then; missing without a deadline, or where the run ended before.";
};
/// Columns of one of them alone.
const OWN: [Quantity<MessageRecord>; 3] = rows! {
    "root" [""] = U32(|m| m.host), "Host that asks and receives.";
    "workers" ["flows"] = U32(|m| m.workers), "Connections asked.";
    "flow" [""] = U32(|m| m.flow), "Flow number.";
};

/// `queries.parquet`: one row a query that began, by traffic entry, root and number.
pub(crate) fn queries(outcome: &Outcome) -> Vec<Column> {
    let ([group, number, rest @ ..], [root, workers, _]) = (COLUMNS, OWN);
    columns(&[&[group, root, number, workers][..], &rest].concat(), &of_kind(outcome, MessageKind::Query), outcome)
}

/// `writes.parquet`: one row a closed-loop write that began, by traffic entry, flow and number.
pub(crate) fn writes(outcome: &Outcome) -> Vec<Column> {
    let ([group, rest @ ..], [.., flow]) = (COLUMNS, OWN);
    columns(&[&[group, flow][..], &rest].concat(), &of_kind(outcome, MessageKind::Write), outcome)
}

fn of_kind(outcome: &Outcome, kind: MessageKind) -> Vec<&MessageRecord> {
    outcome.messages.iter().filter(|m| m.kind == kind).collect()
}

/// Whether a query or write has missed its deadline, as far as that is known.
fn missed(message: &MessageRecord, outcome: &Outcome) -> Option<bool> {
    missed_by(message.start_ps, message.deadline_ps, message.finish_ps, outcome)
}

/// Whether what began then and was complete then has missed its deadline, as far as the run went.
pub(crate) fn missed_by(start: u64, deadline: Option<u64>, complete: Option<u64>, outcome: &Outcome) -> Option<bool> {
    let due = start.saturating_add(deadline?);
    match complete {
        Some(complete) => Some(complete > due),
        None => (due <= outcome.end_ps).then_some(true),
    }
}

/// From the beginning of a query or write to its end.
fn completion_ps(message: &MessageRecord) -> Option<u64> {
    message.finish_ps.map(|finish| finish.saturating_sub(message.start_ps))
}

/// Flows of a size, queries or writes: how many began, and how long those took that finished.
#[derive(Default)]
pub(crate) struct Completions {
    pub(crate) began: usize,
    /// Completion times (ps), ascending.
    pub(crate) times: Vec<u64>,
    /// Of flows: completion times over the ideal ones, ascending.
    pub(crate) slowdowns: Vec<f64>,
    /// The same at their receivers, ascending.
    pub(crate) delivery_slowdowns: Vec<f64>,
    /// Of flows: from the first beginning to the last end, if all finished.
    pub(crate) span_ps: Option<u64>,
    /// Of queries and writes: those that finished after a timeout.
    pub(crate) with_timeout: usize,
    /// Those of whose deadline it is known whether it was met, and those that missed it.
    pub(crate) due: usize,
    pub(crate) missed: usize,
}

impl Completions {
    pub(crate) fn new(began: usize, mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self { began, times, ..Self::default() }
    }

    /// Of the messages of a kind and of the groups for which `here` holds.
    pub(crate) fn of(outcome: &Outcome, kind: MessageKind, here: impl Fn(usize) -> bool) -> Self {
        let all: Vec<_> = of_kind(outcome, kind).into_iter().filter(|m| here(m.group as usize)).collect();
        let with_timeout = all.iter().filter(|m| m.finish_ps.is_some() && m.timeouts > 0).count();
        let times = all.iter().filter_map(|m| completion_ps(m)).collect();
        Self { with_timeout, ..Self::new(all.len(), times) }.judged(all.iter().filter_map(|m| missed(m, outcome)))
    }

    /// With what became of their deadlines, of each that is known whether it was missed.
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
        let sum: u128 = self.times.iter().map(|&t| u128::from(t)).sum();
        ratio(sum as f64, self.times.len() as f64 * PS)
    }

    pub(crate) fn percentile_s(&self, p: f64) -> Option<f64> {
        percentile_nearest_rank(&self.times, p).map(seconds)
    }
}

/// The part `queries` of the summary.
pub(crate) const QUERIES: Figures<Completions> = &rows! {
    "queries.count" ["queries"] = |c| c.began, "Queries that began, whole run.";
    "queries.finished" ["queries"] = |c| c.times.len(),
        "Those of them that were answered whole; the figures below are over these.";
    "queries.mean_s" ["s"] = |c| c.mean_s(),
        "Mean query completion time: from the instant the requests are written until the root has the last byte of \
         the last response.";
    "queries.p50_s" ["s"] = |c| c.percentile_s(0.50),
        "50th percentile (median, nearest rank) of the query completion times.";
    "queries.p95_s" ["s"] = |c| c.percentile_s(0.95), "95th percentile of the query completion times.";
    "queries.p99_s" ["s"] = |c| c.percentile_s(0.99), "99th percentile; with fewer than 100 queries the largest.";
    "queries.max_s" ["s"] = |c| c.percentile_s(1.0), "Largest query completion time.";
    "queries.with_timeout" ["queries"] = |c| c.with_timeout,
        "Those of the finished queries during which a retransmission timer of their connections fired.";
    "queries.deadlines" ["queries"] = |c| c.due,
        "Queries with a deadline that the run has seen met or missed.";
    "queries.deadlines_missed_pct" ["%"] = |c| c.missed_pct(),
        "100 * those of them that were not complete by then / their number; nothing without one.";
};

/// The part `writes` of the summary.
pub(crate) const WRITES: Figures<Completions> = &rows! {
    "writes.count" ["writes"] = |c| c.began, "Closed-loop writes that began, whole run.";
    "writes.finished" ["writes"] = |c| c.times.len(),
        "Those of them that were acknowledged whole; the figures below are over these.";
    "writes.mean_s" ["s"] = |c| c.mean_s(),
        "Mean completion time of writes: from the instant the write is due until its last byte is acknowledged.";
    "writes.p50_s" ["s"] = |c| c.percentile_s(0.50),
        "50th percentile (median, nearest rank) of their completion times.";
    "writes.p95_s" ["s"] = |c| c.percentile_s(0.95), "95th percentile of their completion times.";
    "writes.p99_s" ["s"] = |c| c.percentile_s(0.99), "99th percentile; with fewer than 100 writes the largest.";
    "writes.max_s" ["s"] = |c| c.percentile_s(1.0), "Largest of their completion times.";
    "writes.with_timeout" ["writes"] = |c| c.with_timeout,
        "Those of the finished writes during which the retransmission timer of their flow fired.";
    "writes.deadlines" ["writes"] = |c| c.due,
        "Writes with a deadline that the run has seen met or missed.";
    "writes.deadlines_missed_pct" ["%"] = |c| c.missed_pct(),
        "100 * those of them that were not acknowledged by then / their number; nothing without one.";
};
