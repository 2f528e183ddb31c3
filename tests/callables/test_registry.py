"""Which functions may be made jobs, and what is said of those that may not."""

import asyncio

import pytest

from jobs.callables import job, registry
from jobs.callables.registry import InvalidCallable


@pytest.fixture(autouse=True)
def _nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def plain(text: str, times: int = 2) -> str:
    """Say it often.

    And no more.
    """
    return text * times


async def waiting(context: object, seconds: float = 0.0) -> None:
    await asyncio.sleep(seconds)


def yielding():
    yield 1


def with_many(*texts: str) -> None: ...
def with_any(**texts: str) -> None: ...
def positional(text: str, /) -> None: ...
def with_object(thing: object = object()) -> None: ...
def unfit(number: int = "a") -> None: ...  # type: ignore[assignment]  # what is refused


NAME = f"{__name__}.plain"


def test_a_function_is_registered_under_its_module_and_name():
    assert job(model="thread")(plain) is plain
    found = registry.get(NAME)
    assert found is not None
    assert (found.name, found.function, found.model, found.pooled) == (NAME, plain, "thread", False)
    assert found.summary == "Say it often."
    assert registry.all() == [found]


def test_the_schema_comes_from_the_signature():
    job(plain)
    found = registry.get(NAME)
    assert found is not None
    assert found.schema["required"] == ["text"]
    assert found.schema["properties"]["times"] == {"type": "integer", "default": 2}


@pytest.mark.parametrize(("function", "model"), [(plain, "process"), (waiting, "async")])
def test_a_bare_decorator_takes_the_model_that_fits(function, model):
    job(function)
    assert [found.model for found in registry.all()] == [model]


def test_a_context_is_no_parameter_and_is_given():
    job(waiting)
    (found,) = registry.all()
    assert "context" not in found.schema["properties"]
    assert found.arguments({"seconds": 1}, "it") == {"context": "it", "seconds": 1.0}


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (plain, {"model": "fibre"}, "has model='fibre', expected one of async, thread, process."),
        (plain, {"model": "async"}, "is no `async def`"),
        (waiting, {"model": "thread"}, 'is an `async def` with model="thread"'),
        (waiting, {"model": "process"}, 'is an `async def` with model="process"'),
        (plain, {"model": "thread", "pooled": True}, "only processes are pooled"),
        (yielding, {}, "yields"),
        (with_many, {}, "it takes *texts"),
        (with_any, {}, "it takes **texts"),
        (positional, {}, "its parameter text is positional only"),
        (with_object, {}, "its parameter thing is annotated object"),
        (unfit, {}, 'number: its default is "a", expected a whole number.'),
        (lambda: None, {}, "cannot be found again"),
        (asyncio.Lock.locked, {}, "cannot be found again"),
        (asyncio.Lock, {}, "expected a function"),
    ],
)
def test_what_cannot_be_a_job_is_refused_with_a_sentence(function, options, said):
    with pytest.raises(InvalidCallable) as refusal:
        job(**options)(function)
    assert said in str(refusal.value)
    assert not registry.all()


def test_a_function_within_another_is_refused():
    def inner() -> None: ...

    with pytest.raises(InvalidCallable, match="cannot be found again"):
        job(inner)


def test_two_of_one_name_are_refused():
    job(plain)
    with pytest.raises(InvalidCallable, match=r"two jobs named .*plain"):
        job(plain)


@pytest.mark.parametrize("meant", [f"{__name__}.plian", "elsewhere.jobs.plain"])
def test_near_names_are_found(meant):
    job(plain)
    assert registry.near(meant) == [NAME]


def test_a_module_that_failed_is_forgotten():
    job(plain)
    registry.forget(__name__)
    assert registry.get(NAME) is None
