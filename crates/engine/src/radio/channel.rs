//! Channel of a cell: the frames on the air, and the reception of each station.
//!
//! A frame is an entry of a log. No event takes place at a station when a frame begins or ends there. Reception is
//! computed on demand ([`Channel::hears`]), or before the transceiver changes state, from the frames that have reached
//! the station since the last time. So a frame costs no event at stations that it does not concern.

use super::errors::{Survival, milliwatts};
use super::frame::Frame;
use super::log::{Log, OnAir};
use super::series;
use super::timing::{self, ASSESSMENT};
use crate::hash::{purpose, uniform};
use crate::spec::{Assessment, CellSpec, Errors, MAX_PSDU, Propagation};
use incast_cc::Time;

/// Speed of light, metres per second.
const LIGHT: f64 = 299_792_458.0;
/// Minimum ratio of signal to interference and noise at which a station follows a frame: -5 dB.
const FOLLOWED_FROM: f64 = 0.316_227_766_016_837_94;
/// Maximum number of frames that may reach a station out of order, after the first one that has not reached it.
const OUT_OF_ORDER: u64 = 64;

/// Airtime of the longest frame.
const LONGEST_FRAME: Time = timing::airtime(MAX_PSDU as u8);

/// The frame that a station follows.
#[derive(Clone, Copy, Debug)]
struct Followed {
    number: u64,
    /// Time at which its end reaches the station.
    ends: Time,
    /// Time from which interference is still to be evaluated.
    checked: Time,
    checks: u32,
    /// True if it may concern the station. Otherwise its reception does not matter.
    concerns: bool,
    /// True if no other signal was present since it began.
    alone: bool,
    destroyed: bool,
}

/// Reception state of a station.
#[derive(Clone, Debug)]
struct Reception {
    /// Number of the first frame in the log that has not reached the station, and a bit for each later one that has.
    next: u64,
    beyond: u64,
    /// Start and end of the time in which the station cannot receive.
    not_receiving: (Time, Time),
    followed: Option<Followed>,
    /// The last frame received completely.
    received: Option<u64>,
    /// The last frame that was followed and lost.
    lost: Option<u64>,
    count: ReceptionCounts,
}

/// Counters of reception at a station.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct ReceptionCounts {
    /// Frames concerning the station, received completely.
    pub received: u64,
    /// Frames concerning the station, followed and destroyed by others.
    pub destroyed: u64,
    /// Time in which the station followed frames.
    pub following: Time,
}

/// Propagation from one station to another.
#[derive(Clone, Copy, Default, Debug)]
struct Path {
    /// Received power, mW; zero from a station to itself.
    power: f64,
    /// Propagation delay.
    delay: Time,
}

/// The channel.
#[derive(Clone, Debug)]
pub struct Channel {
    stations: usize,
    errors: Errors,
    assessment: Assessment,
    noise: f64,
    busy_from: f64,
    seed: u64,
    entity: u64,
    /// Propagation by receiver and sender.
    paths: Vec<Path>,
    /// Maximum propagation delay.
    pub longest: Time,
    log: Log,
    receptions: Vec<Reception>,
    survival: Survival,
    /// Time with frames on the air, without the current busy period.
    busy: Time,
    /// End and start of the current busy period.
    quiet_from: Time,
    busy_from_then: Time,
    /// Busy periods except the current one, if the channel is watched.
    busy_periods: Option<Vec<(Time, Time)>>,
}

