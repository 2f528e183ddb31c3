"""Which address is answered by whom."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("django.contrib.auth.urls")),
]
if find_spec("dashboard.urls"):
    urlpatterns.append(path("", include("dashboard.urls")))
