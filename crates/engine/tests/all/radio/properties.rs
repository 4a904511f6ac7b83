//! Laws of any cell: no reception without a sender, one activity of a transceiver at a time, arrival of a packet once
//! all its frames have arrived, and no unreported loss.

use super::engines::{cell, transport};
use super::{Drive, circle, discovering, framing, raw};
use crate::support::*;
use incast_cc::Time;
use incast_engine::testing::{Sighting, What};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const ERRORS: [Errors; 4] = [Errors::Ns3, Errors::Sinr, Errors::Overlap, Errors::None];

/// Two to eight stations at any places, with any rules.
fn cells() -> impl Strategy<Value = CellSpec> {
    let places = prop::collection::vec((0.0..150.0f64, 0.0..150.0f64), 2..8);
    let rules = (0..4usize, any::<[bool; 5]>(), 0..4u32, 0..3u32, 0..4usize);
    (places, rules).prop_map(|(places, (errors, [window, foreign, rejects, restarts, acks], least, retries, kind))| {
        let spec = CellSpec { framing: framing(), ..circle(places.len() as u32 - 1) };
        let stations = spec.stations.iter().zip(places).map(|(station, at)| StationSpec { at, ..*station }).collect();
        let assessment = if window { Assessment::Window } else { Assessment::End };
        let phy = PhySpec { errors: ERRORS[errors], assessment, ..spec.phy };
        let mac = MacSpec {
            least_exponent: least,
            retries,
            acknowledged: acks,
            foreign_acks_fail: foreign,
            duplicates_rejected: rejects,
            reception_restarts: restarts,
            ..spec.mac
        };
        let spec = CellSpec { stations, phy, mac, ..spec };
        match kind {
            0 => spec,
            1 => raw(spec),
            2 => discovering(spec),
            _ => {
                let mesh = Some(MeshSpec { hops: 4, remembered: 10, jitter_ms: 9 });
                let adaptation = framing().adaptation.map(|a| AdaptationSpec { mesh, ..a });
                CellSpec { framing: FramingSpec { adaptation, ..framing() }, ..spec }
            }
        }
    })
}

/// A received frame was sent by another station: it ends there its airtime after its first bit, plus at most a few
/// hundred nanoseconds of propagation.
fn sent_before(sent: &[&Sighting], heard: &Sighting) -> bool {
    let takes = Time::us(16 * (12 + 2 * heard.frame.psdu as u64));
    sent.iter().any(|s| {
        let end = s.time + takes;
        s.station != heard.station && s.frame == heard.frame && end <= heard.time && heard.time < end + Time::us(1)
    })
}

proptest! {
    #![proptest_config(crate::support::cases(60))]

    #[test]
    fn frames_and_packets_keep_the_laws_of_a_cell(
        spec in cells(),
        packets in prop::collection::vec((0..40u64, 0..8u16, 1..8u16, 40..700u32), 1..40),
    ) {
        let n = spec.stations.len() as u16;
        let most = if spec.framing.adaptation.is_some() { 1280 } else { 114 };
        let mut drive = Drive::new(&spec);
        let mut free: BTreeSet<u16> = (0..n).collect();
        let (mut now, mut to_of) = (0, Vec::new());
        for (gap, from, to, size) in packets {
            now += gap;
            drive.until(Time::ms(now));
            // a station hands over a packet when it is done with the previous one
            drive.done.drain(..).for_each(|station| { free.insert(station); });
            let (from, to) = (from % n, (from + 1 + to % (n - 1)) % n);
            if free.remove(&from) {
                to_of.push(to);
                if !drive.submit(Time::ms(now), (from, to), size.min(most).max(if most > 114 { 60 } else { 20 })) {
                    free.insert(from);
                }
            }
        }
        drive.until(Time::s(300));
        let sightings = drive.cell.sightings.take().unwrap_or_default();
        let (sent, heard): (Vec<&Sighting>, Vec<&Sighting>) = sightings.iter().partition(|s| s.begins);
        prop_assert!(heard.iter().all(|h| sent_before(&sent, h)), "a frame is heard that nobody sent");
        let mut until = BTreeMap::new();
        for s in &sent {
            let end = s.time + Time::us(16 * (12 + 2 * s.frame.psdu as u64));
            let before: Option<Time> = until.insert(s.station, end);
            prop_assert!(before.is_none_or(|end| end <= s.time), "two frames at once from station {}", s.station);
        }
        let sends = |h: &&Sighting| sent.iter().any(|s| {
            let end = s.time + Time::us(16 * (12 + 2 * s.frame.psdu as u64));
            s.station == h.station && s.time < h.time && h.time <= end
        });
        prop_assert!(!heard.iter().any(sends), "a station hears while it sends");
        // a packet arrives at its destination once all its frames have been received there
        let mut parts: BTreeMap<(u16, u16), BTreeSet<u16>> = BTreeMap::new();
        for h in &heard {
            if let (What::Data(part), Some((packet, count))) = (h.frame.what, h.packet) {
                let have = parts.entry((h.station, packet.id)).or_default();
                have.insert(part.index);
                prop_assert!(have.len() <= count as usize);
            }
        }
        let mut arrived = BTreeSet::new();
        for &(_, at, id) in &drive.arrived {
            prop_assert_eq!(at, to_of[id as usize - 1]);
            prop_assert!(parts.contains_key(&(at, id)), "packet {} arrives without a frame", id);
            arrived.insert(id);
        }
        let whole = sightings.iter().filter_map(|s| s.packet).map(|(packet, count)| (packet.id, count));
        for (id, count) in whole.collect::<BTreeMap<u16, u16>>() {
            let have = parts.get(&(to_of[id as usize - 1], id)).map_or(0, BTreeSet::len);
            prop_assert_eq!(arrived.contains(&id), have == count as usize, "packet {}: {} of {}", id, have, count);
        }
        // each packet arrives, is lost, or is in flight, and none is in flight after this time
        let lost: BTreeSet<u16> = drive.losses.iter().map(|l| l.1).collect();
        prop_assert_eq!(lost.len(), drive.losses.len());
        prop_assert!(arrived.is_disjoint(&lost));
        prop_assert_eq!(arrived.len() + lost.len(), to_of.len());
        prop_assert_eq!(drive.cell.under_way().count(), 0);
    }

    #[test]
    fn any_cell_is_the_same_under_both_engines(own in cells(), udp: bool, every in 20..400u64, seed in 0..1000u64) {
        let senders = own.stations.len() as u32 - 1;
        let mut spec = cell(senders, None);
        let raw = own.framing.adaptation.is_none();
        spec.cells = vec![CellSpec { channel: senders + 1, ..own }];
        spec.seed = seed;
        let sizes = changed!(transport(), sizes.mss = 40, sizes.header = 48, sizes.ack_size = 48, sizes.syn_size = 52);
        spec.transports[0] = changed!(sizes, loss.sack = !raw);
        if udp {
            spec.flows.iter_mut().for_each(|f| f.app = App::Udp(Udp { gap: Time::ms(every), random: every % 2 == 0 }));
        }
        spec.observe.acks = true;
        run_for(&mut spec, Time::s(8));
        let outcome = compared_whole(&spec);
        let counted = outcome.packets_delivered + outcome.packets_dropped + outcome.packets_in_flight;
        prop_assert_eq!(outcome.packets_sent, counted);
    }
}
