//! ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017).
//!
//! A data packet is sent only for a credit of its receiver. Every port lets credits through at the rate at which their
//! data fills the opposite link, and drops the rest ([`CreditShaping`](crate::spec::CreditShaping)). A receiver adapts
//! its rate of credits to the share that was dropped, known from the credit numbers on arriving data.
//!
//! Rules are those of the authors' simulator (kaist-ina/ns2-xpass f4e38bc, `xpass.cc`); the paper's form of the
//! feedback is known at second hand. Additions, because packets can be lost here: credits acknowledge received data,
//! requests carry a session number, and an unanswered request or stop is repeated.

mod feedback;
mod receiver;
mod sender;
mod wire;

use crate::ids::{FlowId, LinkId};
use crate::map::ideal::Fabric;
use crate::spec::refusal::invalid;
use crate::spec::{ExpressPass, RunError, Spec, TransportSpec};
use crate::transport::packet::check::Check;
pub use receiver::Receiver;
pub use sender::Sender;

/// Traffic class of credits.
const CREDITS: u8 = 0;

impl Check for ExpressPass {
    fn check(&self, spec: &Spec, _t: &TransportSpec) -> Result<(), RunError> {
        ExpressPass::refused(&spec.choice).map_or(Ok(()), |text| invalid(format!("routing.symmetric: {text}")))
    }

    fn check_flow(&self, spec: &Spec, fabric: &Fabric, f: FlowId) -> Result<(), RunError> {
        let flow = &spec.flows[f];
        let back = fabric.path(f, true);
        if let Some(link) = back.iter().find(|l| spec.queues[spec.links[**l].queue as usize].credits().is_none()) {
            return invalid(format!(
                "flow {}: expresspass: link {} on the path of its credits does not shape them, expected credit shaping",
                f.0, spec.links[*link].name
            ));
        }
        let ends = |links: &[LinkId], turn: bool| -> Vec<(u32, u32)> {
            let of = |l: &LinkId| (spec.links[*l].from, spec.links[*l].to);
            links.iter().map(of).map(|(from, to)| if turn { (to, from) } else { (from, to) }).collect()
        };
        let given = flow.path.is_some() || flow.reverse_path.is_some();
        let mut there = ends(&fabric.path(f, false), true);
        there.reverse();
        if given && there != ends(&back, false) {
            return invalid(format!(
                "flow {}: expresspass: its reverse path does not use the same links as its path",
                f.0
            ));
        }
        Ok(())
    }
}
