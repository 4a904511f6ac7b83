//! Facts of transports, for the parts of a network around them.

/// Facts of a transport.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Name in messages and scenarios.
    pub name: &'static str,
    /// True for every transport except TCP.
    pub numbers_packets: bool,
    /// Name of the built-in congestion control; `None`: a controller governs the flows.
    pub control: Option<&'static str>,
    /// Share of data at a host NIC while control packets also wait: one packet in this many (EQDS: 20 to 1; UET: 10 to
    /// 1).
    pub data_slot_period: u32,
    /// True if senders wait for the NIC of their host and send when it becomes free.
    pub waits_for_nic: bool,
    /// True if losses are detected by the headers of trimmed packets.
    pub needs_trimming: bool,
    /// True if trimming queues may drop instead of trimming.
    pub works_without_trimming: bool,
    /// True if senders take back trimmed headers that switches return.
    pub takes_returned_headers: bool,
    /// True if every packet needs a credit that ports shape.
    pub needs_credit_shaping: bool,
    /// True if receivers send pulls, which may have a path of their own.
    pub has_pulls: bool,
    /// True if packets have ranks for ports that schedule by rank.
    pub has_ranks: bool,
    /// Lowest class of packets, if the transport assigns classes.
    pub lowest_class: Option<u8>,
    /// True if pauses of flow control stop the NIC of a host, which makes packets when they are sent.
    pub obeys_pauses: bool,
    /// Bytes of a message after which a packet begins, whatever their number; `None`: none before the end.
    pub first_cut: Option<u64>,
}

impl Facts {
    /// Facts of a transport that numbers packets and has a control of its own, and nothing else.
    pub const fn of(name: &'static str) -> Facts {
        Facts {
            name,
            numbers_packets: true,
            control: Some(name),
            data_slot_period: 21,
            waits_for_nic: true,
            needs_trimming: false,
            works_without_trimming: false,
            takes_returned_headers: false,
            needs_credit_shaping: false,
            has_pulls: false,
            has_ranks: false,
            lowest_class: None,
            obeys_pauses: false,
            first_cut: None,
        }
    }
}
