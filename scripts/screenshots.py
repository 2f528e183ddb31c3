"""Pictures of the pages, of a service of their own.

    .venv/bin/python scripts/screenshots.py                 the two in README.md
    .venv/bin/python scripts/screenshots.py --all FOLDER    every page and state, both themes, desktop and phone

Needs Chromium on PATH or in CHROMIUM.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from _bench import remove, service, session_key, use_own_data_folder, wait_until  # noqa: E402 - found by the line above
from gallery import Gallery  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

PORT = 8423
ADDRESS = f"http://127.0.0.1:{PORT}"
PICTURES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCHED_SECONDS = 12  # so that the heatmap has something to show
STATES = ("empty", "few", "many", "failing", "execution")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    parser.add_argument("--state", choices=STATES, help="with --all: this one only")
    parser.add_argument("--only", default="", help="with --all: what has this in its name")
    given = parser.parse_args()
    if given.all and not given.state:
        for state in STATES:  # each in a process of its own: Django has one database in its life
            subprocess.run(
                [sys.executable, __file__, "--all", given.all, "--state", state, "--only", given.only], check=True
            )
    elif given.all:
        take_state(given.state, given.all, given.only)
    else:
        take_for_readme()


def take_for_readme() -> None:
    folder = use_own_data_folder()
    try:
        ids = load_examples()
        cookie = cookie_of_reader()
        with service(port=PORT):
            wait_until(lambda: running() >= 1, 30)  # before the browser, which has a loop: Django reads in none
            with chromium() as browser:
                take(browser, cookie, "/", "overview", "light")
                take(browser, cookie, f"/instances/{ids[1]}/", "instance", "dark")
    finally:
        remove(folder)


def take_state(state: str, pictures: Path, only: str) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    if state == "execution":
        os.environ["ROTA_LOG_CAP_MB"] = "2"  # so that a log of a moment is capped
    folder = use_own_data_folder()
    try:
        if state == "many":
            from django.core.management import call_command

            call_command("seedhistory", verbosity=0)
        cookie = cookie_of_reader()
        with service("--node", "atlas", port=PORT) as process:
            import scenes  # now that Django is set up

            ids = getattr(scenes, state)()
            with chromium() as browser:
                gallery = Gallery(browser, ADDRESS, cookie, pictures, only)
                gallery.take_all(state, ids)
                if state == "few" and not only:
                    gallery.cut_off(ids, process.terminate)
    finally:
        remove(folder)


def cookie_of_reader() -> dict[str, str]:
    return {"name": "sessionid", "value": session_key(), "url": ADDRESS}


@contextmanager
def chromium() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("screenshots: no Chromium found; put it on PATH or name it in CHROMIUM.")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program, args=FLAGS) as browser:
        yield browser


def load_examples() -> list[int]:
    """Ids of the instances that run at once."""
    from jobs import models
    from jobs.examples import loading

    loading.load()
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
