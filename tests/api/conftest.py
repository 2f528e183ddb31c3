from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from jobs.api.tokens import make_token
from tests.api.site import site

__all__ = ["site"]


class ApiClient(Client):
    """Speaks JSON, below /api/v1/."""

    def generic(self, method: str, path: str, data: Any = "", *args: Any, **kwargs: Any) -> Any:
        if not path.startswith("/"):
            path = f"/api/v1/{path}"
        return super().generic(method, path, data, *args, **kwargs)

    def send(self, path: str, **fields: Any) -> Any:
        return self.post(path, fields, content_type="application/json")

    def edit(self, path: str, **fields: Any) -> Any:
        return self.patch(path, fields, content_type="application/json")


@pytest.fixture(autouse=True)
def own_data_folder(settings: Any, tmp_path: Path) -> None:
    """Ids begin anew with each test's database, and so must what lies in folders named by them."""
    settings.DATA_DIR = tmp_path


@pytest.fixture
def ada(db: None) -> Any:
    return get_user_model().objects.create_user("ada", password="engine")


@pytest.fixture
def bearer(ada: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {make_token(ada, label='test', now=timezone.now())}"}


@pytest.fixture
def api(bearer: dict[str, str]) -> ApiClient:
    """Calls with ada's token, and gets a 500 as an answer instead of as an exception."""
    return ApiClient(headers=bearer, raise_request_exception=False)


@pytest.fixture
def problem() -> Callable[[Any, int], dict[str, Any]]:
    """Checks that an answer is a problem of this status, and gives its content."""

    def check(response: Any, status: int) -> dict[str, Any]:
        assert response.status_code == status, response.content
        assert response.headers["Content-Type"] == "application/problem+json"
        content: dict[str, Any] = response.json()
        assert content["status"] == status
        assert content["title"]
        assert content["detail"]
        return content

    return check
