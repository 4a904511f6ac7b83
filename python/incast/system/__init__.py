"""Files, folders, memory, signals and standard streams: what the package asks of the operating system."""
