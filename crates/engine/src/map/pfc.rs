//! Priority flow control: a switch pauses its neighbours instead of dropping their packets (IEEE 802.1Qbb).
//!
//! Each class of a link has an account in the buffer of the switch at its end ([`buffer`](crate::port::buffer)), which
//! decides when to pause and when to resume. The switch then sends a frame over the opposite link. The frame waits for
//! the packet in transmission there, but for no queue, takes 64 B on the wire or more, is not counted among packets,
//! and is lost only if the link is down. From its arrival on the neighbour starts no packet of the class; other classes
//! go on. A pause holds until the frame that ends it: times in quanta, and their refreshing, are not modelled.
//!
//! A link that fails or recovers, in either direction, clears all pauses at both of its ends. When both directions are
//! up again, the switch reports at that instant which classes are to pause, and the port stays silent for as long as
//! that report may take: it starts no packet of a class that can be paused. Otherwise such packets would add to those
//! that filled the headroom before the failure. While the opposite link is down nobody can pause the link.

use crate::ids::LinkId;
use crate::port::buffer::Account;
use crate::port::pause::frame_bytes;
use crate::spec::{Discipline, Effect, Headroom, LinkSpec, PfcSpec, Spec, Threshold, TransportSpec};
use incast_cc::{Rate, Time};
use std::collections::BTreeMap;

/// Pause relations between links and accounts.
#[derive(Debug)]
pub struct Pfc {
    /// Index of every class among the lossless classes.
    pub places: Vec<Option<u32>>,
    /// First account of every link in the buffer of the switch at its end.
    first: Vec<Option<u32>>,
    /// The opposite link of every link between two nodes.
    pub back: Vec<Option<LinkId>>,
    /// True if pauses stop the NICs of hosts, not only their ports: a transport there makes packets when they are sent.
    pub nics: bool,
    /// Transitions of every link, in order: it or the opposite one fails or recovers.
    transitions: BTreeMap<LinkId, Vec<Transition>>,
}

/// A failure or recovery of a link or of the opposite one.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Time of the transition.
    pub at: Time,
    /// True if both directions are up from then on.
    pub up: bool,
    /// End of the port's silence; `at` if it is not silent.
    pub silent: Time,
}

/// Extremes of a link's rates and delays over time: its own, and those of failures that degrade it.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    slowest: Rate,
    quickest: Rate,
    longest: Time,
}

impl Extremes {
    /// Extremes of every degraded link, each value by the worst failure, even if these do not coincide.
    fn of_degraded(spec: &Spec) -> BTreeMap<LinkId, Extremes> {
        let mut known = BTreeMap::new();
        for failure in &spec.failures {
            let Effect::Degraded { rate, delay, .. } = failure.effect else { continue };
            let link = &spec.links[failure.link as usize];
            let extremes = known.entry(LinkId(failure.link)).or_insert_with(|| Extremes::from(link));
            extremes.slowest = extremes.slowest.min(rate.unwrap_or(link.rate));
            extremes.quickest = extremes.quickest.max(rate.unwrap_or(link.rate));
            extremes.longest = extremes.longest.max(delay.unwrap_or(link.delay));
        }
        known
    }
}

impl From<&LinkSpec> for Extremes {
    fn from(link: &LinkSpec) -> Extremes {
        Extremes { slowest: link.rate, quickest: link.rate, longest: link.delay }
    }
}

