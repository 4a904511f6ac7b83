//! A buffer shared by the queues of a switch, and flow control based on its content.

use crate::document::links::OwnQueue;
use crate::document::queue::Queue;
use crate::text::default::{bytes, thousandths, yes};
use crate::text::problem::{self, Problem, Report};
use crate::text::quantity::{Headroom, Size};
use crate::text::words::{Word, Words};
use crate::topology::network::Network;
use incast_engine::map::pfc::Pfc as Engine;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Buffer of every switch, shared by its queues with dynamic thresholds (Choudhury and Hahne, 1998).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Buffer {
    /// Size of the whole buffer.
    pub size: Size,
    /// A queue accepts an arrival while its shared part is below this times the free buffer; above 0.
    #[serde(default = "thousandths::<1000>")]
    pub alpha: f64,
    /// Bytes reserved for every queue, out of the whole.
    #[serde(default = "bytes::<0>")]
    pub reserve: Size,
    /// A packet occupies the buffer until the end of its transmission; otherwise until its beginning, as in the
    /// simulators of HPCC's and PowerTCP's authors. Default: true.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub count_in_service: bool,
    /// Bytes of classes under `pfc` beyond which arrivals are dropped, whatever their headrooms have left: the egress
    /// pool of ns3-datacenter. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Size>,
    /// Priority flow control: neighbours are paused before packets are dropped for lack of space. Giving the key
    /// switches it on, even as `{}`.
    pub pfc: Option<Pfc>,
}

/// Priority flow control (IEEE 802.1Qbb), by the rules of HPCC's switch model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Pfc {
    /// Traffic classes that are paused rather than dropped; default: all.
    pub classes: Option<Vec<u8>>,
    /// A link is paused when one of its classes has this times the free buffer. Default: 0.125 for links no faster
    /// than the median host's, twice that for every doubling of the rate, at most 1 (HPCC).
    pub alpha: Option<f64>,
    /// A link is paused when one of its classes has this much beyond its reserve; replaces `alpha`.
    pub threshold: Option<Size>,
    /// Bytes reserved for every class of a link, out of the whole.
    #[serde(default = "bytes::<4096>")]
    pub reserve: Size,
    /// Bytes reserved for every class of a link, out of the whole, for packets that arrive before the link has
    /// stopped: what the link can deliver by then ("link"), three times what it delivers in its delay ("hpcc"), or a
    /// size.
    #[serde(default = "headroom")]
    pub headroom: Headroom,
    /// The link resumes when the bytes of the class are this far below the threshold.
    #[serde(default = "bytes::<3072>")]
    pub resume_offset: Size,
    /// Rule of pauses. Default: hpcc.
    #[serde(default = "hpcc", skip_serializing_if = "is_hpcc")]
    pub rule: Word<spec::PfcRule>,
    /// Reserves and headrooms are added to `size`, not taken out of it. Default: false.
    #[serde(default, skip_serializing_if = "is_no")]
    pub on_top: bool,
}

impl Words for spec::PfcRule {
    const NAME: &'static str = "PfcRule";
    const DOC: &'static str = spec::PfcRule::DOC;
    const WORDS: &'static [(&'static str, spec::PfcRule, &'static str)] = spec::PfcRule::WORDS;
}

fn hpcc() -> Word<spec::PfcRule> {
    Word(spec::PfcRule::Hpcc)
}

fn is_hpcc(rule: &Word<spec::PfcRule>) -> bool {
    rule.0 == spec::PfcRule::Hpcc
}

fn is_yes(flag: &bool) -> bool {
    *flag
}

fn is_no(flag: &bool) -> bool {
    !*flag
}

fn headroom() -> Headroom {
    Headroom(spec::Headroom::Link)
}

