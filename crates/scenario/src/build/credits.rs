//! Ports that shape credits: the class reserved for credits.

use super::priorities::key_of_class;
use crate::document::Document;
use crate::document::links::OwnQueue;
use crate::document::queue::Queue;
use crate::text::problem::Problem;
use incast_engine::spec::{FlowSpec, TransportSpec};

/// All queues of a document, with their keys.
pub(super) fn queues<'d>(doc: &'d Document, own: &[OwnQueue<'d>]) -> Vec<(String, &'d Queue)> {
    let all = doc.queue.all().map(|(key, queue)| (key.to_owned(), queue));
    all.chain(own.iter().map(|own| (own.key.clone(), own.queue))).collect()
}

fn shapes(queue: &Queue) -> bool {
    matches!(queue, Queue::CreditShaping(_))
}

/// At ports that shape credits, class 0 is for credits and all packets of flows have the next.
pub(super) fn classify(doc: &Document, own: &[OwnQueue], flows: &mut [FlowSpec], problems: &mut Vec<Problem>) {
    if !queues(doc, own).iter().any(|(_, queue)| shapes(queue)) {
        return;
    }
    let mut noted = vec![false; doc.groups().count()];
    for flow in flows {
        let given = flow.class > 0 || flow.ack_class > 0;
        if given && !std::mem::replace(&mut noted[flow.group as usize], true) {
            let key = key_of_class(doc, flow);
            let message = "expected none: ports that shape credits have one queue for all other packets";
            problems.push(Problem::new(key, message));
        }
        (flow.class, flow.ack_class) = (1, 1);
    }
}

/// A note on ports that shape credits if no transport has any.
pub(super) fn without_effect(doc: &Document, transports: &[TransportSpec]) -> Option<String> {
    let none = !transports.iter().any(|t| t.protocol.facts().needs_credit_shaping);
    let (key, _) = doc.queue.all().find(|(_, queue)| none && shapes(queue))?;
    Some(format!(
        "{key}.kind = \"credit-shaping\" has no credits to shape: no traffic has transport.preset = \"expresspass\" \
         (docs/queues/credit-shaping.md)"
    ))
}
