"""The project of the tests with an app that has callables."""

from scheduler_site.settings import *  # noqa: F403 - the same project

INSTALLED_APPS = [*INSTALLED_APPS, "tests.callables.shop"]  # noqa: F405 - as above
