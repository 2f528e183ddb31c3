"""A minute of coloured progress: watch the log live."""

import time

SECONDS = 60
WIDTH = 40
COLOURS = (31, 33, 32)

for second in range(SECONDS + 1):
    share = second / SECONDS
    colour = COLOURS[min(int(share * len(COLOURS)), len(COLOURS) - 1)]
    bar = "█" * round(share * WIDTH) + "░" * (WIDTH - round(share * WIDTH))
    print(f"\x1b[{colour}m{bar}\x1b[0m {share:4.0%}", flush=True)
    if second < SECONDS:
        time.sleep(1)
print("\x1b[1;32mfinished\x1b[0m")
