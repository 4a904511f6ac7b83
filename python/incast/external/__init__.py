"""Code of users: where a class lies that a scenario names, and the consent to run it."""
