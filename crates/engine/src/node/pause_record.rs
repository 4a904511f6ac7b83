//! Records of pauses: who asks for them, why, and when ports obey.

use crate::event::packet::Packet;
use crate::ids::{LinkId, PoolIx, PortIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx, Nodes};
use crate::port::Port;
use crate::port::buffer::Pool;
use incast_cc::Time;
use incast_record::{PauseEvent, PauseKey, PauseRequest, PauseStep, Recorder, Waiting};

/// Key of a pause of `link`, requested at `asked`.
fn key(link: LinkId, class: u8, asked: Time) -> PauseKey {
    PauseKey { asked_ps: asked.0, port: link.0, class }
}

/// Ports of a switch, given one of them; they are adjacent.
fn of_switch(ports: &[Port], own: PortIx) -> &[Port] {
    let pool = ports[own].pool();
    let own = own.ix();
    let other = |port: &Port| port.pool() != pool;
    let first = ports[..own].iter().rposition(other).map_or(0, |before| before + 1);
    let last = ports[own..].iter().position(other).map_or(ports.len(), |after| own + after);
    &ports[first..last]
}

/// Egress ports of a switch at which packets of an account wait, with their bytes as the account counts them.
fn waiting(ports: &[Port], pool: &Pool, account: u32) -> Vec<Waiting> {
    let overhead = pool.account(account).overhead;
    let at = |port: &Port| {
        let (bytes, packets) = port.held_on(account);
        Waiting { port: port.link.0, bytes: bytes + packets * overhead }
    };
    ports.iter().map(at).filter(|own| own.bytes > 0).collect()
}

impl<E: Effects> NodeCtx<'_, E> {
    /// Records that the switch with egress port `own` asks to pause the neighbour of an account, where pauses are
    /// recorded.
    pub(super) fn record_request(&mut self, (pool, account): (PoolIx, u32), own: PortIx) {
        let Some(most) = self.net.spec.observe.pauses else { return };
        let pool = &self.shared.pools[pool];
        let of = pool.account(account);
        let (bytes, headroom) = of.held();
        let waiting = waiting(of_switch(self.ports, own), pool, account);
        debug_assert_eq!(waiting.iter().map(|own| own.bytes).sum::<u64>(), bytes, "all bytes of an account wait");
        let node = self.net.spec.links[of.link].to;
        let request = PauseRequest { node, bytes, headroom, threshold: pool.pauses_from(account), waiting };
        let step = PauseStep::Asked(Box::new(request));
        self.rec.pause(PauseEvent { key: key(of.link, of.class, self.now), step }, most);
    }

    /// Records that the port of `link`, with these paused classes before, obeys a pause frame, if pauses are recorded.
    pub(super) fn record_obeyed(&mut self, link: LinkId, frame: &Packet, before: &[(u8, Time)]) {
        let class = frame.paused_class();
        let Some(most) = self.net.spec.observe.pauses else { return };
        if let Some((_, asked)) = before.iter().find(|(paused, _)| *paused == class) {
            let ended = PauseEvent { key: key(link, class, *asked), step: PauseStep::Ended(self.now.0) };
            self.rec.pause(ended, most);
        }
        if frame.pauses() {
            let begun = PauseEvent { key: key(link, class, frame.sent_at()), step: PauseStep::Begun(self.now.0) };
            self.rec.pause(begun, most);
        }
    }

    /// Records that a failure or recovery ends pauses of the port of `link`, if pauses are recorded.
    pub(super) fn record_cleared(&mut self, link: LinkId, before: &[(u8, Time)]) {
        let Some(most) = self.net.spec.observe.pauses else { return };
        for (class, asked) in before.iter().filter(|(_, asked)| *asked < self.now) {
            let ended = PauseEvent { key: key(link, *class, *asked), step: PauseStep::Ended(self.now.0) };
            self.rec.pause(ended, most);
        }
    }

    /// Paused classes of a port with the times of the requests, if pauses are recorded.
    pub(super) fn paused_before(&self, port: PortIx) -> Vec<(u8, Time)> {
        match self.net.spec.observe.pauses {
            Some(_) => self.ports[port].paused().collect(),
            None => Vec::new(),
        }
    }
}

/// Records at the `end` of a run which pauses stand, and where the bytes wait that caused them, if pauses are recorded.
pub fn record_standing<R: Recorder>(nodes: &Nodes, end: Time, net: &FabricMap, rec: &mut R) {
    let (Some(most), Some(pfc)) = (net.spec.observe.pauses, &net.pfc) else { return };
    let mut next = 0;
    while let Some(port) = nodes.ports.get(next) {
        let Some(pool) = port.pool() else {
            next += 1;
            continue;
        };
        let ports = of_switch(&nodes.ports, PortIx(next as u32));
        next += ports.len();
        let pool = &nodes.shared.pools[pool];
        for (account, of) in pool.accounts() {
            let Some(asked) = pool.paused(account) else { continue };
            if pfc.cleared(of.link, end).is_none_or(|cleared| cleared <= asked) {
                let step = PauseStep::Standing(waiting(ports, pool, account));
                rec.pause(PauseEvent { key: key(of.link, of.class, asked), step }, most);
            }
        }
    }
}
