"""Counts primes on as many processes as cores were reserved: watch them work in the heatmap."""

import os
import time
from multiprocessing import Pool

STEP = 200_000
SECONDS = 30


def primes_in(bounds: tuple[int, int]) -> int:
    """How many primes there are from bounds[0] up to, not including, bounds[1]: a segmented sieve."""
    low, high = bounds
    composite = bytearray(high - low)
    for n in range(2, int(high**0.5) + 1):
        for multiple in range(max(n * n, -(-low // n) * n), high, n):
            composite[multiple - low] = 1
    return composite.count(0) - max(0, 2 - low)


if __name__ == "__main__":
    workers = int(os.environ.get("CPU_LIMIT", "1"))
    print(f"counting primes for {SECONDS} s on {workers} process(es), cores {os.environ.get('ROTA_CORES', '?')}")
    deadline, found, low = time.monotonic() + SECONDS, 0, 0
    with Pool(workers) as pool:
        while time.monotonic() < deadline:
            spans = [(low + n * STEP, low + (n + 1) * STEP) for n in range(workers)]
            found += sum(pool.map(primes_in, spans))
            low = spans[-1][1]
            print(f"{found:>12,} primes below {low:,}")
    print("done")
