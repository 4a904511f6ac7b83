//! The table of fast paths: its page, and that ports take a path if and only if the table says so.

use crate::properties::networks::networks;
use crate::support::*;
use incast_engine::fast_paths::{FastPath, Feature, Features, page};
use incast_engine::testing::{Simulation, windows};
use proptest::prelude::*;
use std::slice::from_ref;

/// Features of the port of a link, read from the specification. `length`: length of windows; `near`: time before its
/// arrival from which a packet lies in a bucket.
fn of_port(spec: &Spec, number: u32, (length, near): (Time, Time)) -> Features {
    let link = &spec.links[number as usize];
    let queue = &spec.queues[link.queue as usize];
    let classes = if queue.classes().is_empty() { from_ref(queue) } else { queue.classes() };
    let later = |queue: &QueueSpec| matches!(queue.discipline, Discipline::EcnAtDeparture(_) | Discipline::EcnRamp(_));
    let at_end = |queue: &QueueSpec| match &queue.discipline {
        Discipline::EcnAtDeparture(_) => true,
        Discipline::EcnRamp(ramp) => !ramp.at_start,
        _ => false,
    };
    let makes_room = match &queue.discipline {
        Discipline::Trimming(_) | Discipline::Pfabric => true,
        Discipline::Classes { scheduler, .. } => matches!(scheduler, Scheduler::Credits(_)),
        _ => false,
    };
    let at_zero = matches!(&queue.discipline, Discipline::EcnAtDeparture(ecn) if ecn.mark == Limit::Packets(0));
    let device = queue.device + u32::from(queue.device > 0 || !queue.count_in_service);
    Features::of([
        (Feature::Probe, spec.observe.ports.contains(&number)),
        (Feature::OwnTies, spec.ties == Ties::Scheduled),
        (Feature::Failures, spec.failures.iter().any(|failure| failure.link == number)),
        (Feature::Programmed, spec.runs_programs(link.from)),
        (Feature::Explicit, queue.is_explicit() || spec.shares_buffer(link)),
        (Feature::Buffer, spec.shares_buffer(link)),
        (Feature::Timeline, spec.observe.timeline.is_some()),
        (Feature::Loss, link.loss != Loss::None),
        (Feature::Bucket, link.bucket > 0),
        (Feature::DeviceQueue, link.bucket == 0 && device > 1),
        (Feature::AtDeparture, classes.iter().any(later)),
        (Feature::AtEnd, classes.iter().any(at_end)),
        (Feature::MakesRoom, makes_room),
        (Feature::NoTime, link.rate == Rate::INFINITE),
        (Feature::NoThreshold, at_zero),
        (Feature::ShortDelay, link.delay < length),
        (Feature::LongDelay, link.delay >= near),
    ])
}

proptest! {
    #![proptest_config(crate::support::cases(60))]

    #[test]
    fn a_port_takes_a_fast_path_if_and_only_if_the_table_says_so(
        spec in networks(), traced in any::<bool>(), probed in any::<bool>(), framed in any::<bool>(),
    ) {
        let mut spec = spec;
        spec.observe.trace = if traced { vec![0] } else { Vec::new() };
        spec.observe.ports = if probed { vec![0, 3] } else { Vec::new() };
        spec.observe.timeline = spec.observe.timeline.filter(|_| framed);
        let mut simulation = Simulation::new(&spec).unwrap();
        let times = windows::take_fast_paths(&mut simulation);
        let compares = |pure: bool| Features::of([(Feature::Comparison, !pure)]);
        let of_run = Features::of([
            (Feature::Trace, traced),
            (Feature::Programs, !spec.programs.is_empty()),
            (Feature::FlowControl, spec.pfc().is_some()),
            (Feature::ShortLatency, simulation.net.quickest < times.0),
        ]);
        let pure = simulation.domains.iter().flat_map(|domain| &domain.switches).all(|switch| switch.is_pure());
        for domain in &simulation.domains {
            let own = domain.switches.iter().all(|switch| switch.is_pure());
            let mut of_domain = of_run.and(compares(own));
            for port in &domain.nodes.ports {
                let link = &spec.links[port.link.0 as usize];
                let queue = &spec.queues[link.queue as usize];
                let features = of_port(&spec, port.link.0, times);
                of_domain = of_domain.and(features);
                let all = of_run.and(features).and(compares(pure));
                let marks = matches!(queue.discipline, Discipline::EcnAtDeparture(_));
                let explicit = queue.is_explicit() || spec.shares_buffer(link);
                let late = marks && FastPath::LateMarking.fits(all);
                prop_assert_eq!(port.marks_late(), late, "{}: {:?}", link.name, all);
                let lazy = explicit && FastPath::LazyService.fits(all);
                prop_assert_eq!(port.is_lazy(), lazy, "{}: {:?}", link.name, all);
                let early = explicit && !late && !lazy && FastPath::EarlySending.fits(all);
                prop_assert_eq!(port.sends_early(), early, "{}: {:?}", link.name, all);
            }
            prop_assert_eq!(domain.separable, FastPath::ByPort.fits(of_domain), "{:?}", of_domain);
        }
    }
}

#[test]
fn every_path_lacks_something_and_every_feature_excludes_a_path() {
    for path in FastPath::ALL {
        assert!(Feature::ALL.iter().any(|feature| path.excludes(*feature)), "{path:?}");
    }
    for feature in Feature::ALL {
        assert!(FastPath::ALL.iter().any(|path| path.excludes(*feature)), "{feature:?}");
    }
}

#[test]
fn the_page_of_fast_paths_is_the_table() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/fast-paths.md");
    let written = std::fs::read_to_string(place).unwrap_or_default();
    let (head, rest) = written.split_once("<!-- table -->\n").unwrap_or((&written, ""));
    let tail = rest.split_once("<!-- end -->").map_or("", |(_, tail)| tail);
    let whole = format!("{head}<!-- table -->\n\n{}\n<!-- end -->{tail}", page());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(place, &whole).unwrap();
    }
    assert_eq!(std::fs::read_to_string(place).unwrap(), whole, "UPDATE_SNAPSHOTS=1 rewrites the table");
}
