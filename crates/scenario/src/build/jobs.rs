//! Training jobs: bounds, and notes.

use crate::document::Document;
use crate::document::failures::LinkFailure;
use incast_engine::spec::Effect;
use incast_engine::spec::{JobSpec, SendDone, Spec};

/// The jobs, without bounds where a failure changes the rate or delay of links that these rest on.
pub(crate) fn bounded(mut jobs: Vec<JobSpec>, failures: &[LinkFailure]) -> Vec<JobSpec> {
    let changes = |failure: &LinkFailure| match failure.effect {
        Effect::Degraded { rate, delay, .. } => rate.is_some() || delay.is_some(),
        _ => false,
    };
    if failures.iter().any(changes) {
        jobs.iter_mut().for_each(|job| job.bound = None);
    }
    jobs
}

/// Notes on jobs whose sends wait for delayed acknowledgements.
pub(crate) fn delayed<'a>(doc: &'a Document, spec: &'a Spec) -> impl Iterator<Item = String> + 'a {
    let note = |job: &JobSpec| {
        let flow = &spec.flows[job.connections.first()?.flow as usize];
        let transport = &spec.transports[flow.transport as usize];
        let delays = !transport.protocol.numbers_packets() && transport.acks.delayed_ack > 1;
        if job.send_done != SendDone::Acked || !delays {
            return None;
        }
        let path = doc.group(job.group)?.path();
        Some(format!(
            "{path}.send_done = \"acked\": a send ends with the acknowledgement of its last byte, which \
             the receiver delays by up to transport.delayed_ack_timeout, {}; expected \"written\", or \
             transport.delayed_ack = 1",
            transport.acks.delayed_ack_timeout
        ))
    };
    spec.jobs.iter().filter_map(note)
}

/// Note on a record of tasks where no task is.
pub(crate) fn nothing_recorded(spec: &Spec) -> Option<String> {
    let asked = spec.observe.tasks.is_some() && spec.jobs.is_empty();
    asked.then(|| "measure.tasks does nothing: the scenario has no job (docs/jobs.md)".to_owned())
}
