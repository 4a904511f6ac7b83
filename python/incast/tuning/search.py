"""Search: sets of values suggested by a sampler of Optuna, tried under paired seeds, written to a journal.

Several processes, on machines that share the folder, work on one journal. A set counts once it is completely written.
The set of a killed process is tried again: its suggestion is a function of the sets that count, so a search by one
process gives the same sets however often it was killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from incast.errors import FolderError, ScenarioError, UnsoundError, needs
from incast.runs.run_folder import engine_digest
from incast.system import files
from incast.system.folders import NOT_EMPTY, open_lock, put_first, refuse_other
from incast.system.memory import spoken
from incast.tuning.declaration import BEGAN, ENDED, Parameter, Set, Tuning, flows_of, unfinished

try:
    import optuna
    import sklearn  # noqa: F401 -- Optuna needs it for importances at the end
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler
    from optuna.storages.journal import JournalFileBackend, JournalStorage
    from optuna.study import Study as OptunaStudy
    from optuna.trial import FrozenTrial, Trial, TrialState
except ModuleNotFoundError as error:
    raise needs("tune", error) from None

JOURNAL = "journal.log"
MARK = "tune.json"
MARK_FORMAT = 2
PART = 3
"""Successive halving: one in this many sets continues at each rung."""
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
PATIENCE_S = 0.5
ENOUGH = 20
"""Fewest sets for importances of parameters."""

optuna.logging.set_verbosity(optuna.logging.WARNING)


class _Lock:
    """Lock of the journal by the system, which releases it for a killed process.

    Taking the lock cuts off an incomplete line of a killed process.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._path = journal.with_name(f".{journal.name}.lock")
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        self._file = open_lock(self._path)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        refuse_other(self._journal)
        try:
            with self._journal.open("r+b") as journal:
                _cut_half_line(journal)
        except FileNotFoundError:
            pass
        return True

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _cut_half_line(journal: IO[bytes]) -> None:
    end = journal.seek(0, 2)
    at, block = end, 4096
    while at > 0:
        start = max(at - block, 0)
        journal.seek(start)
        found = journal.read(at - start).rfind(b"\n")
        if found >= 0:
            at = start + found + 1
            break
        at = start
    if at < end:
        journal.truncate(at)


@dataclass(frozen=True)
class Tried:
    """A tried set of values that counts."""

    number: int
    """Place among the sets that count, from 0."""
    values: Set
    scores: tuple[float, ...] | None
    """Value of each objective over all seeds; ``None`` if the set was stopped, refused, or left flows unfinished."""
    by_seed: tuple[tuple[float, ...], ...]
    """Values of each objective by seed."""
    refused: str = ""
    """Reason why the set could not be run, if so."""
    unfinished: str = ""
    """Message about flows that the set left unfinished and the defaults finish, if any."""
    unsound: bool = False
    """True if the set was refused because of an unsound run."""


