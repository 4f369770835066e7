"""Trying faults: each in a forked process of its own, against the tests that reach it, until one of them fails.

Two processes fork. One has imported and collected everything: a fault of a function changes the function's code there.
The other has imported only what the tests import from others: there a module whose fault strikes at import time is
imported faulty.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import importlib.machinery
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any, Generic, TypeVar

import coverage
import hypothesis
import pytest
from forks import forked, speak_into
from in_place import all_codes, first_failure, functions_below, replaced
from mutation_faults import Fault

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "review_advisor"
CORE = PACKAGE / "core"
KILLED, SURVIVED, TIMED_OUT, UNFIT = "killed", "survived", "timed out", "unfit"
_UNFIT = 7
_ENDS = {0: SURVIVED, 1: KILLED, _UNFIT: UNFIT, -signal.SIGXCPU: TIMED_OUT, None: TIMED_OUT}
_CPU_SECONDS = 15
"""For one trial, beside three times what its tests take without a fault."""
_OPTIONS = ("-o", "addopts=", "--import-mode=importlib", "-s", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p")
_SETTINGS = (*_OPTIONS, "no:cov", "--timeout=0", "-W", "ignore::pytest.PytestAssertRewriteWarning")


Test = TypeVar("Test", int, str)


@dataclass(slots=True)
class Survey:
    """Which tests reach which line, what CPU time each takes, and what they import that is not ours."""

    tests: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reached: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    used_at: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)

    def of_lines(self, file: str, first: int, last: int) -> set[int]:
        """The tests that reach one of these lines."""
        lines = self.reached.get(file, {})
        return {test for line in range(first, last + 1) for test in lines.get(line, ())}

    def of_names(self, names: frozenset[str]) -> set[int]:
        """The tests that reach a function which uses one of ``names``."""
        places = [place for name in names for place in self.used_at.get(name, ())]
        return {test for file, line in places for test in self.of_lines(file, line, line)}


@dataclass(frozen=True, slots=True)
class Trial(Generic[Test]):
    """A fault, the tests to try it with, in their order, and the CPU time they take without it."""

    fault: Fault
    tests: Sequence[Test]
    seconds: float


class _Plugin:
    """What all have in common: failing hypotheses are not made small, and everything runs in this process."""

    def pytest_collection(self) -> None:
        quick = hypothesis.settings(
            hypothesis.settings.get_profile("gate"), phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
        )
        hypothesis.settings.register_profile("faults", quick)
        hypothesis.settings.load_profile("faults")


class _Surveyor(_Plugin):
    def __init__(self) -> None:
        self.survey = Survey()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        survey = self.survey
        survey.used_at, survey.imported = _names_used(), _others_modules()
        measured = coverage.Coverage(data_file=None, include=[f"{PACKAGE}/*"], config_file=False)
        measured.start()
        for at, (item, following) in enumerate(_pairs(session.items)):
            measured.switch_context(str(at))
            failed, began = session.testsfailed, time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            survey.tests.append(item.nodeid)
            survey.seconds.append(time.process_time() - began)
            survey.failed += [item.nodeid] if session.testsfailed > failed else []
        measured.stop()
        data = measured.get_data()
        for file in data.measured_files():
            lines = data.contexts_by_lineno(file)
            survey.reached[file] = {line: [int(at) for at in contexts if at] for line, contexts in lines.items()}
        return True


class _Warm(_Plugin):
    """Everything is imported and collected: each trial is a fork in which the function's code is replaced."""

    def __init__(self, jobs: int, trials: Mapping[int, Trial[int]], tell: Callable[[int, str], None]) -> None:
        self.jobs, self.trials, self.tell = jobs, trials, tell
        self.ends: dict[int, str] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = functions_below(CORE)

        def doing(trial: Trial[int]) -> int:
            if not replaced(_compiled(replace(trial.fault, edit=None)), _compiled(trial.fault), functions):
                return _UNFIT
            _bound(trial.seconds)
            return first_failure(session, [session.items[at] for at in trial.tests])

        gc.freeze()
        work = {number: (lambda each=each: doing(each)) for number, each in self.trials.items()}
        for number, code in forked(work, self.jobs):
            self.ends[number] = _ENDS.get(code, KILLED)
            self.tell(number, self.ends[number])
        return True


