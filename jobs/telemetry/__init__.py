"""Samples of what this machine does now. They are looks, not events: the latest one wins and none is stored."""