class Search:
    """A search in a folder: the tried sets, and the next ones."""

    def __init__(self, tuning: Tuning, folder: Path) -> None:
        self.tuning, self.folder = tuning, folder
        self._held: IO[bytes] | None = None
        self._worker = uuid.uuid4().hex[:12]
        _put_mark(folder, _mark(tuning))
        _refuse_large(folder / JOURNAL)
        backend = JournalFileBackend(str(folder / JOURNAL), _Lock(folder / JOURNAL))  # type: ignore[arg-type]
        towards = optuna.study.StudyDirection
        directions = [towards.MAXIMIZE if one.maximise else towards.MINIMIZE for one in tuning.objectives]
        with files.held(folder):
            self.study: OptunaStudy = optuna.create_study(
                storage=JournalStorage(backend),
                sampler=_Repeatable(self),
                study_name=tuning.target.study.name,
                directions=directions,
                load_if_exists=True,
            )

    def tried(self) -> list[Tried]:
        """Return the finished sets that count, in the order of their start."""
        found = []
        for place, trial in enumerate(self._counted()):
            if trial.state != TrialState.RUNNING:
                found.append(self._read(place, trial))
        return found

    def carry_out(self, workers: int, show: Callable[[int], None]) -> list[Tried]:
        """Try sets until the budget is used; return them.

        ``show`` is called with the number of finished sets. Sets of other processes are waited for.
        """
        budget = self.tuning.budget
        with self._at_work():
            while True:
                if self._give_up_dead():
                    time.sleep(PATIENCE_S)
                    continue
                counted = self._counted()
                done = sum(trial.state != TrialState.RUNNING for trial in counted)
                show(min(done, budget))
                if done >= budget:
                    return [one for one in self.tried() if one.number < budget]
                if len(counted) >= budget:
                    time.sleep(PATIENCE_S)
                    continue
                self._try(workers)

    def _try(self, workers: int) -> None:
        trial = self.study.ask()
        try:
            trial.set_user_attr("worker", self._worker)
            if self.place(trial.number) >= self.tuning.budget:  # another process was first
                self.study.tell(trial, state=TrialState.FAIL)
                return
            values = {parameter.key: _suggest(parameter, trial) for parameter in self.tuning.target.parameters}
            trial.set_user_attr("values", values)
            rungs: dict[int, float] = {}
            try:
                by_seed, is_whole = self._run(trial.number, values, workers, rungs)
            except (ScenarioError, UnsoundError, _NoFigure) as error:
                trial.set_user_attr("refused", str(error))
                trial.set_user_attr("unsound", isinstance(error, UnsoundError))
                self.study.tell(trial, state=TrialState.FAIL)
                return
            except _Unfinished as error:
                # drop the scores of its first seeds too, which would attract the sampler to sets that starve flows;
                # a pruned set ranks behind all others
                trial.set_user_attr("unfinished", str(error))
                self.study.tell(trial, state=TrialState.PRUNED)
                return
            trial.set_user_attr("by_seed", by_seed)
            for rung, score in rungs.items():
                trial.report(score, rung)
            if is_whole:
                self.study.tell(trial, _means(by_seed))
            else:
                self.study.tell(trial, state=TrialState.PRUNED)
        except BaseException:
            # not counted: the same set is suggested again
            if self.study.trials[trial.number].state == TrialState.RUNNING:
                self.study.tell(trial, state=TrialState.FAIL)
            raise

    def _run(self, number: int, values: Set, workers: int, rungs: dict[int, float]) -> tuple[list[list[float]], bool]:
        """Run a set under more and more seeds while it is among the best; also return whether it ran under all.

        ``rungs`` receives its scores by number of seeds, except for all seeds.
        """
        tuning = self.tuning
        by_seed: list[list[float]] = [[] for _ in tuning.objectives]
        flows = dict.fromkeys(tuning.target.scenarios, (0.0, 0.0))
        for rung in tuning.rungs:
            seeds = tuning.seeds[len(by_seed[0]) : rung]
            runs = tuning.target.evaluated(values, seeds, [*tuning.figures, ENDED, BEGAN], workers)
            for name, (ended, began) in flows_of(runs).items():
                flows[name] = flows[name][0] + ended, flows[name][1] + began
            if message := unfinished(flows, flows_of(tuning.defaults, rung)):
                raise _Unfinished(message)
            found = tuning.values(runs)
            for objective, have, more in zip(tuning.objectives, by_seed, found, strict=True):
                have += more
                if any(math.isnan(value) for value in more):
                    raise _NoFigure(
                        f"no {objective.figure} under seed {seeds[[math.isnan(v) for v in more].index(True)]}"
                    )
            if rung == len(tuning.seeds):
                break
            (score,) = _means(by_seed)
            rungs[rung] = score
            if not self._goes_on(number, rung, score):
                return by_seed, False
        return by_seed, True

    def _goes_on(self, number: int, rung: int, score: float) -> bool:
        """Return whether a set is among the best third of the earlier sets at the rung."""
        (objective,) = self.tuning.objectives
        others = [
            trial.intermediate_values[rung]
            for trial in self._counted()
            if trial.number < number and trial.state in FINISHED and rung in trial.intermediate_values
        ]
        better = sum(objective.better(other, score) for other in others)
        return better < max((len(others) + 1) // PART, 1)

    def importances(self) -> dict[str, dict[str, float]]:
        """Return importances by fANOVA (Hutter et al., ICML 2014), by objective and parameter; they add up to 1.

        A random forest is fitted to the sets, with the seeds common to all; an importance is the share of its variance
        over the ranges that the parameter alone explains. Empty for fewer than ``ENOUGH`` sets.
        """
        first = self.tuning.rungs[0]
        trials = [trial for trial in self._counted()[: self.tuning.budget] if "by_seed" in trial.user_attrs]
        if len(trials) < ENOUGH or len(self.tuning.target.parameters) < 2:
            return {}
        found = {}
        for number, objective in enumerate(self.tuning.objectives):
            same = optuna.create_study(direction="maximize" if objective.maximise else "minimize")
            for trial in trials:
                values = trial.user_attrs["by_seed"][number][:first]
                score = math.fsum(values) / len(values)
                same.add_trial(
                    optuna.trial.create_trial(params=trial.params, distributions=trial.distributions, value=score)
                )
            evaluator = optuna.importance.FanovaImportanceEvaluator(seed=self.tuning.seed)
            shares = optuna.importance.get_param_importances(same, evaluator=evaluator)
            found[objective.figure] = {key: float(value) for key, value in shares.items()}
        return found

    # Sets that count

    def _counted(self) -> list[FrozenTrial]:
        return [trial for trial in self.study.get_trials(deepcopy=False) if _counts(trial)]

    def place(self, number: int) -> int:
        """Return the number of counting sets that started before a trial."""
        return sum(trial.number < number for trial in self._counted())

    def _read(self, place: int, trial: FrozenTrial) -> Tried:
        attributes = trial.user_attrs
        scores = tuple(trial.values) if trial.state == TrialState.COMPLETE and trial.values else None
        by_seed = tuple(tuple(values) for values in attributes.get("by_seed", []))
        why = (attributes.get("refused", ""), attributes.get("unfinished", ""), attributes.get("unsound", False))
        return Tried(place, attributes["values"], scores, by_seed, *why)

    # Concurrent processes

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Lock a file while this process lives: others see by it whether its set is still active."""
        place = self.folder / "workers"
        place.mkdir(exist_ok=True)
        path = place / self._worker
        while True:
            with open_lock(path) as self._held:
                fcntl.flock(self._held, fcntl.LOCK_EX)
                if not path.exists():  # another process took it for a dead one's before it was locked
                    continue
                yield
                break
        path.unlink(missing_ok=True)

    def _give_up_dead(self) -> bool:
        """Discard the sets of dead processes.

        Return whether a set's process is not known yet, since the set started a moment ago.
        """
        is_open = False
        for trial in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            worker = trial.user_attrs.get("worker")
            if worker is None:
                begun = trial.datetime_start
                is_new = begun is None or time.time() - begun.timestamp() < 10 * PATIENCE_S
                if is_new and self._has_company():
                    is_open = True
                    continue
            elif self._lives(worker):
                continue
            try:
                self.study.tell(trial.number, state=TrialState.FAIL)
            except ValueError:  # another process was first
                continue
        return is_open

    def _has_company(self) -> bool:
        """Return whether another process is active; each locks its file before it starts a set."""
        others = [path.name for path in (self.folder / "workers").iterdir() if path.name != self._worker]
        return any(self._lives(other) for other in others)

    def _lives(self, worker: str) -> bool:
        if worker == self._worker:
            return True
        try:
            path = self.folder / "workers" / worker
            refuse_other(path)
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        path.unlink(missing_ok=True)
        return False


class _NoFigure(Exception):
    """A run lacks the figure of an objective."""


class _Unfinished(Exception):
    """A set left flows unfinished that the defaults finish."""


def _counts(trial: FrozenTrial) -> bool:
    return trial.state in (*FINISHED, TrialState.RUNNING) or "refused" in trial.user_attrs


def _means(by_seed: list[list[float]]) -> list[float]:
    return [math.fsum(values) / len(values) for values in by_seed]


def _suggest(parameter: Parameter, trial: Trial) -> Any:
    span = parameter.axis.range
    if span is None:
        return trial.suggest_categorical(parameter.key, parameter.axis.values)
    if span.whole:
        return parameter.at(trial.suggest_int(parameter.key, math.ceil(span.low), math.floor(span.high), log=span.log))
    return parameter.at(trial.suggest_float(parameter.key, span.low, span.high, log=span.log))


class _Repeatable(BaseSampler):
    """A sampler recreated for every trial, with a seed derived from the trial's place."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._made: dict[int, BaseSampler] = {}

    def _of(self, trial: FrozenTrial) -> BaseSampler:
        if trial.number not in self._made:
            tuning = self._search.tuning
            digest = hashlib.sha256(f"{tuning.seed}|{self._search.place(trial.number)}".encode()).digest()
            self._made = {trial.number: _sampler(tuning, int.from_bytes(digest[:4], "big"))}
        return self._made[trial.number]

    def infer_relative_search_space(self, study: OptunaStudy, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return self._of(trial).infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: OptunaStudy, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return self._of(trial).sample_relative(study, trial, search_space)

    def sample_independent(
        self, study: OptunaStudy, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._of(trial).sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: OptunaStudy, trial: FrozenTrial) -> None:
        self._of(trial).before_trial(study, trial)

    def after_trial(self, study: OptunaStudy, trial: FrozenTrial, state: TrialState, values: Any) -> None:
        self._of(trial).after_trial(study, trial, state, values)


def _sampler(tuning: Tuning, seed: int) -> BaseSampler:
    if tuning.sampler == "random":
        return RandomSampler(seed=seed)
    if tuning.sampler == "nsga2":
        return NSGAIISampler(seed=seed, population_size=min(max(tuning.budget // 6, 6), 50))
    return TPESampler(seed=seed, n_startup_trials=min(max(tuning.budget // 5, 5), 15))


# Folder


def _mark(tuning: Tuning) -> dict[str, Any]:
    """Return the identity of a search, without the budget, which may grow."""
    target = tuning.target
    return {
        "format": MARK_FORMAT,
        "study": target.study.name,
        "engine": engine_digest(),
        "scenarios": {name: target.made(name, {}).hash for name in target.scenarios},
        "arm": target.arm,
        "parameters": {one.key: [str(one.axis.values), str(one.axis.range)] for one in target.parameters},
        "objectives": [str(objective) for objective in tuning.objectives],
        "sampler": tuning.sampler,
        "seeds": list(tuning.seeds),
        "prune": tuning.prune,
        "seed": tuning.seed,
    }


def _refuse_large(journal: Path) -> None:
    """Raise ``FolderError`` for a journal that no search writes: it is read line by line, whatever a line takes."""
    refuse_other(journal)
    size = journal.stat().st_size if journal.exists() else 0
    if size > files.MOST_JSON:
        message = f"{journal} is damaged: it has {spoken(size)}; expected at most {spoken(files.MOST_JSON)}"
        raise FolderError(f"{message}; give another --out, or remove {journal.parent} first")


def _put_mark(folder: Path, mark: dict[str, Any]) -> None:
    """Mark a folder as this search's, or accept an existing mark; raises ``FolderError`` for other content."""
    path = folder / MARK
    put_first(path, json.dumps(mark, indent=2) + "\n", NOT_EMPTY)
    try:
        there = files.read_json(path)
        differing = [word for word in mark if there.get(word) != mark[word]]
    except (OSError, ValueError, AttributeError) as error:
        message = f"{path} is damaged: {files.message_of(error)}"
        raise FolderError(f"{message}; give another --out, or remove {folder} first") from None
    if "engine" in differing:
        raise FolderError(
            f"{folder} holds a search by another build of the engine: runs of both do not mix; give another --out, "
            "or remove it first"
        )
    if differing:
        message = f"{folder} holds another search, with other {', '.join(differing)}"
        raise FolderError(f"{message}: give another --out, or remove it first")
