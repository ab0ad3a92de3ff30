"""What Python code does on a machine without a GPU: which calls raise, which fall to the CPU, and what the questions answer.

A call is asked for by its qualified name as gpulint.model.module writes it, with its arguments: positional ones under "0", "1" ...,
named ones under their name. An argument that cannot be known is an object that equals nothing; one that is not given is missing; a
`**` makes the key "**", so that nothing is taken for not given.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, release_key, table, version_key, words

Arguments = Mapping[str, object]

SILENT, NOTE, RAISE, CPU, NONE = "silent", "note", "raise", "cpu", "none"


class Behaviour(NamedTuple):
    """What a call does without a GPU.

    `effect` is SILENT (goes on with the CPU and says nothing), NOTE (goes on with a line in the log), RAISE, CPU (takes the CPU with a
    GPU too: a choice, no fall) or NONE. `then` is a clause for a message, with the call as its subject. `default` says that the call
    names no device and the library picks. `framework` is the library's import name, and `variable` the environment variable that
    overrules the call.
    """

    effect: str
    then: str
    default: bool
    framework: str
    variable: str


class Presence(NamedTuple):
    """What a call that asks for a GPU answers where there is none; `tells` is False where it answers the same with one."""

    without: object
    tells: bool


def behaviour(name: str, arguments: Arguments, imports: Collection[str] = ()) -> Behaviour | None:
    """What this call does without a GPU; None where the table does not know. `imports` are the top-level packages of its module."""
    row = _first_row("behaviours", name, arguments, imports)
    if row is None:
        return None
    framework = row.get("framework", name.partition(".")[0])
    return Behaviour(row["effect"], row.get("then", ""), row.get("default", False), framework, row.get("variable", ""))


def presence(name: str, arguments: Arguments) -> Presence | None:
    """What this call answers without a GPU; None where it asks for none."""
    row = _first_row("presence", name, arguments)
    return Presence(row["without"], not row.get("another")) if row else None


@cache
def attribute(name: str) -> Presence | None:
    """What an attribute of a library holds without a GPU; a question that is not called is just a function, and true."""
    row = next((row for row in table("python")["attributes"] if name in row["names"]), None)
    if row is not None:
        return Presence(row["value"], tells=False)
    return Presence(True, tells=False) if is_question(name) and not name.startswith("*") else None


@cache
def attribute_names() -> frozenset[str]:
    """The last parts of the names that `attribute` knows, so that it need not be asked for others."""
    names = [name for row in table("python")["attributes"] for name in row["names"]]
    names += [call for row in table("python")["presence"] for call in row["calls"] if not call.startswith("*")]
    return frozenset(name.rpartition(".")[2] for name in names)


def is_mutator(method: str) -> bool:
    """Whether a method of this name changes the list, set or mapping that it is called on."""
    return method in words("python", "mutators")


def touches_cuda(name: str, arguments: Arguments) -> bool:
    """Whether this call initialises the driver, so that CUDA_VISIBLE_DEVICES is read then and a later fork breaks."""
    rows = (_first_row(key, name, arguments) for key in ("behaviours", "presence"))
    return any(row is not None and row.get("touch", False) for row in rows)


def uses_cuda(name: str, arguments: Arguments) -> bool:
    """Whether this call initialises the driver to put something on a GPU, and does not only ask for one."""
    row = _first_row("behaviours", name, arguments)
    return row is not None and row.get("touch", False) and row["effect"] == RAISE


def reads_devices_late(module: str) -> bool:
    """Whether an imported module looks at CUDA_VISIBLE_DEVICES when CUDA is first used, or already as it is imported: nobody says which."""
    return module.partition(".")[0] in words("python", "cuda_frameworks")


@cache
def starts_process(name: str) -> bool:
    """Whether this call starts a process, which takes over the environment of its own."""
    return bool(_rows("process_starters", name))


def leaves_device_open(name: str, arguments: Arguments) -> bool:
    """Whether this call loads tensors onto the device that they were saved from."""
    return any(_applies(row, arguments, ()) for row in _rows("unmapped_loads", name))


@cache
def reads_settings_file(module: str) -> bool:
    """Whether what is imported reads settings, such as environment variables, from a file."""
    return module.partition(".")[0] in words("python", "settings_files")


def strips_assertions(value: str) -> bool:
    """Whether this value of PYTHONOPTIMIZE makes Python leave assert statements out: any but none and 0."""
    return value not in words("python", "optimize_off")


@cache
def forks(name: str) -> bool:
    """Whether this call starts a process of this program by the default method, which has long been to fork."""
    return bool(_rows("forkers", name))


@cache
def is_data_loader(name: str) -> bool:
    """Whether this call makes a loader that reads a dataset in processes of its own, which it forks."""
    return bool(_rows("data_loaders", name))


def is_dataset(base: str) -> bool:
    """Whether a class with this base is a dataset that such a loader reads."""
    return base in words("python", "dataset_bases")


def item_methods() -> frozenset[str]:
    """The methods of a dataset that run in a loader's processes."""
    return words("python", "item_methods")