impl Pfc {
    /// The tables of `spec`, and the accounts of every switch. The error is a message for the user.
    pub fn new(spec: &Spec, pfc: &PfcSpec) -> Result<(Pfc, Vec<Vec<Account>>), String> {
        let mut next = 0..;
        let places: Vec<Option<u32>> = pfc.lossless.iter().map(|l| if *l { next.next() } else { None }).collect();
        let back = links_back(spec);
        let mut first = vec![None; spec.links.len()];
        let mut accounts: Vec<Vec<Account>> = vec![Vec::new(); spec.node_names.len()];
        // computed once for all links, since there are many links and transports
        let hosts = rate_of_hosts(spec);
        let packet = largest_packet(spec);
        let degraded = Extremes::of_degraded(spec);
        let extremes = |l: LinkId| degraded.get(&l).copied().unwrap_or_else(|| Extremes::from(&spec.links[l]));
        let classes = pfc.lossless.iter().filter(|l| **l).count() as u64;
        let mut transitions = transitions(spec, &back);
        for (l, link) in (0..).map(LinkId).zip(&spec.links) {
            let queue = &spec.queues[link.queue as usize];
            if queue.count() != places.len() || matches!(queue.discipline, Discipline::Trimming(_)) {
                return Err(format!(
                    "link {}: {} queues by class, where priority flow control knows {}, and none that trims",
                    link.name,
                    queue.count(),
                    places.len()
                ));
            }
            if matches!(queue.discipline, Discipline::FairNic { .. }) {
                return Err(format!("link {}: a fair NIC obeys no pause of priority flow control", link.name));
            }
            if link.to < spec.hosts {
                continue;
            }
            let Some(back) = back[l] else {
                return Err(format!(
                    "link {}: no link back, over which priority flow control could pause it",
                    link.name
                ));
            };
            let way_back = &spec.links[back];
            let pause_delay = max_pause_delay(way_back, extremes(back), classes, packet);
            if let Some(transitions) = transitions.get_mut(&l) {
                keep_silent(transitions, pause_delay);
            }
            let overhead = if spec.queues[way_back.queue as usize].count_overhead { link.overhead } else { 0 } as u64;
            let headroom = headroom(pfc, link, extremes(l), pause_delay, packet + overhead)?;
            let own = &mut accounts[link.to as usize];
            first[l] = Some(own.len() as u32);
            let threshold = pfc.threshold.unwrap_or(Threshold::Dynamic(share_of(link.rate, hosts)));
            let account = |class: u8| Account::new(l, class, pfc, headroom, threshold, overhead);
            own.extend((0u8..).zip(&pfc.lossless).filter(|c| *c.1).map(|c| account(c.0)));
        }
        let nics = spec.transports.iter().any(|t| t.protocol.facts().obeys_pauses);
        Ok((Pfc { places, first, back, nics, transitions }, accounts))
    }

    /// The account of a packet of `class` that arrived over `link`, if the class is lossless there.
    pub fn account(&self, link: LinkId, class: u8) -> Option<u32> {
        Some(self.first[link]? + (*self.places.get(class as usize)?)?)
    }

    /// The latest transition of the link, or of the opposite one, by `now`.
    pub fn transition_by(&self, link: LinkId, now: Time) -> Option<Transition> {
        let transitions = self.transitions.get(&link)?;
        Some(transitions[transitions.partition_point(|t| t.at <= now).checked_sub(1)?])
    }

    /// Time of the link's latest transition by `now`. Pauses requested before it no longer hold.
    pub fn cleared(&self, link: LinkId, now: Time) -> Option<Time> {
        self.transition_by(link, now).map(|transition| transition.at)
    }

    /// Transitions of a link not over at `now`, with the silence that follows each.
    fn to_come(&self, link: LinkId, now: Time) -> &[Transition] {
        let transitions = self.transitions.get(&link).map_or(&[][..], |transitions| transitions);
        &transitions[transitions.partition_point(|t| t.at <= now && t.silent <= now)..]
    }

    /// Time after `now` of the link's next transition or end of a silence.
    pub fn next_transition(&self, link: LinkId, now: Time) -> Option<Time> {
        self.to_come(link, now).first().map(|t| if t.at > now { t.at } else { t.silent })
    }

    /// Start and end of the first silence of the link's port that is not over at `now`.
    pub fn silence(&self, link: LinkId, now: Time) -> Option<(Time, Time)> {
        self.to_come(link, now).iter().find(|t| t.silent > t.at).map(|t| (t.at, t.silent))
    }

    /// The first transition of every link that has any.
    pub fn first_transitions(&self) -> impl Iterator<Item = (LinkId, Time)> {
        self.transitions.iter().filter_map(|(link, transitions)| Some((*link, transitions.first()?.at)))
    }
}

/// The opposite link of every link. Parallel links between two nodes are paired in order.
fn links_back(spec: &Spec) -> Vec<Option<LinkId>> {
    let mut between: BTreeMap<(u32, u32), Vec<LinkId>> = BTreeMap::new();
    for (l, link) in (0..).map(LinkId).zip(&spec.links) {
        between.entry((link.from, link.to)).or_default().push(l);
    }
    let mut back = vec![None; spec.links.len()];
    for ((from, to), links) in &between {
        for (there, here) in links.iter().zip(between.get(&(*to, *from)).into_iter().flatten()) {
            back[*there] = Some(*here);
        }
    }
    back
}

