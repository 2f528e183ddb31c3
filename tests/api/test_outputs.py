"""The files and the result of an attempt, by the API."""

import gc
import os

import pytest
from asgiref.sync import async_to_sync

from jobs.api.outputs import rundir_of
from jobs.api.shapes import progress_shape
from jobs.downloads import download
from jobs.models import Attempt
from tests.api.test_logs import logged

pytestmark = pytest.mark.django_db


@async_to_sync
async def whole(response):
    return b"".join([part async for part in response.streaming_content])


@pytest.fixture
def kept():
    """Address of an attempt that kept two files."""
    instance_id = logged([])
    attempt = Attempt.objects.get(instance=instance_id)
    folder = rundir_of(attempt) / "output" / "plots"
    folder.mkdir(parents=True)
    (folder / "a.png").write_bytes(b"png")
    (folder.parent / "b.csv").write_bytes(b"1,2\n")
    return f"instances/{instance_id}/attempts/1/outputs"


def test_files_are_listed_and_read(api, kept):
    listed = api.get(kept).json()["outputs"]
    assert [(one["name"], one["size_bytes"]) for one in listed] == [("b.csv", 4), ("plots/a.png", 3)]
    assert whole(api.get(f"{kept}/b.csv")) == b"1,2\n"


@pytest.mark.parametrize("leave", [lambda response: response.close(), lambda response: None])
def test_file_that_nobody_reads_is_closed(tmp_path, leave):
    """One descriptor was left of each download that was given up before its first part, until the service had none."""
    (tmp_path / "a.csv").write_bytes(b"1,2\n")
    fd = os.open(tmp_path / "a.csv", os.O_RDONLY)
    response = download(fd, "a.csv")
    assert response["Content-Length"] == "4"
    leave(response)
    del response
    gc.collect()
    assert not is_open(fd, tmp_path / "a.csv")


def is_open(fd, file):
    """Another file may have got its number by now."""
    try:
        return os.path.samestat(os.fstat(fd), file.stat())
    except OSError:
        return False


def test_what_is_not_there_is_said(api, kept, problem):
    refused = problem(api.get(f"{kept}/no.csv"), 404)
    assert "no.csv" in refused["detail"]


def test_result_is_part_of_the_attempt(api, kept):
    Attempt.objects.update(result="[1, null]")
    instance = kept.split("/")[1]
    assert api.get(f"instances/{instance}").json()["attempts"][0]["result"] == [1, None]


@pytest.mark.usefixtures("kept")
def test_progress_is_told_while_it_runs():
    attempt = Attempt.objects.get()
    (rundir_of(attempt) / "progress.json").write_text('{"done": 0.5, "text": "half"}')
    assert progress_shape(attempt) is None
    attempt.status = "running"
    assert progress_shape(attempt) == {"done": 0.5, "text": "half"}
