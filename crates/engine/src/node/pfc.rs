//! Priority flow control of a switch: pauses, resumes and obeys its neighbours ([`crate::map::pfc`] has the rules).

use crate::event::order::Timer;
use crate::event::packet::Packet;
use crate::ids::{LinkId, Node, PoolIx};
use crate::node::context::{Effects, NodeCtx};

impl<E: Effects> NodeCtx<'_, E> {
    /// Called when an account of a buffer in this domain has gained a packet, or with `left` has lost one. Pauses or
    /// resumes the neighbour if necessary.
    #[cold]
    pub fn balance(&mut self, at: PoolIx, account: u32, packet: &Packet, left: bool) {
        let Some(pfc) = &self.net.pfc else { return };
        let pool = &mut self.shared.pools[at];
        let (link, class) = (pool.account(account).link, pool.account(account).class);
        let cleared = pfc.cleared(link, self.now);
        let changed = match left {
            true => pool.resumes(account, cleared),
            false => pool.pauses(account, packet, self.now, cleared),
        };
        let Some(back) = pfc.back[link].filter(|_| changed) else { return };
        let port = self.net.port_of[back];
        self.watch(port);
        if !left {
            self.record_request((at, account), port);
        }
        let frame = Packet::pause_frame(packet, class, !left, self.now);
        self.settle_early(port);
        match self.ports[port].send_frame(self.now, frame, &self.net.interval) {
            Some(ends) => self.timer(ends, Timer::Departure(back)),
            None if self.ports[port].sends_early() => self.note_end(port),
            None => {}
        }
    }

    /// Handles a pause frame, which arrives over the opposite link of the one that it is about.
    #[cold]
    pub fn obey(&mut self, frame: &Packet) {
        let Some(pfc) = &self.net.pfc else { return };
        let Some(link) = pfc.back[frame.link] else { return };
        if pfc.cleared(link, self.now).is_some_and(|cleared| cleared > frame.sent_at()) {
            return;
        }
        let port = self.net.port_of[link];
        self.watch(port);
        let before = self.paused_before(port);
        self.settle_early(port);
        let ends = self.ports[port].obey(frame, self.now, &self.net.interval);
        self.record_obeyed(link, frame, &before);
        if pfc.nics
            && let Node::Host(host) = self.net.origins[link].get()
        {
            self.pause_nic(host, frame.paused_class(), frame.pauses());
        }
        self.count_dropped(port);
        self.send_begun(port);
        if let Some(ends) = ends {
            self.timer(ends, Timer::Departure(link));
        }
    }

    /// Called when a link or the opposite one fails or recovers, or when the silence of its port ends.
    #[cold]
    pub fn transition(&mut self, link: LinkId) {
        let (now, net) = (self.now, self.net);
        let (Some(pfc), Some(spec)) = (&net.pfc, net.spec.pfc()) else { return };
        if let Some(next) = pfc.next_transition(link, now) {
            self.timer(next, Timer::Transition(link));
        }
        let transition = pfc.transition_by(link, now).filter(|transition| transition.at == now);
        if transition.is_some_and(|transition| transition.up) {
            self.resend_pauses(link);
        }
        let port = net.port_of[link];
        if transition.is_some() {
            self.ports[port].keep_silent(pfc.silence(link, now).unwrap_or_default(), spec);
        }
        self.settle_early(port);
        // an unused port is left alone: the run may be over
        if !self.ports[port].is_in_use() {
            return;
        }
        self.watch(port);
        if transition.is_some() {
            let before = self.paused_before(port);
            self.ports[port].clear_pauses(now, &net.interval);
            self.record_cleared(link, &before);
            if pfc.nics
                && let Node::Host(host) = net.origins[link].get()
            {
                self.shared.nic_queues[host.ix()].resume_all();
                self.await_tx_slot(host);
            }
        }
        let ends = self.ports[port].go_on(now, &net.interval);
        self.count_dropped(port);
        self.send_begun(port);
        if let Some(ends) = ends {
            self.timer(ends, Timer::Departure(link));
        }
    }

    /// Reports over `link`, which has recovered, which classes of the opposite link are to pause.
    fn resend_pauses(&mut self, link: LinkId) {
        let Some(pfc) = &self.net.pfc else { return };
        let Some(pool) = self.ports[self.net.port_of[link]].pool() else { return };
        let from = pfc.back[link];
        for class in 0..pfc.places.len() {
            let Some(account) = from.and_then(|from| pfc.account(from, class as u8)) else { continue };
            if self.shared.pools[pool].account(account).is_empty() {
                continue;
            }
            // any packet of the account stands for the latest one, which may have left: with little headroom and
            // packets of different sizes, the space requested is that for another packet of its size
            let own = self.ports.iter().filter(|p| p.pool() == Some(pool));
            if let Some(packet) = { own }.find_map(|p| p.packet_on(account)).copied() {
                self.balance(pool, account, &packet, false);
            }
        }
    }
}