impl Channel {
    /// The channel of `spec`, in a run with this seed. `watched`: records its busy periods.
    pub fn new(spec: &CellSpec, seed: u64, watched: bool) -> Channel {
        let n = spec.stations.len();
        let mut paths = vec![Path::default(); n * n];
        for (i, a) in spec.stations.iter().enumerate() {
            for (j, b) in spec.stations.iter().enumerate().filter(|(j, _)| *j != i) {
                let distance = libm::hypot(a.at.0 - b.at.0, a.at.1 - b.at.1);
                let pair = (i.min(j) as u64) << 32 | i.max(j) as u64;
                paths[j * n + i] = Path {
                    power: received(spec, distance, shadow(seed, spec.channel, pair)),
                    delay: Time::ns(libm::round(distance / LIGHT * 1e9) as u64),
                };
            }
        }
        let reception = Reception {
            next: 0,
            beyond: 0,
            not_receiving: (Time::NEVER, Time::ZERO),
            followed: None,
            received: None,
            lost: None,
            count: ReceptionCounts::default(),
        };
        Channel {
            stations: n,
            errors: spec.phy.errors,
            assessment: spec.phy.assessment,
            noise: milliwatts(spec.phy.noise),
            busy_from: milliwatts(spec.phy.busy_from),
            seed,
            entity: spec.channel as u64,
            longest: paths.iter().map(|path| path.delay).max().unwrap_or_default(),
            paths,
            log: Log::default(),
            receptions: vec![reception; n],
            survival: Survival::default(),
            busy: Time::ZERO,
            quiet_from: Time::ZERO,
            busy_from_then: Time::ZERO,
            busy_periods: watched.then(Vec::new),
        }
    }

    fn path(&self, from: u16, to: u16) -> Path {
        self.paths[to as usize * self.stations + from as usize]
    }

    /// Propagation to a station, by sender.
    fn paths_to(&self, station: u16) -> &[Path] {
        &self.paths[station as usize * self.stations..][..self.stations]
    }

    /// Propagation delay from one station to another.
    pub fn delay(&self, from: u16, to: u16) -> Time {
        self.path(from, to).delay
    }

    /// True if a station can follow a signal of another one without interference.
    pub fn reaches(&self, from: u16, to: u16) -> bool {
        from != to && self.path(from, to).power > FOLLOWED_FROM * self.noise
    }

    /// Begins a frame. Returns its number.
    pub fn begin(&mut self, from: u16, start: Time, frame: Frame) -> u64 {
        self.forget(start);
        let end = start + timing::airtime(frame.psdu);
        if start > self.quiet_from {
            self.busy += self.quiet_from - self.busy_from_then;
            if let Some(busy_periods) = &mut self.busy_periods {
                busy_periods.push((self.busy_from_then, self.quiet_from));
            }
            self.busy_from_then = start;
        }
        let alone = self.quiet_from + self.longest <= start;
        if !alone {
            let longest = self.longest;
            let others = self.log.frames_mut().iter_mut().rev();
            let others = others.take_while(|on| start < on.start + LONGEST_FRAME + longest);
            others.filter(|on| start < on.end + longest).for_each(|on| on.alone = false);
        }
        self.quiet_from = self.quiet_from.max(end);
        self.log.push(OnAir { from, start, end, frame, alone })
    }

    /// A frame that is still in the log.
    pub fn frame(&self, number: u64) -> &OnAir {
        self.log.frame(number)
    }

    /// Time with frames on the air, up to `now`.
    pub fn busy(&self, now: Time) -> Time {
        self.busy + self.quiet_from.min(now).saturating_sub(self.busy_from_then)
    }

    /// Passes the rows of the busy share's series up to `end` to `row`, if the channel is watched.
    pub fn busy_series(&mut self, interval: Option<Time>, end: Time, row: &mut impl FnMut(Time, f64)) {
        if let Some(mut busy_periods) = self.busy_periods.take() {
            busy_periods.push((self.busy_from_then, self.quiet_from));
            series::rows(&busy_periods, interval, end, row);
        }
    }

    /// Remaining time of the frame that a station is sending at `now`.
    pub fn rest(&self, station: u16, now: Time) -> Time {
        let last = self.log.frames().iter().rev().find(|on| on.from == station);
        last.map_or(Time::ZERO, |on| on.end.saturating_sub(now))
    }

    /// Reception counters of a station at `now`.
    pub fn heard(&mut self, station: u16, now: Time) -> ReceptionCounts {
        self.listen(station, now);
        let reception = &self.receptions[station as usize];
        // a frame in progress counts up to now
        let begun = |f: Followed| now.saturating_sub(self.arrival(f.number, station));
        let following = reception.count.following + reception.followed.map_or(Time::ZERO, begun);
        ReceptionCounts { following, ..reception.count }
    }

    /// Reception counters of a station, as of the last evaluation.
    pub fn counted(&self, station: u16) -> ReceptionCounts {
        self.receptions[station as usize].count
    }

