"""The form of the sign-in page."""

from django.contrib.auth.forms import AuthenticationForm


class SignInForm(AuthenticationForm):
    """Django's, whose refusal calls the fields as the page does."""

    error_messages = AuthenticationForm.error_messages | {
        "invalid_login": "User name and password do not belong together. Mind capital letters in both, and try again.",
    }
