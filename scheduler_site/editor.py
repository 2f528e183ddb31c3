"""The files of the script editor that are published: Python, shell, and what they import."""

_MODULES = (
    "commands-jZ0uQlAY", "core-BIWFpCIO", "core-Dr0o9A-8", "jsx-shared-BgBgis07", "language-CXbc22uF",
    "languages/bash", "languages/python", "patterns-DSInPV_c", "prism/languages/bash", "prism/languages/python",
    "shared-DXMiLwjC", "shared-oTKIFAwH", "utils--SPWoSa0", "utils-CCBdbU1o",
)  # fmt: skip
_INDEXES = ("index.js", "prism/index.js", "extensions/commands/index.js", "layout.css")
# Each module names its map, and a storage that adds hashes to names refuses to leave one out.
_NAMES = (*_INDEXES, *(f"{name}.js{end}" for name in _MODULES for end in ("", ".map")))

EDITOR_FILES = {f"vendor/editor/{name}": f"prism-code-editor/dist/{name}" for name in _NAMES}
