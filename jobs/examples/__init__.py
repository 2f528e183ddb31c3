"""What a first start finds: jobs to watch, and in `jobs.py` callables to make others of."""
