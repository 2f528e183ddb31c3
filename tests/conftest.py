"""What every test may ask for. The data folder of a test run is a temporary one, never the checkout's."""

import os
import shutil
import tempfile

import django
import hypothesis
from django.conf import settings

from jobs import forecast
from tests.waiting import DEADLINE_SECONDS

# A developer's own settings must not decide what a test sees. pytest-django would load the settings before it reads
# this file if pyproject.toml named them, so they are named and loaded here.
for name in list(os.environ):
    if (name.startswith("ROTA_") and name != "ROTA_TEST_REQUIRE") or name in ("DATABASE_URL", "REDIS_URL"):
        del os.environ[name]
os.environ["ROTA_DATA"] = tempfile.mkdtemp(prefix="rota-tests-")
os.environ["DJANGO_SETTINGS_MODULE"] = "scheduler_site.settings"
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the real one is slow on purpose
settings.AXES_ENABLED = False  # it refuses client.login(), which has no request; its own tests turn it on
settings.STORAGES["staticfiles"]["BACKEND"] = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"  # as not collected
)
settings.STATIC_ROOT.mkdir()  # ServeStatic warns of an address without a folder
django.setup()
forecast.SECONDS_WHILE_SOMEBODY_WAITS = DEADLINE_SECONDS  # a pause of the machine must not cut what tests foretell
del os.environ["DJANGO_SETTINGS_MODULE"]  # else pytest-xdist's workers inherit it and load the settings too early

# Neither is an example too slow, nor the making of examples: a pause of the machine is no fault. Nor is it one if by
# chance the first examples of a run are too large, or not such as are meant.
by_chance = [hypothesis.HealthCheck[name] for name in ("too_slow", "data_too_large", "filter_too_much")]
hypothesis.settings.register_profile("unhurried", deadline=None, suppress_health_check=by_chance)
hypothesis.settings.load_profile("unhurried")

pytest_plugins = [
    "tests.fixtures.postgres",
    "tests.fixtures.redis",
    "tests.fixtures.chromium",
    "tests.fixtures.callables",
    "tests.fixtures.bootstrapped",
    "tests.fixtures.migrated",
    "tests.fixtures.hung",
]


def pytest_unconfigure() -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)  # a thread that was abandoned may still write there
