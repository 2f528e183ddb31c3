"""How the API writes a moment: an ISO 8601 text with offset."""

Moment = str
