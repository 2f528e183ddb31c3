import pytest

from tests.store.benches import Bench, MemoryBench, OrmBench


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.django_db(transaction=True)), "postgres"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "postgres":
        request.getfixturevalue("postgres_database")
    return MemoryBench() if request.param == "memory" else OrmBench()