class Preloading(NamedTuple):
    """How a server that starts workers by a fork is told to import the application before: an option, or a setting of its config file,
    which is the program's own code; `config` is that file's usual name, `config_options` are those that name another."""

    option: str
    setting: str
    config: str
    config_options: tuple[str, ...]


@cache
def preloading(launcher: str) -> Preloading | None:
    """How that launcher is told to import the application before it forks; None for one that does not."""
    row = next((row for row in table("python")["preloading"] if row["launcher"] == launcher), None)
    return Preloading(row["option"], row["setting"], row["config"], tuple(row["config_options"])) if row else None


@cache
def is_server_config(path: str) -> bool:
    """Whether a Python file is by its name the config file of a server that forks its workers, which the server's first process runs."""
    return any(fullmatch(row["pattern"], path.rpartition("/")[2]) for row in table("python")["preloading"])


@cache
def is_inference_session(name: str) -> bool:
    """Whether this call makes a session of ONNX Runtime."""
    return bool(_rows("inference_sessions", name))


def must_name_providers(version: str) -> bool:
    """Whether that release of ONNX Runtime for GPUs refuses a session without providers."""
    release = release_key(version)
    rows = table("python")["named_providers"]
    return release is not None and any(version_key(row["from"]) <= release < version_key(row["below"]) for row in rows)


def sign(name: str, arguments: Arguments, imports: Collection[str] = ()) -> str:
    """What this call says of its program: "trains", "serves" (which any inference does), or ""."""
    row = _first_row("signs", name, arguments, imports)
    return str(row["means"]) if row else ""


def import_raises(module: str) -> str:
    """What an import of this module does without a GPU, as a clause; "" where it does nothing."""
    return next((str(row["then"]) for row in table("python")["raising_imports"] if module in row["modules"]), "")


def is_exit(name: str) -> bool:
    """Whether this call ends the process, or the test that it stands in."""
    return bool(_rows("exits", name))


@cache
def is_report(name: str) -> bool:
    """Whether this call only prints or logs."""
    return name.rpartition(".")[2] in words("python", "reports")


def runs_argument(name: str) -> bool:
    """Whether this call at once calls the function that it is given."""
    return bool(_rows("runners", name))


@cache
def is_question(name: str) -> bool:
    """Whether a call of this name may ask for a GPU, so that `presence` is worth its arguments."""
    return bool(_rows("presence", name))


@cache
def is_asked_for(name: str) -> bool:
    """Whether any table has a row for calls of this name, so that their arguments are worth reading."""
    return any(_rows(key, name) for key in ("behaviours", "presence", "signs", "watched"))


@lru_cache(maxsize=4096)
def literal(text: str) -> str:
    """Which device a string names: "gpu", "cpu" or ""."""
    return next((str(row["means"]) for row in table("python")["literals"] if fullmatch(row["pattern"], text, re.IGNORECASE)), "")


@cache
def is_device_name(name: str) -> bool:
    """Whether a variable of this name holds a device, such as `device` and `args.device`."""
    last = name.rpartition(".")[2].lower().strip("_")
    return not words("python", "device_names").isdisjoint({last, last.rpartition("_")[2]})


@cache
def is_device_index(name: str) -> bool:
    """Whether a number in a setting of this name is the GPU to use, of which one below 0 means the CPU; elsewhere it may mean all GPUs."""
    parts = set(name.lower().split("_"))
    return parts <= words("python", "device_indices") and not parts.isdisjoint({"gpu", "cuda", "device"})


@cache
def is_other_device(name: str) -> bool:
    """Whether a setting of this name is about another device than the one that computes: where weights wait, or a camera."""
    return not _parts(name).isdisjoint(words("python", "other_devices"))


@cache
def is_field(name: str) -> bool:
    """Whether this call makes a field of a class, with its default among the arguments."""
    return bool(_rows("fields", name))


@cache
def _turns_gpu_on(name: str) -> bool:
    """Whether a setting of this name says nothing but whether the GPU is used: `--cuda`, `USE_GPU`."""
    parts = set(name.lower().split("_"))
    return parts <= words("python", "gpu_switches") | words("python", "gpu_names") and not parts.isdisjoint({"gpu", "cuda"})


