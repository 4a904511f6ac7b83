//! Ports that mark at departures without events for them ([`crate::port::late_marking`]).

use crate::domain::Domain;
use crate::event::packet::Packet;
use crate::ids::{DomainId, LinkId};
use crate::map::fabric::FabricMap;
use crate::port::Port;
use incast_cc::Time;

/// Settles the ports of the links `due` as a window opens at `now`. `first`: number of the first of `domains`. `set`
/// marks a packet, given the link, domain and time of its arrival and its place in the bucket. Ports due again at the
/// next window stay in the list.
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

/// Tells the port of `packet`, in one of these domains, the packet's `place` among the arrivals of its window.
pub fn note_place((first, domains): (u32, &mut [Domain]), net: &FabricMap, packet: &Packet, place: usize) {
    port_of(first, domains, net, packet.link).placed(packet, place);
}

/// Sets the marks already decided at the links `due`, like [`set_marks`], before their packets move.
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

/// Tells the port of `packet`, in one of these domains, that the packet has moved to `place`.
pub fn note_move((first, domains): (u32, &mut [Domain]), net: &FabricMap, packet: &Packet, place: usize) {
    port_of(first, domains, net, packet.link).moved(packet, place);
}

/// The port of a link that leaves one of `domains`. `first`: number of the first domain.
fn port_of<'a>(first: u32, domains: &'a mut [Domain], net: &FabricMap, link: LinkId) -> &'a mut Port {
    let from = net.place[net.spec.links[link].from as usize].domain;
    &mut domains[(from.0 - first) as usize].nodes.ports[net.port_of[link]]
}
