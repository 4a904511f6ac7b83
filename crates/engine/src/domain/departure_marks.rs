//! Ports that mark at departures without events for them ([`crate::port::departure_marks`]).

use crate::domain::Domain;
use crate::domain::build::Simulation;
use crate::event::packet::Packet;
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::FabricMap;
use crate::port::Port;
use crate::spec::Discipline;
use incast_cc::Time;

impl Simulation<'_> {
    /// Has ports mark later that can. Windows are `length` long; a packet lies in a bucket from `near` before its
    /// arrival on. A trace has its lines in the order of departures, and some hosts
    /// [act at them](Self::ports_without_turns).
    pub fn mark_later(&mut self, length: Time, near: Time) {
        let spec = self.net.spec;
        let marks = spec.queues.iter().any(|queue| matches!(queue.discipline, Discipline::EcnAtDeparture(_)));
        if marks && spec.pfc().is_none() && spec.observe.trace.is_empty() && !spec.observe.monitors() {
            self.ports_without_turns().for_each(|port| port.mark_later(length, near));
        }
    }
}

/// Settles the ports of the links `due`, of `domains` from number `first` on, as a window opens at `now`: `set` marks
/// the packet that arrives over a link in a domain at a time and lies at a place in its bucket. The ports that are due
/// again when the next window opens remain.
pub fn set_marks(
    due: &mut Vec<LinkId>,
    (first, domains): (u32, &mut [Domain]),
    net: &FabricMap,
    now: Time,
    mut set: impl FnMut(LinkId, DomainId, Time, usize),
) {
    due.retain(|link| {
        let port = port_of(first, domains, net, *link);
        let to = net.links[*link].domain;
        port.set_marks(now, &net.interval, |time, place| set(*link, to, time, place))
    });
}

/// The port of `packet`, of one of these domains, is told that it lies at `place` among those of its window.
pub fn tell_place((first, domains): (u32, &mut [Domain]), net: &FabricMap, packet: &Packet, place: usize) {
    port_of(first, domains, net, packet.link).placed(packet, place);
}

/// Sets the marks of the links `due` that are decided, as [`set_marks`]: their packets are about to move.
pub fn set_decided(
    due: &[LinkId],
    (first, domains): (u32, &mut [Domain]),
    net: &FabricMap,
    mut set: impl FnMut(LinkId, DomainId, Time, usize),
) {
    for link in due {
        let to = net.links[*link].domain;
        port_of(first, domains, net, *link).set_decided(|time, place| set(*link, to, time, place));
    }
}

/// The port of `packet`, of one of these domains, is told that it has moved to `place`.
pub fn tell_move((first, domains): (u32, &mut [Domain]), net: &FabricMap, packet: &Packet, place: usize) {
    port_of(first, domains, net, packet.link).moved(packet, place);
}

/// The port of a link that leaves one of `domains`, from number `first` on.
fn port_of<'a>(first: u32, domains: &'a mut [Domain], net: &FabricMap, link: LinkId) -> &'a mut Port {
    let from = net.place[net.spec.links[link].from as usize].domain;
    &mut domains[(from.0 - first) as usize].nodes.ports[net.port_of[link]]
}
