//! Transports. Tests state only their differences.

use super::*;

const CONNECTION: ConnectionRules = ConnectionRules {
    handshake: false,
    fin_with_data: false,
    lone_syn: false,
    syn_timeout: Time::s(1),
    syn_retries: 6,
    syn_ack_retries: 0,
    data_retries: 0,
    emptying_timeout: 0,
    close_after_write: false,
};

const ACKS: AckRules = AckRules {
    delayed_ack: 1,
    delayed_ack_timeout: Time::ms(200),
    quickack: 0,
    push_ack: false,
    push_half_window: false,
    read_ack: false,
    quickack_route: false,
    cwr_ack: false,
    window_growth: false,
    last_set_first: false,
    wakeup: false,
    pingpong: false,
    mark_quickack: true,
    classic_quickack: false,
    ecn_fallback: false,
    adaptive_ack: false,
};

const LOSS: LossRules = LossRules {
    sack: true,
    sack_compression: false,
    dupthresh: 3,
    reordering: false,
    sack_block: 0,
    scoreboard: Rules::Rfc6675,
    loss_flight: LossFlight::Outstanding,
    recovery: Recovery::Prr,
    ecn_by_prr: false,
    ecn_preempts: false,
    undo: false,
    dsack: false,
    tail_loss_probe: false,
    reordering_timer: false,
    adaptive_reordering: false,
    timeout_min: Time::ZERO,
    cwr_after_loss: false,
    frto: false,
    forward_retransmit: true,
    limited_transmit: true,
};

const TIMING: Timing = Timing {
    timestamps: true,
    segment_rtt: false,
    timestamp_clock: Time::ZERO,
    rto_rule: RtoRule::Rfc6298,
    timer_tick: Time::ZERO,
    timer_scan: Time::ZERO,
};

const EMULATION: Emulation = Emulation {
    timeout_renumbers: false,
    go_back_n_new_path: false,
    inflation_survives_timeout: false,
    duplicate_rtt: false,
    go_back_n_point: false,
};

const RTO: RtoLimits =
    RtoLimits { rto_min: Time::us(100), rto_max: Time::s(60), rto_initial: Time::ms(1), rto_granularity: Time::ZERO };

const WINDOWS: Windows = Windows {
    initial_window: 15.0,
    idle_restart: false,
    least_segment: true,
    whole_writes: false,
    cwnd_limited: false,
    send_buffer: 1 << 40,
    receive_buffer: 1 << 30,
    window_scaling: true,
    notsent_lowat: 0,
    sws_avoidance: true,
    window_update: WindowUpdate::News,
    whole_segments: false,
    half_window_mss: false,
    persist_timeout: Time::s(6),
};

const MARKS: MarkRules = MarkRules {
    ecn: None,
    ecn_change_ack: false,
    ecn_flush: Flush::Pending,
    ce_must_advance: false,
    rtt_after_timeout: true,
    ect_control: false,
};

/// htsim's transport: 4000 B packets without headers, 40 B ACKs, one packet more than requested.
pub fn htsim() -> TransportSpec {
    TransportSpec {
        protocol: Protocol::Tcp,
        sizes: Sizes { mss: 4000, header: 0, ack_size: 40, syn_size: 40, mtu: 0 },
        connection: CONNECTION,
        acks: ACKS,
        loss: LOSS,
        timing: TIMING,
        emulation: EMULATION,
        rto: RTO,
        windows: WINDOWS,
        marks: MARKS,
        output: OutputRules {
            demotion: Vec::new(),
            demotion_by: Rank::Sent,
            rank: None,
            probe_after: 0,
            pacing: None,
            extra_packets: 1,
        },
    }
}

/// ns-3's TCP with 1448 B segments.
pub fn tcp() -> TransportSpec {
    changed!(
        htsim(),
        sizes.mss = 1448,
        sizes.header = 52,
        sizes.ack_size = 52,
        sizes.syn_size = 56,
        sizes.mtu = 1500,
        connection.handshake = true,
        connection.syn_timeout = Time::s(3),
        acks.delayed_ack = 2,
        rto.rto_min = Time::ms(10),
        rto.rto_initial = Time::s(1),
        rto.rto_granularity = Time::us(10),
        windows.initial_window = 10.0,
        windows.send_buffer = 131_072,
        windows.receive_buffer = 131_072,
        output.extra_packets = 0
    )
}

/// Segments of 1000 B with 40 B of headers, each acknowledged; no handshake, buffers that never limit, a first timeout
/// of 1 s and a minimum of 200 ms.
pub fn plain() -> TransportSpec {
    changed!(
        tcp(),
        connection.handshake = false,
        sizes.mss = 1000,
        sizes.header = 40,
        sizes.ack_size = 40,
        acks.delayed_ack = 1,
        windows.send_buffer = 1 << 30,
        windows.receive_buffer = 1 << 29,
        rto.rto_min = Time::ms(200)
    )
}

/// The plain transport with an initial window of `segments` segments.
pub fn initial_window(segments: f64) -> TransportSpec {
    changed!(plain(), windows.initial_window = segments)
}

/// Linux defaults, except exact timers and the settings of [`plain`].
pub fn linux() -> TransportSpec {
    changed!(
        plain(),
        loss.recovery = Recovery::Linux,
        loss.forward_retransmit = false,
        loss.scoreboard = Rules::Rack,
        timing.segment_rtt = true,
        loss.dsack = true,
        loss.undo = true,
        loss.tail_loss_probe = true,
        loss.reordering_timer = true,
        loss.adaptive_reordering = true,
        loss.timeout_min = Time::ms(2)
    )
}

/// ns-3.43 defaults, except the settings of [`plain`].
pub fn ns3() -> TransportSpec {
    changed!(
        plain(),
        rto.rto_min = Time::s(1),
        connection.fin_with_data = true,
        loss.scoreboard = Rules::Ns3,
        loss.loss_flight = LossFlight::Pipe,
        loss.recovery = Recovery::PrrNs3,
        loss.ecn_by_prr = true,
        loss.ecn_preempts = true,
        marks.ecn_flush = Flush::Prior,
        marks.ect_control = true,
        windows.least_segment = false
    )
}
