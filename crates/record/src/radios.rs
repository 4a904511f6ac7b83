//! Figures of radio cells: `radios.parquet`, and the part `radios` of the summary.

use crate::figure::Of::{F64, OptF64, Rate, Time, U64, Word};
use crate::figure::{Figures, Quantity, rows};
use crate::statistics::{PS, mean_s, ratio};
use crate::{Outcome, RadioCounts, RadioRecord};

/// `radios.parquet`.
pub(crate) const COLUMNS: &[Quantity<RadioRecord>] = &rows! {
    "station" [""] = Word(|r| &r.station), "Node of the station.";
    "cell" [""] = Word(|r| &r.cell), "Node that stands for the channel of its cell.";
    "x" ["m"] = F64(|r| r.x), "Where it is.";
    "y" ["m"] = F64(|r| r.y), "Where it is.";
    "frames_delivered" ["frames"] = U64(|r| r.counts.delivered),
        "Frames that ended in the measured interval acknowledged, or sent where no acknowledgement is asked for.";
    "access_failures" ["frames"] = U64(|r| r.counts.access_failures),
        "Frames dropped in the measured interval as the channel was busy too often.";
    "no_acks" ["frames"] = U64(|r| r.counts.unacknowledged),
        "Frames dropped in the measured interval as no acknowledgement came, after all retries.";
    "tries" ["frames"] = U64(|r| r.counts.tries),
        "Transmissions of frames begun in the measured interval, retries included.";
    "acks" ["frames"] = U64(|r| r.counts.acks), "Transmissions of acknowledgements begun in the measured interval.";
    "accesses" ["1"] = U64(|r| r.counts.accesses), "Accesses to the channel begun in the measured interval.";
    "assessments" ["1"] = U64(|r| r.counts.assessments),
        "Clear channel assessments that ended in the measured interval.";
    "assessments_busy" ["1"] = U64(|r| r.counts.busy_assessments), "Those of them that found the channel busy.";
    "foreign_acks" ["frames"] = U64(|r| r.counts.foreign_acks),
        "Acknowledgements of other stations' frames that ended a wait in the measured interval: the try had failed.";
    "frames_received" ["frames"] = U64(|r| r.counts.received),
        "Frames for it, or for all, that it received in the measured interval.";
    "frames_missed" ["frames"] = U64(|r| r.counts.missed),
        "Frames for it alone that ended in the measured interval and that it did not follow: it was transmitting, \
         turning, following another, or out of range.";
    "frames_collided" ["frames"] = U64(|r| r.counts.collided),
        "Frames for it alone that ended in the measured interval, that it followed, and that other signals destroyed.";
    "frames_repeated" ["frames"] = U64(|r| r.counts.repeated),
        "Frames received in the measured interval that it knew, and took no further.";
    "packets_again" ["packets"] = U64(|r| r.counts.duplicates),
        "Packets that arrived again in the measured interval, as an acknowledgement had been lost.";
    "packets_incomplete" ["packets"] = U64(|r| r.counts.incomplete),
        "Packets of which it had fragments, given up in the measured interval as the others did not come.";
    "packets_lost" ["packets"] = U64(|r| r.counts.lost),
        "Packets that it sent and that the cell lost in the measured interval.";
    "discovery" ["packets"] = U64(|r| r.counts.discovery),
        "Messages of neighbour discovery that it sent in the measured interval.";
    "service_mean_s" ["s"] = OptF64(|r| service(&r.counts)),
        "Mean time from when a frame is at the head of the queue to its reception, over acknowledged frames; missing \
         without any.";
    "transmitting_s" ["s"] = Time(|r| r.counts.transmitting_ps), "Time in the measured interval that it transmitted.";
    "receiving_s" ["s"] = Time(|r| r.receiving_ps),
        "Time in the measured interval that it followed frames, whoever they were for.";
    "listening_s" ["s"] = Rate(|r, interval| Some(listening(r, interval))),
        "Time in the measured interval that it did neither.";
    "energy_j" ["J"] = Rate(|r, interval| Some(energy(r, interval))),
        "Energy that its transceiver took in the measured interval, by the scenario's currents.";
    "channel_busy" ["1"] = Rate(|r, interval| ratio(r.channel_busy_ps as f64, interval as f64)),
        "Part of the measured interval in which anything was on the air in its cell.";
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

/// The part `radios` of the summary.
pub(crate) const FIGURES: Figures<Outcome> = &rows! {
    "radios.frames" ["frames"] = |o| sum(o, ended),
        "Frames that ended in the measured interval, delivered or dropped by the MAC, all stations. Nothing without \
         radio cells.";
    "radios.access_failures_share" ["1"] = |o| share(o, |r| r.counts.access_failures, ended),
        "Part of them dropped as the channel was busy too often.";
    "radios.no_acks_share" ["1"] = |o| share(o, |r| r.counts.unacknowledged, ended),
        "Part of them dropped as no acknowledgement came.";
    "radios.tries_per_delivered" ["1"] = |o| share(o, |r| r.counts.tries, |r| r.counts.delivered),
        "Transmissions in the measured interval for each frame delivered.";
    "radios.granted_share" ["1"] = |o| share(o, |r| r.counts.tries, |r| r.counts.accesses),
        "Part of the accesses to the channel that ended in a transmission.";
    "radios.assessments_per_access" ["1"] = |o| share(o, |r| r.counts.assessments, |r| r.counts.accesses),
        "Clear channel assessments for each access.";
    "radios.packets_lost" ["packets"] = |o| sum(o, |r| r.counts.lost),
        "Packets that the cells lost in the measured interval.";
    "radios.discovery" ["packets"] = |o| sum(o, |r| r.counts.discovery),
        "Messages of neighbour discovery sent in the measured interval.";
    "radios.channel_busy" ["1"] = |o| busiest(o),
        "Part of the measured interval in which anything was on the air, in the busiest cell.";
    "radios.energy_j" ["J"] = |o| total_energy(o),
        "Energy that transceivers took in the measured interval, all stations.";
};
