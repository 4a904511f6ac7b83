//! Opening of flows.

use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use incast_cc::Time;
use incast_record::FlowRecord;

/// Opening of a flow: at its start time or on its trigger, whichever is later.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Set while the flow waits for its trigger.
    waits: bool,
    /// Set once the start time has passed.
    due: bool,
    /// Time of the opening.
    opened: Option<Time>,
}

impl Opening {
    /// State before start and trigger.
    pub fn new(net: &FabricMap, flow: FlowId) -> Opening {
        Opening { waits: net.flow(flow).trigger.is_some(), due: false, opened: None }
    }

    /// Notes the start time. Returns whether the flow opens.
    pub fn starts(&mut self, now: Time) -> bool {
        self.due = true;
        self.opens(now)
    }

    /// Notes the trigger. Returns whether the flow opens.
    pub fn triggered(&mut self, now: Time) -> bool {
        self.waits = false;
        self.opens(now)
    }

    fn opens(&mut self, now: Time) -> bool {
        let opens = self.due && !self.waits;
        if opens {
            self.opened = self.opened.or(Some(now));
        }
        opens
    }

    /// Time of the opening, once the flow has opened.
    pub fn opened(&self) -> Option<Time> {
        self.opened
    }

    /// Adds the opening to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        record.unopened = self.opened.is_none();
        if let Some(opened) = self.opened {
            record.start_ps = opened.0;
        }
    }
}
