"""What a job takes: parameters declared as JSON Schema, and the values that a run gets for them."""
