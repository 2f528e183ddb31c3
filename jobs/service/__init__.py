"""The long-lived process: wake, pass, act, sleep; adopt at the start, let go at the end."""
