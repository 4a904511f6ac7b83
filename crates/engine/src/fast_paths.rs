//! Fast paths, and the one table of what excludes each.
//!
//! A [`Feature`] of a run, a port or an endpoint states its [`Need`]s. A [`FastPath`] lacks some of them, and is taken
//! where no feature needs what it lacks. The [reference engine](crate::reference) takes none, with the same results.

/// Defines an enum whose variants have a text, and the list of them.
macro_rules! table {
    ($(#[$note:meta])* $name:ident: $($variant:ident $text:literal $([$($need:ident)*])?,)*) => {
        $(#[$note])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $name {
            $(#[doc = $text] $variant,)*
        }

        impl $name {
            /// All of them, in the order of the table.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// Short description.
            pub const fn text(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }

            /// Row of the table, a bit a need: what a feature needs, or what a fast path lacks.
            pub const fn row(self) -> u32 {
                match self {
                    $($name::$variant => 0 $($(| 1 << Need::$need as u32)*)?,)*
                }
            }
        }
    };
}

table! {
    /// Need of a feature, met by the general path.
    Need:
    Departures "departure events",
    EachDeparture "an event at each departure",
    Refill "a refill at departures",
    Decision "a decision at departures",
    LateDecision "a decision as a transmission ends",
    Room "room made for arrivals",
    Frames "frames closed at departures",
    LiveQueue "queues as of any instant",
    Order "packets in the order of time",
    OwnQueues "more than a FIFO queue",
    Leaving "work on leaving packets",
    AtOnce "departures at the instant of arrival",
    Instants "transmissions shorter than a tick",
    EarlyArrival "arrivals in the window of the departure",
    Feedback "effects on other ports within a window",
    LaterBucket "packets not yet in a bucket",
    EachAck "every acknowledgement",
    EachSegment "every arriving segment",
    EachSend "every new segment",
}

table! {
    /// Path with the results of the general one at fewer instructions. Its row has the needs that it lacks.
    FastPath:
    LazyService "explicit queues are served when the port is next needed" [
        Departures Refill Decision Frames LiveQueue Leaving AtOnce Instants EarlyArrival
    ],
    EarlySending "packets are sent on as their transmission begins, and ends that nobody waits for are no events" [
        EachDeparture Refill LateDecision Room Frames LiveQueue Leaving AtOnce
    ],
    LateMarking "marks at departure are set when the next window opens" [
        Departures Leaving AtOnce Instants EarlyArrival LaterBucket
    ],
    ByPort "packets of a window pass port by port" [Order OwnQueues Feedback],
    AckPrediction "the next acknowledgement in order skips the rules of loss" [EachAck],
    SegmentPrediction "the next segment in order skips the rules of reordering" [EachSegment],
    PlainOutput "new segments are sent in one loop" [EachAck EachSend],
}

table! {
    /// Feature of a run, a port or an endpoint. Its row has its needs.
    Feature:
    Trace "a packet trace" [Departures EachDeparture Order],
    Monitor "counts of single packets" [Departures EachDeparture Order],
    Programs "programs at switches or hosts" [LiveQueue],
    Cells "radio cells" [LiveQueue],
    Comparison "routing that compares queues" [LiveQueue Order],
    FlowControl "priority flow control" [Departures],
    ShortLatency "latencies below the length of a window" [Feedback],
    TxSlots "a transport that waits for its host's wire" [Departures],
    Probe "a time series of the queue" [Departures EachDeparture OwnQueues],
    OwnTies "scheduled ties" [Departures OwnQueues],
    Failures "failures of the link" [Departures EachDeparture OwnQueues],
    Programmed "programs at the port's node" [Departures EachDeparture OwnQueues],
    Buffer "a shared buffer" [Departures Order],
    Station "a radio station" [Departures EachDeparture],
    Timeline "a timeline" [Frames],
    Loss "random loss" [Leaving],
    Bucket "a token bucket" [Leaving],
    Returns "headers returned to their senders" [Leaving],
    DeviceQueue "a device queue of several packets" [Refill],
    AtDeparture "a discipline that decides at departures" [Decision OwnQueues],
    AtEnd "a discipline that decides as a transmission ends" [LateDecision],
    MakesRoom "trimming, ranks of packets, or shaped credits" [Room],
    StampedDepartures "telemetry stamped at departures" [Decision OwnQueues],
    Explicit "classes, priorities or trimming" [OwnQueues],
    NoTime "transmissions without duration" [AtOnce],
    ShortTime "packets that take less than a tick" [Instants],
    NoThreshold "a marking threshold of 0" [AtOnce],
    ShortDelay "a delay below the length of a window" [EarlyArrival],
    LongDelay "a delay beyond the nearest windows" [LaterBucket],
    FinWithData "a FIN on the last segment" [EachAck EachSend],
    EcnPreempts "an ECN echo that comes before the rest of its ACK" [EachAck],
    TailLossProbe "tail loss probes" [EachAck EachSend],
    Reordering "adaptive reordering or its timer" [EachAck],
    CountedRecovery "recovery that counts each acknowledgement" [EachAck],
    NoTimestamps "round trips without time stamps" [EachAck],
    DeliveryRate "a controller that samples delivery" [EachAck],
    Messages "an application that waits" [EachAck],
    Scoreboard "a scoreboard with times or late segments" [EachAck],
    PushAck "acknowledgements of PSH" [EachSend EachSegment],
    HalfWindow "PSH at half a window" [EachSend],
    UnsentLimit "a limit of unsent bytes" [EachSend],
    Fragments "IP fragments" [EachSend],
    OwnPacing "pacing by the transport" [EachSend],
    Telemetry "telemetry in packets" [EachSend],
    Labels "labels of packets" [EachSend],
    QuickAck "quick acknowledgements of classic TCP" [EachSegment],
    WindowGrowth "a window that grows" [EachSegment],
    ReadAck "acknowledgements of reads" [EachSegment],
    CwrAck "acknowledgements of CWR" [EachSegment],
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Features(u64);

impl Features {
    /// The features that are present.
    pub fn of<const N: usize>(list: [(Feature, bool); N]) -> Features {
        Features(list.iter().fold(0, |set, (feature, there)| set | (*there as u64) << *feature as u8))
    }

    /// The features of both sets.
    pub fn and(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// The features in the set.
    pub fn list(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.0 >> *feature as u8 & 1 != 0)
    }
}

impl FastPath {
    /// True if a feature needs what the path lacks.
    pub const fn excludes(self, feature: Feature) -> bool {
        self.row() & feature.row() != 0
    }

    /// The features that exclude the path.
    const fn excluding(self) -> u64 {
        let (mut set, mut i) = (0, 0);
        while i < Feature::ALL.len() {
            set |= (self.excludes(Feature::ALL[i]) as u64) << Feature::ALL[i] as u8;
            i += 1;
        }
        set
    }

    /// True if none of `features` excludes the path.
    pub fn fits(self, features: Features) -> bool {
        const EXCLUDING: [u64; FastPath::ALL.len()] = {
            let (mut sets, mut i) = ([0; FastPath::ALL.len()], 0);
            while i < sets.len() {
                sets[i] = FastPath::ALL[i].excluding();
                i += 1;
            }
            sets
        };
        features.0 & EXCLUDING[self as usize] == 0
    }
}

/// The table as Markdown: a row a feature, with its needs and the fast paths that it excludes.
pub fn page() -> String {
    let names = |words: Vec<String>| if words.is_empty() { "–".to_owned() } else { words.join(", ") };
    let needs = |bits: u32| {
        let held = Need::ALL.iter().filter(|need| bits >> **need as u32 & 1 != 0);
        names(held.map(|need| need.text().to_owned()).collect())
    };
    let mut page = String::from("| fast path | what it does | it lacks |\n|---|---|---|\n");
    for path in FastPath::ALL {
        page += &format!("| `{path:?}` | {} | {} |\n", path.text(), needs(path.row()));
    }
    page += "\n| feature | it needs | excluded |\n|---|---|---|\n";
    for feature in Feature::ALL {
        let excluded = FastPath::ALL.iter().filter(|path| path.excludes(*feature));
        let excluded = names(excluded.map(|path| format!("`{path:?}`")).collect());
        page += &format!("| {} | {} | {excluded} |\n", feature.text(), needs(feature.row()));
    }
    page
}
