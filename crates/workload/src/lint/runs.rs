//! Runs without packets: deadlocks (E07, E05 of collectives), and jobs whose time no network changes (W03).
//!
//! A deadlock of sends that wait for their receives is a warning: it is one of transports with rendezvous alone.

use super::options::Options;
use crate::bound::bound;
use crate::evaluate::delay::{Network, Rules, SendDone, run};
use crate::evaluate::{Outcome, Stuck};
use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Kind};
use incast_cc::Time;

/// Factor between times of calculation and of bytes above which their units are doubtful.
const APART: u64 = 1_000;

/// Runs a graph with sends that wait for their receives, with sends that end at once if it does not end, and on a
/// network.
pub(super) fn check(graph: &Graph, options: &Options, report: &mut Report) {
    let still = Rules { network: Network::NONE, send_done: SendDone::Written, streams: true, path: false };
    let posted = run(graph, Rules { send_done: SendDone::Matched, ..still }).outcome;
    if !posted.is_whole() {
        let eager = run(graph, still).outcome;
        if !eager.is_whole() {
            return deadlock(&eager, true, report);
        }
        // transports without rendezvous end it
        deadlock(&posted, false, report);
    }
    if graph.total() == 0 {
        let remedy = || "give the job tasks".to_string();
        return report.add(Code::W03, Place::Job, || ("no task at all".into(), remedy()));
    }
    units(graph, options, report);
    let path = run(graph, Rules { network: options.network, path: true, ..still }).path;
    let is_shared = |(rank, task): &(u32, u32)| {
        let task = graph.task(*rank, *task);
        let group = graph.collective(task.tag).map_or(0, |collective| graph.group(collective.group).len());
        task.kind == Kind::Collective && group > 1
    };
    let crosses = path.windows(2).any(|pair| pair[0].0 != pair[1].0) || path.iter().any(is_shared);
    if !crosses {
        let place = path.last().map_or(Place::Job, |(rank, task)| Place::Task(*rank, *task));
        report.add(Code::W03, place, || {
            let what = "no message lies on the longest path to the last task, which ends here".to_string();
            (what, "look whether sizes (bytes) and durations (ns) have the units that the file expects".into())
        });
    }
}

/// W02: calculations and bytes so far apart that one of them may have another unit than its author meant.
fn units(graph: &Graph, options: &Options, report: &mut Report) {
    let Ok(found) = bound(graph, options.network) else { return };
    let (calc, bytes) = (found.stream, found.host);
    if calc > Time::ZERO && bytes > Time::ZERO && calc.max(bytes).0 / calc.min(bytes).0.max(1) > APART {
        report.add(Code::W02, Place::Job, || {
            let (calc, bytes) = (calc.as_us_f64(), bytes.as_us_f64());
            let what = format!("calculations take {calc} us and bytes {bytes} us, at the busiest rank of each");
            (what, "look whether durations have the unit that the file expects: ns in GOAL, us in Chakra".into())
        });
    }
}

fn deadlock(outcome: &Outcome, although_eager: bool, report: &mut Report) {
    let left = outcome.tasks - outcome.ended;
    let when = if although_eager { "although sends do not wait" } else { "where a send waits for its receive" };
    for stuck in &outcome.stuck {
        let (code, place, what) = match *stuck {
            Stuck::Recv(rank, task) => (Code::E07, (rank, task), "a receive waits for its message"),
            Stuck::Send(rank, task) => (Code::E07, (rank, task), "a send waits for its receive"),
            Stuck::Collective(rank, task) => (Code::E05, (rank, task), "a member of a collective waits for others"),
        };
        let texts = || {
            let remedy = "change the order: post receives first, and collectives alike at all members";
            (format!("{what} for ever, {when}; tasks that never end: {left}"), remedy.into())
        };
        let place = Place::Task(place.0, place.1);
        if although_eager {
            report.add(code, place, texts);
        } else {
            report.warn(code, place, texts);
        }
    }
}
