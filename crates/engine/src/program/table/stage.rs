//! Table of a node: its entries, and the lookup of a packet's entry.

use super::formula::value;
use super::key::{Key, local};
use super::registers::Registers;
use crate::event::packet::Packet;
use crate::program::rule::At;
use crate::spec::table::{self, Action, Exact, Formula, Miss, Target, Template};
use incast_cc::Time;
use incast_record::EntryRecord;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of rows covered by the candidate cache.
const REMEMBERED: usize = u64::BITS as usize;

/// Number of headers in the candidate cache.
const SLOTS: usize = 16;

/// Header that no packet has.
const NO_HEADER: u16 = u16::MAX;

/// Table of a node.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Rows, the highest priority first.
    rows: Vec<Row>,
    /// Candidate cache: bitmap of the first rows that a packet with this header can match. Most packets have one of a
    /// few headers.
    seen: [(u16, u64); SLOTS],
    /// Treatment of packets that no entry matches.
    pub miss: Miss,
}

/// Entries that differ only in the parts that the controller copies from packets.
#[derive(Clone, Debug)]
pub struct Row {
    value: Key,
    mask: Key,
    when: Option<Formula>,
    idle: Option<Time>,
    hard: Option<Time>,
    /// Actions on packets.
    pub acts: Arc<[Act]>,
    /// True if the actions change fields that entries match.
    pub changes: bool,
    /// Number of the template, if the controller installs its entries.
    template: Option<usize>,
    entries: Entries,
    name: String,
    priority: u32,
}

#[derive(Clone, Debug)]
enum Entries {
    /// Entry of the scenario.
    One(Entry),
    /// Entries installed by the controller.
    Many(Box<Many>),
}

/// Entries that the controller has installed from one template.
#[derive(Clone, Debug)]
struct Many {
    parts: Vec<Exact>,
    mask: Key,
    entries: BTreeMap<Key, Entry>,
    /// Expired entries that were replaced.
    past: Vec<(Key, Entry)>,
}

/// Entry.
#[derive(Clone, Debug)]
struct Entry {
    installed: Time,
    /// Expiry by the idle timeout, and by the hard timeout.
    idle_until: Time,
    until: Time,
    packets: u64,
    bytes: u64,
}

impl Entry {
    fn new(now: Time, idle: Option<Time>, hard: Option<Time>) -> Entry {
        let end = |time: Option<Time>| time.map_or(Time::NEVER, |time| now.saturating_add(time));
        Entry { installed: now, idle_until: end(idle), until: end(hard), packets: 0, bytes: 0 }
    }

    #[inline]
    fn is_there(&self, now: Time) -> bool {
        now < self.idle_until && now < self.until
    }

    fn record(&self, row: &Row, key: Option<(&Key, &[Exact])>, end: Time) -> EntryRecord {
        let mut entry = row.name.clone();
        for (i, part) in key.into_iter().flat_map(|(key, parts)| parts.iter().map(|part| key.part(*part))).enumerate() {
            entry += &format!("{}{}={}", if i == 0 { " " } else { "," }, part.0, part.1);
        }
        EntryRecord {
            entry,
            priority: row.priority,
            installed_ps: self.installed.0,
            ended_ps: Some(self.idle_until.min(self.until)).filter(|ended| *ended <= end).map(|ended| ended.0),
            packets: self.packets,
            bytes: self.bytes,
            ..EntryRecord::default()
        }
    }
}

/// Action at one node.
#[derive(Clone, Debug)]
pub enum Act {
    /// Action of the specification.
    Does(Action),
    /// Output by this local port.
    Output(usize),
}

impl Row {
    /// Row of an entry, or of the entries of a template, at a node whose ports feed `links`; `None` if they cannot
    /// match.
    fn new(entry: &table::Entry, template: Option<(usize, &[Exact])>, links: &[u32]) -> Option<Row> {
        let (value, mask) = Key::of_match(&entry.matches, links)?;
        let act = |action: &Action| match action {
            Action::Output(to) => local(to, links).map(Act::Output),
            other => Some(Act::Does(other.clone())),
        };
        let changes = |action: &Action| match action {
            Action::Mark | Action::Back | Action::Output(_) | Action::Class(_) | Action::Meter(_) => true,
            Action::Set(target, _) => *target == Target::Mark,
            _ => false,
        };
        let many = |parts: &[Exact]| Many {
            parts: parts.to_vec(),
            mask: Key::of_exact(parts),
            entries: BTreeMap::new(),
            past: Vec::new(),
        };
        Some(Row {
            value,
            mask,
            when: entry.when.clone(),
            idle: entry.idle,
            hard: entry.hard,
            acts: entry.actions.iter().filter_map(act).collect(),
            changes: entry.actions.iter().any(changes),
            template: template.map(|(number, _)| number),
            entries: match template {
                Some((_, parts)) => Entries::Many(Box::new(many(parts))),
                None => Entries::One(Entry::new(Time::ZERO, entry.idle, entry.hard)),
            },
            name: entry.name.clone(),
            priority: entry.priority.into(),
        })
    }

    /// Mask over all fields that its entries match.
    fn whole_mask(&self) -> Key {
        match &self.entries {
            Entries::One(_) => self.mask,
            Entries::Many(many) => self.mask.and(&many.mask),
        }
    }
}

