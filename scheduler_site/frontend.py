"""Static files: single files of npm packages without a copy in the repository, and names that change with content."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.checks import CheckMessage, Error
from django.core.files.storage import FileSystemStorage, Storage
from servestatic.storage import CompressedManifestStaticFilesStorage


class PackageFilesFinder(BaseFinder):
    """Finds what settings.FRONTEND_FILES names: static path -> path below node_modules/.

    A finder of folders would publish whatever else lies in a package.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.folder = Path(settings.BASE_DIR) / "node_modules"

    def check(self, **kwargs: Any) -> list[CheckMessage]:  # noqa: ARG002  # Django's signature
        missing = [name for name in settings.FRONTEND_FILES.values() if not (self.folder / name).is_file()]
        return [
            Error(
                f"The front-end library file node_modules/{name} is missing.", hint="Run `make setup`.", id="rota.E001"
            )
            for name in missing
        ]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:  # noqa: ARG002  # Django's signature
        name = settings.FRONTEND_FILES.get(path)
        found = [str(self.folder / name)] if name and (self.folder / name).is_file() else []
        return found if find_all or not found else found[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:  # noqa: ARG002  # as above
        for path, name in settings.FRONTEND_FILES.items():
            yield path, _OneFile(self.folder / name)


class _OneFile(FileSystemStorage):
    """A storage in which every name is the same file: collectstatic asks it only for the name it was listed with."""

    prefix = ""

    def __init__(self, file: Path) -> None:
        super().__init__(location=file.parent)
        self.file = file

    def path(self, name: str) -> str:  # noqa: ARG002  # there is only one
        return str(self.file)


class HashedFilesStorage(CompressedManifestStaticFilesStorage):
    """Adds a hash to each name, so that browsers keep files for ever; also inside `import` of ES modules."""

    support_js_module_import_aggregation = True
