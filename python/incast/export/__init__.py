"""Export of a run to other programs: packets for Wireshark, events over time for Perfetto."""
