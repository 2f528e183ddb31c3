"""Callables that tests make jobs of."""


def in_process(text: str = "hello") -> str:
    """Say it.

    And no more.
    """
    return text


def in_pool(number: int = 1) -> int:
    return number


def in_thread(seconds: float = 0.0) -> float:
    return seconds


async def on_loop(day: str = "today", retries: int = 3) -> None:
    """Wait for a day."""
