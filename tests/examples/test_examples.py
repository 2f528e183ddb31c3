import subprocess
import sys

import pytest

from jobs.examples import loading
from jobs.models import Instance, Job

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_example_is_stored_with_its_script():
    loading.load()
    stored = {job.body.strip() for job in Job.objects.exclude(kind=Job.Kind.CALLABLE)}
    assert stored == {file.read_text().strip() for file in loading.SCRIPTS.glob("*.py")}


def test_one_shows_a_callable():
    loading.load()
    assert Job.objects.get(kind=Job.Kind.CALLABLE).body == "jobs.examples.jobs.port_answers"


def test_those_without_a_schedule_run_at_once_but_one():
    loading.load()
    waiting = set(Instance.objects.values_list("job__name", flat=True))
    assert waiting == {"Example: prime sieve", "Example: coloured progress", "Example: flaky"}


@pytest.mark.parametrize("name", ["disk_report", "flaky"])
def test_quick_examples_run_as_they_are(name):
    environment = {"ROTA_ATTEMPT": "3", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    run = subprocess.run(
        [sys.executable, loading.SCRIPTS / f"{name}.py"], env=environment, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("file", sorted(loading.SCRIPTS.glob("*.py")), ids=lambda file: file.stem)
def test_every_example_compiles(file):
    compile(file.read_text(), str(file), "exec")
