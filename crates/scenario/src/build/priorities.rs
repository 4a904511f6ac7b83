//! Classes of flows whose transport classifies each packet: Homa, pHost, and priorities by bytes sent (PIAS).

use crate::document::Document;
use crate::text::problem::Problem;
use incast_engine::spec::{FlowSpec, TransportSpec};

/// Gives packets without a class from their transport its lowest one, and control packets of receivers the highest.
pub(super) fn classify(
    doc: &Document,
    transports: &[TransportSpec],
    flows: &mut [FlowSpec],
    problems: &mut Vec<Problem>,
) {
    let mut entries = vec![false; doc.groups().count()];
    let mut deepest: Option<&TransportSpec> = None;
    for flow in flows {
        let t = &transports[flow.transport as usize];
        let Some(lowest) = t.lowest_class().filter(|_| flow.app.datagram_gap().is_none()) else { continue };
        let given = flow.class > 0 || flow.ack_class > 0;
        if given && !std::mem::replace(&mut entries[flow.group as usize], true) {
            let key = key_of_class(doc, flow);
            let message = format!("{} gives each packet its class, a priority; expected none here", who(t).0);
            problems.push(Problem::new(key, message));
        }
        (flow.class, flow.ack_class) = (lowest, 0);
        if deepest.is_none_or(|other| other.lowest_class() < Some(lowest)) {
            deepest = Some(t);
        }
    }
    if let (Some((key, least)), Some(t)) = (doc.fewest_classes(), deepest)
        && let Some(lowest) = t.lowest_class().filter(|lowest| least <= *lowest as usize)
    {
        let message = format!("has {least} classes; expected {}, {}", lowest + 1, who(t).1);
        problems.push(Problem::new(format!("{key}.classes"), message));
    }
}

/// Key, or column of a file, that set the class of `flow`.
pub(super) fn key_of_class(doc: &Document, flow: &FlowSpec) -> String {
    let Some(group) = doc.group(flow.group) else { return "traffic".to_owned() };
    group.asks_for_class().map_or_else(|| format!("{}.class", group.path()), |(key, _)| key)
}

/// Setting that gives classes, and the one that determines their number.
pub(super) fn who(t: &TransportSpec) -> (&'static str, String) {
    match t.protocol.facts() {
        facts if facts.numbers_packets => (facts.name, format!("transport.{}.levels", facts.name)),
        _ => ("transport.demotion", "one more than transport.demotion has sizes".to_owned()),
    }
}
