"""Plain restatements of what the kernels do, to test against; imports nothing of ours."""

import itertools
import math
import re
from collections import Counter, defaultdict

# --- Spans: conlleval.pl (Tjong Kim Sang, 2004-01-26), line by line. ---
#
# As there: L and U are E and S, M is I; S and the pair E, B are what its ports with IOBES add.

_PREFIXES = {"L": "E", "U": "S", "M": "I"}


def _split(label):
    prefix, _, kind = label.partition("-")
    return _PREFIXES.get(prefix, prefix), kind


def _end_of_chunk(prev_tag, tag, prev_type, kind):
    end = False
    if (prev_tag, tag) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}:
        end = True
    if (prev_tag, tag) in {("E", "E"), ("E", "I"), ("E", "O"), ("E", "B"), ("E", "S")}:
        end = True
    if prev_tag == "S" or (prev_tag, tag) in {("B", "S"), ("I", "S")}:
        end = True
    if prev_tag != "O" and prev_type != kind:
        end = True
    return end


def _start_of_chunk(prev_tag, tag, prev_type, kind):
    start = False
    if (prev_tag, tag) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}:
        start = True
    if (prev_tag, tag) in {("E", "E"), ("E", "I"), ("O", "E"), ("E", "B")}:
        start = True
    if tag == "S" or (prev_tag == "S" and tag != "O"):
        start = True
    if tag != "O" and prev_type != kind:
        start = True
    return start


def chunks(labels):
    """Return [(begin, end, type)] of one sequence, by the same two rules."""
    found, begin = [], None
    tags = [("O", ""), *map(_split, labels), ("O", "")]
    for t, ((prev_tag, prev_type), (tag, kind)) in enumerate(itertools.pairwise(tags)):
        if begin is not None and _end_of_chunk(prev_tag, tag, prev_type, kind):
            found.append((begin, t, prev_type))
            begin = None
        if _start_of_chunk(prev_tag, tag, prev_type, kind):
            begin = t
    return found


def conlleval(sequences):
    """Return {type: [gold, predicted, right]} of [(gold labels, predicted labels)]; one text, as there."""
    found = {}
    in_correct = False
    last_correct, last_correct_type, last_guessed, last_guessed_type = "O", "", "O", ""
    lines = []
    for gold, predicted in sequences:
        lines += [*zip(gold, predicted, strict=True), ("O", "O")]
    for gold, predicted in lines:
        correct, correct_type = _split(gold)
        guessed, guessed_type = _split(predicted)
        correct_end = _end_of_chunk(last_correct, correct, last_correct_type, correct_type)
        guessed_end = _end_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
        correct_start = _start_of_chunk(last_correct, correct, last_correct_type, correct_type)
        guessed_start = _start_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
        if in_correct:
            if correct_end and guessed_end and last_guessed_type == last_correct_type:
                in_correct = False
                found[last_correct_type][2] += 1
            elif correct_end != guessed_end or guessed_type != correct_type:
                in_correct = False
        if correct_start and guessed_start and guessed_type == correct_type:
            in_correct = True
        if correct_start:
            found.setdefault(correct_type, [0, 0, 0])[0] += 1
        if guessed_start:
            found.setdefault(guessed_type, [0, 0, 0])[1] += 1
        last_correct, last_correct_type = correct, correct_type
        last_guessed, last_guessed_type = guessed, guessed_type
    return found


# --- Chains: every labelling, one by one. ---


def path_score(emit, trans, path, triple=None):
    """Add up emit[t][y_t], trans[t][y_prev][y_t] at every t > 0, triple[y_prev2][y_prev][y_t] at t > 1."""
    total = sum(emit[t][y] for t, y in enumerate(path))
    total += sum(trans[t][path[t - 1]][path[t]] for t in range(1, len(path)))
    if triple is not None and len(triple):
        total += sum(triple[path[t - 2]][path[t - 1]][path[t]] for t in range(2, len(path)))
    return total


def best_labelling(n_labels, length, score):
    """Return (score, path) of the best of all L**T; of equals the lowest labels win, the last one first."""
    paths = itertools.product(range(n_labels), repeat=length)
    scored = ((score(path), tuple(-y for y in reversed(path))) for path in paths)
    best, key = max(scored)
    return best, [-y for y in reversed(key)]


def log_sum(values):
    """Return log Σ exp(values), exactly summed."""
    top = max(values)
    return top if top == -math.inf else top + math.log(math.fsum(math.exp(value - top) for value in values))


def chain_marginals(n_labels, length, score):
    """Return log Z, P(y_t) as [t][y], and P(y_{t-1}, y_t) as [t][y_prev][y], from all L**T labellings."""
    paths = list(itertools.product(range(n_labels), repeat=length))
    scores = [score(path) for path in paths]
    log_z = log_sum(scores)
    node = [[0.0] * n_labels for _ in range(length)]
    edge = [[[0.0] * n_labels for _ in range(n_labels)] for _ in range(length)]
    for path, found in zip(paths, scores, strict=True):
        p = math.exp(found - log_z)
        for t, y in enumerate(path):
            node[t][y] += p
            if t:
                edge[t][path[t - 1]][y] += p
    return log_z, node, edge


