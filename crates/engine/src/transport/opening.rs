//! When a flow opens.

use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use incast_cc::Time;
use incast_record::FlowRecord;

/// When a flow opens: at its start, or when a trigger has opened it too, whichever is later.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The trigger that opens it is yet to.
    waits: bool,
    /// Its start has come.
    due: bool,
    /// It opened.
    opened: Option<Time>,
}

impl Opening {
    /// Neither has come.
    pub fn new(net: &FabricMap, flow: FlowId) -> Opening {
        Opening { waits: net.flow(flow).trigger.is_some(), due: false, opened: None }
    }

    /// Its start has come. Whether it opens.
    pub fn starts(&mut self, now: Time) -> bool {
        self.due = true;
        self.opens(now)
    }

    /// Its trigger opens it. Whether it does open.
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

    /// When it opened, once it has.
    pub fn opened(&self) -> Option<Time> {
        self.opened
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        record.unopened = self.opened.is_none();
        if let Some(opened) = self.opened {
            record.start_ps = opened.0;
        }
    }
}
