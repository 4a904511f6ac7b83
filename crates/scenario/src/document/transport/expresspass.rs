//! Ports and routes that ExpressPass needs.

use super::rule::{Around, PacketTransport};
use super::tables::ExpressPass;
use crate::document::queue::Queue;
use crate::text::problem::{Problem, Report};
use incast_engine::spec::{self, TransportSpec};

impl PacketTransport for ExpressPass {
    fn check_network(around: &Around, problems: &mut Vec<Problem>) {
        let sizes =
            |t: &TransportSpec| Some((t.protocol.of::<spec::ExpressPass>()?.clone(), t.sizes.mss + t.sizes.header));
        let own: Vec<_> = around.transports.iter().filter_map(sizes).collect();
        let Some((largest, _)) = own.iter().max_by_key(|(t, _)| t.mean_credit()) else { return };
        if let Some(message) = spec::ExpressPass::refused(around.choice) {
            problems.push(Problem::with_value("routing.symmetric", false, message));
        }
        let packet = own.iter().map(|(_, packet)| *packet).max().unwrap_or(0);
        for (key, queue) in around.queues {
            match queue {
                Queue::CreditShaping(queue) => {
                    queue.credits.check_sizes(largest, packet, &mut Report::new(key.as_str(), problems))
                }
                _ => {
                    let message = "expected \"credit-shaping\": expresspass sends a packet for each arriving credit, \
                                   so ports must pass no more credits than the reverse link carries data";
                    problems.push(Problem::quoted(format!("{key}.kind"), queue.word(), message));
                }
            }
        }
    }
}