def expected_triples(n_labels, length, score):
    """Return Σ_t P(y_{t-2}, y_{t-1}, y_t) as [y_prev2][y_prev][y], from all L**T labellings."""
    paths = list(itertools.product(range(n_labels), repeat=length))
    scores = [score(path) for path in paths]
    log_z = log_sum(scores)
    found = [[[0.0] * n_labels for _ in range(n_labels)] for _ in range(n_labels)]
    for path, one in zip(paths, scores, strict=True):
        for t in range(2, length):
            found[path[t - 2]][path[t - 1]][path[t]] += math.exp(one - log_z)
    return found


def best_labellings(n_labels, length, score, k):
    """Return [(score, path)] of the k best that are possible; of equals the lowest labels first, as above."""
    scored = [(score(path), list(path)) for path in itertools.product(range(n_labels), repeat=length)]
    possible = [pair for pair in scored if pair[0] > -math.inf]
    return sorted(possible, key=lambda pair: (-pair[0], pair[1][::-1]))[:k]


def beam(emit, trans, width):
    """Return the [(score, path)] that are kept at each position, best first, of equals the lower last label.

    Of prefixes that end in the same label one is kept, of equals the one with the lower label before.
    """
    found = []
    for t in range(len(emit)):
        longer = {}
        for before, path in sorted(found[-1], key=lambda kept: kept[1][-1]) if found else [(0.0, [])]:
            for y in range(len(emit[t])):
                score = (before + trans[t][path[-1]][y] if path else before) + emit[t][y]
                if y not in longer or score > longer[y][0]:
                    longer[y] = (score, [*path, y])
        found.append(sorted(longer.values(), key=lambda kept: (-kept[0], kept[1][-1]))[:width])
    return found


# --- Valid labellings, read from left to right. ---


def is_valid(labels, scheme):
    """Return whether a labelling obeys "bio" or "iobes"; labels of neither are allowed everywhere."""
    open_type = None  # of the span that may go on, or in IOBES must
    marks = "BIO" if scheme == "bio" else "BIEOSMLU"
    anything_goes = False
    for label in labels:
        mark, _, kind = label.partition("-")
        if mark not in list(marks):
            open_type, anything_goes = None, True
            continue
        mark = _PREFIXES.get(mark, mark)
        if not anything_goes:
            if mark in "IE" and open_type != kind:
                return False
            if scheme == "iobes" and open_type is not None and mark not in "IE":
                return False
        open_type = kind if mark in "BI" else None
        anything_goes = False
    return scheme == "bio" or open_type is None


# --- CRF++: a feature is the string that its template expands to. ---


def expand(template, rows, t):
    """Expand one line of a template at position `t` of `rows`, which hold one list of columns a token."""

    def value(macro):
        at = t + int(macro[1])
        if at < 0:
            return f"_B{at}"
        if at >= len(rows):
            return f"_B+{at - len(rows) + 1}"
        return rows[at][int(macro[2])]

    return re.sub(r"%x\[([+-]?\d+),(\d+)\]", value, template)


def template_features(templates, rows):
    """Return the features of every position as (kind, string, value)."""
    return [[(line[0], expand(line, rows, t), 1.0) for line in templates] for t in range(len(rows))]


def ready_made_features(positions):
    """Return ready-made features, lists of names or mappings of name to value, and the plain transition."""
    return [
        [("U", name, features[name] if isinstance(features, dict) else 1.0) for name in features]
        + [("B", "B", 1.0)]
        for features in positions
    ]


# --- Learners, over dictionaries from feature and labels to weight. ---


class Chain:
    """Labels, features, scores and averages, of all weights after every sequence.

    `room` is how many features fit, of U, and of B and * together. Later features do not exist, but
    transitions and triples of labels always do.
    """

    def __init__(self, average="none", half_life=10_000.0, room=(10**9, 10**9)):
        self.labels = []
        self.last = defaultdict(float)
        self.seen = 0
        self._average = average
        self._retain = 0.5 ** (1 / half_life)
        self._mean = defaultdict(float)
        self._room = dict(zip("UB", room, strict=True))
        self._known = {"U": set(), "B": set()}

    def _admitted(self, position):
        """Leave out what does not fit."""
        for kind, name, value in position:
            table = "U" if kind == "U" else "B"
            known = self._known[table]
            if name not in known and name not in ("B", "T") and len(known) < self._room[table]:
                known.add(name)
            if name in known or name in ("B", "T"):
                yield kind, name, value

    def _phi(self, positions, path):
        for t, position in enumerate(positions):
            for kind, name, value in position:
                if kind in "U*":
                    yield (name, path[t]), value
                if kind in "B*" and t > 0:
                    yield (name, path[t - 1], path[t]), value
                if kind == "T" and t > 1:
                    yield (name, *path[t - 2 : t + 1]), value

    def difference(self, positions, gold, path):
        """Return Φ(x, gold) − Φ(x, path) as a dictionary."""
        change = defaultdict(float)
        for key, value in self._phi(positions, gold):
            change[key] += value
        for key, value in self._phi(positions, path):
            change[key] -= value
        return change

    def score(self, positions, path, weights):
        """Return w · Φ(x, y)."""
        return sum(weights.get(key, 0.0) * value for key, value in self._phi(positions, path))

    def best(self, positions, weights):
        """Return the best labelling by the labels known so far."""

        def score(path):
            return self.score(positions, [self.labels[y] for y in path], weights)

        return [self.labels[y] for y in best_labelling(len(self.labels), len(positions), score)[1]]

    def weights(self):
        """Return the weights that predictions are made with."""
        return dict(self.last if self._average == "none" else self._mean)

    def _let_into_average(self):
        """Let the weights as they are now into the average, with those after each sequence before."""
        kept = (self.seen - 1) / self.seen if self._average == "all" else self._retain
        for key, value in self.last.items():
            self._mean[key] = kept * self._mean[key] + (1 - kept) * value

    def _know(self, gold):
        self.labels += [label for label in dict.fromkeys(gold) if label not in self.labels]


