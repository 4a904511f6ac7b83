//! Tasks of the training of a transformer.

use super::hosts::gpus_of;
use crate::document::job::Job;
use crate::document::job_llm::Llm;
use crate::text::problem::Problem;
use crate::traffic::flows::Flows;
use incast_workload::Graph;
use incast_workload::collective::Methods;
use incast_workload::llm::{Dimension, build};

/// Tasks of a job, and the methods of its collectives. Tensor parallelism stays inside servers that are large enough
/// for it.
pub(super) fn tasks(llm: &Llm, job: &Job, flows: &Flows) -> Result<(Graph, Methods), Problem> {
    let key = format!("{}.llm", flows.path);
    let Some(model) = llm.model() else { return Err(Problem::new(key, "expected flops or forward")) };
    let (tp, ranks) = (model.tp, model.ranks());
    if let Some(gpus) = gpus_of(job, flows).map(u64::from).filter(|gpus| tp > 1 && *gpus >= tp) {
        if model.order.0[0] != Dimension::Tp {
            let message = format!("a group of tensor parallelism is in servers of {gpus}; expected tp first");
            return Err(Problem::quoted(format!("{key}.order"), model.order.text(), message));
        }
        if gpus % tp != 0 {
            let message = format!("a group would be in two servers of {gpus} GPUs; expected a divisor of {gpus}");
            return Err(Problem::with_value(format!("{key}.tp"), tp, message));
        }
    }
    let free = (u64::from(flows.network.hosts_of_plane()) - flows.taken.len() as u64) * u64::from(job.ranks_per_host);
    if ranks > free {
        let message = format!("tp x pp x dp = {ranks} ranks, and {free} hosts without a job; expected a host for each");
        return Err(Problem::new(key, message));
    }
    let wrong = |refused: incast_workload::Refused| Problem::new(&*key, refused.0);
    let made = build(&model).map_err(wrong)?.graph;
    let methods = job.collectives.clone().unwrap_or_default().methods();
    Ok((made, methods))
}
