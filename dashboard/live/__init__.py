"""From the feed to the browsers: boards hold what is shown, the hub who may have a frame, the relay turns the wheel.

board    keyed rows of one topic, each with the version in which it last changed
logs     the end of a growing log, cut at whole characters
loads    the latest sample of this machine
hub      sockets, their subscriptions, and one unacknowledged frame for each
relay    the one task per web process that reads the feed, fills the boards and hands out frames
"""
