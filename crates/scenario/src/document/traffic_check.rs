//! Contradictions between keys of an entry, found before there is a network.

use super::app::{App, Bulk};
use super::traffic::{Order, Pattern, Placement, ToItself, Traffic, pattern_word, unbounded};
use crate::text::problem::Problem;
use incast_cc as cc;

/// Numbers of elephants that the paper on MSwift reports on.
const PUBLISHED: [u64; 4] = [1, 2, 3, 6];

impl Pattern {
    /// Its flows are those of one operation of all members together.
    pub(crate) fn is_collective(self) -> bool {
        matches!(self, Pattern::AllToAll | Pattern::RingAllreduce)
    }
}

impl Traffic {
    /// Contradictions between keys, found before there is a network. `duration` is the run's.
    pub fn check(&self, path: &str, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let word = pattern_word(self.pattern);
        let to_one = matches!(self.pattern, Pattern::Hotspot | Pattern::Incast);
        if self.receiver.is_some() && !to_one {
            let message = format!("the pattern {word} draws its receivers; only hotspot and incast take one");
            out.push(Problem::new(key("receiver"), message));
        }
        if self.to_itself != ToItself::default() && self.pattern != Pattern::Hotspot {
            let message = format!("the pattern {word} has no flows to themselves; only hotspot takes it");
            out.push(Problem::new(key("to_itself"), message));
        }
        match (self.pattern, &self.file) {
            (Pattern::File, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a CSV file of flows"))
            }
            (Pattern::ConnectionMatrix, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a connection matrix (.cm)"))
            }
            (Pattern::Matrix, None) => {
                out.push(Problem::new(key("file"), "missing; expected the name of a CSV file with a traffic matrix"))
            }
            (Pattern::File | Pattern::ConnectionMatrix | Pattern::Matrix | Pattern::Poisson, Some(_)) => {}
            (_, Some(_)) => out.push(Problem::new(
                key("file"),
                format!("not used by the pattern {word}; expected pattern = \"file\""),
            )),
            _ => {}
        }
        match (self.pattern, self.flows) {
            (pattern, Some(0)) if pattern != Pattern::Elephants => {
                out.push(Problem::with_value(key("flows"), 0, "expected a whole number >= 1"));
            }
            (
                Pattern::File
                | Pattern::Permutation
                | Pattern::Pairs
                | Pattern::Poisson
                | Pattern::ConnectionMatrix
                | Pattern::Matrix
                | Pattern::AllToAll
                | Pattern::RingAllreduce,
                None,
            )
            | (_, Some(_)) => {}
            (Pattern::Elephants, None) => {
                out.push(Problem::new(key("flows"), "missing; expected how many flows become elephants"))
            }
            (_, None) => out.push(Problem::new(key("flows"), "missing; expected a whole number >= 1")),
        }
        self.check_arrivals(path, duration, out);
        self.check_elephants(path, out);
        self.check_udp(path, out);
        self.check_collective(path, out);
        match (self.pattern, self.start_unit) {
            (Pattern::ConnectionMatrix, None) => {
                let message = "missing; expected \"us\", \"ns\" or \"ps\": htsim's programs disagree (main_swift: us)";
                out.push(Problem::new(key("start_unit"), message));
            }
            (Pattern::ConnectionMatrix, Some(_)) | (_, None) => {}
            (_, Some(_)) => {
                let message = format!("not used by the pattern {word}; expected pattern = \"connection-matrix\"");
                out.push(Problem::new(key("start_unit"), message));
            }
        }
        let of_a_matrix = matches!(self.pattern, Pattern::ConnectionMatrix | Pattern::Matrix);
        if of_a_matrix && !matches!(self.app, App::Bulk(Bulk { size: None, .. })) {
            let message = "expected kind = \"bulk\" without a size: the sizes are in the matrix";
            out.push(Problem::new(key("app"), message));
        }
        if let Some(stop) = self.stop.filter(|s| *s <= self.start) {
            let message = format!("expected a time after start, {}", self.start);
            out.push(Problem::with_value(key("stop"), format!("\"{stop}\""), message));
        }
        self.check_query(path, duration, out);
        if let Some(stop) = self.sink_stop.filter(|s| *s <= self.start) {
            let message = format!("expected a time after start, {}", self.start);
            out.push(Problem::with_value(key("sink_stop"), format!("\"{stop}\""), message));
        }
        self.app.check(path, out);
        if let Some(t) = &self.transport {
            t.check(&key("transport"), out);
        }
    }

    /// Contradictions between the keys of queries.
    fn check_query(&self, path: &str, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let App::Query(q) = &self.app else { return };
        // A run of no length is refused for itself.
        let beyond = |t: cc::Time| duration > cc::Time::ZERO && t >= duration;
        if beyond(self.start.0) {
            let message = format!("expected a time before the run ends, at run.duration, {duration}");
            out.push(Problem::with_value(key("start"), format!("\"{}\"", self.start), message));
        }
        if let Some(first) = q.first.filter(|t| beyond(t.0)) {
            let message = format!("expected a time before the run ends, at run.duration, {duration}");
            out.push(Problem::with_value(key("app.first"), format!("\"{first}\""), message));
        }
        if let Some(stop) = self.sink_stop {
            let message = "expected none with app.kind = \"query\": both ends of its connections send and receive";
            out.push(Problem::with_value(key("sink_stop"), format!("\"{stop}\""), message));
        }
        if q.response.is_none() && q.total.is_none() && self.pattern != Pattern::File {
            let message = "missing; expected the bytes of a worker's response, or total for all workers together";
            out.push(Problem::new(key("app.response"), message));
        }
        if let (Some(first), Some(stop)) = (q.first, self.stop)
            && first >= stop
        {
            let message = format!("expected a time before the entry's stop, {stop}");
            out.push(Problem::with_value(key("app.first"), format!("\"{first}\""), message));
        }
    }

