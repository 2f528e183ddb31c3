"""Two services on one PostgreSQL: the same pass on both, and each instance runs once, on one of them."""

from jobs import actions, models
from jobs.service.loop import utc_now
from tests.service.conftest import Home
from tests.waiting import until

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
