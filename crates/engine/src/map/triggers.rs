//! Triggers: activated by the ends of flows, they open other flows.
//!
//! A trigger counts its activations at one host. If the flows that it opens have one source, it is that host. If they
//! have several sources and its activations come from one host, it is the latter. If both have several, it is the
//! source of the flow that the trigger opens first, and among several such flows of the one with the lowest number.
//!
//! Ends of flows at that host count at once, and its own flows open at once. Ends elsewhere are reported to it after
//! the longest latency of a link ([`FabricMap::max_latency`](crate::map::fabric::FabricMap::max_latency)), and so are
//! its counts to the other hosts. So A activations that open S flows take A + S messages at most; if all hosts counted,
//! they would take A S.

use crate::RunError;
use crate::ids::{FlowId, NodeId, OpeningId, TriggerId};
use crate::spec::{About, Done, Spec};
use std::ops::Range;

/// State of a trigger.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The host that counts its activations.
    pub home: NodeId,
    /// Index of its count in the domain of that host.
    pub count: u32,
    /// Openings of the trigger, in the order of activations.
    pub openings: Range<u32>,
}

/// Flows of one host that one activation opens.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Number of the activation, from 1.
    pub activation: u32,
    /// Source of the flows.
    pub host: NodeId,
    flows: Range<u32>,
}

/// All triggers of a run.
#[derive(Clone, Debug, Default)]
pub struct Triggers {
    /// Triggers by number.
    pub list: Vec<Trigger>,
    /// Openings by number. Those of one trigger are contiguous.
    pub openings: Vec<Opening>,
    /// Flows of all openings.
    flows: Vec<FlowId>,
    /// Ends of flows, with the triggers that they activate, in order.
    activations: Vec<((FlowId, Done), TriggerId)>,
}

impl Triggers {
    /// The triggers of `spec`. Their counts have no index yet.
    ///
    /// # Errors
    /// A flow waits for an activation that never comes, or cannot wait by its kind. An activation names a flow that
    /// does not exist.
    pub fn new(spec: &Spec) -> Result<Triggers, RunError> {
        // conditions of waiting flows: trigger, activation, source; and the flow
        let mut waiting = Vec::new();
        for (f, flow) in (0u32..).zip(&spec.flows) {
            let Some(by) = flow.trigger else { continue };
            let has = spec.triggers.get(by.trigger as usize).map_or(0, |t| t.activations.len());
            if flow.app.is_messages() || by.activation == 0 || by.activation as usize > has {
                let text = format!(
                    "flow {f} opens at activation {} of trigger {}, which has {has}; expected at least 1 and no more \
                     than there are, and no messages",
                    by.activation, by.trigger
                );
                return Err(RunError::Refused(About::Flow(f), text));
            }
            waiting.push(([by.trigger, by.activation, flow.src], f));
        }
        waiting.sort_unstable();
        let mut triggers = Triggers { flows: waiting.iter().map(|(_, f)| FlowId(*f)).collect(), ..Triggers::default() };
        let (mut openings, mut first) = (waiting.chunk_by(|a, b| a.0 == b.0).peekable(), 0);
        for (number, trigger) in (0u32..).zip(&spec.triggers) {
            let begin = triggers.openings.len();
            while let Some(own) = openings.next_if(|flows| flows[0].0[0] == number) {
                let ([_, activation, host], flows) = (own[0].0, first..first + own.len() as u32);
                first = flows.end;
                triggers.openings.push(Opening { activation, host: NodeId(host), flows });
            }
            if let Some((f, _)) = trigger.activations.iter().find(|(f, _)| *f as usize >= spec.flows.len()) {
                let text = format!("trigger {number} waits for flow {f}, which there is not");
                return Err(RunError::Refused(About::Network, text));
            }
            let own = &triggers.openings[begin..];
            let home = match own {
                [] => NodeId(0),
                [first, rest @ ..] if rest.iter().all(|o| o.host == first.host) => first.host,
                [first, ..] => {
                    let mut hosts = trigger.activations.iter().map(|end| NodeId(spec.host_of(*end)));
                    let host = hosts.next().unwrap_or(first.host);
                    if hosts.all(|h| h == host) { host } else { first.host }
                }
            };
            if !own.is_empty() {
                triggers
                    .activations
                    .extend(trigger.activations.iter().map(|(f, done)| ((FlowId(*f), *done), TriggerId(number))));
            }
            let openings = begin as u32..triggers.openings.len() as u32;
            triggers.list.push(Trigger { home, count: 0, openings });
        }
        triggers.activations.sort_unstable();
        Ok(triggers)
    }

    /// Triggers that the end of a flow activates, once for each mention.
    pub fn activated(&self, end: (FlowId, Done)) -> impl Iterator<Item = TriggerId> {
        let first = self.activations.partition_point(|(e, _)| *e < end);
        self.activations[first..].iter().take_while(move |(e, _)| *e == end).map(|(_, trigger)| *trigger)
    }

    /// Openings of `trigger` at its `activation`.
    pub fn opened(&self, trigger: TriggerId, activation: u32) -> impl Iterator<Item = OpeningId> {
        let all = &self.list[trigger].openings;
        let own = &self.openings[all.start as usize..all.end as usize];
        let at = |limit: u32| all.start + own.partition_point(|o| o.activation < limit) as u32;
        (at(activation)..at(activation + 1)).map(OpeningId)
    }

    /// Flows of an opening.
    pub fn flows(&self, opening: OpeningId) -> &[FlowId] {
        let flows = &self.openings[opening].flows;
        &self.flows[flows.start as usize..flows.end as usize]
    }
}
