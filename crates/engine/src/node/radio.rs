//! A port of a radio station: its cell takes the packet at the head of the queue and reports the result.

use crate::event::order::Timer;
use crate::event::outbox::Outbox;
use crate::event::packet::flag;
use crate::ids::{CellId, NodeId, PortIx};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use crate::radio::frame::What;
use crate::radio::{Effect, Sighting};
use crate::spec::Deliveries;
use incast_cc::Time;
use incast_record::Happening;
use std::mem::take;

impl<E: Effects> NodeCtx<'_, E> {
    /// Asks for the cell's channel, for the packet at the head of a port's queue.
    #[cold]
    pub fn acquire(&mut self, port: PortIx) {
        let Some((cell, _)) = self.ports[port].station() else { return };
        self.hand_to_cell(port);
        self.settle(cell);
        self.arm(cell);
    }

    /// Called when an event of a cell is due.
    #[cold]
    pub fn advance_cell(&mut self, cell: CellId) {
        let local = self.net.cells[cell].local as usize;
        let own = &mut self.shared.cells[local];
        if own.armed <= self.now {
            own.armed = Time::NEVER;
        }
        let mut until = self.out.undisturbed();
        loop {
            let own = &mut self.shared.cells[local];
            let at = own.run(self.now, until);
            self.counts.happened(own.last);
            let acts = own.acts();
            if at > self.now {
                self.go_on(at);
            }
            if !acts {
                // the next event of the cell is not before `until`
                break;
            }
            self.settle(cell);
            let next = self.shared.cells[local].next();
            // effects at the nodes may have set an event
            until = self.out.undisturbed();
            if next >= until {
                break;
            }
            self.go_on(next);
        }
        self.arm(cell);
    }

    /// Goes on with the current event at `time`.
    fn go_on(&mut self, time: Time) {
        self.out.go_on(time);
        (self.now, self.generation) = (time, self.generation_at(time));
    }

    /// Delivers the effects of a cell to the nodes of its stations, until there are no more.
    fn settle(&mut self, cell: CellId) {
        self.trace_frames(cell);
        let own = self.net.cells[cell].local as usize;
        while let Some(effect) = self.shared.cells[own].effects.pop_front() {
            self.pass_on(cell, effect);
        }
    }

    fn pass_on(&mut self, cell: CellId, effect: Effect) {
        let net = self.net;
        let map = &net.cells[cell];
        self.counts.happened(self.now);
        match effect {
            Effect::Arrived { to, mut packet, mut ext, again } => {
                // a packet that arrives again counts as one more
                self.counts.sent += again as u64;
                packet.hop = packet.hop.wrapping_add(1);
                if again && net.deliveries != Deliveries::Plain {
                    // the host may lose it, or hold it beyond the end of the run
                    ext.get_or_insert_default().again = true;
                } else if again {
                    self.shared.repeated.count(&packet, self.now, &net.interval);
                }
                self.transmit(map.down[to as usize], &packet, ext.as_mut());
            }
            Effect::Done { station } => {
                let port = map.up[station as usize];
                if self.goes_on(port) {
                    self.hand_to_cell(port);
                }
                self.shared.cells[map.local as usize].resume(self.now, station);
            }
            Effect::Lost { from, packet, unreachable } => {
                self.counts.drop_at(self.now);
                let port = &mut self.ports[map.up[from as usize]];
                port.count_loss(self.now);
                let link = port.link;
                if packet.has(flag::SLOW_PATH) {
                    let event = if unreachable { Happening::Unreachable } else { Happening::Loss };
                    self.trace(&packet, event, Site::Link(link));
                }
            }
        }
    }

    /// Adds the lines of frames to the packet trace.
    fn trace_frames(&mut self, cell: CellId) {
        let own = &mut self.shared.cells[self.net.cells[cell].local as usize];
        let Some(sightings) = &mut own.sightings else { return };
        for Sighting { time, station, begins, frame, packet } in take(sightings) {
            let node = NodeId(self.shared.cells[self.net.cells[cell].local as usize].node(station));
            let Some((packet, count)) = packet.filter(|(packet, _)| packet.has(flag::SLOW_PATH)) else { continue };
            let event = if begins { Happening::Transmit } else { Happening::Hear };
            let flags = match frame.what {
                What::Ack(_) => "acknowledgement".to_owned(),
                What::Data(part) => format!("{}/{count}", part.index + 1),
            };
            self.trace_frame(time, &packet, event, (node, frame.psdu, flags));
        }
    }

    /// Hands the packet at the head of a port's queue to the cell.
    fn hand_to_cell(&mut self, port: PortIx) {
        let net = self.net;
        let Some((cell, station)) = self.ports[port].station() else { return };
        let map = &net.cells[cell];
        while let Some((packet, ext, since)) = self.ports[port].hand_over() {
            if let Some(to) = map.next(net.spec, net.ecmp_salt, &net.port_of, &packet) {
                let own = &mut self.shared.cells[map.local as usize];
                if own.submit(self.now, (station, to), since, &packet, ext) {
                    return;
                }
            } else {
                // no route leads there
                self.counts.drop_at(self.now);
                self.ports[port].count_loss(self.now);
                if packet.has(flag::SLOW_PATH) {
                    self.trace(&packet, Happening::Loss, Site::Link(self.ports[port].link));
                }
            }
            if !self.goes_on(port) {
                return;
            }
        }
    }

    /// Removes the packet at the head of a port's queue, when the cell has finished it. Returns whether another waits.
    fn goes_on(&mut self, port: PortIx) -> bool {
        self.ports[port].done_by_cell(self.now);
        self.end_service(port).is_some_and(|departed| departed.next.is_some())
    }

    /// Sets the event for the next thing to happen in a cell, unless an earlier one is set.
    fn arm(&mut self, cell: CellId) {
        let own = &mut self.shared.cells[self.net.cells[cell].local as usize];
        let next = own.next();
        if next < own.armed {
            own.armed = next;
            let generation = self.generation_at(next);
            self.out.cell_timer(next, generation, Timer::Cell(cell));
        }
    }
}
