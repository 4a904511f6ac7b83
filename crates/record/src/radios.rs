//! Figures of radio cells: `radios.parquet`, and the part `radios` of the summary.

use crate::figure::Of::{F64, OptF64, Rate, Time, U64, Word};
use crate::figure::{Figures, Quantity, rows};
use crate::statistics::{PS, mean_s, ratio};
use crate::{Outcome, RadioCounts, RadioRecord};

/// `radios.parquet`.
pub(crate) const COLUMNS: &[Quantity<RadioRecord>] = &rows! {
    "station" [""] = Word(|r| &r.station), "Node of the station.";
    "cell" [""] = Word(|r| &r.cell), "Node that stands for the channel of its cell.";
    "x" ["m"] = F64(|r| r.x), "Position of the station.";
    "y" ["m"] = F64(|r| r.y), "Position of the station.";
    "frames_delivered" ["frames"] = U64(|r| r.counts.delivered),
        "Frames that ended in the measured interval acknowledged, or sent without asking for an acknowledgement.";
    "access_failures" ["frames"] = U64(|r| r.counts.access_failures),
        "Frames dropped in the measured interval because the channel was busy too often.";
    "no_acks" ["frames"] = U64(|r| r.counts.unacknowledged),
        "Frames dropped in the measured interval because no acknowledgement arrived, after all retries.";
    "tries" ["frames"] = U64(|r| r.counts.tries),
        "Transmissions of frames begun in the measured interval, retries included.";
    "acks" ["frames"] = U64(|r| r.counts.acks), "Transmissions of acknowledgements begun in the measured interval.";
    "accesses" ["1"] = U64(|r| r.counts.accesses), "Accesses to the channel begun in the measured interval.";
    "assessments" ["1"] = U64(|r| r.counts.assessments),
        "Clear channel assessments that ended in the measured interval.";
    "assessments_busy" ["1"] = U64(|r| r.counts.busy_assessments),
        "Clear channel assessments that found the channel busy.";
    "foreign_acks" ["frames"] = U64(|r| r.counts.foreign_acks),
        "Acknowledgements of other stations' frames that ended a wait in the measured interval; the transmission had \
         failed.";
    "frames_received" ["frames"] = U64(|r| r.counts.received),
        "Frames received in the measured interval, addressed to this station or to all.";
    "frames_missed" ["frames"] = U64(|r| r.counts.missed),
        "Unicast frames to this station that ended in the measured interval and that it did not hear: it was \
         transmitting, turning around, receiving another frame, or out of range.";
    "frames_collided" ["frames"] = U64(|r| r.counts.collided),
        "Unicast frames to this station that ended in the measured interval and whose reception was destroyed by other \
         signals.";
    "frames_repeated" ["frames"] = U64(|r| r.counts.repeated),
        "Frames received again in the measured interval, recognised and discarded.";
    "packets_again" ["packets"] = U64(|r| r.counts.duplicates),
        "Packets that arrived again in the measured interval because an acknowledgement was lost.";
    "packets_incomplete" ["packets"] = U64(|r| r.counts.incomplete),
        "Packets given up in the measured interval because some of their fragments did not arrive.";
    "packets_lost" ["packets"] = U64(|r| r.counts.lost),
        "Packets sent by this station and lost in the cell in the measured interval.";
    "discovery" ["packets"] = U64(|r| r.counts.discovery),
        "Neighbour discovery messages sent in the measured interval.";
    "service_mean_s" ["s"] = OptF64(|r| service(&r.counts)),
        "Mean time from the head of the queue to reception, over acknowledged frames; missing without any.";
    "transmitting_s" ["s"] = Time(|r| r.counts.transmitting_ps), "Time spent transmitting in the measured interval.";
    "receiving_s" ["s"] = Time(|r| r.receiving_ps),
        "Time spent receiving frames in the measured interval, whatever their destination.";
    "listening_s" ["s"] = Rate(|r, interval| Some(listening(r, interval))),
        "Time spent neither transmitting nor receiving in the measured interval.";
    "energy_j" ["J"] = Rate(|r, interval| Some(energy(r, interval))),
        "Energy consumed by the transceiver in the measured interval, from the scenario's currents.";
    "channel_busy" ["1"] = Rate(|r, interval| ratio(r.channel_busy_ps as f64, interval as f64)),
        "Share of the measured interval in which the channel of its cell was busy.";
};

