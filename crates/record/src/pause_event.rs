//! Pauses of priority flow control: their events, and rows made of them.

/// Identity of a pause: the time of the request, the paused port, and the class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct PauseKey {
    /// Time at which the switch decides to pause its neighbour.
    pub asked_ps: u64,
    /// Port that is to pause.
    pub port: u32,
    /// Class that is to pause.
    pub class: u8,
}

/// Bytes of an account at an egress port of its switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Egress port.
    pub port: u32,
    /// Bytes that wait there or are being sent.
    pub bytes: u64,
}

/// Reason for a pause: state of the account at the time of the request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PauseRequest {
    /// Switch that asks.
    pub node: u32,
    /// Bytes of the account, with those in its headroom.
    pub bytes: u64,
    /// Bytes in its headroom.
    pub headroom: u64,
    /// Bytes from which the switch asks for a pause.
    pub threshold: u64,
    /// Egress ports at which these bytes wait.
    pub waiting: Vec<Waiting>,
}

/// Step of a pause, in the order of happening.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PauseStep {
    /// A switch asks for it.
    Asked(Box<PauseRequest>),
    /// The port stops, at this time (ps).
    Begun(u64),
    /// The port goes on, at this time (ps).
    Ended(u64),
    /// The pause stands at the end of the run; egress ports at which the account's bytes wait then.
    Standing(Vec<Waiting>),
}

impl PauseStep {
    fn rank(&self) -> u8 {
        match self {
            PauseStep::Asked(_) => 0,
            PauseStep::Begun(_) => 1,
            PauseStep::Ended(_) => 2,
            PauseStep::Standing(_) => 3,
        }
    }
}

/// Event of a pause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PauseEvent {
    /// The pause.
    pub key: PauseKey,
    /// Step.
    pub step: PauseStep,
}

/// Collected events of the first pauses of a run. Which pauses are kept does not depend on the order of calls.
#[derive(Clone, Default, Debug)]
pub struct PauseEvents {
    events: Vec<PauseEvent>,
    /// Number of pauses to keep.
    most: u32,
    /// Key of the last pause kept, once there were too many.
    last: Option<PauseKey>,
    /// Number of events at which they are reduced.
    full: usize,
}

/// Events of a pause, at most, unless it is asked for twice at one instant.
const STEPS: usize = 4;

impl PauseEvents {
    /// Adds an event; keeps those of the first `most` pauses by key.
    pub fn add(&mut self, event: PauseEvent, most: u32) {
        self.most = most;
        if self.last.is_some_and(|last| event.key > last) {
            return;
        }
        self.events.push(event);
        if self.events.len() >= self.full.max((most as usize).saturating_mul(2 * STEPS)) {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        self.events.sort_by_key(|event| (event.key, event.step.rank()));
        let mut pauses = self.events.chunk_by(|a, b| a.key == b.key);
        let kept: usize = pauses.by_ref().take(self.most as usize).map(<[PauseEvent]>::len).sum();
        if pauses.next().is_some() {
            self.events.truncate(kept);
            self.last = self.events.last().map(|event| event.key);
        }
        // many events of one instant are reduced less often
        self.full = 2 * self.events.len();
    }

    /// Adds the events of another part of the run.
    pub fn merge(&mut self, other: PauseEvents) {
        self.events.extend(other.events);
        self.most = self.most.max(other.most);
        self.last = [self.last, other.last].into_iter().flatten().min();
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// True without events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Bytes of the events in memory.
    pub fn kept_bytes(&self) -> u64 {
        // a request with one or two egress ports
        const REQUEST: usize = size_of::<PauseRequest>() + 2 * size_of::<Waiting>();
        (self.events.len() * size_of::<PauseEvent>() + self.events.len() / 3 * REQUEST) as u64
    }

    /// Rows of the pauses by (time, port, class), each with its egress ports in order.
    pub fn rows(mut self) -> Vec<PauseRow> {
        self.events.sort_by_key(|event| (event.key, event.step.rank()));
        let (mut rows, mut pause) = (Vec::new(), 0);
        for steps in self.events.chunk_by(|a, b| a.key == b.key) {
            let asked = steps.iter().rposition(|event| event.step.rank() == 0);
            let Some(PauseEvent { key, step: PauseStep::Asked(request) }) = asked.map(|i| &steps[i]) else { continue };
            if pause == self.most {
                break;
            }
            let mut row = PauseRow::new(pause, *key, request);
            let mut standing: &[Waiting] = &[];
            for step in steps {
                match &step.step {
                    PauseStep::Asked(_) => {}
                    PauseStep::Begun(at) => row.begun_ps = row.begun_ps.or(Some(*at)),
                    PauseStep::Ended(at) => row.ended_ps = Some(*at),
                    PauseStep::Standing(waiting) => standing = waiting,
                }
            }
            let row_of = |(at_end, own): (bool, &Waiting)| PauseRow { at_end, waiting: *own, ..row };
            rows.extend(request.waiting.iter().map(|own| row_of((false, own))));
            rows.extend(standing.iter().map(|own| row_of((true, own))));
            pause += 1;
        }
        rows
    }
}

/// Row of `pauses.parquet`: a pause, and an egress port at which bytes of its account wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseRow {
    /// Number of the pause.
    pub pause: u32,
    /// Time, port and class.
    pub key: PauseKey,
    /// Time at which the port stops.
    pub begun_ps: Option<u64>,
    /// Time at which it goes on.
    pub ended_ps: Option<u64>,
    /// Switch that asks.
    pub node: u32,
    /// Bytes of the account.
    pub bytes: u64,
    /// Bytes in its headroom.
    pub headroom: u64,
    /// Bytes from which the switch asks for a pause.
    pub threshold: u64,
    /// True if the row tells of the end of the run, not of the request.
    pub at_end: bool,
    /// Egress port and bytes there.
    pub waiting: Waiting,
}

impl PauseRow {
    fn new(pause: u32, key: PauseKey, request: &PauseRequest) -> PauseRow {
        let PauseRequest { node, bytes, headroom, threshold, .. } = *request;
        let waiting = Waiting { port: 0, bytes: 0 };
        PauseRow {
            pause,
            key,
            begun_ps: None,
            ended_ps: None,
            node,
            bytes,
            headroom,
            threshold,
            at_end: false,
            waiting,
        }
    }
}

/// Pauses of a run.
#[derive(Clone, Default, Debug)]
pub struct Pauses {
    /// Rows by (pause, time, egress port).
    pub rows: Vec<PauseRow>,
    /// Names of all nodes, if there are rows.
    pub nodes: Vec<String>,
}
