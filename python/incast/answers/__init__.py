"""Answers: sentences that the readings of a comparison carry, with the numbers they stand on."""
