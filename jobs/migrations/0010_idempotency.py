from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0009_job_deletion'),
    ]

    operations = [
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(help_text='The SHA-256 of the token, or the user of the session.', max_length=64)),
                ('key', models.CharField(max_length=200)),
                ('request', models.CharField(help_text='The SHA-256 of what was asked.', max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('answer', models.TextField(blank=True, default='', help_text='JSON, as text: what was printed may hold what no JSON column takes.')),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotency_key_age')],
                'constraints': [models.UniqueConstraint(fields=('caller', 'key'), name='idempotency_key_once_per_caller')],
            },
        ),
    ]
