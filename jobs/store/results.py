"""What attempts gave as their results, for those that wait for them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from jobs.core.states import OutcomeKind
from jobs.models import Attempt, Dependency, Instance


def of_upstreams(instances: Sequence[Instance]) -> dict[int, str]:
    """By instance a JSON object: per upstream, by name, the result of its latest success for the same logical date, or
    null. Instances of jobs without upstreams are left out. One query for these; two for others, whatever their number.
    """
    edges: dict[int, dict[int, str]] = defaultdict(dict)
    rows = Dependency.objects.filter(job__in={one.job_id for one in instances})
    for job_id, upstream_id, name in rows.values_list("job_id", "upstream_id", "upstream__name"):
        edges[job_id][upstream_id] = name
    if not edges:
        return {}
    waiting = [one for one in instances if one.job_id in edges]
    given = Attempt.objects.filter(
        instance__job__in={upstream for names in edges.values() for upstream in names},
        instance__logical_at__in={one.logical_at for one in waiting},
        outcome=OutcomeKind.SUCCESS.value,
    ).exclude(result="")
    latest: dict[Any, str] = {
        (job_id, logical_at): result
        for job_id, logical_at, result in given.order_by("instance__generation").values_list(
            "instance__job_id", "instance__logical_at", "result"
        )
    }
    return {
        one.pk: json.dumps(
            {
                name: json.loads(latest.get((upstream, one.logical_at), "null"))
                for upstream, name in sorted(edges[one.job_id].items())
            }
        )
        for one in waiting
    }
