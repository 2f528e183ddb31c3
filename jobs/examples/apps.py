from django.apps import AppConfig


class ExamplesConfig(AppConfig):
    name = "jobs.examples"
    label = "rota_examples"  # an app of somebody else may well be called examples
