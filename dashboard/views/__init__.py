"""Pages. Each reads its topic, so that what it shows first is what it is kept up to date with."""
