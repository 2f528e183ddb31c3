"""Nodes, their cores and how they are, as the API answers them."""

from __future__ import annotations

from ninja import Schema

from jobs.api.answers.moment import Moment


class AbandonedThread(Schema):
    instance_id: int
    attempt: int
    node_id: int
    cores: list[int]
    virtual_cores: int
    memory_mb_allocated: int
    abandoned_at: Moment | None


class ResourcesAnswer(Schema):
    total_physical: int
    free_physical: int
    used_physical: int
    virtual_allocations: int
    max_virtual: int
    utilization_percent: float
    total_memory_mb: int
    used_memory_mb: int
    abandoned: list[AbandonedThread]


class NodeResources(ResourcesAnswer):
    node_id: int
    node: str
    state: str
    cores: list[int]
    overcommit: float


class SystemResources(ResourcesAnswer):
    nodes: list[NodeResources]


class EnvironmentThere(Schema):
    environment: str
    python_version: str
    packages: str
    size_bytes: int
    built_at: Moment
    used_at: Moment
    in_use: bool


class NodeHealth(Schema):
    node_id: int
    node: str
    state: str
    version: str
    incarnation: int
    started_at: Moment | None
    stopped_at: Moment | None
    heartbeat_at: Moment | None
    admission_stopped: str
    drained_at: Moment | None
    drained_by: str
    notices: list[str]
    pythons: list[str] | None
    environments: list[EnvironmentThere]
    equipment_told_at: Moment | None


class DrainAnswer(Schema):
    node_id: int
    node: str
    state: str
    drained_at: Moment | None
    drained_by: str
    running: int
    changed: bool


class SystemHealth(Schema):
    status: str
    detail: str
    tzdata_version: str
    instances: dict[str, int]
    nodes: list[NodeHealth]
