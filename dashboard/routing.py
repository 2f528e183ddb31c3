"""Which socket address is answered by whom."""

from django.urls import path, re_path

from dashboard.consumers import LiveConsumer, NoSuchAddress

websocket_urlpatterns = [path("ws/live", LiveConsumer.as_asgi()), re_path("", NoSuchAddress.as_asgi())]
