"""The rows, and the check of a frame: what is wrong with it is named. I02 is a public report."""

import ast
import math
from dataclasses import fields

import pandas as pd
import pytest

from byrote.records import Generation, Metric, Task, Variant, Verdict, check, rows, table

VALUE = "{1: (2, 3), (4,): {5}, 'k': [None, True, -0.0, 1e+300]}"


def generation(**changes) -> Generation:
    return Generation(
        **dict(task_id="t/1", operator="original", mode="", wording="", level=0.0, seed=0)
        | dict(model="m", sampling="s", sample=0, request="k", text="x", finish="stop")
        | changes
    )


def frame(*changes: dict) -> pd.DataFrame:
    return table([generation(sample=n, **c) for n, c in enumerate(changes or [{}, {}])], Generation)


def test_i02_tuples_and_integer_keys_survive_a_parquet_file_as_repr(tmp_path):
    task = Task("t/1", "b", "output", "p", "f", "r", tests=f"assert f(1) == {VALUE}", code=VALUE)
    table([task], Task).to_parquet(tmp_path / "tasks.parquet")
    [back] = rows(check(pd.read_parquet(tmp_path / "tasks.parquet"), Task), Task)
    assert back == task
    assert ast.literal_eval(back.code) == ast.literal_eval(VALUE)
    assert ast.literal_eval("{1: (2, 3)}") == {1: (2, 3)}


@pytest.mark.parametrize("row", [Task, Variant, Generation, Verdict, Metric])
def test_a_frame_without_rows_has_all_columns_and_dtypes(row):
    empty = table([], row)
    assert list(empty.columns) == [f.name for f in fields(row)]
    assert len(empty) == 0
    check(pd.concat([empty, table([], row)]), row)


def test_rows_come_back_as_they_went_in_with_plain_python_values():
    made = [generation(sample=n, level=0.2, tokens=n, logprob=-0.25) for n in range(3)]
    back = rows(table(made, Generation), Generation)
    assert back == made
    assert {type(v) for r in back for v in vars(r).values()} == {str, int, float}


def test_columns_that_a_row_does_not_have_are_left_out_and_the_order_is_the_rows_own():
    plain = frame({"logprob": -0.5})
    wide = plain.assign(extra=1)[["extra", *reversed(plain.columns)]]
    assert list(check(wide, Generation).columns) == [f.name for f in fields(Generation)]
    assert rows(wide, Generation) == rows(plain, Generation)


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match=r"Generation: missing columns \['text', 'finish'\]"):
        check(frame().drop(columns=["text", "finish"]), Generation)


@pytest.mark.parametrize(
    ("column", "dtype"), [("tokens", "float64"), ("level", "int64"), ("text", "object")]
)
def test_a_column_of_another_dtype_is_named_with_both_dtypes(column, dtype):
    with pytest.raises(ValueError, match=rf"Generation\.{column}: {dtype}, not "):
        check(frame().astype({column: dtype}), Generation)


def test_a_missing_text_is_named_with_its_row():
    broken = frame({}, {}, {})
    broken.loc[1, "text"] = None
    with pytest.raises(ValueError, match=r"Generation\.text: missing value in row 1"):
        check(broken, Generation)
    with pytest.raises(ValueError, match=r"Generation\.text: missing value in row 2"):
        frame({}, {}, {"text": None})


def test_a_number_that_is_not_known_may_be_missing_only_where_it_is_a_float():
    assert math.isnan(frame()["logprob"][0])
    with pytest.raises(ValueError, match="tokens"):
        frame({}, {"tokens": None})


def test_a_value_that_is_not_allowed_is_named_with_the_allowed_ones():
    fault = r"Generation\.finish: \['banana'\] not among \['error', 'length', 'stop'\]"
    with pytest.raises(ValueError, match=fault):
        frame({}, {"finish": "banana"})


def test_a_key_that_stands_twice_is_named():
    with pytest.raises(ValueError, match=r"Generation: the key .*'sample': 1.* stands twice"):
        table([generation(sample=0), generation(sample=1), generation(sample=1)], Generation)
    with pytest.raises(ValueError, match=r"the key .*'seed': 0, .*'sample': 0} stands twice"):
        check(pd.concat([frame(), frame()]), Generation)


def test_rows_that_differ_in_one_part_of_the_key_are_two():
    base = generation()
    for name in Generation.KEY:
        value = getattr(base, name)
        other = generation(**{name: f"{value}1" if isinstance(value, str) else value + 1})
        assert len(table([base, other], Generation)) == 2, name


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\ud83d", "a\ufffd"),
        ("\ude00a\ud83db", "\ufffda\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("é\ufeff\x00\r\n ", "é\ufeff\x00\r\n "),
    ],
)
def test_half_a_surrogate_pair_does_not_crash_and_all_other_text_is_kept(tmp_path, text, kept):
    made = frame({"text": text})
    assert made["text"][0] == kept
    made.to_parquet(tmp_path / "g.parquet")
    assert pd.read_parquet(tmp_path / "g.parquet")["text"][0] == kept
