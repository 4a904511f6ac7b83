//! Poisson arrivals: flows at random times, with sizes from a table, at a given load.

use super::flows::{Flows, MAX_FLOWS};
use super::matrix::cells;
use super::place::check_two_hosts;
use crate::document::arrivals::{Arrivals, LoadOf, MAX_LOAD, PACKET};
use crate::document::traffic::Traffic;
use crate::files::builtin::{self, usual_rule};
use crate::files::read_named;
use crate::files::sizes::{Interpolation, SizeTable};
use crate::files::traffic_matrix::{self, Cell};
use crate::text::problem::{Errors, Problem};
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::spec::TransportSpec;

/// An arriving flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Arrival {
    at: cc::Time,
    src: u32,
    dst: u32,
    size: u64,
}

/// Sizes of flows: a table, and the rule for drawing.
struct Sizes {
    table: SizeTable,
    rule: Interpolation,
}

/// A host that sends.
struct Source {
    /// Mean time between its flows if it had the whole load, seconds.
    gap: f64,
    /// Share of the load.
    whole: f64,
    /// Cumulative parts of the load by destination, if it has parts; otherwise all others are equal.
    row: Vec<(f64, u32)>,
}

impl Arrivals {
    fn table(&self, flows: &Flows) -> Result<Sizes, Errors> {
        let key = format!("{}.arrivals.sizes", flows.path);
        if let Some(name) = self.sizes.strip_prefix(builtin::PREFIX).filter(|n| !builtin::sizes().any(|s| s == *n)) {
            let known: Vec<&str> = builtin::sizes().collect();
            let problem = Problem::quoted(key, &self.sizes, "no table of sizes of this name comes with the program");
            return Err(problem.among(name, "expected one of", &known, "incast list sizes").into());
        }
        let text = read_named(&key, flows.beside, &self.sizes)?;
        let table = SizeTable::read(&self.sizes, &text, self.packet.map_or(PACKET, |p| p.0.0))?;
        if let Some(packet) = self.packet.filter(|_| !table.counts_packets()) {
            let message = format!("the sizes of {} are bytes; expected none", self.sizes);
            return Err(Problem::quoted(format!("{}.arrivals.packet", flows.path), packet, message).into());
        }
        Ok(Sizes { table, rule: self.rule.unwrap_or_else(|| usual_rule(&self.sizes)) })
    }

    /// Mean bytes of a flow that count for the load: payload, and what each of its segments adds on a host's link
    /// with the transport `t`.
    fn mean_flow(&self, sizes: &Sizes, t: &TransportSpec, flows: &Flows) -> Result<MeanFlow, Problem> {
        let bytes = sizes.table.mean(sizes.rule);
        if self.load_of == LoadOf::Payload {
            return Ok(MeanFlow { bytes, segments: 0.0, header: 0.0 });
        }
        let wrong = |message: &str| Err(Problem::quoted(format!("{}.arrivals.load_of", flows.path), "wire", message));
        let (mss, header) = (t.sizes.mss as u64, t.sizes.header as u64);
        if t.sizes.mtu > 0 && header + mss > t.sizes.mtu as u64 {
            return wrong("expected \"payload\" where segments above transport.mtu become fragments");
        }
        if flows.network.links.iter().any(|l| l.from < flows.network.hosts && l.cell.is_some()) {
            return wrong(
                "expected \"payload\" where hosts are stations of a radio cell, whose frames have sizes of their own",
            );
        }
        let extra = t.output.extra_packets as f64;
        let segments = sizes.table.mean_segments(sizes.rule, mss) + extra;
        Ok(MeanFlow { bytes: bytes + extra * mss as f64, segments, header: header as f64 })
    }

    /// Every host with its share of the load; `file` has `parts` of it, if there are any.
    fn sources(
        &self,
        mean: &MeanFlow,
        file: Option<&str>,
        parts: &[Cell<f64>],
        flows: &Flows,
    ) -> Result<Vec<Source>, Problem> {
        // for each host: the rate of its links, and their overhead per packet
        let mut wires = vec![(0.0, 0); flows.network.hosts as usize];
        for l in &flows.network.links {
            if let Some((rate, overhead)) = wires.get_mut(l.from as usize) {
                *rate += l.rate.as_f64();
                *overhead = l.overhead;
            }
        }
        let source = |(rate, overhead): (f64, u32)| Source {
            gap: mean.on(overhead) * 8.0 / (rate * self.load),
            whole: 1.0,
            row: Vec::new(),
        };
        let mut sources: Vec<Source> = wires.into_iter().map(source).collect();
        if sources.iter().any(|source| source.gap == 0.0) {
            let message = "a load needs hosts whose links have a rate; a link has rate = \"inf\"";
            return Err(Problem::with_value(format!("{}.arrivals.load", flows.path), self.load, message));
        }
        if parts.is_empty() {
            return Ok(sources);
        }
        sources.iter_mut().for_each(|source| source.whole = 0.0);
        for cell in parts {
            let source = &mut sources[cell.src as usize];
            source.whole += cell.value;
            source.row.push((source.whole, cell.dst));
        }
        if let Some(host) = sources.iter().position(|source| source.whole * self.load > MAX_LOAD) {
            let message = format!(
                "expected a matrix whose rows add up to at most {} with load = {}; that of {} adds up to {}",
                MAX_LOAD / self.load,
                self.load,
                flows.network.names[host],
                sources[host].whole
            );
            let row = parts.iter().find(|c| c.src as usize == host).map_or(0, |c| c.line);
            return Err(Problem::new(format!("{}, line {row}", file.unwrap_or_default()), message));
        }
        Ok(sources)
    }

