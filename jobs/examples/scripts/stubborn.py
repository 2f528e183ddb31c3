"""Ignores being asked to stop: cancel it, and see it killed after its grace of 5 seconds."""

import signal
import time

signal.signal(signal.SIGTERM, lambda *_: print("asked to stop, and going on", flush=True))
for second in range(600):
    print(f"still here after {second} s", flush=True)
    time.sleep(1)
