//! ExpressPass in any network: engines agree, packets and credits are conserved, data comes once and whole.

use super::networks::*;
use super::numbered::{data_comes_once, nothing_is_lost_unseen};
use crate::support::*;
use proptest::prelude::*;

/// Sizes of credits, and of nothing else.
const CREDIT: (u32, u32) = (76, 92);

fn endpoints() -> impl Strategy<Value = ExpressPass> {
    let feedback = pick(&[Feedback::Code, Feedback::Paper]);
    (feedback, any::<(bool, bool)>(), pick(&[0u32, 10, 40])).prop_map(|(feedback, (early_stop, even), ramp)| {
        ExpressPass {
            credit_min: CREDIT.0,
            credit_max: CREDIT.1,
            alpha: if even { 1.0 } else { 0.5 },
            ramp,
            feedback,
            target_loss: if feedback == Feedback::Code { 0.125 } else { 0.1 },
            weight: 0.0625,
            min_weight: 0.01,
            jitter: if even { 0.0 } else { 0.1 },
            early_stop,
        }
    })
}

/// Makes two of three transports ExpressPass, and lets all ports shape credits.
fn with_credits(spec: &mut Spec, own: &ExpressPass, (credits, data, burst): (u64, u64, u32), slow: bool) {
    for t in &mut spec.transports {
        (t.connection.handshake, t.connection.lone_syn, t.output.rank, t.sizes.mtu) = (false, false, None, 0);
        (t.output.demotion, t.output.demotion_by, t.output.probe_after) = (Vec::new(), Rank::Sent, 0);
    }
    for t in &mut spec.transports[..2] {
        t.protocol = Protocol::ExpressPass(own.clone());
        (t.sizes.ack_size, t.output.extra_packets) = (64, 0);
        t.rto.rto_min = if slow { Time::ms(3) } else { Time::us(100) };
        t.rto.rto_initial = if slow { Time::ms(20) } else { Time::ms(10) };
    }
    let packet = spec.transports.iter().map(|t| t.sizes.mss + t.sizes.header).max().unwrap();
    let scheduler = Scheduler::Credits(CreditShaping { credit: 84, packet, burst });
    let queues = vec![drop_tail(credits), drop_tail(data)];
    spec.queues = vec![QueueSpec { count_in_service: slow, ..classes(scheduler, queues) }];
    spec.links.iter_mut().for_each(|l| (l.queue, l.bucket) = (0, 0));
    spec.links.iter_mut().filter(|l| l.rate == Rate::INFINITE).for_each(|l| l.rate = Rate::gbps(1));
    spec.buffer = spec.buffer.take().map(|buffer| BufferSpec { pfc: None, ..buffer });
    (spec.choice, spec.acks_by_flow) = (PathChoice::Symmetric, false);
    spec.host_costs.clear();
    spec.programs.clear();
    spec.flows.iter_mut().for_each(|f| (f.class, f.ack_class) = (1, 1));
    spec.queries.iter_mut().for_each(|q| q.close = None);
    spec.observe.trace = (0..spec.flows.len() as u32).collect();
}

/// No packet goes without a credit, and credits follow the paths of packets.
fn conserved(spec: &Spec, o: &Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight);
    let (mut sent, mut came, mut gone) = (0, 0, 0);
    for (f, flow) in (0..).zip(&spec.flows) {
        let receiver_driven = spec.transports[flow.transport as usize].protocol.of::<ExpressPass>().is_some();
        if !receiver_driven || flow.app.datagram_gap().is_some() {
            continue;
        }
        let source = &spec.node_names[flow.src as usize];
        let (mut credits, mut packets) = (0u64, 0u64);
        for e in o.trace.iter().filter(|e| e.flow == f) {
            let credit = e.payload == 0 && (CREDIT.0..=CREDIT.1).contains(&e.size);
            match e.event {
                Happening::Send if credit => sent += 1,
                Happening::Drop | Happening::Loss if credit => gone += 1,
                Happening::Arrive if credit && e.place == *source => {
                    came += 1;
                    credits += 1;
                }
                Happening::Send if e.payload > 0 => {
                    packets += 1;
                    prop_assert!(packets <= credits, "flow {}: packet {} for credit {}", f, packets, credits);
                }
                _ => {}
            }
        }
        data_comes_once(f, flow, o)?;
    }
    nothing_is_lost_unseen(o, sent, came, gone)
}

proptest! {
    #![proptest_config(crate::support::cases(12))]

    #[test]
    fn credits_are_conserved_and_data_comes_once_in_any_network(
        spec in networks(), own in endpoints(), port in (1u64..12, 2u64..60, 1u32..4), slow: bool,
    ) {
        let mut spec = spec;
        with_credits(&mut spec, &own, port, slow);
        spec.observe.ports = vec![0, spec.links.len() as u32 - 1];
        spec.observe.flows = (0..spec.flows.len() as u32).collect();
        let outcome = compared_seen_and_unseen(&spec);
        conserved(&spec, &outcome)?;
    }
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn the_laws_of_credits_hold_on_any_network(
        spec in networks(), own in endpoints(), port in (1u64..12, 2u64..60, 1u32..4), slow: bool,
    ) {
        let mut spec = spec;
        with_credits(&mut spec, &own, port, slow);
        conserved(&spec, &run(&spec))?;
    }
}
