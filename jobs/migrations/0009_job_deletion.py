from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0006_options"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="delete_requested_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="delete_requested_by",
            field=models.CharField(blank=True, default="", editable=False, max_length=150),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["failures_in_a_row"], name="job_failing"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("delete_requested_at__isnull", False)),
                fields=["delete_requested_at"],
                name="job_being_deleted",
            ),
        ),
    ]