impl Stage {
    /// Table `number` at a node whose ports feed `links`, with the templates of the controller.
    pub fn new(number: usize, stage: &table::Stage, templates: &[Template], links: &[u32]) -> Stage {
        let own = stage.entries.iter().filter_map(|entry| Row::new(entry, None, links));
        let templates = templates.iter().enumerate().filter(|(_, template)| template.stage == number);
        let of_templates = templates.filter_map(|(i, t)| Row::new(&t.entry, Some((i, &t.exact)), links));
        let mut rows: Vec<Row> = own.chain(of_templates).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.priority));
        Stage { rows, seen: [(NO_HEADER, 0); SLOTS], miss: stage.miss }
    }

    /// True if its entries match fields that are known only from the packet's flow.
    pub fn asks_third(&self) -> bool {
        self.rows.iter().any(|row| row.whole_mask().asks_third())
    }

    /// Row by number.
    #[inline]
    pub fn row(&self, number: usize) -> &Row {
        &self.rows[number]
    }

    /// Bitmap of the first rows that a packet with this header can match.
    #[inline]
    fn candidates(&mut self, key: &Key) -> u64 {
        let header = key.header();
        let slot = &mut self.seen[(header ^ header >> 4 ^ header >> 9) as usize % SLOTS];
        if slot.0 != header {
            *slot = (header, candidates(&self.rows, key));
        }
        slot.1
    }

    /// Finds the row that matches a packet, counts the packet there, and returns the row's number.
    #[inline]
    pub fn match_row(&mut self, key: &Key, at: &At, packet: &Packet, registers: &Registers) -> Option<usize> {
        let mut left = self.candidates(key);
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.rows[i].matches(key, at, packet, registers) {
                return Some(i);
            }
        }
        if self.rows.len() > REMEMBERED { self.match_late_row(key, at, packet, registers) } else { None }
    }

    /// [`Stage::match_row`] for rows beyond the candidate cache.
    #[cold]
    fn match_late_row(&mut self, key: &Key, at: &At, packet: &Packet, registers: &Registers) -> Option<usize> {
        (REMEMBERED..self.rows.len()).find(|i| self.rows[*i].matches(key, at, packet, registers))
    }

    /// Installs the entry of template `number` for a packet. It replaces an equal entry and takes over its counts.
    pub fn install(&mut self, number: usize, key: &Key, now: Time) {
        let Some(row) = self.rows.iter_mut().find(|row| row.template == Some(number)) else { return };
        let (idle, hard) = (row.idle, row.hard);
        let Entries::Many(many) = &mut row.entries else { return };
        if !key.fits(&row.value, &row.mask) {
            return;
        }
        let exact = key.masked(&many.mask);
        let mut entry = Entry::new(now, idle, hard);
        if let Some(known) = many.entries.remove(&exact) {
            if known.is_there(now) {
                (entry.packets, entry.bytes) = (known.packets, known.bytes);
            } else {
                many.past.push((exact, known));
            }
        }
        many.entries.insert(exact, entry);
    }

    /// Visits the counts of its entries up to `end`.
    pub fn report(&self, end: Time, visit: &mut dyn FnMut(EntryRecord)) {
        for row in &self.rows {
            match &row.entries {
                Entries::One(entry) => visit(entry.record(row, None, end)),
                Entries::Many(many) => {
                    let mut all: Vec<(&Key, &Entry)> = many.past.iter().map(|(key, entry)| (key, entry)).collect();
                    all.extend(&many.entries);
                    all.sort_by_key(|(key, entry)| (entry.installed, **key));
                    all.iter().for_each(|(key, entry)| visit(entry.record(row, Some((key, &many.parts)), end)));
                }
            }
        }
    }
}

/// Bitmap of the first rows whose flags, kind and ECN bits match a packet.
#[cold]
fn candidates(rows: &[Row], key: &Key) -> u64 {
    let header = Key::header_mask();
    let fits = |row: &Row| key.fits(&row.value, &row.mask.masked(&header));
    (0..).zip(rows.iter().take(REMEMBERED)).fold(0, |bits, (i, row)| bits | u64::from(fits(row)) << i)
}

impl Row {
    /// Returns whether a packet matches one of its entries, which then counts the packet.
    #[inline]
    fn matches(&mut self, key: &Key, at: &At, packet: &Packet, registers: &Registers) -> bool {
        key.fits(&self.value, &self.mask) && self.counts(key, at, packet, registers)
    }

    /// Returns whether an entry matched by key has not expired and its condition holds; if so, it counts the packet.
    #[inline(never)]
    fn counts(&mut self, key: &Key, at: &At, packet: &Packet, registers: &Registers) -> bool {
        let entry = match &mut self.entries {
            Entries::One(entry) => entry,
            Entries::Many(many) => match many.entries.get_mut(&key.masked(&many.mask)) {
                Some(entry) => entry,
                None => return false,
            },
        };
        let holds = |when: &Formula| value(when, at, packet, registers).is_some_and(|value| value != 0);
        if !entry.is_there(at.now) || !self.when.as_ref().is_none_or(holds) {
            return false;
        }
        entry.packets += 1;
        entry.bytes += packet.size as u64;
        if let Some(idle) = self.idle {
            entry.idle_until = at.now.saturating_add(idle);
        }
        true
    }
}
