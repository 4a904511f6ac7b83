//! Transports. Tests state only their differences.

use super::*;

/// htsim's transport: 4000 B packets without headers, 40 B ACKs, one packet more than requested.
pub fn htsim() -> TransportSpec {
    TransportSpec {
        protocol: Protocol::Tcp,
        demotion: Vec::new(),
        demotion_by: Rank::Sent,
        rank: None,
        probe_after: 0,
        mss: 4000,
        header: 0,
        ack_size: 40,
        syn_size: 40,
        mtu: 0,
        handshake: false,
        fin_with_data: false,
        lone_syn: false,
        syn_timeout: Time::s(1),
        syn_retries: 6,
        syn_ack_retries: 0,
        data_retries: 0,
        emptying_timeout: 0,
        delayed_ack: 1,
        delayed_ack_timeout: Time::ms(200),
        quickack: 0,
        push_ack: false,
        push_half_window: false,
        close_after_write: false,
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
        timestamps: true,
        segment_rtt: false,
        timestamp_clock: Time::ZERO,
        rto_rule: RtoRule::Rfc6298,
        timer_tick: Time::ZERO,
        timer_scan: Time::ZERO,
        timeout_renumbers: false,
        go_back_n_new_path: false,
        inflation_survives_timeout: false,
        duplicate_rtt: false,
        go_back_n_point: false,
        rto_min: Time::us(100),
        rto_max: Time::s(60),
        rto_initial: Time::ms(1),
        rto_granularity: Time::ZERO,
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
        ecn: None,
        ecn_change_ack: false,
        ecn_flush: Flush::Pending,
        ce_must_advance: false,
        rtt_after_timeout: true,
        ect_control: false,
        pacing: PacingSpec::Controller,
        extra_packets: 1,
    }
}

/// ns-3's TCP with 1448 B segments.
pub fn tcp() -> TransportSpec {
    TransportSpec {
        mss: 1448,
        header: 52,
        ack_size: 52,
        syn_size: 56,
        mtu: 1500,
        handshake: true,
        syn_timeout: Time::s(3),
        delayed_ack: 2,
        rto_min: Time::ms(10),
        rto_initial: Time::s(1),
        rto_granularity: Time::us(10),
        initial_window: 10.0,
        send_buffer: 131_072,
        receive_buffer: 131_072,
        extra_packets: 0,
        ..htsim()
    }
}

/// Segments of 1000 B with 40 B of headers, each acknowledged; no handshake, buffers that never limit, a first timeout
/// of 1 s and a minimum of 200 ms.
pub fn plain() -> TransportSpec {
    TransportSpec {
        handshake: false,
        mss: 1000,
        header: 40,
        ack_size: 40,
        delayed_ack: 1,
        send_buffer: 1 << 30,
        receive_buffer: 1 << 29,
        rto_min: Time::ms(200),
        ..tcp()
    }
}

/// The plain transport with an initial window of `segments` segments.
pub fn initial_window(segments: f64) -> TransportSpec {
    TransportSpec { initial_window: segments, ..plain() }
}

/// Linux defaults, except exact timers and the settings of [`plain`].
pub fn linux() -> TransportSpec {
    TransportSpec {
        recovery: Recovery::Linux,
        forward_retransmit: false,
        scoreboard: Rules::Rack,
        segment_rtt: true,
        dsack: true,
        undo: true,
        tail_loss_probe: true,
        reordering_timer: true,
        adaptive_reordering: true,
        timeout_min: Time::ms(2),
        ..plain()
    }
}

/// ns-3.43 defaults, except the settings of [`plain`].
pub fn ns3() -> TransportSpec {
    TransportSpec {
        rto_min: Time::s(1),
        fin_with_data: true,
        scoreboard: Rules::Ns3,
        loss_flight: LossFlight::Pipe,
        recovery: Recovery::PrrNs3,
        ecn_by_prr: true,
        ecn_preempts: true,
        ecn_flush: Flush::Prior,
        ect_control: true,
        least_segment: false,
        ..plain()
    }
}