class _Chosen(_Plugin):
    """Runs the chosen tests in their order until one fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.tests = tests

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        os._exit(first_failure(session, [items[test] for test in self.tests if test in items]))


def surveyed(tests: Sequence[str]) -> Survey:
    """Run every test once, in a process of its own, and see what it reaches."""
    survey: Survey = _in_child(lambda: _session(tests, _Surveyor()).survey)
    return survey


def try_functions(
    trials: Mapping[int, Trial[int]], tests: Sequence[str], jobs: int, tell: Callable[[int, str], None]
) -> dict[int, str]:
    """Try faults of functions. ``UNFIT`` are those whose function cannot be replaced."""
    ends: dict[int, str] = _in_child(lambda: _session(tests, _Warm(jobs, trials, tell)).ends)
    return ends


def try_imports(
    trials: Mapping[int, Trial[str]],
    imported: Sequence[str],
    jobs: int,
    tell: Callable[[int, str], None],
) -> dict[int, str]:
    """Try faults that strike when the module is imported: with the fault in it from the start."""
    for name in imported:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    ends = {}
    work = {number: (lambda each=each: _imported_faulty(each)) for number, each in trials.items()}
    for number, code in forked(work, jobs):
        ends[number] = _ENDS.get(code, KILLED)
        tell(number, ends[number])
    return ends


def _session(tests: Sequence[str], plugin: Any) -> Any:
    os.environ["CI"] = "true"  # the tests' own profile for gates: nothing by chance
    pytest.main([*_SETTINGS, *tests], plugins=[plugin])
    return plugin


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


# --- putting a fault in ----------------------------------------------------------------------------------------------


def _compiled(fault: Fault) -> CodeType:
    path = CORE / fault.file
    tree = parsed(path) if fault.edit is None else fault.edit.broken()
    code = compile(tree, str(path), "exec", dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def _imported_faulty(trial: Trial[str]) -> int:
    path, code = str(CORE / trial.fault.file), _compiled(trial.fault)
    loaded = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: Any, name: str) -> Any:
        return code if loader.path == path else loaded(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]
    _bound(trial.seconds)
    _session(list(dict.fromkeys(test.partition("::")[0] for test in trial.tests)), _Chosen(trial.tests))
    return 1  # the tests could not even be collected


def _others_modules() -> list[str]:
    ours = tuple(str(ROOT / folder) for folder in ("src", "tests", "tools"))
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return [name for name, file in files.items() if file and not file.startswith(ours)]


def _names_used() -> dict[str, list[tuple[str, int]]]:
    """Where each global name or attribute is used: the first line of the body of every function that does."""
    used: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for each in chain.from_iterable(functions_below(PACKAGE).values()):
        code = each.__code__
        first = min((line for *_, line in code.co_lines() if line and line > code.co_firstlineno), default=0)
        for inner in all_codes(code):
            for name in inner.co_names:
                used[name].append((code.co_filename, first or code.co_firstlineno))
    return used


# --- processes -------------------------------------------------------------------------------------------------------


def _in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` returns, done in a forked process whose output is kept back unless it ends badly."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        answer, said = Path(folder, "answer"), Path(folder, "said")
        pid = os.fork()
        if not pid:
            speak_into(said)
            ended = 1
            try:
                answer.write_bytes(pickle.dumps(work()))
                ended = 0
            finally:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(ended)
        _, status = os.waitpid(pid, 0)
        if status:
            raise SystemExit(
                f"the tests could not be run:\n{said.read_text(encoding='utf-8', errors='replace')[-4000:]}"
            )
        return pickle.loads(answer.read_bytes())


def _bound(seconds: float) -> None:
    """Let this process end in time, whatever the fault does to a loop."""
    most = math.ceil(time.process_time() + _CPU_SECONDS + 3 * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))
