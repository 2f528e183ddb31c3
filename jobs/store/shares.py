"""The order as a service begins with it: fair share has to know who holds places already."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Max, Min

from jobs.core.order import FairShare, Order, make_order
from jobs.core.states import Status
from jobs.models import Instance


def order_with_places(name: str, weights: Mapping[str, float]) -> Order:
    """The order of this name; fair share with the least and the greatest place of each tenant, which is all it needs.

    Everything that waits with a place counts: also what lies behind the loaded part of the queue, what a pause keeps
    out of it, and what will be tried again after the horizon. Raises UnknownOrder, InvalidWeight.
    """
    order = make_order(name, weights)
    if isinstance(order, FairShare):
        rows = Instance.objects.filter(status__in=(Status.QUEUED, Status.RETRYING), order_key__isnull=False)
        for tenant, *keys in (
            rows.order_by().values_list("job__tenant").annotate(least=Min("order_key"), greatest=Max("order_key"))
        ):
            for key in keys:
                order.seen(key, tenant)
    return order
