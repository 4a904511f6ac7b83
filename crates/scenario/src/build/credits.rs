//! Credits (ExpressPass): the required ports and routes, and the class reserved for credits.

use super::priorities::key_of_class;
use crate::document::Document;
use crate::document::links::OwnQueue;
use crate::document::queue::Queue;
use crate::text::problem::{Problem, Report};
use crate::topology::network::Network;
use incast_cc::Rate;
use incast_engine::spec::{FlowSpec, Protocol, TransportSpec};

/// All queues of a document, with their keys.
fn queues<'d>(doc: &'d Document, own: &[OwnQueue<'d>]) -> Vec<(String, &'d Queue)> {
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
    let mut noted = vec![false; doc.traffic.len()];
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

/// Checks the requirements of ExpressPass on ports, their links and routing.
pub(super) fn check(
    doc: &Document,
    network: &Network,
    own: &[OwnQueue],
    transports: &[TransportSpec],
    problems: &mut Vec<Problem>,
) {
    let queues = queues(doc, own);
    if let Some((key, queue)) = queues.iter().find(|(_, queue)| shapes(queue))
        && let Some(link) = network.links.iter().find(|link| link.rate == Rate::INFINITE)
    {
        let message = format!("expected all links with a finite rate, unlike {}: credits get a share of it", link.name);
        problems.push(Problem::quoted(format!("{key}.kind"), queue.word(), message));
    }
    let sizes = |t: &TransportSpec| match &t.protocol {
        Protocol::ExpressPass(own) => Some((own.clone(), t.mss + t.header)),
        _ => None,
    };
    let own: Vec<_> = transports.iter().filter_map(sizes).collect();
    let Some((largest, _)) = own.iter().max_by_key(|(t, _)| t.mean_credit()) else { return };
    if !doc.routing.choice().is_symmetric() {
        let message = "expected true, with routing.kind = \"ecmp\": credits of expresspass take the links of their \
                       data in reverse";
        problems.push(Problem::with_value("routing.symmetric", false, message));
    }
    let packet = own.iter().map(|(_, packet)| *packet).max().unwrap_or(0);
    for (key, queue) in &queues {
        match queue {
            Queue::CreditShaping(queue) => {
                queue.credits.check_sizes(largest, packet, &mut Report::new(key.as_str(), problems))
            }
            _ => {
                let message = "expected \"credit-shaping\": expresspass sends a packet for each arriving credit, so \
                               ports must pass no more credits than the reverse link carries data";
                problems.push(Problem::quoted(format!("{key}.kind"), queue.word(), message));
            }
        }
    }
}

/// A note on ports that shape credits if no transport has any.
pub(super) fn without_effect(doc: &Document, transports: &[TransportSpec]) -> Option<String> {
    let none = transports.iter().all(|t| t.protocol.of::<incast_engine::spec::ExpressPass>().is_none());
    let (key, _) = doc.queue.all().find(|(_, queue)| none && shapes(queue))?;
    Some(format!(
        "{key}.kind = \"credit-shaping\" has no credits to shape: no traffic has transport.preset = \"expresspass\" \
         (docs/queues/credit-shaping.md)"
    ))
}