    /// Flows of entry number `entry`, in order of time: every host is a Poisson process, each flow goes to one of the
    /// other hosts with equal probability, and the first comes a gap after `start`. At most `most`. With `parts` of
    /// the load, a host sends the sum of its row, and to each other host by the cell.
    fn flows(
        &self,
        entry: u32,
        start: cc::Time,
        most: Option<u64>,
        t: &TransportSpec,
        (file, parts): (Option<&str>, &[Cell<f64>]),
        flows: &Flows,
    ) -> Result<Vec<Arrival>, Errors> {
        let sizes = self.table(flows)?;
        let mean = self.mean_flow(&sizes, t, flows)?;
        let until = self.until.map_or(flows.duration, |t| t.0);
        let seconds = until.saturating_sub(start).as_secs_f64();
        let sources = self.sources(&mean, file, parts, flows)?;
        let expected: f64 = sources.iter().map(|source| seconds / source.gap * source.whole).sum();
        let bytes = mean.bytes;
        let wrong = |message: String| Problem::with_value(format!("{}.arrivals.load", flows.path), self.load, message);
        if expected > MAX_FLOWS as f64 {
            let message = format!(
                "{expected:.0} flows of {bytes:.0} B on average would arrive by {until}; expected at most {MAX_FLOWS}"
            );
            return Err(wrong(message).into());
        }
        let mut found = Vec::with_capacity(expected as usize);
        for (host, source) in (0u32..).zip(&sources).filter(|(_, source)| source.whole > 0.0) {
            source.draw(host, entry, (start, until), &sizes, flows, &mut found);
        }
        found.sort_unstable();
        found.truncate(most.map_or(usize::MAX, |n| n as usize));
        if found.is_empty() {
            let message = format!(
                "no flow arrives by {until}: {expected:.3} are expected, of {bytes:.0} B on average; expected a longer \
                 run or more load"
            );
            return Err(wrong(message).into());
        }
        Ok(found)
    }
}

/// Mean bytes of a flow that count for the load.
struct MeanFlow {
    /// Payload.
    bytes: f64,
    /// Number of segments, 0 if only payload counts, and the header of each.
    segments: f64,
    header: f64,
}

impl MeanFlow {
    /// Bytes on a link that adds `overhead` to each packet.
    fn on(&self, overhead: u32) -> f64 {
        self.bytes + self.segments * (self.header + overhead as f64)
    }
}

impl Source {
    /// Draws the flows of `host` in an interval.
    fn draw(
        &self,
        host: u32,
        entry: u32,
        (start, until): (cc::Time, cc::Time),
        sizes: &Sizes,
        flows: &Flows,
        found: &mut Vec<Arrival>,
    ) {
        // differs from the number of any entry alone
        let entity = (u64::from(entry) + 1) << 32 | u64::from(host);
        let mut at = start.as_secs_f64();
        for i in 0.. {
            let u = |purpose| hash::uniform(flows.seed, purpose, entity, i);
            at -= libm::log1p(-u(purpose::ARRIVAL)) * self.gap / self.whole;
            let when = cc::Time((at * 1e12) as u64);
            if when >= until {
                break;
            }
            let dst = if self.row.is_empty() {
                let others = flows.network.hosts - 1;
                let to = hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entity, i), others);
                to + u32::from(to >= host)
            } else {
                let drawn = u(purpose::PLACEMENT) * self.whole;
                let at = self.row.partition_point(|(sum, _)| *sum <= drawn).min(self.row.len() - 1);
                self.row[at].1
            };
            let size = sizes.table.quantile(sizes.rule, u(purpose::SIZE));
            found.push(Arrival { at: when, src: host, dst, size });
        }
    }
}

impl Traffic {
    /// Adds flows that arrive at random, with sizes from a table; the file `parts` has parts of the load.
    pub(crate) fn add_arrivals(
        &self,
        arrivals: &Arrivals,
        parts: Option<&str>,
        entry: u32,
        flows: &mut Flows,
    ) -> Result<(), Errors> {
        check_two_hosts(flows)?;
        let file = parts;
        let parts = file.map_or(Ok(Vec::new()), |file| cells(file, flows, traffic_matrix::part))?;
        let t = self.settings(flows)?;
        let found = arrivals.flows(entry, self.start.0, self.flows, &t, (file, &parts), flows)?;
        let own = self.begin(entry, found.len() as u64, flows)?;
        for (i, a) in found.iter().enumerate() {
            self.check_stop(a.at, flows, format_args!("flow {i} of the entry opens"))?;
            let flow = own.transfer((a.src, a.dst), a.at, Some(a.size));
            self.check_write(&flow, flows)?;
            flows.push(flow);
        }
        Ok(())
    }
}
