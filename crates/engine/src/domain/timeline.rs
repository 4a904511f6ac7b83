//! A domain whose ports and flows are counted by the frames of a timeline.

use crate::domain::Domain;
use crate::spec::TimelineSpec;

impl Domain {
    /// Its ports and flows count by frames, too.
    pub(super) fn frame(&mut self, spec: &TimelineSpec) {
        self.nodes.ports.iter_mut().for_each(|port| port.frame(spec));
        self.endpoints.frame(spec);
    }
}
