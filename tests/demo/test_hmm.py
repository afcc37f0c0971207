from itertools import islice, pairwise, product

import numpy as np
import pytest

from streamlearn.demo.hmm import HMM, LENGTH, SETUPS, Setup, ShiftingStream

# Dror & Reichart 2016, setups 1-3, with the emissions of the third as they are printed.
PAPER = {
    1: ((0.7, 0.2, 0.1), (0.75, 0.1, 0.05, 0.05, 0.05)),
    2: ((0.5, 0.3, 0.2), (0.6, 0.15, 0.1, 0.1, 0.05)),
    3: ((0.7, 0.2, 0.1, *[0] * 4), (0.4, 0.2, 0.1, 0.1, 0.1, *[0] * 15)),
}


@pytest.mark.parametrize("number", PAPER)
def test_each_row_is_a_permutation_of_the_papers_numbers(number: int) -> None:
    model = HMM.draw(SETUPS[number], np.random.default_rng(0))
    for rows, printed in zip((model.transition, model.emission), PAPER[number], strict=True):
        wanted = np.sort(printed) / sum(printed)
        np.testing.assert_allclose(np.sort(rows, axis=1), np.tile(wanted, (len(rows), 1)))
    assert len({tuple(row) for row in model.emission}) > 1


def test_sequences_follow_the_model() -> None:
    rng = np.random.default_rng(0)
    model = HMM.draw(SETUPS[3], rng)
    labels, words = model.sample(40_000, rng)
    assert labels.shape == words.shape == (40_000, LENGTH)
    np.testing.assert_allclose(np.bincount(labels[:, 0], minlength=7) / 40_000, 1 / 7, atol=0.01)
    pairs = np.zeros_like(model.transition)
    np.add.at(pairs, (labels[:, :-1], labels[:, 1:]), 1)
    np.testing.assert_allclose(pairs / pairs.sum(axis=1, keepdims=True), model.transition, atol=0.02)
    seen = np.zeros_like(model.emission)
    np.add.at(seen, (labels, words), 1)
    np.testing.assert_allclose(seen / seen.sum(axis=1, keepdims=True), model.emission, atol=0.02)
    assert not seen[model.emission == 0].any()


def test_the_posterior_is_that_of_all_labelings() -> None:
    model = HMM.draw(SETUPS[1], np.random.default_rng(3))
    words = np.array([[0, 3, 1, 1], [4, 4, 2, 0]])
    for x, found in zip(words, model.posterior(words), strict=True):
        wanted = np.zeros((4, 3))
        for path in product(range(3), repeat=4):
            p = np.prod([model.emission[y, word] for y, word in zip(path, x, strict=True)])
            p *= np.prod([model.transition[a, b] for a, b in pairwise(path)])
            wanted[range(4), path] += p
        np.testing.assert_allclose(found, wanted / wanted.sum(axis=1, keepdims=True))


def test_guessing_by_the_posterior_reaches_the_ceiling_and_not_more() -> None:
    rng = np.random.default_rng(5)
    model = HMM.draw(SETUPS[2], rng)
    labels, words = model.sample(20_000, rng)
    assert np.mean(model.posterior(words).argmax(axis=2) == labels) == pytest.approx(
        model.ceiling(), abs=0.01
    )


def test_a_model_without_noise_can_be_labelled_without_a_mistake() -> None:
    assert HMM.draw(Setup(2, 2, (1.0,), (1.0,)), np.random.default_rng(1)).ceiling() <= 1.0
    assert HMM(np.eye(2), np.eye(2)).ceiling() == pytest.approx(1.0)


def test_the_distribution_shifts_exactly_at_the_given_sequence() -> None:
    # Each label has one word in each of the models, so that words tell where the second begins.
    setup = Setup(5, 5, (0.5, 0.5), (1.0,))
    for change_at in (0, 1, 255, 256, 1000):
        stream = ShiftingStream(setup, change_at, seed=4)
        of = [
            {f"y{y}": f"x{int(x)}" for y, x in enumerate(m.emission.argmax(1))}
            for m in (stream.before, stream.after)
        ]
        fits = [
            [
                all(word_of[y] == x for x, y in zip(e.columns["w"], e.labels or [], strict=True))
                for word_of in of
            ]
            for e in islice(stream, change_at + 300)
        ]
        assert all(before for before, _ in fits[:change_at])
        assert all(after for _, after in fits[change_at:])
        assert not all(before for before, _ in fits[change_at:])


def test_equal_seeds_give_equal_streams_and_others_do_not() -> None:
    def stream(seed: int) -> list[list[str]]:
        return [example.columns["w"] for example in islice(ShiftingStream(SETUPS[3], 10, seed), 40)]

    assert stream(1) == stream(1)
    assert stream(1) != stream(2)
    stream = ShiftingStream(SETUPS[3], 10, seed=1)
    assert list(islice(stream, 40)) == list(islice(stream, 40))


def test_spellings_multiply_the_words_and_say_what_the_word_said() -> None:
    setup = Setup(2, 2, (0.5, 0.5), (1.0,), spellings=10)
    stream = ShiftingStream(setup, 1000, seed=0)
    words_of = {
        f"y{y}": {f"x{10 * x + n}" for n in range(10)} for y, x in enumerate(stream.before.emission.argmax(1))
    }
    seen: dict[str, set[str]] = {"y0": set(), "y1": set()}
    for example in islice(stream, 1000):
        for word, label in zip(example.columns["w"], example.labels or [], strict=True):
            seen[label].add(word)
    assert seen == words_of
