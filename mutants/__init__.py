"""Mutation testing of ``crates/cc``."""
