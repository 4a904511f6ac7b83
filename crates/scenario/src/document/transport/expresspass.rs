//! Keys of ExpressPass, and the ports and routes that it needs.

use super::rule::{Around, PacketTransport, table};
use crate::document::queue::Queue;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::Size;
use crate::text::words::{Word, words};
use incast_engine::spec::{self, TransportSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// ExpressPass.
    ExpressPass {
        /// Smallest credit, in IP bytes; the size of each credit is random.
        credit_min: Size,
        /// Largest credit, in IP bytes.
        credit_max: Size,
        /// Initial credit rate of a receiver, as a share of the largest rate. At the largest rate the data sent for
        /// credits fills the link of its host.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        alpha: f64,
        /// A request for fewer packets than this starts more slowly, in proportion to its packets.
        ramp: u32,
        /// Reaction of the rate to losses of credits, once a round trip.
        feedback: Word<spec::Feedback>,
        /// Target share of lost credits. With `feedback = "ns2"` it is multiplied by the unused share of the largest
        /// rate.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        target_loss: f64,
        /// Weight of the largest rate in the first increase.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        weight: f64,
        /// Smallest weight: losses halve it.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        min_weight: f64,
        /// Random variation of the time to the next credit: at most this share of it.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        jitter: f64,
        /// A sender stops requesting once a round trip has delivered as many credits as it has packets left;
        /// otherwise when nothing is left.
        early_stop: bool,
    }
}

words! {
    /// Reaction of a receiver's credit rate to losses of credits.
    "Feedback" spec::Feedback {
        /// As in the authors' simulator: with few losses the rate approaches the largest one, by a weight that grows
        /// by 0.05 up to 0.5; above the target it falls to the rate at which credits arrived, times 1 plus the
        /// target.
        "ns2" => spec::Feedback::Code,
        /// As printed: with few losses the rate approaches the largest one times 1 plus the target, by a weight that
        /// approaches 0.5; above the target it falls by the lost share, times 1 plus the target.
        "paper" => spec::Feedback::Paper,
    }
}

impl PacketTransport for ExpressPass {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        let bytes = |size: Size| size.0.0.min(u32::MAX as u64) as u32;
        Some(spec::Protocol::ExpressPass(spec::ExpressPass {
            credit: (bytes(self.credit_min?), bytes(self.credit_max?)),
            alpha: self.alpha?,
            ramp: self.ramp?,
            feedback: self.feedback?.0,
            target_loss: self.target_loss?,
            weight: self.weight?,
            min_weight: self.min_weight?,
            jitter: self.jitter?,
            early_stop: self.early_stop?,
        }))
    }

    fn check(&self, all: &spec::TransportSpec, at: &mut Report) {
        let Some(all) = all.protocol.of::<spec::ExpressPass>() else { return };
        for (key, size) in [("credit_min", self.credit_min), ("credit_max", self.credit_max)] {
            if let Some(size) = size.filter(|size| !(1..=u16::MAX as u64).contains(&size.0.0)) {
                at.text(key, size, "expected 1B to 65535B, a packet");
            }
        }
        if all.credit.0 > all.credit.1 {
            let (min, max) = all.credit;
            at.text("credit_min", format_args!("{min}B"), format!("expected at most credit_max, {max}B"));
        }
        for (key, share) in [("alpha", self.alpha), ("weight", self.weight), ("min_weight", self.min_weight)] {
            if let Some(share) = share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
                at.value(key, share, "expected a share above 0 and at most 1");
            }
        }
        for (key, share) in [("target_loss", self.target_loss), ("jitter", self.jitter)] {
            if let Some(share) = share.filter(|share| !(0.0..1.0).contains(share)) {
                at.value(key, share, "expected a share of at least 0 and below 1");
            }
        }
        if all.min_weight > all.weight {
            at.value("min_weight", all.min_weight, format!("expected at most weight, {}", all.weight));
        }
    }

    fn check_network(around: &Around, problems: &mut Vec<Problem>) {
        let sizes =
            |t: &TransportSpec| Some((t.protocol.of::<spec::ExpressPass>()?.clone(), t.sizes.mss + t.sizes.header));
        let own: Vec<_> = around.transports.iter().filter_map(sizes).collect();
        let Some((largest, _)) = own.iter().max_by_key(|(t, _)| t.mean_credit()) else { return };
        if !around.symmetric {
            let message = "expected true, with routing.kind = \"ecmp\": credits of expresspass take the links of their \
                           data in reverse";
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
