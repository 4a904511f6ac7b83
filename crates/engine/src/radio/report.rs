//! Record of a cell's stations over the measured interval.

use super::Cell;
use super::channel::ReceptionCounts;
use super::station::Snapshot;
use crate::ids::NodeId;
use crate::spec::Spec;
use incast_cc::Time;
use incast_record::{RadioCounts, RadioRecord};

impl Cell {
    /// Takes snapshots at the start and end of the measured interval, before any event at `now`.
    #[inline]
    pub(super) fn advance_account(&mut self, now: Time) {
        if now >= self.advance_at {
            self.keep_counts(now);
        }
    }

    #[cold]
    fn keep_counts(&mut self, now: Time) {
        if self.at_from.is_none() && now >= self.interval.from {
            self.at_from = Some(self.snapshot(self.interval.from));
        }
        if self.at_to.is_none() && now >= self.interval.to {
            self.at_to = Some(self.snapshot(self.interval.to));
        }
        self.advance_at = if self.at_to.is_none() { self.interval.to } else { Time::NEVER };
    }

    /// Snapshot of the counters at an instant after the last event.
    fn snapshot(&mut self, at: Time) -> Snapshot {
        let stations = (0..self.stations.len() as u16).map(|i| {
            let mut count = self.stations[i as usize].count;
            count.transmitting_ps = count.transmitting_ps.saturating_sub(self.channel.rest(i, at).0);
            (count, self.channel.heard(i, at))
        });
        let stations = stations.collect();
        Snapshot { stations, busy: self.channel.busy(at) }
    }

    /// Current counters of the stations.
    pub fn counts(&self) -> (Vec<RadioCounts>, Vec<ReceptionCounts>) {
        let heard = (0..self.stations.len() as u16).map(|i| self.channel.counted(i));
        (self.stations.iter().map(|s| s.count).collect(), heard.collect())
    }

    /// Passes the rows of the channel's busy share up to `end` to `row`, if the channel is watched.
    pub fn busy_series(&mut self, interval: Option<Time>, end: Time, row: &mut impl FnMut(Time, f64)) {
        self.channel.busy_series(interval, end, row);
    }

    /// Gives up the fragments that expire by `end`, and takes the last snapshots.
    pub fn close(&mut self, end: Time) {
        for station in &mut self.stations {
            station.count.incomplete += station.reassembly.expire(end);
        }
        self.advance_account(end);
        if self.at_to.is_none() {
            self.at_to = Some(self.snapshot(end));
        }
    }

    /// Records of the stations, once the cell is closed.
    pub fn records(&self, spec: &Spec) -> Vec<RadioRecord> {
        let (Some(from), Some(to)) = (&self.at_from, &self.at_to) else { return Vec::new() };
        let ends = from.stations.iter().zip(&to.stations);
        let rows = self.spec.stations.iter().zip(ends).map(|(station, ((before, heard_before), (after, heard)))| {
            RadioRecord {
                station: spec.node_names[NodeId(station.node)].clone(),
                cell: spec.node_names[NodeId(self.spec.channel)].clone(),
                x: station.at.0,
                y: station.at.1,
                counts: after.since(before),
                receiving_ps: (heard.following - heard_before.following).0,
                channel_busy_ps: (to.busy - from.busy).0,
                power_mw: [
                    self.spec.energy.volts * self.spec.energy.transmitting,
                    self.spec.energy.volts * self.spec.energy.receiving,
                    self.spec.energy.volts * self.spec.energy.listening,
                ],
            }
        });
        rows.collect()
    }
}