impl Pfc {
    /// Specification for the engine, for queues with this many classes.
    fn spec(&self, classes: usize) -> spec::PfcSpec {
        let lossless = |c: usize| self.classes.as_ref().is_none_or(|own| own.iter().any(|own| *own as usize == c));
        spec::PfcSpec {
            lossless: (0..classes).map(lossless).collect(),
            threshold: match (self.threshold, self.alpha) {
                (Some(size), _) => Some(spec::Threshold::Fixed(size.0.0)),
                (None, alpha) => alpha.map(spec::Threshold::Dynamic),
            },
            reserve: self.reserve.0.0,
            headroom: self.headroom.0,
            margin: self.resume_offset.0.0,
            rule: self.rule.0,
            on_top: self.on_top,
        }
    }

    /// Reports contradictions inside the table itself.
    fn check(&self, queue: &Queue, at: &mut Report) {
        let has = queue.spec().count();
        let mut seen = Vec::new();
        for class in self.classes.iter().flatten() {
            if *class as usize >= has {
                let message = match has {
                    1 => "expected 0: the queues have one class".to_owned(),
                    n => format!("expected 0 to {}, the classes of queue", n - 1),
                };
                at.value("pfc.classes", class, message);
            }
            if seen.contains(class) {
                at.value("pfc.classes", class, "is there twice");
            }
            seen.push(*class);
        }
        if self.classes.as_ref().is_some_and(Vec::is_empty) {
            at.value("pfc.classes", "[]", "expected at least one class; without flow control leave out buffer.pfc");
        }
        if let Some(alpha) = self.alpha.filter(|alpha| !(*alpha > 0.0 && *alpha <= 1e6)) {
            at.value("pfc.alpha", problem::number(alpha), "expected above 0, at most 1000000");
        }
        if let (Some(_), Some(alpha)) = (self.threshold, self.alpha) {
            let message = "expected no alpha beside threshold, which replaces it";
            at.value("pfc.alpha", problem::number(alpha), message);
        }
    }

    /// Reports queues whose classes cannot be paused.
    fn check_queues(&self, queue: &Queue, own: &[OwnQueue], out: &mut Vec<Problem>) {
        let has = queue.spec().count();
        let mut all: Vec<(&str, &Queue)> = queue.all().collect();
        all.extend(own.iter().map(|own| (own.key.as_str(), own.queue)));
        for (key, queue) in all {
            let at = &mut Report::new(key, out);
            let n = queue.spec().count();
            match queue {
                Queue::FairNic(_) => {
                    let message =
                        "expected a queue that can be paused beside buffer.pfc: drop-tail, with limit = \"none\"";
                    at.text("kind", "fair-nic", message);
                }
                Queue::Trimming(_) => {
                    let message = "expected a queue that does not trim beside buffer.pfc, which drops nothing";
                    at.text("kind", "trimming", message);
                }
                Queue::CreditShaping(_) => {
                    let message = "expected a queue that can be paused beside buffer.pfc: nothing pauses credits";
                    at.text("kind", "credit-shaping", message);
                }
                _ if n != has => {
                    let message = format!(
                        "expected as many classes as the switches' queues have, {has}: each is paused by itself"
                    );
                    at.value("classes", format_args!("{n} of them"), message);
                }
                _ => {}
            }
        }
    }
}

impl Buffer {
    /// Specification for the engine, for queues like this.
    pub(crate) fn spec(&self, queue: &Queue) -> spec::BufferSpec {
        let pfc = self.pfc.as_ref().map(|pfc| pfc.spec(queue.spec().count()));
        spec::BufferSpec {
            size: self.size.0.0,
            alpha: self.alpha,
            reserve: self.reserve.0.0,
            count_in_service: self.count_in_service,
            egress: self.egress.map(|egress| egress.0.0),
            pfc,
        }
    }

