//! Validation of transports: each has its part.

use crate::ids::FlowId;
use crate::map::ideal::Fabric;
use crate::spec::{Protocol, RunError, Spec, TransportSpec, packet_transports};
use crate::transport::packet::check::{Check, check_features};

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $module:ident,)+) => {
        /// Parameters of a transport that numbers packets.
        fn by_packets(protocol: &Protocol) -> Option<&dyn Check> {
            match protocol {
                Protocol::Tcp => None,
                $(Protocol::$name(own) => Some(own),)+
            }
        }
    };
}
packet_transports!(list);

/// Checks a transport of a specification.
pub fn check(spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
    let Some(own) = by_packets(&t.protocol) else { return Ok(()) };
    check_features(spec, t)?;
    own.check(spec, t)
}

/// Checks a flow, given its paths.
pub fn check_flow(spec: &Spec, fabric: &Fabric, flow: FlowId) -> Result<(), RunError> {
    let f = &spec.flows[flow];
    match by_packets(&spec.transports[f.transport as usize].protocol) {
        Some(own) if f.app.datagram_gap().is_none() => own.check_flow(spec, fabric, flow),
        _ => Ok(()),
    }
}
