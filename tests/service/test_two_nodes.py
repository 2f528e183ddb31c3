"""Two services on one PostgreSQL: the same pass on both, and each instance runs once, on one of them."""

from django.db import connection

from jobs import actions, models
from jobs.service.loop import utc_now
from tests.service.conftest import Home
from tests.waiting import DEADLINE_SECONDS, until

CUT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
NOTE = "import os\nwith open({file!r}, 'a') as f: f.write(os.environ['ROTA_INSTANCE_ID'] + '\\n')"


def both_run(nodes: list[Home]) -> None:
    for node in nodes:
        node.start(cores=4)
    until(lambda: models.Node.objects.filter(heartbeat_at__isnull=False).count() == 2)


def test_each_instance_runs_once_on_one_node(two_nodes):
    both_run(two_nodes)
    file = two_nodes[0].folder / "started"
    ids = [two_nodes[0].submit(NOTE.format(file=str(file))) for _ in range(30)]
    assert two_nodes[0].until_all_ended() == dict.fromkeys(ids, "success")
    assert sorted(map(int, file.read_text().split())) == ids
    assert models.Attempt.objects.count() == len(ids)


def test_a_schedule_fires_once_for_both(two_nodes):
    both_run(two_nodes)
    raw = {"name": "tick", "kind": "command", "command": "true"}
    actions.create_job({**raw, "schedule_type": "interval", "schedule_expression": "1s"}, actor="ann", now=utc_now())
    until(lambda: models.Instance.objects.filter(status="success").count() >= 4)
    for node in two_nodes:
        node.end()  # else it fires between the next two looks
    # A commit that was on its way to the database as they were killed may come now.
    until(lambda: models.Schedule.objects.get().run_count == models.Instance.objects.count())
    dates = list(models.Instance.objects.values_list("logical_at", flat=True))
    assert len(dates) == len(set(dates))


def test_work_goes_on_when_one_is_killed(two_nodes):
    both_run(two_nodes)
    two_nodes[1].end()
    ids = [two_nodes[0].submit("pass") for _ in range(3)]
    until(lambda: {two_nodes[0].status(i) for i in ids} == {"success"})


def test_stop_asks_nothing_of_a_connection_that_was_cut(two_nodes):
    """It ended with a traceback and exit status 1, hours after the database had been started anew."""
    node = two_nodes[0]
    process = node.start()
    until(lambda: "Rota runs" in node.output())
    with connection.cursor() as cursor:
        cursor.execute(CUT)
    process.terminate()
    assert process.wait(DEADLINE_SECONDS) == 0
    assert "Rota has stopped; nothing runs." in node.output()
    assert "Traceback" not in node.output()


def test_an_abandoned_thread_keeps_its_place_on_both(two_nodes):
    for node in two_nodes:
        node.variables = {"ROTA_APPS": "tests.callables.shop"}
    both_run(two_nodes)
    free = two_nodes[0].folder / "free"
    job = models.Job.objects.create(
        name="waits",
        kind="callable",
        body="tests.callables.shop.jobs.thread_waits",
        execution_model="thread",
        parameters={"type": "object", "properties": {"path": {"type": "string"}}},
        parameter_values={"path": str(free)},
        max_running=1,
        created_at=utc_now(),
    )
    first, second = (actions.run_job(job.pk, actor="ann", now=utc_now()).instance_id for _ in range(2))
    until(lambda: models.Attempt.objects.filter(status="running").count() == 1)
    running = models.Attempt.objects.select_related("node").get()
    actions.drain_node(running.node_id, actor="ann", now=utc_now())  # so that the other is to start what comes
    actions.cancel_instance(running.instance_id, actor="ann", now=utc_now())
    until(lambda: two_nodes[0].status(running.instance_id) == "cancelled")
    waiting = models.Instance.objects.get(pk=second if running.instance_id == first else first)
    until(lambda: models.Event.objects.filter(kind="instance.held", instance_id=waiting.pk).exists())
    freed_at = utc_now()
    free.touch()
    until(lambda: two_nodes[0].status(waiting.pk) == "success")
    waiting.refresh_from_db()
    assert waiting.started_at > freed_at
    assert waiting.node_id != running.node_id
