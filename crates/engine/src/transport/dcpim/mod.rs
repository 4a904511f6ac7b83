//! dcPIM (Cai, Arashloo, Agarwal, "dcPIM: near-optimal proactive datacenter transport", SIGCOMM 2022).
//!
//! Hosts match in rounds, as ports of a switch do in parallel iterative matching. A host has channels, each an equal
//! share of its link. At the start of a round a receiver asks each sender for the channels that its shortest message
//! needs. In the middle of the round senders divide their free channels among the requests, and at its end receivers
//! divide theirs among the grants. The first round prefers the message with the fewest missing packets, later ones
//! choose at random. After the last round the data phase begins: a receiver gives tokens, in each channel one in the
//! time of as many packets as there are channels. The next matching runs meanwhile. A matched channel that the data
//! phase under way leaves free is used at once. Short messages go without matching, and match if they have not arrived
//! in time.
//!
//! Rules are those of the authors' simulator (Terabit-Ethernet/dcPIM 2abda17, `simulator/ext/pim*`); they have not been
//! checked against the paper's text.
//!
//! Differences. A flow may have several messages, one served after the other. A lost request or acknowledgement is
//! repeated. The code counts accepted channels as in use only from matching to matching; here also those accepted in
//! the last round. Tokens are repeated once as many have gone as packets were missing; in the code, once their numbers
//! wrap around. Ties go to the message announced first, there to the one started first.

mod matching;
mod pacer;
mod wire;

use crate::event::packet::Packet;
use crate::ids::{FlowId, HostIx};
use crate::map::ideal::Fabric;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::refusal::{invalid, refuse_flow};
use crate::spec::{DcPim, RunError, Spec, TransportSpec};
use crate::transport::packet::check::Check;
use crate::transport::packet::tokens;
use crate::transport::packet::tokens::receiver::Service;
use crate::transport::packet::tokens::rules::{PacketTime, TokenRules};
use crate::transport::packet::{Receivers, parameters};
use incast_cc::Time;
use pacer::Matching;
pub use pacer::Receiver;
use wire::{ToReceiver, ToSender};

/// dcPIM sender.
pub type Sender = tokens::sender::Sender<DcPim>;
impl TokenRules for DcPim {
    fn of(t: &TransportSpec) -> &DcPim {
        parameters(t)
    }

    fn free_of(&self, packets: u32) -> u32 {
        if packets > self.short_packets { 0 } else { packets }
    }

    fn free_until(&self, _now: Time, _free: u32, _one: PacketTime) -> Time {
        Time::NEVER
    }

    fn until(&self, _now: Time, told: Time, _one: PacketTime) -> Time {
        told
    }

    fn class_of(&self, packets: u32, _size: u64, _mss: u32) -> u8 {
        DcPim::class_of(self, packets)
    }
}

impl Service for DcPim {
    type Pacer = Matching;

    fn reissue_of_free(&self, free: u32) -> f64 {
        free as f64 + self.reissue
    }

    fn reissue(&self) -> f64 {
        self.reissue
    }

    fn begin(&self, pacer: &mut Matching, free: u32) {
        if free > 0 {
            pacer.unscheduled = free;
        }
    }

    fn wait(receiver: &Receiver, ctx: &mut NodeCtx<impl Effects>, pacer: &mut Matching) {
        pacer.wait(receiver, ctx);
    }

    fn on_answer(ctx: &mut NodeCtx<impl Effects>, pacer: &mut Matching, host: HostIx, p: &Packet) {
        if let Some(message) = ToSender::decode(p) {
            pacer.on_message(ctx, host, p.flow, message);
        }
    }

    fn on_control(receiver: &Receiver, ctx: &mut NodeCtx<impl Effects>, pacer: &mut Matching, p: &Packet) {
        if let Some(message) = ToReceiver::read(p) {
            pacer.on_offer(receiver, ctx, message);
        }
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        pacer: &mut Matching,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        pacer.on_pacer(ctx, host, receivers);
    }
}

impl Check for DcPim {
    fn check(&self, spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
        let one = |other: &TransportSpec| {
            other
                .protocol
                .of::<DcPim>()
                .is_none_or(|own| own == self && (other.sizes.mss, other.sizes.header) == (t.sizes.mss, t.sizes.header))
        };
        if !spec.transports.iter().all(one) {
            return invalid("expected one setting for all traffic: all hosts match".to_owned());
        }
        tokens::check(spec, t, self)?;
        // the first thousand suffice to refuse before set-up: a fabric has few path lengths
        let fabric = Fabric::new(spec);
        let flows = (0u32..).zip(&spec.flows).take(1000).filter(|(_, f)| {
            spec.transports[f.transport as usize].protocol.of() == Some(self) && f.app.datagram_gap().is_none()
        });
        { flows }.try_for_each(|(i, _)| self.check_flow(spec, &fabric, FlowId(i)))
    }
    fn check_flow(&self, spec: &Spec, fabric: &Fabric, flow: FlowId) -> Result<(), RunError> {
        let f = &spec.flows[flow];
        let size = spec.transports[f.transport as usize].sizes.ack_size as u64;
        let time = |reverse| {
            let links = fabric.path(flow, reverse);
            links.iter().map(|link| spec.links[*link].crossing(size)).fold(Time::ZERO, Time::saturating_add)
        };
        let ways = [time(false), time(true)];
        if ways.into_iter().all(|way| way.saturating_mul(2) < self.round()) {
            return Ok(());
        }
        refuse_flow(
            spec,
            f,
            format!(
                "dcpim with rounds of {}, in which control packets take {} and {}: expected beta times control_rtt of \
                 more than twice that, as nothing is granted in time",
                self.round(),
                ways[0],
                ways[1]
            ),
        )
    }
}
