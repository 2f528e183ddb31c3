"""Which address is answered by whom."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import include, path

from jobs.api.api import api
from jobs.api.health import healthz
from scheduler_site.signin import SignInForm

admin.autodiscover()  # here, as the API is loaded here: half of the start of a process that has no pages


def favicon(_request: HttpRequest) -> HttpResponse:
    """For what has no page to name it in, such as a log or an answer of the API that is opened in a browser."""
    return redirect(static("dashboard/favicon.svg"))


sign_in = auth.LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True)

urlpatterns = [
    path("favicon.ico", favicon),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("healthz", healthz),
    path("login/", sign_in, name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("", include("dashboard.urls")),
]
