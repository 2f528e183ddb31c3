from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client


@pytest.fixture(autouse=True)
def own_data_folder(settings: Any, tmp_path: Path) -> None:
    """Ids begin anew with each test's database, and so must what lies in folders named by them."""
    settings.DATA_DIR = tmp_path


@pytest.fixture
def ann(db: None) -> Any:
    return get_user_model().objects.create_user("ann", password="of green gables")


@pytest.fixture
def visitor(ann: Any) -> Client:
    """A browser in which ann has signed in."""
    client = Client()
    client.force_login(ann)
    return client
