from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_instance_list_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="node",
            name="drained_at",
            field=models.DateTimeField(
                blank=True, help_text="Since when it starts nothing new and lets what runs end.", null=True
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="drained_by",
            field=models.CharField(blank=True, default="", help_text="The name of who drained it.", max_length=150),
        ),
    ]
