//! Refusals of a specification, by its validation.

use super::{About, FlowSpec, LinkSpec, RunError, Spec};

/// Refuses the part under validation.
pub(crate) fn invalid(text: String) -> Result<(), RunError> {
    Err(RunError::Invalid(text))
}

/// Refuses a flow.
pub(crate) fn refuse_flow(spec: &Spec, flow: &FlowSpec, text: String) -> Result<(), RunError> {
    let number = spec.flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap_or_default();
    Err(RunError::Refused(About::Flow(number as u32), text))
}

/// Refuses a link.
pub(crate) fn refuse_link(spec: &Spec, link: &LinkSpec, text: String) -> Result<(), RunError> {
    let number = spec.links.iter().position(|other| std::ptr::eq(other, link)).unwrap_or_default();
    Err(RunError::Refused(About::Link(number as u32), text))
}
