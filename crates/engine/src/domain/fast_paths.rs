//! Choice of the [fast paths](crate::fast_paths) of a run, before it begins.

use crate::domain::Domain;
use crate::domain::build::Simulation;
use crate::fast_paths::{FastPath, Feature, Features};
use crate::spec::{Discipline, TransportSpec};
use crate::switch::Switch;
use incast_cc::Time;

impl Simulation<'_> {
    /// Takes the fast paths that fit. Engine windows are `length` long, and a packet lies in a bucket from `near`
    /// before its arrival on.
    pub fn take_fast_paths(&mut self, length: Time, near: Time) {
        let (spec, observe) = (self.net.spec, &self.net.spec.observe);
        let compares = |domain: &Domain| !domain.switches.iter().all(Switch::is_pure);
        let some_compare = self.domains.iter().any(compares);
        let of_run = Features::of([
            (Feature::Trace, !observe.trace.is_empty()),
            (Feature::Monitor, observe.monitors()),
            (Feature::Programs, !spec.programs.is_empty()),
            (Feature::Cells, !spec.cells.is_empty()),
            (Feature::FlowControl, spec.pfc().is_some()),
            (Feature::ShortLatency, self.net.quickest < length),
        ]);
        // these hosts hand over a packet at the instant at which the port's transmission ends: the order of the two
        // depends on the order of events
        let whole = spec.programs.is_empty()
            && !spec.queues.iter().any(|queue| matches!(queue.discipline, Discipline::Trimming(_)));
        let least = spec.transports.iter().map(TransportSpec::least_packet).min().filter(|_| whole).unwrap_or(1);
        let waits = spec.transports.iter().any(|t| t.protocol.facts().waits_for_nic);
        for domain in &mut self.domains {
            let mut of_domain = of_run.and(Features::of([(Feature::Comparison, compares(domain))]));
            for port in &mut domain.nodes.ports {
                let slots = waits && spec.links[port.link.ix()].from < spec.hosts;
                let own = port.features(length, near, least).and(Features::of([(Feature::TxSlots, slots)]));
                of_domain = of_domain.and(own);
                let all = of_run.and(own).and(Features::of([(Feature::Comparison, some_compare)]));
                if FastPath::LateMarking.fits(all) {
                    port.mark_later();
                }
                if FastPath::LazyService.fits(all) {
                    port.make_lazy();
                } else if FastPath::EarlySending.fits(all) {
                    port.make_early();
                }
            }
            domain.separable = FastPath::ByPort.fits(of_domain);
        }
    }
}