/// Transitions of every link that fails or whose opposite link does, without silences.
fn transitions(spec: &Spec, back: &[Option<LinkId>]) -> BTreeMap<LinkId, Vec<Transition>> {
    let mut spans: BTreeMap<LinkId, Vec<(Time, Time)>> = BTreeMap::new();
    for failure in spec.failures.iter().filter(|f| matches!(f.effect, Effect::Down { .. })) {
        let link = LinkId(failure.link);
        for link in [Some(link), back[link]].into_iter().flatten() {
            spans.entry(link).or_default().push((failure.from, failure.until));
        }
    }
    let transitions = |spans: Vec<(Time, Time)>| {
        // failures of both directions less recoveries, by instant
        let mut changes: BTreeMap<Time, i32> = BTreeMap::new();
        for (from, until) in spans {
            *changes.entry(from).or_default() += 1;
            *changes.entry(until).or_default() -= 1;
        }
        changes.remove(&Time::NEVER);
        let mut down = 0;
        let transition = |(at, change): (Time, i32)| {
            down += change;
            Transition { at, up: down == 0, silent: at }
        };
        changes.into_iter().map(transition).collect()
    };
    spans.into_iter().map(|(link, spans)| (link, transitions(spans))).collect()
}

/// Sets the silence after each recovery: longer than `pause_delay`, the time in which a pause reaches the port, or
/// until the next transition.
fn keep_silent(transitions: &mut [Transition], pause_delay: Time) {
    let mut next = Time::NEVER;
    for transition in transitions.iter_mut().rev() {
        if transition.up {
            transition.silent = transition.at.saturating_add(pause_delay).saturating_add(Time::ps(1)).min(next);
        }
        next = transition.at;
    }
}

/// Rate of the hosts' links. If they differ: that of the median host.
fn rate_of_hosts(spec: &Spec) -> Rate {
    let mut rates: Vec<Rate> = spec.links.iter().filter(|l| l.from < spec.hosts).map(|l| l.rate).collect();
    rates.sort_unstable();
    rates.get(rates.len().saturating_sub(1) / 2).copied().unwrap_or(Rate::INFINITE)
}

/// Share of the free buffer that an account may fill, for a link at `rate` and hosts' links at `hosts`.
fn share_of(rate: Rate, hosts: Rate) -> f64 {
    // HPCC's simulator shifts by 3, one less for every doubling of the rate
    let (mut shift, mut rate) = (3, rate.0);
    while rate > hosts.0 && shift > 0 {
        shift -= 1;
        rate /= 2;
    }
    1.0 / (1u32 << shift) as f64
}

/// Bytes of the largest packet that the transports of `spec` send.
fn largest_packet(spec: &Spec) -> u64 {
    let largest = |t: &TransportSpec| {
        let segment = t.sizes.mss + t.overhead();
        let data = if t.sizes.mtu > 0 { segment.min(t.sizes.mtu) } else { segment };
        data.max(t.sizes.ack_size + 4 * t.loss.sack_block).max(t.sizes.syn_size)
    };
    spec.transports.iter().map(largest).max().unwrap_or(0) as u64
}

/// Maximum time for a pause to reach the port of a link. The frame goes over `back`: it waits for the transmission in
/// progress there, a packet of `packet` bytes or a frame, and for frames of other `classes`.
fn max_pause_delay(back: &LinkSpec, extremes: Extremes, classes: u64, packet: u64) -> Time {
    // the time on the wire is rounded
    let wire = |bytes: u64| extremes.slowest.serialize(bytes).saturating_add(Time::ps(1));
    let frame = frame_bytes(back.overhead);
    let waits = wire(frame.max(packet + back.overhead as u64));
    let frames = wire(frame).saturating_mul(classes);
    waits.saturating_add(frames).saturating_add(extremes.longest)
}

/// Bytes that may still arrive over a link paused within `pause_delay`. An account counts packets as `counted` bytes.
fn headroom(
    pfc: &PfcSpec,
    link: &LinkSpec,
    extremes: Extremes,
    pause_delay: Time,
    counted: u64,
) -> Result<u64, String> {
    if let Headroom::Bytes(bytes) = pfc.headroom {
        return Ok(bytes);
    }
    let (time, rate) = match pfc.headroom {
        Headroom::Delays => (link.delay, link.rate),
        _ => (pause_delay.saturating_add(extremes.longest), extremes.quickest),
    };
    if rate == Rate::INFINITE {
        return Err(format!(
            "link {}: at an infinite rate no headroom holds what comes until it has stopped",
            link.name
        ));
    }
    let brings = (time.0 as u128 * rate.0 as u128).div_ceil(8_000_000_000_000);
    let bytes = match pfc.headroom {
        Headroom::Delays => brings.saturating_mul(3),
        // the port may just have started a packet, and another one crossed the threshold
        _ => brings.saturating_add(2 * counted as u128),
    };
    u64::try_from(bytes).map_err(|_| {
        format!(
            "link {}: {bytes} B may come until it has stopped, more than any buffer has; expected a lower rate or \
             shorter delays",
            link.name
        )
    })
}
