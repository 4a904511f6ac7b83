"""Texts of numbers, the same on terminals, pages and pictures."""
