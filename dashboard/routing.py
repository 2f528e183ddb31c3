"""Which socket address is answered by whom."""

from django.urls import path

from dashboard.consumers import LiveConsumer

websocket_urlpatterns = [path("ws/live", LiveConsumer.as_asgi())]