def insists_on_gpu(option: str, value: str, framework: str) -> bool:
    """Whether this option of a command line, with that value ("" for none), makes a default of that framework raise, or may do so."""
    for row in table("python")["insisting_options"]:
        if option in row["options"] and not {"*", framework}.isdisjoint(row["frameworks"]):
            return "*" in row["values"] or value.lower() in row["values"]
    return False


def leaves_gpu_off(name: str, value: object) -> bool:
    """Whether a switch of this name and value leaves the GPU unused. A text may be the number of a card where no other word is by."""
    is_alone = set(name.lower().split("_")).isdisjoint(words("python", "gpu_switches"))
    is_off = isinstance(value, str) and not is_alone and value.lower() in words("commands", "off_values")
    return _turns_gpu_on(name) and (value is False or is_off)


@cache
def makes_options(name: str) -> str:
    """What this call makes of the parameters of a function that it is given: "option", "parameter" where arguments by position count too,
    or "" for another call."""
    row = next(iter(_rows("option_makers", name)), None)
    return "" if row is None else "parameter" if row.get("by_position") else "option"


_YAML = (".yaml", ".yml")


def config_file(name: str, arguments: Arguments) -> str:
    """The YAML file of settings that this call reads, as it is named there; "" where that is not known, or for another call."""
    row = next(iter(_rows("config_readers", name)), None)
    if row is None:
        return ""
    parts = [arguments.get(row[part]) for part in ("folder", "file") if part in row]
    known = [part for part in parts if isinstance(part, str)]
    path = "/".join(known) if len(known) == len(parts) else ""
    path += row.get("ending", "") if path and not path.endswith(_YAML) else ""
    return path if path.endswith(_YAML) else ""


class Argument(NamedTuple):
    """An argument of a call: its name and its position."""

    name: str
    position: int


@cache
def process_count(name: str) -> Argument | None:
    """The argument by which this call is told how many processes to start; None for another call. It starts none where that is 0."""
    row = next(iter(_rows("process_counts", name)), None)
    return Argument(row["argument"], row["position"]) if row else None


@cache
def is_gpu_name(name: str) -> bool:
    """Whether a variable of this name says that there is a GPU, or how many: `use_cuda`, `args.n_gpu`; not `no_cuda`."""
    parts = _parts(name.rpartition(".")[2])
    return not parts.isdisjoint(words("python", "gpu_names")) and parts.isdisjoint(words("python", "off_names"))


@cache
def is_gpu_switch(name: str) -> bool:
    """Whether a switch of this name turns the GPU on or off: `args.cuda`, `no_gpu`, `use_cpu`."""
    last = name.rpartition(".")[2]
    return not _parts(last).isdisjoint(words("python", "gpu_names") | {"cpu"})


@cache
def is_answer_name(name: str) -> bool:
    """Whether a value of this name only tells a person how things stand: `gpu_available=`, `device_count=`."""
    return not _parts(name).isdisjoint(words("python", "answer_names"))


@cache
def is_unrelated_switch(name: str) -> bool:
    """Whether a switch of this name asks for a GPU for a reason of its own: debugging, a precision, several processes."""
    return not _parts(name).isdisjoint(words("python", "unrelated_switches"))


def catches_missing_gpu(exception: str, raiser: str) -> bool:
    """Whether a handler of this exception catches what that call raises without a GPU; "" stands for any framework's call."""
    rows = (row for row in table("python")["caught"] if exception.rpartition(".")[2] in row["exceptions"])
    return any(raiser.startswith(one.rstrip("*")) for row in rows for one in row["raisers"])


def is_driver_tool(raiser: str) -> bool:
    """Whether a call asks the driver's own tools, which are not there where the driver is not."""
    return any(raiser.startswith(one[:-1]) for row in table("python")["caught"] for one in row["raisers"] if one != "*")


def is_handler(decorator: str) -> bool:
    """Whether a decorator gives its function to a server, which calls it for each request."""
    return decorator.rpartition(".")[2] in words("python", "handlers")


def is_command(decorator: str) -> bool:
    """Whether a decorator makes its function a command or a task: what a user or a scheduler runs."""
    return decorator.rpartition(".")[2] in words("python", "commands")


def is_starter(decorator: str) -> bool:
    """Whether a decorator gives its function to a framework, which calls it as it starts."""
    return decorator.rpartition(".")[2] in words("python", "starters")


def runs_with_object(decorator: str) -> bool:
    """Whether a method with this decorator runs without a call: as its object is made, or looked at."""
    return decorator.rpartition(".")[2] in words("python", "read_as_attributes")


def is_gpu_module(name: str) -> bool:
    """Whether an imported module computes on a GPU alone, so that choosing it chooses the GPU."""
    return name in words("python", "gpu_modules")


