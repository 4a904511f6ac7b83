//! RDMA over Converged Ethernet with congestion control in the NIC, as in the simulator of HPCC's authors
//! (alibaba-edu/High-Precision-Congestion-Control; its fork inet-tub/ns3-datacenter).
//!
//! A flow is a queue pair. It begins at the rate of its link, under a window if it has one. The NIC makes a packet when
//! it sends it: ACKs first, then queue pairs in turn, of those whose window is open, whose class is not paused, and
//! whose pacing time has come. Pacing counts headers. A receiver takes packets in order and acknowledges them one by
//! one, with the packet's mark and telemetry. It answers a packet beyond a gap by a NACK, and the sender goes back to
//! the gap, or repeats what is missing. Controllers see what a TCP would show them: times, bytes, marks and telemetry.
//!
//! Differences: sequence numbers have no end at 4.29 GB. A NIC wakes for each queue pair at its pacing time; the
//! simulators keep one timer, which is not moved forward. With `repair = "go-back-chunk"` the receiver acknowledges
//! whole chunks, so that the sender still has what it sends again. A pause holds ACKs of its class too.

mod receiver;
mod sender;
mod wire;

use crate::ids::FlowId;
use crate::map::ideal::Fabric;
use crate::spec::refusal::invalid;
use crate::spec::{Rdma, RunError, Spec};
use crate::transport::packet::check::Check;
use incast_cc::Asks;
pub use receiver::Receiver;
pub use sender::Sender;

impl Check for Rdma {
    fn check_flow(&self, spec: &Spec, _fabric: &Fabric, flow: FlowId) -> Result<(), RunError> {
        let controller = &spec.controllers[spec.flows[flow].controller as usize];
        let profile = controller.profile();
        let lacks = [
            (profile.asks != Asks::Nothing, "requests to switches"),
            (profile.delivery, "samples of delivery rates"),
            (profile.deadlines, "deadlines"),
        ];
        let name = controller.kind().name;
        match { lacks }.iter().find(|(needs, _)| *needs) {
            Some((_, what)) => invalid(format!(
                "flow {}: {name} needs {what}, which the transport rdma does not have; expected another controller",
                flow.0
            )),
            None => Ok(()),
        }
    }
}
