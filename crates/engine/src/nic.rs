//! A host's fair NIC: one queue a flow and direction, served round robin.
//!
//! Source: htsim's `FairScheduler` NIC. A data flow may have at most `per_flow` packets in it;
//! the flow's sender is asked for more when one of them leaves. Acknowledgements are not held
//! back. The time stamp of a data packet is taken when its service begins, so waiting behind
//! other flows of the same host is no part of the measured delay.

use crate::packet::{Ext, Packet, flag};
use std::collections::VecDeque;
use std::mem::take;

#[derive(Clone, Debug)]
struct Lane {
    flow: u32,
    reverse: bool,
    packets: VecDeque<Waiting>,
}

/// A packet in the NIC.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// Its extension; few have one, so that what is moved about stays small.
    pub ext: Option<Box<Ext>>,
    /// When it came, ps.
    pub since: u64,
}

/// Per-flow fair queues in front of a port.
#[derive(Clone, Debug)]
pub struct FairNic {
    per_flow: u32,
    lanes: Vec<Lane>,
    /// Lanes with packets, next to be served first.
    turn: VecDeque<usize>,
    /// Lane in service.
    serving: Option<usize>,
}

impl FairNic {
    /// A NIC that takes at most `per_flow` data packets of one flow.
    pub fn new(per_flow: u32) -> FairNic {
        FairNic { per_flow, lanes: Vec::new(), turn: VecDeque::new(), serving: None }
    }

    fn lane(&self, flow: u32, reverse: bool) -> Option<usize> {
        self.lanes.iter().position(|l| l.flow == flow && l.reverse == reverse)
    }

    /// Whether the data direction of `flow` may hand over another packet.
    pub fn has_room(&self, flow: u32) -> bool {
        let Some(i) = self.lane(flow, false) else { return true };
        let waiting = self.lanes[i].packets.len() as u32 + u32::from(self.serving == Some(i));
        waiting < self.per_flow
    }

    /// Queues a packet; the caller then calls [`FairNic::serve_next`] if the NIC is idle.
    pub fn push(&mut self, packet: Packet, ext: Option<&mut Ext>, now: u64) {
        let reverse = packet.has(flag::REVERSE);
        let i = self.lane(packet.flow, reverse).unwrap_or_else(|| {
            self.lanes.push(Lane { flow: packet.flow, reverse, packets: VecDeque::new() });
            self.lanes.len() - 1
        });
        if self.lanes[i].packets.is_empty() && self.serving != Some(i) {
            self.turn.push_back(i);
        }
        self.lanes[i].packets.push_back(Waiting { packet, ext: ext.map(|ext| Box::new(take(ext))), since: now });
    }

    /// Whether nothing is being transmitted.
    pub fn is_idle(&self) -> bool {
        self.serving.is_none()
    }

    /// Ends the transmission under way; the flow whose sender may hand over more, if any.
    pub fn departed(&mut self) -> Option<u32> {
        let i = self.serving.take()?;
        if !self.lanes[i].packets.is_empty() {
            self.turn.push_back(i);
        }
        (!self.lanes[i].reverse).then_some(self.lanes[i].flow)
    }

    /// Takes the next packet into service.
    pub fn serve_next(&mut self) -> Option<Waiting> {
        let i = self.turn.pop_front()?;
        self.serving = Some(i);
        self.lanes[i].packets.pop_front()
    }

    /// Packets waiting, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.lanes.iter().flat_map(|l| l.packets.iter().map(|w| &w.packet))
    }
}
