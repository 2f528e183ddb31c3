"""Attempts keep what they gave as their results."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0011_how_jobs_are_run")]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="result",
            field=models.TextField(blank=True, default="", help_text="JSON that the job gave."),
        ),
    ]
