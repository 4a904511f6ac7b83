//! Connections of a job, with the settings of the kinds of its messages.

use super::tasks::Patterns;
use crate::document::job::{By, Settings};
use crate::document::transport::Transport;
use crate::text::controller::Controller;
use crate::text::problem::Problem;
use crate::traffic::flows::{Flows, number_of};
use incast_engine::spec::{App, Channels, FlowSpec, JobConnection, JobSpec, Messages};

/// Settings that the connections of a kind of messages share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Common {
    controller: u32,
    transport: u32,
    class: u8,
    ack_class: u8,
}

impl Common {
    fn of(flow: &FlowSpec) -> Common {
        let FlowSpec { controller, transport, class, ack_class, .. } = *flow;
        Common { controller, transport, class, ack_class }
    }
}

/// Kinds of the messages of a job.
pub(super) struct Kinds {
    /// First tags, with kinds.
    pub by_tag: Vec<(u32, u8)>,
    /// Settings of each kind.
    settings: Vec<Common>,
}

/// Kinds of messages by the tags of the collectives: `flow` is a connection with the settings of the job, whose
/// controller and transport are given too.
pub(super) fn kinds(
    by: Option<&By>,
    patterns: &Patterns,
    flow: &FlowSpec,
    (controller, transport): (Option<&Controller>, Option<&Transport>),
    flows: &mut Flows,
) -> Result<Kinds, Problem> {
    let mut common = |name: &str, own: Option<&Settings>| {
        let Some(own) = own else { return Ok(Common::of(flow)) };
        let class = own.class.unwrap_or(flow.class);
        let acks = own.class.map_or(flow.ack_class, |class| class);
        let ack_class = own.ack_class.unwrap_or(acks);
        for (key, given, class) in
            [("class", own.class.is_some(), class), ("ack_class", own.ack_class.is_some(), ack_class)]
        {
            if let Some((ports, least)) = flows.classes.as_ref().filter(|(_, least)| given && class as usize >= *least)
            {
                let message = format!("expected 0 to {}, the classes of {ports}", least - 1);
                return Err(Problem::with_value(format!("{}.by.{name}.{key}", flows.path), class, message));
            }
        }
        let controller = flows.controller(own.controller.as_ref().or(controller))?;
        let transport = flows.transport_over(own.transport.as_ref(), transport, controller);
        Ok(Common { controller, transport, class, ack_class })
    };
    let mut settings = vec![common("send", by.and_then(|by| by.send.as_ref()))?];
    let mut by_tag = Vec::with_capacity(patterns.len());
    for (tag, pattern) in patterns {
        let own = common(pattern.name(), by.and_then(|by| by.pattern(*pattern)))?;
        by_tag.push((*tag, number_of(&mut settings, own) as u8));
    }
    by_tag.dedup_by_key(|(_, kind)| *kind);
    Ok(Kinds { by_tag, settings })
}

/// Gives a job its connections; `flow` is one of them.
pub(super) fn connect(job: &mut JobSpec, kinds: &Kinds, flow: &FlowSpec, flows: &mut Flows) {
    for Channels { from, to, kind, count, .. } in job.channels() {
        let Common { controller, transport, class, ack_class } = kinds.settings[kind as usize];
        for i in 0..count {
            // of a pair's connections each plane has one in turn
            let plane = (i % u64::from(job.count_planes())) as u32;
            let [src, dst] = [from, to].map(|rank| job.host(rank, plane).unwrap_or_default());
            let app = App::Messages(Messages);
            let flow = FlowSpec { src, dst, controller, transport, class, ack_class, app, ..flow.clone() };
            job.connections.push(JobConnection { from, to, kind, flow: flows.push(flow) });
        }
    }
}
