"""What `screenshots.py --all` shows of running code: functions, parameters, packages, secrets, outputs, long logs.

To be imported when Django is set up. It writes the folder of one wheel, from which packages come without a network.
"""

from __future__ import annotations

from typing import Any

from _bench import wait_until
from django.conf import settings
from django.utils import timezone

from jobs import actions, models
from tests.fixtures.wheels import install_from, make_wheel

EXPORT = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "title": "Table", "description": "Which table is exported.", "maxLength": 60},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 1000, "description": "Rows at most."},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "day": {"type": "string", "format": "date"},
        "mode": {"enum": ["fast", "safe"], "default": "safe"},
        "dry_run": {"type": "boolean", "default": False},
        "columns": {"type": "array", "items": {"type": "string"}, "default": ["id", "name"]},
        "note": {"type": "string", "maxLength": 4000},
        "api_key": {"type": "string", "description": "Of the target."},
    },
    "required": ["table"],
}
KEEPS = """import json, os, pathlib, struct, zlib
def png(width, height):
    colour = lambda x, y: bytes((40 + x * 60 // width, 70 + y * 90 // height, 190 - abs(x - y) % 97))
    rows = b"".join(b"\\0" + b"".join(colour(x, y) for x in range(width)) for y in range(height))
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
out = pathlib.Path(os.environ["ROTA_OUTPUT"])
(out / "curve.png").write_bytes(png(480, 220))
(out / "square.png").write_bytes(png(64, 64))
(out / "orders-2026-11-30.csv").write_text("id,total\\n" * 4000)
(out / "folder").mkdir()
(out / "folder" / "a-file-whose-name-is-long-enough-to-need-more-than-one-line.json").write_text("{}")
print("token", os.environ["API_TOKEN"])
print('::rota result={"rows": 4000, "tables": ["orders", "customers"], "total_eur": 123456.78, "skipped": null}')
"""
PROGRESS = """import time
for n in range(43):
    print(f"\\x1b[2m{n:4}\\x1b[0m \\x1b[36mread\\x1b[0m part-{n:04}.parquet \\x1b[32mok\\x1b[0m", flush=True)
print('::rota progress=0.43 text=of the parts, the largest come last', flush=True)
time.sleep(900)
"""
COLOURS = """import sys
for n in range(8):
    kinds = {3: "ink", 9: "bright", 4: "ground", 10: "both"}
    print(*(f"\\x1b[{kind}{n}m {word} \\x1b[0m" for kind, word in kinds.items()))
words = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", "38;5;208": "256", "38;2;90;200;160": "true"}
print(*(f"\\x1b[{code}m{word}\\x1b[0m" for code, word in words.items()))
print("see https://example.org/a/long/address?with=a&query=string for more; " + "a line that is long " * 20)
for n in range(30):
    print(f"WARNING: row {n} has no customer", file=sys.stderr)
    print(f"row {n}: error in field total, took the default")
print("::rota progress=0.5")
raise KeyError("customer_id")
"""
CAPPED = """for n in range(60_000):
    print(f"{n:08} the quick brown fox jumps over the lazy dog and goes on to say quite a lot of things")
"""


def execution() -> dict[str, int]:
    """Ids by name of jobs and instances."""
    for version in ("1.0", "2.0"):
        make_wheel(settings.DATA_DIR / "wheels", "tidy", version)
    make_wheel(settings.DATA_DIR / "wheels", "needy", "1.0", ("absent>=3",))
    install_from(settings.DATA_DIR, settings.DATA_DIR / "wheels")
    for name, value, says in (
        ("stripe-key", "sk_live_1234567890", "Charges cards. A new one: dashboard of Stripe, Developers, API keys."),
        ("warehouse-password", "correct horse battery", ""),
    ):
        actions.create_secret({"name": name, "value": value, "description": says}, actor="ann", now=timezone.now())
    given = {"name": "stripe-key", "variable": "API_TOKEN"}
    ids = {
        "keeps": submit("monthly figures", KEEPS, secrets=[given], keep_days=7),
        "progress": submit("load parts", PROGRESS, timeout_seconds=1800),
        "colours": submit("check customers", COLOURS),
        "capped": submit("a lot to say", CAPPED),
        "packed": submit("tidy report", "import tidy\nprint(tidy.VERSION)", requirements=["tidy>=1"]),
        "unpacked": submit("needs what is not there", "print(1)", requirements=["needy", "pandas>=2.2,<3"]),
    }
    ids |= called() | exported()
    for name in ("keeps", "colours", "capped", "packed", "unpacked", "exported"):
        wait_until(lambda pk=ids[name]: models.Instance.objects.get(pk=pk).ended_at is not None, 90)
    builds_for_ever = "UV_FIND_LINKS=http://127.0.0.1:9/\nUV_HTTP_RETRIES=1000000\nUV_NO_INDEX=1\n"
    (settings.DATA_DIR / "environment").write_text(builds_for_ever)
    ids["builds"] = submit("waits for packages", "print(1)", requirements=["other==1"], python_version="3.11")
    runs = models.Instance.objects.in_bulk(ids.values())
    ids |= {f"job-{name}": runs[pk].job_id for name, pk in ids.items() if pk in runs}
    wait_until(lambda: models.Instance.objects.get(pk=ids["builds"]).hold_code == "environment", 60)
    secrets = models.Secret.objects.order_by("pk").values_list("pk", flat=True)
    return ids | {"node": models.Node.objects.get(name="atlas").pk, "secret": secrets[0], "secret-free": secrets[1]}


def exported() -> dict[str, int]:
    """A job that declares parameters, and a run of it with values of its own."""
    export = actions.create_job(
        {
            "name": "export table",
            "kind": "command",
            "command": 'echo "exporting $ROTA_PARAM_TABLE"; cat "$ROTA_PARAMETERS_FILE"',
            "parameters": EXPORT,
            "parameter_values": {"api_key": "hush", "day": "2026-11-30"},
            "description": "Exports a table for those who ask.",
        },
        actor="ann",
        now=timezone.now(),
    ).job_id
    ran = actions.run_job(
        export, actor="ann", now=timezone.now(), parameters={"table": "orders", "note": "two\nlines"}
    ).instance_id
    return {"export": export, "exported": int(ran or 0)}


def called() -> dict[str, int]:
    """Runs of functions: one good, one whose function is gone from the code."""
    raw: dict[str, Any] = {"schedule_type": "once", "max_retries": 0}
    size = {"name": "size of the data", "callable": "jobs.examples.jobs.folder_size", **raw}
    good = actions.create_job(size, actor="ann", now=timezone.now()).instance_id
    size |= {"name": "gone from the code"}
    gone = actions.create_job(size, actor="ann", now=timezone.now(), start=False).job_id
    models.Job.objects.filter(pk=gone).update(body="shop.jobs.removed")
    return {"called": int(good or 0), "gone": gone}


def submit(name: str, script: str, **fields: Any) -> int:
    once = {"kind": "script", "script_content": script, "schedule_type": "once", "max_retries": 0}
    made = actions.create_job({"name": name, **once, **fields}, actor="ann", now=timezone.now())
    return int(made.instance_id or 0)
