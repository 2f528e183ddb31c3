from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0004_order_and_dependencies"),
    ]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="former_mark_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
