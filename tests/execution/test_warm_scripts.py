"""A script that starts warm prints, ends and leaves what it does when it starts cold."""

import pytest

from tests.execution.twice import Twice
from tests.execution.warm_scripts import SCRIPTS


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    twice = Twice(tmp_path_factory.mktemp("twice"))
    yield twice
    twice.close()


@pytest.mark.parametrize("name", SCRIPTS)
def test_warm_is_as_cold(twice, name):
    cold, warm = twice.both(SCRIPTS[name], name)
    assert (cold.pop("method"), warm.pop("method")) == ("cold", "warm")
    assert warm == cold
