//! Graph of a job.

use super::comms::Comms;
use super::layout::Dimension;
use super::member::Member;
use super::model::Model;
use super::plan::{Plan, Volume};
use super::schedule::ops;
use crate::graph::{Builder, Graph, Refused};

/// A job with what its ranks exchange in an iteration.
#[derive(Clone, Debug)]
pub struct Made {
    /// Tasks, with collectives.
    pub graph: Graph,
    /// Exchange by dimension: tensors, stages, replicas, experts.
    pub volumes: [(&'static str, Volume); 4],
}

/// Builds a job. Errors: numbers that do not fit, those of [`Model::check`].
pub fn build(model: &Model) -> Result<Made, Refused> {
    if let Some(wrong) = model.check().first() {
        return Err(Refused(format!("{} = {}: {}", wrong.key, wrong.value, wrong.expected)));
    }
    let plan = Plan::of(model);
    let mut job = Builder::new(model.ranks())?;
    let mut comms = Comms::default();
    let mut volumes = [Volume::default(); 4];
    for rank in 0..model.ranks() {
        let at = plan.layout.at(rank);
        let mut member = Member::new(&plan, &mut job, &mut comms, at);
        for op in ops(model.schedule, model.pp, model.chunks, model.micro_batches, at.p) {
            member.pass(op)?;
        }
        let own = member.end()?;
        for (all, own) in volumes.iter_mut().zip(own) {
            all.tasks += own.tasks;
            all.bytes = all.bytes.saturating_add(own.bytes);
        }
    }
    let names = Dimension::ALL.map(Dimension::name);
    let volumes = [0, 1, 2, 3].map(|i| (*names.get(i).unwrap_or(&"ep"), volumes[i]));
    Ok(Made { graph: job.finish(), volumes })
}
