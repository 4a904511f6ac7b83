"""Speed of the engine, stated so that a busy machine cannot fool: ``make bench``."""
