//! Validation of transports that number packets.

use crate::ids::FlowId;
use crate::map::ideal::Fabric;
use crate::spec::refusal::{invalid, refuse_flow, refuse_link};
use crate::spec::{About, Discipline, FlowSpec, LinkSpec, Protocol, QuerySpec, RunError, Spec, TransportSpec};

/// Parameters of a transport, as its folder validates them.
pub trait Check {
    /// Refuses specifications in which the transport `t` does not work.
    fn check(&self, _spec: &Spec, _t: &TransportSpec) -> Result<(), RunError> {
        Ok(())
    }

    /// Refuses a flow of the transport for its paths.
    fn check_flow(&self, _spec: &Spec, _fabric: &Fabric, _flow: FlowId) -> Result<(), RunError> {
        Ok(())
    }
}

/// Flows of the transports with these parameters; datagrams have no transport.
pub fn flows_of<'s, T: PartialEq>(spec: &'s Spec, own: &'s T) -> impl Iterator<Item = &'s FlowSpec>
where
    &'s T: TryFrom<&'s Protocol>,
{
    let is_own = |f: &&FlowSpec| {
        spec.transports[f.transport as usize].protocol.of() == Some(own) && f.app.datagram_gap().is_none()
    };
    spec.flows.iter().filter(is_own)
}

/// Checks that packets without a class of their own have the lowest class, and those of receivers the highest.
pub fn check_classes<'s>(
    spec: &Spec,
    own: &Protocol,
    flows: impl IntoIterator<Item = &'s FlowSpec>,
) -> Result<(), RunError> {
    let (name, class) = (own.name(), own.facts().lowest_class.unwrap_or(0));
    match flows.into_iter().find(|f| (f.class, f.ack_class) != (class, 0)) {
        Some(flow) => refuse_flow(
            spec,
            flow,
            format!(
                "a flow of {name} with class {} and ack_class {}, expected {class}, its lowest class, and ack_class 0",
                flow.class, flow.ack_class
            ),
        ),
        None => Ok(()),
    }
}

/// Checks what no transport that numbers packets has.
pub fn check_features(spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
    let name = t.protocol.name();
    if !spec.host_costs.is_empty() {
        let text = format!("{name} does not support processing times of hosts; expected none");
        return Err(RunError::Refused(About::Hosts, text));
    }
    let fair = |link: &&LinkSpec| matches!(spec.queues[link.queue as usize].discipline, Discipline::FairNic { .. });
    if let Some(link) = spec.links.iter().find(fair) {
        return refuse_link(spec, link, format!("expected another kind: {name} has its own queue in the host"));
    }
    let whole = |q: &QuerySpec| q.close.is_none();
    if !spec.queries.iter().all(whole) {
        return invalid(format!(
            "{name} does not support queries that close their connections: it opens no connection"
        ));
    }
    Ok(())
}
