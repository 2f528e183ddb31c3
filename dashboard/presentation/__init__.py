"""What pages show, as frozen values: one reader per region, the same for the first load, the socket and polling.

Values hold moments and durations, never "3 s ago": so a row that has not changed compares equal and is not drawn again.
"""
