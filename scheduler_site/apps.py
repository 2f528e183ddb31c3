from axes.apps import AppConfig as AxesConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class StaticFiles(StaticFilesConfig):
    # Pages use the .min.js of htmx's extensions; the readable variants show imports in their comments, which Django
    # would try to follow.
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "hx-*[0-9].js"]


class SignIns(AxesConfig):  # type: ignore[misc]  # axes has no types
    # Admin heads a section with it; "Axes" told nobody what is there.
    verbose_name = "Sign-ins and lock-outs"