    /// Stops the reception of a station `now`. The frame that it follows is lost.
    pub fn stop_reception(&mut self, station: u16, now: Time) {
        self.listen(station, now);
        let reception = &mut self.receptions[station as usize];
        reception.not_receiving = (now, Time::NEVER);
        if let Some(followed) = reception.followed.take() {
            reception.lost = Some(followed.number);
        }
    }

    /// Resumes the reception of a station at `then`.
    pub fn resume_reception(&mut self, station: u16, then: Time) {
        self.receptions[station as usize].not_receiving.1 = then;
    }

    /// True if a station has received frame `number`, whose end reaches it at `now`.
    pub fn has_received(&mut self, station: u16, number: u64, now: Time) -> bool {
        self.listen(station, now);
        self.receptions[station as usize].received == Some(number)
    }

    /// True if a station followed frame `number` and lost it.
    pub fn lost(&self, station: u16, number: u64) -> bool {
        self.receptions[station as usize].lost == Some(number)
    }

    /// True if the channel is busy at a station whose assessment ends at `now`.
    pub fn is_busy(&mut self, station: u16, now: Time) -> bool {
        let from = match self.assessment {
            Assessment::End => now,
            Assessment::Window => now.saturating_sub(ASSESSMENT),
        };
        let (mut power, paths) = (0.0, self.paths_to(station));
        for on in self.log.frames().iter().rev() {
            let path = paths[on.from as usize];
            if on.start + LONGEST_FRAME + self.longest <= from {
                break;
            }
            if on.start + path.delay <= now && on.end + path.delay > from {
                power += path.power;
            }
        }
        power >= self.busy_from || {
            self.listen(station, now);
            self.receptions[station as usize].followed.is_some()
        }
    }

    /// Arrival time of the beginning of frame `number` at a station.
    fn arrival(&self, number: u64, station: u16) -> Time {
        let on = self.frame(number);
        on.start + self.delay(on.from, station)
    }

    /// Evaluates the frames that have reached a station by `until`.
    fn listen(&mut self, station: u16, until: Time) {
        if self.pass_those_alone(station, until) {
            self.listen_closely(station, until);
        }
    }

    /// Evaluates the frames that have reached a station by `until`, where some overlap or are still in progress.
    #[inline(never)]
    fn listen_closely(&mut self, station: u16, until: Time) {
        loop {
            let next = self.next_at(station, until);
            let ends = self.receptions[station as usize].followed.map(|f| f.ends);
            match (next, ends) {
                (Some((at, _)), Some(ends)) if ends <= at => self.finish(station),
                (Some((at, number)), _) => self.reach(station, number, at),
                (None, Some(ends)) if ends <= until => self.finish(station),
                (None, _) => return,
            }
            if !self.pass_those_alone(station, until) {
                return;
            }
        }
    }

    /// Skips the next frames at a station that are over by `until` and were alone on the air. Returns whether any
    /// others are left.
    fn pass_those_alone(&mut self, station: u16, until: Time) -> bool {
        let reception = &mut self.receptions[station as usize];
        let paths = &self.paths[station as usize * self.stations..][..self.stations];
        let end = self.log.end();
        while reception.followed.is_none() {
            if reception.next == end {
                return false;
            }
            let on = self.log.frame(reception.next);
            let path = paths[on.from as usize];
            let (begins, ends) = (on.start + path.delay, on.end + path.delay);
            if !on.alone || ends > until || reception.beyond != 0 {
                break;
            }
            let (from, to) = reception.not_receiving;
            if (begins < from || begins >= to) && path.power > FOLLOWED_FROM * self.noise {
                reception.count.following += ends - begins;
                if on.frame.concerns(station) {
                    reception.received = Some(reception.next);
                    reception.count.received += 1;
                }
            }
            reception.next += 1;
        }
        true
    }

    /// The next frame that reaches a station, if one does by `until`.
    fn next_at(&self, station: u16, until: Time) -> Option<(Time, u64)> {
        let (reception, paths) = (&self.receptions[station as usize], self.paths_to(station));
        let mut earliest: Option<(Time, u64)> = None;
        let (mut latest, mut reached, mut beyond) = (until, 0, reception.beyond);
        for (number, on) in (reception.next..).zip(&self.log.frames()[(reception.next - self.log.first()) as usize..]) {
            if latest < on.start {
                break;
            }
            if reached & 1 == 0 {
                let at = on.start + paths[on.from as usize].delay;
                if at <= until && earliest.is_none_or(|(other, _)| at < other) {
                    (earliest, latest) = (Some((at, number)), at);
                }
            }
            (reached, beyond) = (beyond, beyond >> 1);
        }
        earliest
    }

