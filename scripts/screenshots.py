"""The pictures in README.md, of a service of their own that runs the examples.

    .venv/bin/python scripts/screenshots.py

Needs Chromium on PATH or in CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from _bench import remove, service, session_key, use_own_data_folder, wait_until  # noqa: E402 - found by the line above
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

PORT = 8423
ADDRESS = f"http://127.0.0.1:{PORT}"
PICTURES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCHED_SECONDS = 12  # so that the heatmap has something to show


def main() -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("screenshots: no Chromium found; put it on PATH or name it in CHROMIUM.")
    folder = use_own_data_folder()
    try:
        ids = load_examples()
        cookie = {"name": "sessionid", "value": session_key(), "url": ADDRESS}
        with service(port=PORT):
            wait_until(lambda: running() >= 1, 30)  # before the browser, which has a loop: Django reads in none
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                take(browser, cookie, "/", "overview", "light")
                take(browser, cookie, f"/instances/{ids[1]}/", "instance", "dark")
                browser.close()
    finally:
        remove(folder)


def load_examples() -> list[int]:
    """Ids of the instances that run at once."""
    from jobs import examples, models

    examples.load()
    return list(models.Instance.objects.order_by("pk").values_list("pk", flat=True))


def running() -> int:
    from jobs import models

    return models.Instance.objects.filter(status="running").count()


def take(browser: Browser, cookie: dict[str, str], path: str, name: str, theme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=theme)  # type: ignore[arg-type]
    context.add_cookies([cookie])  # type: ignore[list-item]  # a cookie is a mapping of these names
    page = context.new_page()
    page.goto(ADDRESS + path)
    page.wait_for_timeout(WATCHED_SECONDS * 1000)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")
    context.close()


if __name__ == "__main__":
    main()