    /// Notes keys without effect under priority flow control, which counts all packets by link.
    pub(crate) fn without_effect(&self, spec: &Spec, found: &mut Vec<String>) {
        if let Some(egress) = self.egress.filter(|_| spec.pfc().is_none()) {
            found.push(format!(
                "buffer.egress = \"{egress}\" does nothing: without buffer.pfc no class is lossless \
                 (docs/queues/pfc.md)"
            ));
        }
        if !spec.pfc().is_some_and(|pfc| pfc.lossless.iter().all(|lossless| *lossless)) {
            return;
        }
        let asked = [
            ("alpha", self.alpha != 1.0, self.alpha.to_string()),
            ("reserve", self.reserve != bytes::<0>(), format!("\"{}\"", self.reserve)),
        ];
        for (key, _, value) in asked.into_iter().filter(|(_, given, _)| *given) {
            found.push(format!(
                "buffer.{key} = {value} does nothing beside buffer.pfc, which limits every class per link by \
                 buffer.pfc.{key}"
            ));
        }
    }

    /// Reports contradictions with the queues and the network: `packet` is the largest packet, in bytes.
    pub(crate) fn check(
        &self,
        queue: &Queue,
        own: &[OwnQueue],
        network: &Network,
        packet: u64,
        out: &mut Vec<Problem>,
    ) {
        let at = &mut Report::new("buffer", out);
        if !(self.alpha > 0.0 && self.alpha <= 1e6) {
            at.value("alpha", problem::number(self.alpha), "expected above 0, at most 1000000");
        }
        let size = self.size.0.0;
        if size < packet {
            at.text("size", self.size, format!("expected at least {packet}B, a full packet of the transport"));
        }
        if let Some(egress) = self.egress.filter(|egress| egress.0.0 < packet) {
            at.text("egress", egress, format!("expected at least {packet}B, a full packet of the transport"));
        }
        if let Some(pfc) = &self.pfc {
            pfc.check(queue, at);
            pfc.check_queues(queue, own, out);
        }
        let at = &mut Report::new("buffer", out);
        let lossless = self.spec(queue).pfc.map_or(0, |pfc| pfc.lossless.iter().filter(|l| **l).count());
        let classes = own.iter().map(|own| own.queue.spec().count()).fold(queue.spec().count(), usize::max);
        let queues = (classes - lossless) as u64;
        let mut ports = vec![0u64; network.names.len()];
        network.links.iter().for_each(|l| ports[l.from as usize] += 1);
        let most = ports.iter().skip(network.hosts as usize).max().map_or(0, |ports| ports * queues);
        if most > 0 && self.reserve.0.0 > size / most {
            let message = format!("expected at most {}B: a switch has {most} queues", size / most);
            at.text("reserve", self.reserve, message);
        }
        if network.links.iter().any(|l| l.bucket > 0 && l.from >= network.hosts) {
            at.key("", "expected no burst of links beside it: a token bucket has no departures to count");
        }
    }

    /// Checks that the links of `spec` can be paused, and that the reserves for them leave something to share.
    pub(crate) fn check_links(&self, spec: &Spec) -> Result<(), Problem> {
        let Some(pfc) = spec.pfc() else { return Ok(()) };
        if let Some(link) = spec.links.iter().find(|l| l.bucket > 0) {
            let message =
                format!("expected no burst of links beside it, which {} has: a token bucket does not stop", link.name);
            return Err(Problem::new("buffer.pfc", message));
        }
        let (_, accounts) = Engine::new(spec, pfc).map_err(|message| Problem::new("buffer.pfc", message))?;
        let own = accounts.iter().map(|own| own.iter().map(|a| a.reserve as u128 + a.headroom as u128).sum::<u128>());
        let Some((own, node)) = own.zip(&spec.node_names).max_by_key(|most| most.0) else { return Ok(()) };
        if own >= self.size.0.0 as u128 && !spec.pfc().is_some_and(|pfc| pfc.on_top) {
            let message = format!(
                "expected more than {own}B: reserves and headrooms that buffer.pfc sets apart for the links into {node}"
            );
            return Err(Problem::quoted("buffer.size", self.size, message));
        }
        Ok(())
    }
}