fn service(counts: &RadioCounts) -> Option<f64> {
    mean_s(counts.service_ps, counts.delivered).filter(|_| counts.service_ps > 0)
}

fn listening(r: &RadioRecord, interval: u64) -> f64 {
    interval.saturating_sub(r.counts.transmitting_ps + r.receiving_ps) as f64 / PS
}

fn energy(r: &RadioRecord, interval: u64) -> f64 {
    let [transmitting, receiving, listening_mw] = r.power_mw;
    let active = r.counts.transmitting_ps as f64 / PS * transmitting + r.receiving_ps as f64 / PS * receiving;
    (active + listening(r, interval) * listening_mw) / 1e3
}

fn sum(outcome: &Outcome, of: fn(&RadioRecord) -> u64) -> Option<u64> {
    (!outcome.radios.is_empty()).then(|| outcome.radios.iter().map(of).sum())
}

fn share(outcome: &Outcome, of: fn(&RadioRecord) -> u64, all: fn(&RadioRecord) -> u64) -> Option<f64> {
    ratio(sum(outcome, of)? as f64, sum(outcome, all)? as f64)
}

fn busiest(outcome: &Outcome) -> Option<f64> {
    let busiest = outcome.radios.iter().map(|r| r.channel_busy_ps).max()?;
    ratio(busiest as f64, outcome.interval_ps() as f64)
}

fn total_energy(outcome: &Outcome) -> Option<f64> {
    let all = || outcome.radios.iter();
    (!outcome.radios.is_empty()).then(|| all().map(|r| energy(r, outcome.interval_ps())).sum())
}

fn ended(r: &RadioRecord) -> u64 {
    r.counts.delivered + r.counts.access_failures + r.counts.unacknowledged
}

/// Part `radios` of the summary.
pub(crate) const FIGURES: Figures<Outcome> = &rows! {
    "radios.frames" ["frames"] = |o| sum(o, ended),
        "Frames that ended in the measured interval, delivered or dropped by the MAC, all stations. Null without radio \
         cells.";
    "radios.access_failures_share" ["1"] = |o| share(o, |r| r.counts.access_failures, ended),
        "Share of radios.frames dropped because the channel was busy too often.";
    "radios.no_acks_share" ["1"] = |o| share(o, |r| r.counts.unacknowledged, ended),
        "Share of radios.frames dropped because no acknowledgement arrived.";
    "radios.tries_per_delivered" ["1"] = |o| share(o, |r| r.counts.tries, |r| r.counts.delivered),
        "Transmissions in the measured interval per delivered frame.";
    "radios.granted_share" ["1"] = |o| share(o, |r| r.counts.tries, |r| r.counts.accesses),
        "Share of the accesses to the channel that ended in a transmission.";
    "radios.assessments_per_access" ["1"] = |o| share(o, |r| r.counts.assessments, |r| r.counts.accesses),
        "Clear channel assessments per access.";
    "radios.packets_lost" ["packets"] = |o| sum(o, |r| r.counts.lost),
        "Packets lost in the cells in the measured interval.";
    "radios.discovery" ["packets"] = |o| sum(o, |r| r.counts.discovery),
        "Messages of neighbour discovery sent in the measured interval.";
    "radios.channel_busy" ["1"] = |o| busiest(o),
        "Share of the measured interval in which the channel was busy, in the busiest cell.";
    "radios.energy_j" ["J"] = |o| total_energy(o),
        "Energy consumed by transceivers in the measured interval, all stations.";
};
