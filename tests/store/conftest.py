import pytest

from tests.store.benches import Bench, MemoryBench, OrmBench


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.django_db(transaction=True))])
def bench(request: pytest.FixtureRequest) -> Bench:
    return MemoryBench() if request.param == "memory" else OrmBench()
