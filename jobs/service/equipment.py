"""Writes into this node's row what it has for jobs with packages, so that every node can show it."""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection

from jobs.execution import equipment
from jobs.execution.equipment import Equipment
from jobs.execution.installed import EnvironmentFolder
from jobs.models import Node
from jobs.service.clock import utc_now
from jobs.service.every import Every

logger = logging.getLogger(__name__)

# Written anew without a change, so that its age tells of a node that is silent, not of one where nothing changes.
AT_LEAST_EVERY_SECONDS = 600.0


class EquipmentTeller:
    """Belongs to one thread, that of who keeps environments in order."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._told: Equipment | None = None
        self._anew = Every(AT_LEAST_EVERY_SECONDS)

    def tell(self, folder: EnvironmentFolder) -> None:
        """If it is not what was told last, or that is a while ago. What the database refuses, the next call tells."""
        found = equipment.look(folder)
        if not self._anew.is_due() and found == self._told:
            return
        try:
            Node.objects.filter(pk=self._node_id).update(equipment=found.to_json(utc_now()))
            self._told = found
        except DatabaseError as error:
            self._told = None
            logger.warning(
                "what this node has for jobs with packages could not be written, tried again later: %s", error
            )
        finally:
            connection.close()
