"""Random streams: one a task and purpose, the same in every process, order and level."""

import inspect
import random

import pytest

from byrote.operators.seeding import stream

NAME = (0, "ladder/01", "affine", "parameters")
PINNED = [0.216838, 232827901]


def draws(*name: object) -> list[int]:
    rng = stream(*name)
    return [rng.randint(0, 10**9) for _ in range(4)]


def test_the_same_name_gives_the_same_draws_whatever_was_drawn_before():
    first = draws(*NAME)
    random.seed(1)
    draws(0, "ladder/02", "affine", "parameters")
    assert draws(*NAME) == first


def test_the_draws_are_these_in_every_process_and_python_version():
    assert [round(stream(*NAME).random(), 6), draws(*NAME)[0]] == PINNED


@pytest.mark.parametrize(
    "other",
    [
        (1, "ladder/01", "affine", "parameters"),
        (0, "ladder/02", "affine", "parameters"),
        (0, "ladder/01", "affine_fixed", "parameters"),
        (0, "ladder/01", "affine", "order"),
    ],
)
def test_every_part_of_the_name_matters(other):
    assert draws(*other) != draws(*NAME)


def test_the_level_is_no_part_of_the_name_so_that_levels_nest():
    assert list(inspect.signature(stream).parameters) == ["seed", "task_id", "operator", "purpose"]


def test_the_global_generator_is_neither_read_nor_moved():
    random.seed(5)
    state = random.getstate()
    stream(*NAME).random()
    assert random.getstate() == state
