"""SCCP on real Linux TCP: ``make proto-sccp``."""
