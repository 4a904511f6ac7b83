//! Transports whose receivers give a token a packet. A sender announces a message by a request, and sends a packet for
//! each token, which names it. A receiver serves the messages of a flow one after the other. The parameters of a
//! transport say, as [`rules::TokenRules`] and [`receiver::Service`], which packets have tokens from the start, how
//! long tokens live, and when a host gives them.

pub mod receiver;
pub mod rules;
pub mod sender;
pub mod served;
pub mod wire;

use crate::spec::refusal::invalid;
use crate::spec::{LinkSpec, Protocol, RunError, Spec, TransportSpec};
use crate::transport::packet::check::{check_classes, flows_of};
use incast_cc::Rate;

/// Checks what all transports with tokens need: classes, and a time for a packet.
pub fn check<'s, T: PartialEq>(spec: &'s Spec, t: &TransportSpec, own: &'s T) -> Result<(), RunError>
where
    &'s T: TryFrom<&'s Protocol>,
{
    check_classes(spec, &t.protocol, flows_of(spec, own))?;
    let ends = |l: &&LinkSpec| flows_of(spec, own).any(|f| l.from == f.src || l.from == f.dst);
    match spec.links.iter().filter(|l| l.rate == Rate::INFINITE).find(ends) {
        Some(link) => invalid(format!(
            "expected a finite rate at the hosts of its flows, unlike {}: a host sends one token per packet time",
            link.name
        )),
        None => Ok(()),
    }
}