    /// Handles the beginning of frame `number` at a station, at `at`.
    fn reach(&mut self, station: u16, number: u64, at: Time) {
        let on = *self.frame(number);
        if on.from != station {
            let signal = self.path(on.from, station).power;
            if self.receptions[station as usize].followed.is_some() {
                self.check(station, at, Some(number));
                self.disturb(station, signal);
            } else {
                let (from, until) = self.receptions[station as usize].not_receiving;
                let hears = at < from || at >= until;
                let others = if hears { self.interference(station, at, number) } else { 0.0 };
                if hears && signal > FOLLOWED_FROM * (others + self.noise) {
                    let ends = on.end + self.delay(on.from, station);
                    let destroyed = self.errors == Errors::Overlap && others > FOLLOWED_FROM * self.noise;
                    let concerns = on.frame.concerns(station);
                    let alone = others == 0.0;
                    let followed = Followed { number, ends, checked: at, checks: 0, concerns, alone, destroyed };
                    self.receptions[station as usize].followed = Some(followed);
                }
            }
        }
        let reception = &mut self.receptions[station as usize];
        match number - reception.next {
            0 => {
                reception.next += 1;
                while reception.beyond & 1 == 1 {
                    reception.next += 1;
                    reception.beyond >>= 1;
                }
                reception.beyond >>= 1;
            }
            n => reception.beyond |= 1 << (n.min(OUT_OF_ORDER) - 1),
        }
    }

    /// Handles the beginning of another signal while a station follows a frame.
    fn disturb(&mut self, station: u16, signal: f64) {
        let destroys = self.errors == Errors::Overlap && signal > FOLLOWED_FROM * self.noise;
        if let Some(followed) = &mut self.receptions[station as usize].followed {
            followed.alone &= signal == 0.0;
            followed.destroyed |= destroys;
        }
    }

    /// Handles the end of the frame that a station follows.
    fn finish(&mut self, station: u16) {
        let Some(Followed { number, ends, .. }) = self.receptions[station as usize].followed else { return };
        self.check(station, ends, None);
        let arrived = self.arrival(number, station);
        let reception = &mut self.receptions[station as usize];
        let Some(followed) = reception.followed.take() else { return };
        reception.count.following += ends - arrived;
        if !followed.concerns {
            return;
        }
        if followed.destroyed {
            reception.lost = Some(number);
            reception.count.destroyed += 1;
        } else {
            reception.received = Some(number);
            reception.count.received += 1;
        }
    }

    /// Evaluates interference with the frame that a station follows, from the last evaluation until `at`: the beginning
    /// of signal number `before`, or the end of the frame.
    fn check(&mut self, station: u16, at: Time, before: Option<u64>) {
        let followed = self.receptions[station as usize].followed;
        let Some(followed) = followed.filter(|followed| followed.concerns) else { return };
        if followed.alone {
            if let Some(f) = &mut self.receptions[station as usize].followed {
                f.checked = at;
            }
            return;
        }
        let signal = self.path(self.frame(followed.number).from, station).power;
        let (mut survives, mut since) = (1.0, followed.checked);
        if !matches!(self.errors, Errors::Overlap | Errors::None) && !followed.destroyed {
            if self.errors == Errors::Sinr {
                for end in self.ends_between(station, since, at, followed.number) {
                    let others = self.interference_before(station, end, followed.number);
                    survives *= self.survival(signal, others, end - since);
                    since = end;
                }
            }
            let others = match before {
                Some(number) => self.interference_with(station, at, followed.number, number),
                None => self.interference_before(station, at, followed.number),
            };
            survives *= self.survival(signal, others, at - since);
        }
        let (seed, entity) = (self.seed, self.entity << 32 | station as u64);
        let Some(f) = &mut self.receptions[station as usize].followed else { return };
        if survives < 1.0 {
            let drawn = uniform(seed, purpose::RADIO_ERROR, entity, f.number << 16 | f.checks as u64);
            f.destroyed |= drawn >= survives;
        }
        f.checks += 1;
        f.checked = at;
    }

