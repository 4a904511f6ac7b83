//! Notes on keys of a job that change nothing.

use crate::document::job::{Job, PlaneRule};
use crate::traffic::flows::Flows;
use incast_workload::collective::Methods;
use incast_workload::{Graph, Kind, Pattern};

/// Notes on keys of `job` without effect on tasks `graph`, whose collectives `methods` carries out.
pub(super) fn without_effect(job: &Job, (graph, methods): (&Graph, &Methods), flows: &mut Flows) {
    let has = |kind: Kind| graph.iter().any(|(_, rank)| rank.iter().any(|(_, task)| task.kind == kind));
    let patterns: Vec<Pattern> = graph.collectives().iter().map(|own| own.pattern).collect();
    let calculates = || has(Kind::Calc) || patterns.iter().any(|pattern| methods.of(*pattern).reduce.is_some());
    let path = flows.path.clone();
    let mut note = |key: &str, why: &str| flows.notes.push(format!("{path}.{key} does nothing: {why}"));
    for (name, _) in job.by.iter().flat_map(|by| by.iter()) {
        match Pattern::named(name) {
            Some(pattern) if patterns.contains(&pattern) => (),
            Some(_) => note(&format!("by.{name}"), &format!("the job has no {name}")),
            None if has(Kind::Send) => (),
            None => note("by.send", "all messages of the job belong to collectives"),
        }
    }
    if !job.slow.is_empty() && !calculates() {
        note("slow", "the job has no calculations");
    }
    if job.planes == PlaneRule::Split && flows.network.planes < 2 {
        flows.notes.push(format!("{path}.planes = \"split\" does nothing: the topology has one plane"));
    }
}

/// Note on hosts that an earlier job has too.
pub(super) fn shared_hosts(hosts: &[u32], flows: &mut Flows) {
    let shared = hosts.iter().collect::<std::collections::BTreeSet<_>>();
    let shared = shared.into_iter().filter(|host| flows.taken.contains(host)).count();
    if shared > 0 {
        flows.notes.push(format!(
            "{}.hosts: an earlier job has {shared} of these hosts too; both use the hosts' links, and their \
             calculations do not slow each other",
            flows.path
        ));
    }
}
