from tests.embedded.schedulers import clock, gate, make, scheduler

__all__ = ["clock", "gate", "make", "scheduler"]
