"""Which address is answered by whom."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from jobs.api.api import api
from jobs.api.health import healthz

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("healthz", healthz),
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("", include("dashboard.urls")),
]
