"""A run in the formats of other programs: packets for Wireshark, time for Perfetto."""