    /// Arrivals belong to `poisson`, which takes nothing that would set sizes and times beside them.
    fn check_arrivals(&self, path: &str, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        match (self.pattern, &self.arrivals) {
            (Pattern::Poisson, Some(arrivals)) => arrivals.check(path, self.start, duration, out),
            (Pattern::Poisson, None) => {
                let message = "missing; expected a table such as { load = 0.5, sizes = \"builtin:websearch\" }";
                out.push(Problem::new(key("arrivals"), message));
                return;
            }
            (_, Some(_)) => {
                let word = pattern_word(self.pattern);
                let message = format!("not used by the pattern {word}; expected pattern = \"poisson\"");
                out.push(Problem::new(key("arrivals"), message));
                return;
            }
            (_, None) => return,
        }
        for (name, time) in [("stagger", self.stagger), ("jitter", self.jitter)] {
            if time.0 > cc::Time::ZERO {
                let message = "the pattern poisson has its own times; expected none";
                out.push(Problem::with_value(key(name), format!("\"{time}\""), message));
            }
        }
        match &self.app {
            App::Bulk(Bulk { size: None, .. }) => {}
            App::Bulk(Bulk { size: Some(size), .. }) => {
                let message = "sizes come from arrivals.sizes; expected no size here";
                out.push(Problem::with_value(key("app.size"), format!("\"{size}\""), message));
            }
            _ => out.push(Problem::new(key("app.kind"), "expected \"bulk\": flows of the pattern poisson have sizes")),
        }
    }

    /// What datagrams, which have no connection, have no use for.
    fn check_udp(&self, path: &str, out: &mut Vec<Problem>) {
        if !matches!(self.app, App::Udp(_)) {
            return;
        }
        let expected = "expected none with app.kind = \"udp\"";
        if let Some(stop) = self.sink_stop {
            let message = format!("{expected}: its receivers take what comes");
            out.push(Problem::with_value(format!("{path}.sink_stop"), format!("\"{stop}\""), message));
        }
        if self.read_rate != unbounded() {
            let message = format!("{expected}: its receivers take what comes");
            out.push(Problem::with_value(format!("{path}.read_rate"), format!("\"{}\"", self.read_rate), message));
        }
        if let Some(controller) = &self.controller {
            let message = format!("{expected}: no controller governs it");
            out.push(Problem::with_value(format!("{path}.controller"), format!("\"{}\"", controller.0), message));
        }
    }

    /// Contradictions between keys of elephants.
    fn check_elephants(&self, path: &str, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        if self.pattern != Pattern::Elephants {
            if let Some(of) = &self.of {
                let message = "only pattern = \"elephants\" takes flows of another entry; expected none";
                out.push(Problem::with_value(key("of"), format!("\"{of}\""), message));
            }
            if self.placement != Placement::default() {
                let message = "only pattern = \"elephants\" has a placement; expected none";
                out.push(Problem::with_value(key("placement"), "\"paper\"", message));
            }
            return;
        }
        if self.of.is_none() {
            let message = "missing; expected the name of the entry, before this one, whose flows become elephants";
            out.push(Problem::new(key("of"), message));
        }
        if matches!(self.app, App::Query(_)) {
            out.push(Problem::new(key("app.kind"), "elephants send one way; expected another than \"query\""));
        }
        if let (Placement::Paper, Some(n)) = (self.placement, self.flows)
            && n > 0
            && !PUBLISHED.contains(&n)
        {
            let message = "the paper has 0, 1, 2, 3 or 6 elephants; expected one of these, or placement = \"random\"";
            out.push(Problem::with_value(key("flows"), n, message));
        }
    }

    /// Contradictions between keys of collectives.
    fn check_collective(&self, path: &str, out: &mut Vec<Problem>) {
        let key = |k: &str| format!("{path}.{k}");
        let word = pattern_word(self.pattern);
        if self.order != Order::default() && self.pattern != Pattern::AllToAll {
            let message = format!("the pattern {word} has no such order; expected pattern = \"all-to-all\"");
            out.push(Problem::with_value(key("order"), "\"at-once\"", message));
        }
        if !self.pattern.is_collective() {
            if let Some(n) = self.members {
                let message = format!(
                    "the pattern {word} has no members; expected pattern = \"all-to-all\" or \"ring-allreduce\""
                );
                out.push(Problem::with_value(key("members"), n, message));
            }
            return;
        }
        if let Some(n) = self.flows {
            let message = format!("the pattern {word} has as many flows as its members make; expected none");
            out.push(Problem::with_value(key("flows"), n, message));
        }
        if !matches!(self.app, App::Bulk(Bulk { size: Some(_), .. })) {
            out.push(Problem::new(key("app"), "expected kind = \"bulk\" with a size: the bytes of a member"));
        }
    }
}
