"""Patterns, named tuples and data classes that are made when they are first used.

A run imports a hundred modules and uses a third of what they define. To make all of it on import (to compile each pattern, and for each
class the methods that `typing.NamedTuple` and `dataclasses.dataclass` write) takes longer than to check a small repository. The names here
are used as those that they stand for, which is what a type checker sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple", "dataclass", "regex"]

if TYPE_CHECKING:
    from dataclasses import dataclass
    from re import compile as regex
    from typing import NamedTuple
else:
    import dataclasses
    import re
    from collections import namedtuple

    class regex:  # noqa: N801  called as a function
        """A pattern, compiled when one of its methods is first asked for."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._arguments = (pattern, flags)

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(*self._arguments), name)
            setattr(self, name, value)  # the next use finds it without coming here
            return value

    class _Fields(type):
        """The class of named tuples' classes: their instances hold the fields alone."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            own = {"__slots__": (), "_fields": tuple(namespace.get("__annotations__", ()))}
            return super().__new__(cls, name, bases, {**own, **namespace})

    class NamedTuple(tuple, metaclass=_Fields):
        """The base of a named tuple, whose class gets constructor, fields and the other methods with its first instance."""

        def __new__(cls, *values: Any, **named: Any) -> Any:
            own = dict(vars(cls))
            defaults = [own.pop(field) for field in cls._fields if field in own]
            for name, value in vars(namedtuple(cls.__name__, cls._fields, defaults=defaults)).items():
                if name not in own:
                    setattr(cls, name, value)
            return cls(*values, **named)

    _deferred: dict[type, dict[str, bool]] = {}

    def dataclass(**options: bool) -> Any:
        """The decorator of a data class, which gets its constructor and the other methods with its first instance.

        That a class is frozen is held by the type checker alone: at run time it would double what each instance costs.
        """
        frozen = options.pop("frozen", False)
        options["unsafe_hash"] = frozen and options.get("eq", True)

        def defer(cls: type) -> type:
            cls.__init__ = _make_and_init
            _deferred[cls] = options
            return cls

        return defer

    def _make_and_init(self: object, *values: Any, **named: Any) -> None:
        for cls in reversed(type(self).__mro__):
            if cls in _deferred:
                del cls.__init__
                dataclasses.dataclass(**_deferred.pop(cls))(cls)
        self.__init__(*values, **named)
