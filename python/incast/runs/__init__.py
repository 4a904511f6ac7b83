"""One run: its scenario, result, folder, notes and completions."""
