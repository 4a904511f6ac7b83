//! Receiver-driven transports with many losses for some time, and a few at all times: every message ends soon after the
//! losses become rare.

use super::networks::{dumbbell, pick};
use crate::support::*;
use crate::{dcpim, expresspass, homa, phost, rdma, receiver_driven, roce};
use proptest::prelude::*;

/// End of the time with many losses.
const CALM: Time = Time::us(2_000);

/// Maximum time until a lost packet of any kind is requested.
const AGAIN: Time = Time::ms(1);

/// Maximum end of all messages: [`CALM`], and a few hundred repairs one after the other.
const BOUND: Time = Time::ms(300);

/// A transport with its queues.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Ndp,
    Eqds,
    Nscc,
    Rccc,
    Both,
    /// NSCC without trimming.
    Sleek,
    Homa,
    ExpressPass,
    Roce,
    /// RDMA, with its repair.
    Rdma(Repair),
    /// PHost; true: with ranks.
    PHost(Free, bool),
    DcPim,
}

fn kinds() -> impl Strategy<Value = Kind> {
    use Kind::*;
    pick(&[
        Ndp,
        Eqds,
        Nscc,
        Rccc,
        Both,
        Sleek,
        Homa,
        ExpressPass,
        Roce,
        Rdma(Repair::GoBackN),
        Rdma(Repair::GoBackChunk),
        Rdma(Repair::Selective),
        PHost(Free::Short, false),
        PHost(Free::All, false),
        PHost(Free::Short, true),
        DcPim,
    ])
}

impl Kind {
    /// `spec` with this transport, and queues of at least some 30 packets.
    fn over(self, spec: Spec) -> Spec {
        let cut = || receiver_driven::cutting(30 * receiver_driven::PACKET);
        let uet = |window, credit| receiver_driven::uets(window, credit, receiver_driven::STAR, Spread::Mixed, false);
        let mut spec = match self {
            Kind::Ndp => receiver_driven::with(spec, receiver_driven::ndp(50, false), cut()),
            Kind::Eqds => receiver_driven::with(spec, receiver_driven::eqds(false), cut()),
            Kind::Nscc => receiver_driven::with(spec, uet(true, false), cut()),
            Kind::Rccc => receiver_driven::with(spec, uet(false, true), cut()),
            Kind::Both => receiver_driven::with(spec, uet(true, true), cut()),
            Kind::Sleek => receiver_driven::with(
                spec,
                receiver_driven::sleek(receiver_driven::STAR),
                receiver_driven::dropping(30 * receiver_driven::PACKET),
            ),
            Kind::Homa => homa::with(spec, homa::homa(|_| ()), Limit::Packets(60)),
            Kind::ExpressPass => expresspass::with(spec, expresspass::authors()),
            Kind::Roce => roce::with(spec, roce::roce(64, 16), Limit::Packets(60)),
            Kind::Rdma(repair) => rdma::with(
                spec,
                rdma::rdma(|own| own.repair = repair),
                if repair == Repair::Selective { "dcqcn" } else { "hpcc" },
                drop_tail(60),
            ),
            Kind::PHost(free, ranked) => {
                let queue = if ranked { phost::ranked() } else { phost::strict(Limit::Packets(60)) };
                phost::with(spec, PHost { free, ..phost::authors() }, queue)
            }
            // rounds longer than a round trip over six links of 5 us
            Kind::DcPim => dcpim::with(
                spec,
                DcPim { control_rtt: Time::us(80), ..dcpim::authors() },
                dcpim::strict(Limit::Packets(60)),
            ),
        };
        for t in &mut spec.transports {
            (t.rto.rto_min, t.rto.rto_initial) = (t.rto.rto_min.min(AGAIN), t.rto.rto_initial.min(AGAIN));
        }
        spec
    }
}

/// Applications of flows. Everything is written before [`CALM`], except in closed loops.
fn apps() -> impl Strategy<Value = App> {
    let loops = (1u64..30_000, 1u32..5, 0u64..30, 1u64..10);
    let bursts = (1u64..4_000, 1u64..40, 0u64..100);
    prop_oneof![
        2 => (1u64..150_000).prop_map(|size| App::Bulk(Bulk { size: Some(size), write: 65_160 })),
        2 => loops.prop_map(|(write, outstanding, think, count)| {
            App::ClosedLoop(ClosedLoop { write, outstanding, think: Time::us(think), count: Some(count) })
        }),
        1 => bursts.prop_map(|(write, on, off)| {
            let (on, off) = (Time::us(on), Time::us(off));
            App::OnOff(OnOff { rate: Rate::gbps(1), on, off, write, begin: Begin::Open })
        }),
    ]
}

/// Losses of a link: its number, start and end (us), and the share of packets lost.
type Storm = (u32, u64, u64, f64);

fn storms() -> impl Strategy<Value = Vec<Storm>> {
    let storm = (any::<u32>(), 0u64..900, 1u64..1_100, pick(&[0.02, 0.2, 0.6, 0.95]));
    prop::collection::vec(storm, 0..8)
}

fn stormy(
    shape: u32,
    delay: Time,
    flows: &[(u32, u32, u64, App)],
    storms: &[Storm],
    (steady, seed): (f64, u64),
    kind: Kind,
) -> Spec {
    let mut spec = match shape {
        0 => fat_tree(4, Rate::gbps(10), delay),
        1 => dumbbell(3, Rate::gbps(10), delay),
        hosts => star(hosts, Rate::gbps(10), delay),
    };
    let hosts = spec.hosts;
    let flow = |&(src, dst, start, app): &(u32, u32, u64, App)| {
        let src = src % hosts;
        let stop = if matches!(app, App::OnOff(_)) { CALM } else { Time::NEVER };
        FlowSpec { app, stop, start: Time::us(start), ..bulk(src, (src + 1 + dst % (hosts - 1)) % hosts, None) }
    };
    spec.flows = flows.iter().map(flow).collect();
    spec.seed = seed;
    spec.links.iter_mut().for_each(|l| l.loss = if steady > 0.0 { Loss::Packet(steady) } else { Loss::None });
    for (link, from, length, loss) in storms.iter().copied() {
        let link = link % spec.links.len() as u32;
        if spec.failures.iter().all(|f| f.link != link) {
            let effect = Effect::Degraded { rate: None, delay: None, loss };
            spec.failures.push(Failure { link, from: Time::us(from), until: Time::us(from + length), effect });
        }
    }
    kind.over(spec)
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn every_message_ends_soon_after_the_losses(
        kind in kinds(), shape in pick(&[0u32, 1, 2, 3, 5]), delay in pick(&[200u64, 1_000, 5_000]),
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 0u64..300, apps()), 1..8),
        storms in storms(), steady in pick(&[0.0, 0.0, 0.01]), seed: u64,
    ) {
        let mut spec = stormy(shape, Time::ns(delay), &flows, &storms, (steady, seed), kind);
        run_for(&mut spec, BOUND);
        for f in &run(&spec).flows {
            prop_assert!(f.finish_ps.is_some() && f.delivered == f.written, "{:?}", f);
        }
    }
}
