from django.contrib.staticfiles.apps import StaticFilesConfig


class StaticFiles(StaticFilesConfig):
    # The readable variants of htmx's extensions show imports in their comments, which Django would follow; their .min.js
    # are what pages use.
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "hx-*[0-9].js"]  # noqa: RUF012  # as Django declares it
