//! Small messages (W06).

use super::options::Options;
use crate::finding::{Code, Place, Report};
use crate::graph::{Graph, Kind};

/// Number of small messages above which a run is long for what it moves.
const MANY: u64 = 1_000_000;

/// Counts messages below a packet: more than half of all, or more than a million.
pub(super) fn check(graph: &Graph, options: &Options, report: &mut Report) {
    let (mut all, mut small) = (0u64, 0u64);
    for (_, tasks) in graph.iter() {
        for (_, task) in tasks.iter().filter(|(_, task)| task.kind == Kind::Send) {
            all += 1;
            small += u64::from(task.size < options.packet.0);
        }
    }
    if small > MANY || small * 2 > all {
        let packet = options.packet.0;
        let what = || format!("of {all} messages {small} are below a packet of {packet} B");
        let remedy = || "look at latency rather than bandwidth, or join messages".to_string();
        report.add(Code::W06, Place::Job, || (what(), remedy()));
    }
}
