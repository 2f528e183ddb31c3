"""Turns a decision into a running thing and a running thing into an outcome."""
