"""Jobs of AI clusters as graphs of tasks: files, findings, counts, bounds, collectives."""