class _Mover(Chain):
    """Moves away from argmax w · Φ(x, z) + cost · wrong labels, found by enumeration.

    The cost does not count there if it `is_augmented` not.
    """

    def __init__(self, cost=0.0, is_augmented=True, **others):
        super().__init__(**others)
        self._cost = cost
        self._is_augmented = is_augmented

    def learn(self, positions, gold, importance=1.0):
        """Learn one sequence; before any label is known, its prediction is its own first label everywhere."""
        positions = [list(self._admitted(position)) for position in positions]
        rival = self._rival(positions, gold) if self.labels else [gold[0]] * len(gold)
        self._know(gold)
        if rival != gold:
            wrong = sum(y != z for y, z in zip(gold, rival, strict=True))
            self._update(self.difference(positions, gold, rival), wrong, importance)
        self.seen += 1
        self._let_into_average()

    def _rival(self, positions, gold):
        def score(path):
            names = [self.labels[y] for y in path]
            wrong = sum(y != z for y, z in zip(gold, names, strict=True))
            return self.score(positions, names, self.last) + self._cost * wrong * self._is_augmented

        return [self.labels[y] for y in best_labelling(len(self.labels), len(positions), score)[1]]

    def _loss(self, change, wrong):
        """Return the loss: by how much the gold labelling misses its margin."""
        return self._cost * wrong - sum(self.last[key] * value for key, value in change.items())


class StructuredPerceptron(_Mover):
    """Collins 2002, figure 1."""

    def _update(self, change, _, importance):
        for key, value in change.items():
            self.last[key] += importance * value


class VotedPerceptron(StructuredPerceptron):
    """Freund & Schapire 1999 with Collins' chains: the last weight vectors and their votes, newest first."""

    def __init__(self, vectors):
        super().__init__()
        self._vectors = vectors
        self._kept = [[{}, 0]]

    def learn(self, positions, gold, importance=1.0):
        super().learn(positions, gold, importance)
        self._kept[0][1] += 1

    def _update(self, change, wrong, importance):
        super()._update(change, wrong, importance)
        self._kept = [[dict(self.last), 0], *self._kept][: self._vectors]

    def elected(self, positions):
        """Return the labellings with the most votes; if the newest vector's is one of them, only that one."""
        choices = [(tuple(self.best(positions, vector)), votes) for vector, votes in self._kept]
        totals = Counter()
        for labelling, votes in choices:
            totals[labelling] += votes
        winners = {labelling for labelling, votes in totals.items() if votes == max(totals.values())}
        return {choices[0][0]} if choices[0][0] in winners else winners


class PassiveAggressive(_Mover):
    """Crammer et al. 2006, PA-I: τ = min(C, ℓ / ‖Δφ‖²)."""

    def __init__(self, aggressiveness, **others):
        super().__init__(**others)
        self._aggressiveness = aggressiveness

    def _update(self, change, wrong, importance):
        squared = sum(value * value for value in change.values())
        step = importance * self._aggressiveness
        if squared:
            step = min(step, max(0.0, self._loss(change, wrong)) / squared)
        for key, value in change.items():
            self.last[key] += step * value


class Arow(_Mover):
    """Crammer, Kulesza & Dredze 2009, with a diagonal Σ; importance divides r."""

    def __init__(self, regularization, **others):
        super().__init__(**others)
        self._regularization = regularization
        self._variance = defaultdict(lambda: 1.0)

    def _update(self, change, wrong, importance):
        r = self._regularization / importance
        spread = sum(value * value * self._variance[key] for key, value in change.items())
        step = max(0.0, self._loss(change, wrong)) / (spread + r)
        for key, value in change.items():
            self.last[key] += step * self._variance[key] * value
            if step:
                self._variance[key] = 1 / (1 / self._variance[key] + value * value / r)
