from tests.api.site import site

__all__ = ["site"]
