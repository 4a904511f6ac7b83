//! Records of writes that acknowledgements complete.

use crate::app::Write;
use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use incast_cc::Time;
use incast_record::{MessageKind, MessageRecord};

/// Record of a write of `flow`, acknowledged at `finish` or never.
pub fn record(net: &FabricMap, flow: FlowId, write: Write, finish: Option<Time>) -> MessageRecord {
    let spec = net.flow(flow);
    MessageRecord {
        kind: MessageKind::Write,
        group: spec.group,
        host: spec.src,
        flow: flow.0,
        number: write.number,
        workers: 1,
        bytes: write.bytes(),
        start_ps: write.begun.0,
        finish_ps: finish.map(|t| t.0),
        timeouts: 0,
        deadline_ps: net.deadline(flow, write.number).map(|t| t.0),
    }
}
