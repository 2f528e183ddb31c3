"""Which address is answered by whom."""

from importlib.util import find_spec

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("login/", auth.LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
]
if find_spec("jobs.api"):
    from jobs.api.api import api

    urlpatterns.append(path("api/v1/", api.urls))
if find_spec("dashboard.urls"):
    urlpatterns.append(path("", include("dashboard.urls")))
