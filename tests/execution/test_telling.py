"""What a job tells of itself, by a real runner: progress, a result, files."""

import json

from jobs.core.states import OutcomeKind
from jobs.execution.outputs import listed
from tests.execution.running import until


def rundir(node, ref):
    return node.data_dir / "runs" / str(ref.instance_id) / f"{ref.attempt}-{ref.token[:8]}"


def progress(node, ref):
    file = rundir(node, ref) / "progress.json"
    return json.loads(file.read_text()) if file.exists() else None


def test_result_and_files_outlive_the_run(node):
    ref = node.launch('printf \'::rota result={"rows": 3}\'; echo hello > "$ROTA_OUTPUT/a b.txt"')
    assert node.outcome(ref).result == '{"rows": 3}'
    assert [one.name for one in listed(rundir(node, ref))] == ["a b.txt"]


def test_result_by_a_file_counts(node):
    ref = node.launch("echo '[1, 2]' > \"$ROTA_RESULT_FILE\"")
    assert node.outcome(ref).result == "[1, 2]"


def test_a_failed_job_may_have_a_result(node):
    ref = node.launch("echo '::rota result=\"half\"'; exit 3")
    outcome = node.outcome(ref)
    assert (outcome.kind, outcome.result) == (OutcomeKind.FAILED, '"half"')


def test_progress_is_seen_while_it_runs(node):
    ref = node.launch("echo '::rota progress=0.5 text=half'; read x < /dev/tty || sleep 600")
    until(lambda: progress(node, ref) == {"done": 0.5, "text": "half"})
    node.executor.cancel(ref)
    node.outcome(ref)


def test_progress_by_a_file_is_seen(node):
    ref = node.launch('echo 0.25 > "$ROTA_PROGRESS_FILE"; sleep 600')
    until(lambda: progress(node, ref) == {"done": 0.25, "text": ""})
    node.executor.cancel(ref)
    node.outcome(ref)


def test_too_much_output_is_cut_and_said(node):
    command = 'head -c 3000 /dev/zero > "$ROTA_OUTPUT/big"; echo x > "$ROTA_OUTPUT/small"'
    ref = node.launch(command, output_cap_bytes=2000)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert [one.name for one in listed(rundir(node, ref))] == ["small"]
    assert "output 'big' of 3,000 bytes was not kept" in node.text(ref)


def test_results_of_upstreams_are_in_a_file(node):
    ref = node.launch('cat "$ROTA_UPSTREAM_RESULTS"', upstream_results='{"a": {"n": 1}}')
    node.outcome(ref)
    assert json.loads(node.text(ref)) == {"a": {"n": 1}}


def test_without_upstreams_there_is_no_such_file(node):
    ref = node.launch("echo ${ROTA_UPSTREAM_RESULTS-none}")
    node.outcome(ref)
    assert node.text(ref) == "none\n"