    /// Probability that a part of a frame is received without error.
    fn survival(&mut self, signal: f64, others: f64, time: Time) -> f64 {
        if time == Time::ZERO { 1.0 } else { self.survival.of(signal / (others + self.noise), timing::bits(time)) }
    }

    /// Ends of other signals at a station between two instants, in order.
    fn ends_between(&self, station: u16, from: Time, to: Time, followed: u64) -> Vec<Time> {
        let numbered = (self.log.first()..).zip(self.log.frames());
        let others = numbered.filter(|(number, on)| *number != followed && on.from != station);
        let heard = others.filter(|(_, on)| self.path(on.from, station).power > 0.0);
        let ends = heard.map(|(_, on)| on.end + self.delay(on.from, station));
        let mut ends: Vec<Time> = ends.filter(|end| from < *end && *end < to).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Total power of the signals at a station that `counts` selects by number, beginning and end there.
    fn sum(&self, station: u16, counts: impl Fn(u64, Time, Time) -> bool) -> f64 {
        let (mut power, paths) = (0.0, self.paths_to(station));
        for (number, on) in (self.log.first()..).zip(self.log.frames()) {
            let path = paths[on.from as usize];
            if on.from != station && counts(number, on.start + path.delay, on.end + path.delay) {
                power += path.power;
            }
        }
        power
    }

    /// Power of the signals present when signal `number` begins at a station.
    fn interference(&self, station: u16, at: Time, number: u64) -> f64 {
        self.sum(station, |n, begins, ends| n != number && (begins, n) < (at, number) && ends > at)
    }

    /// Power of the signals other than `followed` that are present when signal `before` begins at a station.
    fn interference_with(&self, station: u16, at: Time, followed: u64, before: u64) -> f64 {
        self.sum(station, |n, begins, ends| n != followed && n != before && (begins, n) < (at, before) && ends > at)
    }

    /// Power of the signals other than `followed` that are present just before `at`. Of the signals that end at `at`,
    /// ns-3 counts those that began after `followed`.
    fn interference_before(&self, station: u16, at: Time, followed: u64) -> f64 {
        let all = self.errors == Errors::Sinr;
        self.sum(station, |n, begins, ends| {
            n != followed && begins <= at && (ends > at || ends == at && (all || n > followed))
        })
    }

    /// Removes frames that are over everywhere and overlap no later one, once all stations have evaluated them.
    fn forget(&mut self, now: Time) {
        // a frame that was over before the longest frame began cannot disturb a frame in progress
        let horizon = now.saturating_sub(LONGEST_FRAME).saturating_sub(self.longest);
        while self.log.frames().first().is_some_and(|on| on.end + self.longest < horizon) {
            let gone = self.log.first();
            for station in 0..self.stations as u16 {
                let reception = &self.receptions[station as usize];
                if reception.next <= gone || reception.followed.is_some_and(|followed| followed.number == gone) {
                    self.listen(station, now);
                }
            }
            self.log.forget();
        }
    }
}

/// Received power, mW, of a signal over a distance in metres. `shadow`: a standard normal number.
fn received(spec: &CellSpec, distance: f64, shadow: f64) -> f64 {
    match spec.propagation {
        Propagation::Range(max) if distance <= max => milliwatts(spec.phy.power),
        Propagation::Range(_) => 0.0,
        Propagation::LogDistance { reference, exponent, shadowing } => {
            let loss = reference + 10.0 * exponent * libm::log10(distance.max(1.0));
            milliwatts(spec.phy.power - loss - shadowing * shadow)
        }
    }
}

/// A standard normal number for a pair of stations, from two uniform ones (Box and Muller, 1958).
fn shadow(seed: u64, channel: u32, pair: u64) -> f64 {
    let draw = |counter| uniform(seed ^ (channel as u64) << 32, purpose::SHADOWING, pair, counter);
    let (u, v) = (1.0 - draw(0), draw(1));
    libm::sqrt(-2.0 * libm::log(u)) * libm::cos(core::f64::consts::TAU * v)
}
