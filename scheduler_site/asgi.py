"""The site as one ASGI application: pages and API by Django, sockets by Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
application = get_asgi_application()
