//! Pattern of an entry: reads the keys that belong to the pattern. Reports missing keys, keys of another pattern, and
//! contradictions between keys, before there is a network.

use super::app::{App, Bulk};
use super::arrivals::Arrivals;
use super::job::Job;
use super::roots::Roots;
use super::traffic::{DeadlineDraw, HostRef, Order, PatternName as Name, Placement, ToItself, Traffic};
use crate::files::connection_matrix::StartUnit;
use crate::text::default::infinite;
use crate::text::problem::Report;
use crate::text::words::word_of;
use incast_cc as cc;

/// Numbers of elephants published in the paper on MSwift.
const PUBLISHED: [u64; 4] = [1, 2, 3, 6];

/// A pattern with its own keys; [`Name`] documents them. `flows` is their number, or the largest number if the
/// pattern creates them itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Pattern<'t> {
    Hotspot { flows: u64, receiver: Option<&'t HostRef>, to_itself: ToItself },
    RandomHotspot { flows: u64 },
    RandomPairs { flows: u64 },
    Permutation { flows: Option<u64> },
    Incast { flows: u64, receiver: Option<&'t HostRef> },
    PartitionAggregate { roots: &'t Roots },
    Pairs { flows: Option<u64> },
    File { file: &'t str, flows: Option<u64> },
    Poisson { arrivals: &'t Arrivals, parts: Option<&'t str>, flows: Option<u64> },
    Matrix { file: &'t str, flows: Option<u64> },
    ConnectionMatrix { file: &'t str, unit: StartUnit, flows: Option<u64> },
    Elephants { of: &'t str, flows: u64, placement: Placement },
    AllToAll { members: Option<u32>, order: Order },
    RingAllreduce { members: Option<u32> },
    Job { file: Option<&'t str>, job: Option<&'t Job> },
}

impl Traffic {
    /// Reads its pattern; contradictions between all of its keys go to `at`. `duration` is the run's.
    pub(crate) fn check(&self, duration: cc::Time, at: &mut Report) -> Option<Pattern<'_>> {
        self.check_pattern(duration, at);
        if let Some(stop) = self.stop.filter(|s| *s <= self.start) {
            at.text("stop", stop, format!("expected a time after start, {}", self.start));
        }
        self.check_query(duration, at);
        if let Some(stop) = self.sink_stop.filter(|s| *s <= self.start) {
            at.text("sink_stop", stop, format!("expected a time after start, {}", self.start));
        }
        self.check_deadline(at);
        self.app.check(&mut at.below("app"));
        self.read_pattern()
    }

    /// The pattern, if no key is missing.
    fn read_pattern(&self) -> Option<Pattern<'_>> {
        let (flows, file, receiver) = (self.flows, self.file.as_deref(), self.receiver.as_ref());
        Some(match self.pattern {
            Name::Hotspot => Pattern::Hotspot { flows: flows?, receiver, to_itself: self.to_itself },
            Name::RandomHotspot => Pattern::RandomHotspot { flows: flows? },
            Name::RandomPairs => Pattern::RandomPairs { flows: flows? },
            Name::Permutation => Pattern::Permutation { flows },
            Name::Incast => Pattern::Incast { flows: flows?, receiver },
            Name::PartitionAggregate => Pattern::PartitionAggregate { roots: self.roots.as_ref()? },
            Name::Pairs => Pattern::Pairs { flows },
            Name::File => Pattern::File { file: file?, flows },
            Name::Poisson => Pattern::Poisson { arrivals: self.arrivals.as_ref()?, parts: file, flows },
            Name::Matrix => Pattern::Matrix { file: file?, flows },
            Name::ConnectionMatrix => Pattern::ConnectionMatrix { file: file?, unit: self.start_unit?, flows },
            Name::Elephants => Pattern::Elephants { of: self.of.as_deref()?, flows: flows?, placement: self.placement },
            Name::AllToAll => Pattern::AllToAll { members: self.members, order: self.order },
            Name::RingAllreduce => Pattern::RingAllreduce { members: self.members },
            Name::Job => Pattern::Job { file, job: self.job.as_ref() },
        })
    }

    /// Reports keys that the pattern lacks or does not use.
    fn check_pattern(&self, duration: cc::Time, at: &mut Report) {
        let word = word_of(&self.pattern);
        let is = |names: &[Name]| names.contains(&self.pattern);
        if self.receiver.is_some() && !is(&[Name::Hotspot, Name::Incast]) {
            at.key("receiver", format!("the pattern {word} draws its receivers; only hotspot and incast take one"));
        }
        if self.to_itself != ToItself::default() && !is(&[Name::Hotspot]) {
            at.key(
                "to_itself",
                format!("the pattern {word} has no flows from a host to itself; only hotspot takes it"),
            );
        }
        let what = match self.pattern {
            Name::File => Some("a CSV file of flows"),
            Name::ConnectionMatrix => Some("a connection matrix (.cm)"),
            Name::Matrix => Some("a CSV file with a traffic matrix"),
            _ => None,
        };
        match (what, &self.file) {
            (Some(what), None) => at.key("file", format!("missing; expected the name of {what}")),
            (None, Some(_)) if !is(&[Name::Poisson, Name::Job]) => {
                at.key("file", format!("not used by the pattern {word}; expected pattern = \"file\""));
            }
            _ => {}
        }
        let drawn = is(&[Name::Hotspot, Name::RandomHotspot, Name::RandomPairs, Name::Incast]);
        match self.flows {
            Some(0) if !is(&[Name::Elephants]) => at.value("flows", 0, "expected a whole number >= 1"),
            None if is(&[Name::Elephants]) => at.key("flows", "missing; expected how many flows become elephants"),
            None if drawn => at.key("flows", "missing; expected a whole number >= 1"),
            _ => {}
        }
        self.check_arrivals(&word, duration, at);
        self.check_roots(&word, at);
        self.check_elephants(at);
        self.check_udp(at);
        self.check_collective(&word, at);
        self.check_job(&word, at);
        match (is(&[Name::ConnectionMatrix]), self.start_unit) {
            (true, None) => {
                let message = "missing; expected \"us\", \"ns\" or \"ps\": htsim's programs disagree (main_swift: us)";
                at.key("start_unit", message);
            }
            (false, Some(_)) => {
                let message = format!("not used by the pattern {word}; expected pattern = \"connection-matrix\"");
                at.key("start_unit", message);
            }
            _ => {}
        }
        let sized = !matches!(self.app, App::Bulk(Bulk { size: None, .. }));
        if sized && is(&[Name::ConnectionMatrix, Name::Matrix]) {
            at.key("app", "expected kind = \"bulk\" without a size: the sizes are in the matrix");
        }
    }

    /// Reports contradictions between the keys of queries.
    fn check_query(&self, duration: cc::Time, at: &mut Report) {
        let App::Query(q) = &self.app else { return };
        // An empty run has its own error.
        let beyond = |t: cc::Time| duration > cc::Time::ZERO && t >= duration;
        let message = || format!("expected a time before the run ends, at run.duration, {duration}");
        if beyond(self.start.0) {
            at.text("start", self.start, message());
        }
        if let Some(first) = q.first.filter(|t| beyond(t.0)) {
            at.text("app.first", first, message());
        }
        if let Some(stop) = self.sink_stop {
            let message = "expected none with app.kind = \"query\": both ends of its connections send and receive";
            at.text("sink_stop", stop, message);
        }
        if q.response.is_none() && q.total.is_none() && self.pattern != Name::File {
            let message = "missing; expected the bytes of a worker's response, or total for all workers together";
            at.key("app.response", message);
        }
        if let (Some(first), Some(stop)) = (q.first, self.stop)
            && first >= stop
        {
            at.text("app.first", first, format!("expected a time before the entry's stop, {stop}"));
        }
    }

    /// Reports deadlines that have passed when their flow opens, or that apply to nothing.
    fn check_deadline(&self, at: &mut Report) {
        let Some(deadline) = self.deadline else {
            if self.deadline_draw != DeadlineDraw::None && self.pattern != Name::File {
                let message = "there is no deadline; expected deadline as the mean of the draws";
                at.text("deadline_draw", word_of(&self.deadline_draw), message);
            }
            return;
        };
        let sizes = [Name::Poisson, Name::File, Name::Matrix, Name::ConnectionMatrix].contains(&self.pattern);
        let has_end = match &self.app {
            App::Bulk(bulk) => bulk.size.is_some() || sizes,
            App::Query(_) | App::ClosedLoop(_) => true,
            App::OnOff(_) | App::Cbr(_) | App::Udp(_) => false,
        };
        if deadline.0 == cc::Time::ZERO {
            let message = "it has already passed when a flow opens; expected a time above 0, counted from its opening";
            at.text("deadline", deadline, message);
        } else if !has_end {
            let message = "its flows have no end, so none can be late; expected app.kind = \"bulk\" with a size, \
                           \"query\" or \"closed-loop\"";
            at.text("deadline", deadline, message);
        }
    }

    /// Checks arrivals: only `poisson` has them, and it takes no other sizes and times.
    fn check_arrivals(&self, word: &str, duration: cc::Time, at: &mut Report) {
        match (self.pattern, &self.arrivals) {
            (Name::Poisson, Some(arrivals)) => arrivals.check(self.start, duration, &mut at.below("arrivals")),
            (Name::Poisson, None) => {
                let message = "missing; expected a table such as { load = 0.5, sizes = \"builtin:websearch\" }";
                return at.key("arrivals", message);
            }
            (_, Some(_)) => {
                let message = format!("not used by the pattern {word}; expected pattern = \"poisson\"");
                return at.key("arrivals", message);
            }
            (_, None) => return,
        }
        for (name, time) in [("stagger", self.stagger), ("jitter", self.jitter)] {
            if time.0 > cc::Time::ZERO {
                at.text(name, time, "the pattern poisson has its own times; expected none");
            }
        }
        match &self.app {
            App::Bulk(Bulk { size: None, .. }) => {}
            App::Bulk(Bulk { size: Some(size), .. }) => {
                at.text("app.size", size, "sizes come from arrivals.sizes; expected no size here");
            }
            _ => at.key("app.kind", "expected \"bulk\": flows of the pattern poisson have sizes"),
        }
    }

    /// Checks roots: only `partition-aggregate` has them, and they determine its flows.
    fn check_roots(&self, word: &str, at: &mut Report) {
        match (self.pattern, &self.roots) {
            (Name::PartitionAggregate, Some(roots)) => roots.check(&mut at.below("roots")),
            (Name::PartitionAggregate, None) => {
                at.key("roots", "missing; expected a table such as { count = 10, in_rack = 20, elsewhere = 4 }");
            }
            (_, Some(_)) => {
                at.key("roots", format!("not used by the pattern {word}; expected pattern = \"partition-aggregate\""));
            }
            (_, None) => {}
        }
        if let (Name::PartitionAggregate, Some(n)) = (self.pattern, self.flows) {
            at.value("flows", n, "the pattern partition-aggregate has one per worker of a root; expected none");
        }
    }

    /// Reports keys that need a connection, which datagrams do not have.
    fn check_udp(&self, at: &mut Report) {
        if !matches!(self.app, App::Udp(_)) {
            return;
        }
        let none = |why| format!("expected none with app.kind = \"udp\": {why}");
        if let Some(stop) = self.sink_stop {
            at.text("sink_stop", stop, none("its receivers take what comes"));
        }
        if self.read_rate != infinite() {
            at.text("read_rate", self.read_rate, none("its receivers take what comes"));
        }
        if let Some(controller) = &self.controller {
            at.text("controller", &controller.0, none("no controller governs it"));
        }
    }

    /// Reports contradictions between keys of elephants.
    fn check_elephants(&self, at: &mut Report) {
        if self.pattern != Name::Elephants {
            if let Some(of) = &self.of {
                at.text("of", of, "only pattern = \"elephants\" takes flows of another entry; expected none");
            }
            if self.placement != Placement::default() {
                at.text("placement", "paper", "only pattern = \"elephants\" has a placement; expected none");
            }
            return;
        }
        if self.of.is_none() {
            let message = "missing; expected the name of the entry, before this one, whose flows become elephants";
            at.key("of", message);
        }
        if matches!(self.app, App::Query(_)) {
            at.key("app.kind", "elephants send one way; expected another than \"query\"");
        }
        if let (Placement::Paper, Some(n)) = (self.placement, self.flows)
            && n > 0
            && !PUBLISHED.contains(&n)
        {
            let message = "the paper has 0, 1, 2, 3 or 6 elephants; expected one of these, or placement = \"random\"";
            at.value("flows", n, message);
        }
    }

    /// Reports keys that a job does not use, and a job of another pattern.
    fn check_job(&self, word: &str, at: &mut Report) {
        if self.pattern != Name::Job {
            if self.job.is_some() {
                at.key("job", format!("not used by the pattern {word}; expected pattern = \"job\""));
            }
            return;
        }
        self.job.iter().for_each(|job| job.check(&mut at.below("job")));
        let collective = self.job.as_ref().is_some_and(|job| job.collective.is_some());
        let llm = self.job.as_ref().is_some_and(|job| job.llm.is_some());
        match (&self.file, collective, llm) {
            (None, false, false) => {
                at.key("file", "missing; expected a file of tasks, GOAL as text, or job.collective, or job.llm");
            }
            (_, true, true) => at.key("job.llm", "the tasks are those of job.collective; expected one of both"),
            (Some(file), true, _) => {
                at.text("file", file, "the tasks are those of job.collective; expected one of both");
            }
            (Some(file), _, true) => at.text("file", file, "the tasks are those of job.llm; expected one of both"),
            _ => {}
        }
        if let Some(n) = self.flows {
            at.value("flows", n, "a job has a connection for each pair of ranks with messages; expected none");
        }
        for (name, time) in [("stagger", self.stagger), ("jitter", self.jitter)] {
            if time.0 > cc::Time::ZERO {
                at.text(name, time, "a job begins at start; expected none");
            }
        }
        for (name, time) in [("stop", self.stop), ("sink_stop", self.sink_stop)] {
            if let Some(time) = time {
                at.text(name, time, "a job ends with its tasks; expected none");
            }
        }
        if self.app != App::default() {
            at.key("app", "not used by the pattern job: its messages have their own sizes; expected none");
        }
    }

    /// Reports contradictions between keys of collectives: flows of one joint operation of all members.
    fn check_collective(&self, word: &str, at: &mut Report) {
        if self.order != Order::default() && self.pattern != Name::AllToAll {
            let message = format!("the pattern {word} has no such order; expected pattern = \"all-to-all\"");
            at.text("order", "at-once", message);
        }
        if !matches!(self.pattern, Name::AllToAll | Name::RingAllreduce) {
            if let Some(n) = self.members {
                let message = format!(
                    "the pattern {word} has no members; expected pattern = \"all-to-all\" or \"ring-allreduce\""
                );
                at.value("members", n, message);
            }
            return;
        }
        if let Some(n) = self.flows {
            at.value("flows", n, format!("the pattern {word} has as many flows as its members make; expected none"));
        }
        if !matches!(self.app, App::Bulk(Bulk { size: Some(_), .. })) {
            at.key("app", "expected kind = \"bulk\" with a size: the bytes of a member");
        }
    }
}
