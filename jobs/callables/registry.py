"""Which functions may be made jobs. Filled as the modules are imported; `jobs.callables.discovery` imports them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, overload

from jobs.core.near import near as near_names
from jobs.parameters.signature import CONTEXT, InvalidSignature, as_annotated, schema_of

Model = Literal["async", "thread", "process"]
MODELS: tuple[Model, ...] = get_args(Model)
Function = TypeVar("Function", bound=Callable[..., Any])


class InvalidCallable(TypeError):
    """A function that cannot be made a job; the sentence says which, why, and what to change."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A function under its name, `<module>.<function>`. `schema` is the JSON Schema of its parameters (an object).

    `pooled`: its attempts share a pool of processes instead of having one each. `doc` is its docstring, trimmed.
    """

    name: str
    function: Callable[..., Any]
    model: Model
    pooled: bool
    schema: dict[str, Any]
    doc: str

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.doc.partition("\n")[0].strip()

    @property
    def takes_context(self) -> bool:
        return next(iter(inspect.signature(self.function).parameters), "") == CONTEXT

    def arguments(self, values: Mapping[str, Any], context: object) -> dict[str, Any]:
        """What to call it with: values that its schema allows, as its annotations want them, and the context if it
        takes one. Raises ValueError for a text that is no date, moment or member of its enumeration.
        """
        given = as_annotated(self.function, values)
        return {CONTEXT: context, **given} if self.takes_context else given


_registered: dict[str, Registered] = {}


@overload
def job(function: Function, /) -> Function: ...
@overload
def job(*, model: Model | None = None, pooled: bool = False) -> Callable[[Function], Function]: ...
def job(
    function: Function | None = None, /, *, model: Model | None = None, pooled: bool = False
) -> Function | Callable[[Function], Function]:
    """Register a function of a module's top level, and give it back as it is. Without a model: async for an
    `async def`, else process. Raises InvalidCallable.
    """

    def register(function: Function) -> Function:
        _register(function, model, pooled)
        return function

    return register if function is None else register(function)


def get(name: str) -> Registered | None:
    return _registered.get(name)


def all() -> list[Registered]:  # noqa: A001 - read as registry.all()
    """By name."""
    return [_registered[name] for name in sorted(_registered)]


def near(name: str) -> list[str]:
    """Names that may have been meant, at most three: of functions called alike, wherever they are."""
    functions = {known.rpartition(".")[2] for known in _registered}
    likely = near_names(name.rpartition(".")[2], functions, most=3)
    return [known for known in sorted(_registered) if known.rpartition(".")[2] in likely][:3]


def missing(name: str) -> str:
    """Why nothing of this name can be called, in a sentence; empty: it is there."""
    if name in _registered:
        return ""
    likely = near(name)
    hint = f"did you mean {' or '.join(likely)}?" if likely else "none in an app's jobs.py has that name."
    return f"there is no callable {name} (any more); {hint}"


def forget(module: str) -> None:
    """What a module registered: it could not be imported to its end, so nothing of it can be called."""
    for name in [name for name, one in _registered.items() if one.function.__module__ == module]:
        del _registered[name]


def _register(function: Callable[..., Any], model: Model | None, pooled: bool) -> None:
    name = _name_of(function)
    if name in _registered:
        raise InvalidCallable(f"There are two jobs named {name}; rename one of the functions.")
    model = _checked_model(function, name, model)
    if pooled and model != "process":
        raise InvalidCallable(f'{name} has model="{model}", but only processes are pooled; leave pooled out.')
    try:
        schema = schema_of(function)
    except InvalidSignature as refusal:
        raise InvalidCallable(f"{name}: {refusal}") from None
    _registered[name] = Registered(name, function, model, pooled, schema, inspect.getdoc(function) or "")


def _name_of(function: object) -> str:
    if not inspect.isfunction(function):
        raise InvalidCallable(f"@job was given {function!r}, expected a function; put it on a `def` or `async def`.")
    if function.__module__ == "__main__":
        raise InvalidCallable(
            f"{function.__qualname__} is defined in the program that was started, where no other process finds it; "
            "move it to an app's jobs.py."
        )
    if function.__qualname__ != function.__name__ or function.__name__ == "<lambda>":
        raise InvalidCallable(
            f"{function.__qualname__} in {function.__module__} is a lambda, a method or a function within another, "
            "and cannot be found again by its name; make it a `def` at the top level of the module."
        )
    return f"{function.__module__}.{function.__name__}"


def _checked_model(function: Callable[..., Any], name: str, model: Model | None) -> Model:
    is_async = inspect.iscoroutinefunction(function)
    if model is None:
        model = "async" if is_async else "process"
    if model not in MODELS:
        raise InvalidCallable(f"{name} has model={model!r}, expected one of {', '.join(MODELS)}.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidCallable(f"{name} yields, and nobody would ask for more; return what it has done instead.")
    if is_async and model != "async":
        raise InvalidCallable(f'{name} is an `async def` with model="{model}"; say model="async", or make it a `def`.')
    if not is_async and model == "async":
        raise InvalidCallable(
            f'{name} has model="async" but is no `async def`; make it one, or say model="thread" or "process".'
        )
    return model