def starting_methods(name: str, bases: Collection[str]) -> tuple[str, ...]:
    """The methods with which a model server starts a class of this name and these bases; none for another class."""
    for row in table("python")["handler_classes"]:
        if name in row["names"] or not set(row["bases"]).isdisjoint(bases):
            return tuple(row["starts"])
    return ()


def is_device_file(path: str) -> bool:
    """Whether this path is there only where a GPU is."""
    return path.startswith(tuple(words("python", "device_files")))


def may_be_newer(message: str, line: str, version: tuple[int, int]) -> bool:
    """Whether that line, which a Python of that version refuses with that message, may be the syntax of a newer one."""
    rows = (row for row in table("python")["newer_syntax"] if version < tuple(row["since"]))
    return any((not row["message"] or fullmatch(row["message"], message)) and fullmatch(row["line"], line) for row in rows)


@cache
def anchors() -> tuple[bytes, ...]:
    """Words in lower case of which a file must hold one, case apart, to say anything of a GPU."""
    return tuple(sorted(word.encode() for word in words("python", "anchors")))


@cache
def import_anchors() -> tuple[bytes, ...]:
    """The anchors of a file that a program imports: one that only holds a setting of the device counts there too."""
    return (*anchors(), *sorted(word.encode() for word in words("python", "setting_anchors")))


# --- Rows and patterns ----------------------------------------------------------------------------------------------------------


def _first_row(key: str, name: str, arguments: Arguments, imports: Collection[str] = ()) -> Row | None:
    return next((row for row in _rows(key, name) if _applies(row, arguments, imports)), None)


def _applies(row: Row, arguments: Arguments, imports: Collection[str]) -> bool:
    if "imports" in row and set(row["imports"]).isdisjoint(imports):
        return False
    return all(_matches(pattern, arguments, names) for names, pattern in row.get("when", {}).items())


@cache
def _rows(key: str, name: str) -> tuple[Row, ...]:
    """The rows that name a call outright, by its last part (`*.cuda`), or by its library (`jax.*`), in the order of the table; but
    not those that leave out the calls of its library."""
    library = name.partition(".")[0]
    rows = (row for row in _candidates(key, name) if library not in row.get("but", ()))
    return tuple(row for row in rows if any(_names(call, name) for call in row["calls"]))


def _candidates(key: str, name: str) -> Iterator[Row]:
    """The rows that may name a call, in the order of the table."""
    index = _index(key)
    places = {place for part in (name.partition(".")[0], name.rpartition(".")[2]) for place in index.get(part, ())}
    return (table("python")[key][place] for place in sorted(places))


@cache
def _index(key: str) -> dict[str, list[int]]:
    """The places of the rows in their table, by the first part of the names that begin with a library and the last part of the others."""
    index: dict[str, list[int]] = {}
    for place, row in enumerate(table("python")[key]):
        for call in row["calls"]:
            part = call.rpartition(".")[2] if call.startswith("*") else call.partition(".")[0]
            index.setdefault(part, []).append(place)
    return index


def _names(call: str, name: str) -> bool:
    if call.startswith("*."):
        return name.endswith(call[1:])
    return name.startswith(call[:-1]) if call.endswith(".*") else name == call


def _matches(pattern: Any, arguments: Arguments, names: str) -> bool:
    keys = [key for key in names.split("|") if key in arguments]
    if not keys:
        return _value_matches(pattern, None) and "**" not in arguments
    return _value_matches(pattern, arguments[keys[0]])


def _value_matches(pattern: Any, value: object) -> bool:
    """A string with `*` at its end is a beginning; a list holds alternatives; a mapping asks for a bound, a part or an item."""
    if isinstance(pattern, list):
        return any(_value_matches(one, value) for one in pattern)
    if isinstance(pattern, dict):
        return all(_has(key, wanted, value) for key, wanted in pattern.items())
    if isinstance(pattern, str):
        return isinstance(value, str) and (value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern)
    return type(pattern) is type(value) and bool(pattern == value)


def _has(key: str, wanted: Any, value: object) -> bool:
    if key == "min":
        return type(value) is int and value >= wanted
    if key == "empty":
        return isinstance(value, list) and not value
    if key == "contains":
        return isinstance(value, list) and any(wanted in (item, item[0] if isinstance(item, list) and item else None) for item in value)
    if key == "first":
        return _value_matches(wanted, value[0] if isinstance(value, list) and value else value)
    return isinstance(value, dict) and _value_matches(wanted, value.get(key))


def _parts(name: str) -> set[str]:
    """The words of a name, with and without the digits at their end: `args.useFP16` has args, use, fp16 and fp."""
    found = re.findall(r"((?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+))(\d*)", name)
    return {word.lower() for word, _ in found} | {(word + digits).lower() for word, digits in found}
