"""Finished work is found again, whatever happens to files and processes.

Names K01 … and I02 are public bug reports.
"""

import ast
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from byrote import engines, paths
from byrote import store as module
from byrote.engines import Request, Sampling, request_key
from byrote.engines import transformers as engine_module
from byrote.records import Variant
from byrote.store import KINDS, Store, key

VARIANT = Variant("t/1", "original", prompt="Add 3.", entry_point="f")


def answer(text: str = "x", **changes) -> dict:
    plain = dict(finish="stop", prompt_tokens=3, tokens=1, logprob=-0.5, returned_model="m")
    return {"text": text, **plain, "canonical": "{}", "provenance": "torch=2"} | changes


def verdict(**changes) -> dict:
    plain = dict(outcome="passed", outcomes="..", error="", cpu_seconds=0.1)
    return {**plain, "isolation": "limits", "integrity": "in-process"} | changes


def publish(store: Store, rows: dict[str, dict], name: str = "generations.parquet") -> None:
    store.published.mkdir(exist_ok=True)
    frame = pd.DataFrame([{"request": k, "task_id": "t", **row} for k, row in rows.items()])
    frame.to_parquet(store.published / name)


def raw(store: Store, statement: str, *values) -> None:
    """Change the file as another program would."""
    db = sqlite3.connect(store.file)
    with db:
        db.execute(statement, values)
    db.close()


# the key


def test_no_test_writes_to_the_store_of_the_project():
    assert paths.data() not in paths.store_file().parents
    assert Store(published=paths.data() / "none").file == paths.store_file()


def test_the_order_of_names_does_not_change_a_key():
    a = {"model": "m", "prompt": [{"role": "user", "content": "p"}], "stop": ["a", "b"], "n": 1}
    b = {"n": 1, "stop": ["a", "b"], "prompt": [{"content": "p", "role": "user"}], "model": "m"}
    assert key(a) == key(b)
    assert re.fullmatch("[0-9a-f]{64}", key(a))


def test_every_value_and_the_order_of_a_list_changes_a_key():
    base = {"a": 1, "b": "1", "c": ["x", "y"], "d": ""}
    others = [
        *({**base, "a": v} for v in (2, 1.0, True, "1", None)),
        *({**base, "c": v} for v in (["y", "x"], ["x"], ["xy"], "xy", [["x"], "y"])),
        {**base, "d": " "},
        {**base, "e": ""},
        {k: v for k, v in base.items() if k != "d"},
    ]
    assert len({key(r) for r in [base, *others]}) == 1 + len(others)


def test_text_of_any_kind_has_a_key_and_no_two_share_one():
    texts = [
        "\ud800",
        "\udfff",
        "\ufffd",
        "\U0001f600",
        "\\ud800",
        "a\x00b",
        "é",
        "e\u0301",
        "\r\n",
    ]
    assert len({key({"prompt": t}) for t in texts}) == len(texts)


def test_a_number_that_is_no_number_is_refused_since_nan_is_not_equal_to_itself():
    with pytest.raises(ValueError):
        key({"temperature": math.nan})


def request(variant: Variant = VARIANT, sample: int = 0, **sampling) -> Request:
    return Request(variant, Sampling(**{"temperature": 0.8} | sampling), sample)


def test_k01_another_model_or_revision_is_another_key(fake):
    def opened(repo, revision="sha256:1", **more):
        return type(fake)("name", repo, revision, **more)

    models = [opened("A"), opened("B"), opened("A", "sha256:2"), opened("A", chat=False)]
    assert len({request_key(m, request()) for m in models}) == len(models)
    assert request_key(opened("A"), request()) == request_key(models[0], request())


def test_k01_the_name_a_model_is_called_by_does_not_change_a_key(fake):
    names = ("one", "two")
    assert len({request_key(type(fake)(name), request()) for name in names}) == 1


def test_k02_every_setting_changes_a_key(fake, monkeypatch):
    changed = [
        request(),
        request(sample=1),
        *(request(**{n: v}) for n, v in [("temperature", 0.2), ("top_p", 0.9), ("seed", 1)]),
        request(max_tokens=64),
        request(Variant("t/1", "original", prompt="Add 3", entry_point="f")),
        request(Variant("t/1", "original", prompt="Add 3.", entry_point="g")),
        request(Variant("t/1", "original", prompt="Add 3.", entry_point="f", example="x")),
        request(Variant("t/1", "original", prompt="Add 3.", entry_point="f", contract="x")),
    ]
    keys = {request_key(fake, r) for r in changed}
    monkeypatch.setattr(engine_module, "STOP_RULES", {True: "another rule", False: []})
    keys.add(request_key(fake, request()))
    monkeypatch.setattr(fake, "dtype", "bfloat16")
    keys.add(request_key(fake, request()))
    assert len(keys) == len(changed) + 2


def test_the_seed_is_no_part_of_a_greedy_key(fake):
    keys = {request_key(fake, request(temperature=0.0, seed=seed)) for seed in range(3)}
    assert len(keys) == 1


def test_half_a_surrogate_pair_in_a_prompt_has_a_key(fake):
    broken = Variant("t/1", "original", prompt="Add \ud83d 3.", entry_point="f")
    assert request_key(fake, request(broken)) != request_key(fake, request())
    assert engines.request_key(engines.open("coin"), request(broken))


# what goes in comes out


def test_rows_come_back_as_they_went_in_also_many_and_also_in_another_process(store):
    rows = {str(n): answer(f"text {n}", tokens=n) for n in range(1203)}
    store.put("generations", rows.items())
    asked = [*rows, "never", "0"]
    assert store.find("generations", asked) == rows
    assert Store(store.file, store.published).find("generations", iter(asked)) == rows
    assert store.find("verdicts", asked) == {}


@pytest.mark.parametrize("text", ["", "a\x00b", "é\U0001f600\ufeff", "\r\n\t ", "'; DROP TABLE x"])
def test_text_is_stored_as_it_is(store, text):
    store.put("generations", [("k", answer(text))])
    assert store.find("generations", ["k"])["k"]["text"] == text


def test_half_a_surrogate_pair_in_an_answer_is_stored_as_the_replacement_character(store):
    store.put("generations", [("k", answer("a\ud83d", canonical="\udc00"))])
    assert store.find("generations", ["k"])["k"]["text"] == "a\ufffd"


def test_i02_tuples_and_integer_keys_survive_the_store_as_repr(store):
    value = {1: (2, 3), (4,): {5}}
    store.put("generations", [("k", answer(repr(value)))])
    assert store.find("generations", ["k"])["k"]["text"] == "{1: (2, 3), (4,): {5}}"
    publish(store, store.find("generations", ["k"]))
    [back] = Store(store.file.with_name("new"), store.published).find("generations", "k").values()
    assert ast.literal_eval(back["text"]) == value


def test_a_log_probability_that_is_not_known_comes_back_as_nan_from_both_files(store):
    store.put("generations", [("stored", answer(logprob=math.nan))])
    publish(store, {"published": answer(logprob=math.nan), "known": answer()})
    found = store.find("generations", ["stored", "published", "known"])
    assert [math.isnan(row["logprob"]) for row in found.values()].count(True) == 2
    assert len(found) == 3


def test_k07_a_row_stored_twice_counts_once_and_the_last_one_stands(store):
    rows = [
        ("a 0", verdict(outcome="failed")),
        ("a 0", verdict()),
        ("a 1", verdict(outcome="failed")),
    ]
    for row in rows:
        store.put("verdicts", [row])
    store.put("verdicts", rows)
    found = store.find("verdicts", ["a 0", "a 1", "a 0"])
    assert (len(found), [r["outcome"] for r in found.values()].count("passed")) == (2, 1)


def test_published_rows_are_found_below_the_store(store):
    publish(store, {"a": answer("old a"), "b": answer("old b")})
    store.put("generations", [("b", answer("new b")), ("c", answer("new c"))])
    texts = {k: r["text"] for k, r in store.find("generations", "abcd").items()}
    assert texts == {"a": "old a", "b": "new b", "c": "new c"}
    assert set(store.find("generations", "abcd", published=False)) == {"b", "c"}


def test_the_published_bundle_is_read_and_never_written(store):
    publish(store, {"a": answer()})
    before = (store.published / "generations.parquet").read_bytes()
    store.find("generations", "a")
    store.put("generations", [("a", answer("new"))])
    assert [f.name for f in store.published.iterdir()] == ["generations.parquet"]
    assert (store.published / "generations.parquet").read_bytes() == before


# bad rows


BAD = {
    "finish": "banana",
    "text": None,
    "tokens": "many",
    "prompt_tokens": 1.5,
    "provenance": 7,
    "logprob": "low",
}


@pytest.mark.parametrize(("column", "value"), BAD.items())
def test_a_stored_row_with_a_bad_value_is_named_and_nothing_else_is_lost(
    store, capsys, column, value
):
    store.put("generations", [("good", answer()), ("bad", answer())])
    raw(store, f"UPDATE generations SET {column} = ? WHERE key = 'bad'", value)
    assert store.find("generations", ["good", "bad"]) == {"good": answer()}
    said = capsys.readouterr().out
    assert f"{store.file}: generations row bad: {column} is {value!r}" in said
    assert "counts as missing" in said


@pytest.mark.parametrize(
    ("column", "value"), [("finish", "banana"), ("text", None), ("tokens", None)]
)
def test_a_published_row_with_a_bad_value_is_named_and_nothing_else_is_lost(
    store, capsys, column, value
):
    rows = [{"request": "good", **answer()}, {"request": "bad", **answer(**{column: value})}]
    store.published.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), store.published / "generations.parquet")
    assert store.find("generations", ["good", "bad"]) == {"good": answer()}
    said = capsys.readouterr().out
    assert f"generations.parquet: generations row bad: {column} is {value!r}" in said


def test_a_stored_text_that_is_no_text_is_named_and_nothing_else_is_lost(store, capsys):
    store.put("generations", [("good", answer()), ("bad", answer())])
    raw(store, "UPDATE generations SET text = CAST(x'61ff62' AS TEXT) WHERE key = 'bad'")
    assert store.find("generations", ["good", "bad"]) == {"good": answer()}
    assert "row bad: text is b'a\\xffb'" in capsys.readouterr().out


def test_a_bad_verdict_is_named_in_few_words_and_can_be_stored_anew(store, capsys):
    store.put("verdicts", [("v", verdict())])
    raw(store, "UPDATE verdicts SET outcome = ?", "perhaps " * 5000)
    assert store.find("verdicts", ["v"]) == {}
    assert len(capsys.readouterr().out) < 500
    store.put("verdicts", [("v", verdict())])
    assert store.find("verdicts", ["v"]) == {"v": verdict()}


@pytest.mark.parametrize(("column", "value"), BAD.items())
def test_a_row_that_no_run_could_use_is_refused_and_none_of_its_batch_is_stored(
    store, column, value
):
    with pytest.raises(ValueError, match=f"row bad is not stored: {column} is "):
        store.put("generations", [("good", answer()), ("bad", answer(**{column: value}))])
    assert store.find("generations", ["good", "bad"]) == {}


# torn and foreign files


def command(error: Exception, word: str) -> str:
    """The command that an error names."""
    return re.search(rf"{word} .*$", str(error))[0]


@pytest.mark.parametrize("rest", [0, 3, 100, 0.5])
def test_a_torn_published_file_is_named_with_the_command_that_mends_it(store, rest):
    publish(store, {str(n): answer() for n in range(9)})
    store.put("generations", [("a", answer())])
    file = store.published / "generations.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(rest * len(whole)) if rest == 0.5 else rest])
    with pytest.raises(OSError) as error:
        store.find("generations", ["a"])
    assert command(error.value, "git checkout") == f"git checkout -- {file}"
    assert set(store.find("generations", ["a"], published=False)) == {"a"}
    file.write_bytes(whole)
    assert len(store.find("generations", ["a", "0"])) == 2


def test_a_parquet_file_of_another_kind_is_an_error_that_names_it(store):
    store.published.mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), store.published / "generations.parquet")
    with pytest.raises(OSError, match=r"generations\.parquet .*no column request"):
        store.find("generations", ["a"])


@pytest.mark.parametrize("content", [b"garbage " * 600, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_store_that_is_no_database_is_named_and_the_command_given_mends_it(tmp_path, content):
    file, published = tmp_path / "my own" / "store.sqlite", tmp_path / "published"
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(OSError) as error:
        Store(file, published)
    assert str(error.value).startswith(f"{file}: ")
    subprocess.run(command(error.value, "mv"), shell=True, check=True)
    assert file.with_name("store.sqlite.broken").read_bytes() == content
    store = Store(file, published)
    publish(store, {"a": answer()})
    assert set(store.find("generations", ["a"])) == {"a"}


def test_a_store_with_broken_pages_says_so_and_does_not_promise_that_it_stays_readable(store):
    store.put("generations", [(str(n), answer("x" * 3000)) for n in range(50)])
    store._connection().close()
    content = store.file.read_bytes()
    store.file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(OSError, match="malformed") as error:
        Store(store.file, store.published).find("generations", ["1"])
    assert "readable" not in str(error.value)
    assert command(error.value, "mv")


def test_the_file_of_another_program_is_named_with_its_columns(tmp_path):
    file = tmp_path / "other.sqlite"
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE generations (id, prompt)")
    db.close()
    with pytest.raises(OSError, match=r"generations has the columns \['id', 'prompt'\]"):
        Store(file, tmp_path)


def test_a_store_in_a_place_that_cannot_be_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        Store(tmp_path / "folder", tmp_path)


@pytest.mark.parametrize("cut", [1, 500, 3000])
def test_k04_a_log_cut_in_its_last_entry_loses_that_entry_and_takes_new_ones(store, tmp_path, cut):
    for n in range(3):
        store.put("generations", [(str(n), answer(f"text {n}" * 200))])
    torn = tmp_path / "torn.sqlite"
    for end in ("", "-wal"):
        shutil.copy(f"{store.file}{end}", f"{torn}{end}")
    log = torn.with_name("torn.sqlite-wal")
    log.write_bytes(log.read_bytes()[:-cut])
    again = Store(torn, store.published)
    assert set(again.find("generations", "012")) == {"0", "1"}
    again.put("generations", [("2", answer("text 2" * 200))])
    assert again.find("generations", "012") == store.find("generations", "012")


# several writers, a lock, a full disk, kill -9


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA cache_size=1")  # so that what is not committed reaches the file too
db.execute("BEGIN IMMEDIATE")
for n in range(200):
    values = ("passed", ".", "x" * 3000, 0.1, "limits", "in-process")
    db.execute("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", (f"held {n}", *values))
print("held", flush=True)
sys.stdin.readline()
db.commit()
"""


@contextmanager
def held(store: Store):
    """Another process in the middle of a transaction; a line ends it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_k05_a_writer_waits_for_another_that_holds_the_lock_for_a_second(store):
    with held(store) as process:
        done = threading.Event()

        def write() -> None:
            store.put("verdicts", [("mine", verdict())])
            done.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert not done.wait(1)
        assert store.find("verdicts", ["mine", "held 0"]) == {}
        process.communicate("go\n", timeout=30)
        writer.join(30)
    assert set(store.find("verdicts", ["mine", "held 0", "held 199"])) == {
        *("mine", "held 0", "held 199")
    }


def test_a_store_that_stays_locked_is_a_clear_error_and_stays_readable(store, monkeypatch):
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    store.put("verdicts", [("mine", verdict())])
    with held(store):
        other = Store(store.file, store.published)
        with pytest.raises(OSError, match="locked.*BYROTE_STORE=") as error:
            other.put("verdicts", [("new", verdict())])
        assert str(store.file) in str(error.value)
        assert set(other.find("verdicts", ["mine", "new"])) == {"mine"}
    other.put("verdicts", [("new", verdict())])
    assert set(other.find("verdicts", ["mine", "new"])) == {"mine", "new"}


def test_a_process_killed_in_the_middle_of_a_transaction_leaves_none_of_it(store):
    store.put("verdicts", [("mine", verdict())])
    with held(store) as process:
        process.kill()
        process.wait(30)
    again = Store(store.file, store.published)
    assert set(again.find("verdicts", ["mine", *(f"held {n}" for n in range(200))])) == {"mine"}
    again.put("verdicts", [("new", verdict())])
    assert raw_check(store) == "ok"


def raw_check(store: Store) -> str:
    db = sqlite3.connect(store.file)
    [(said,)] = db.execute("PRAGMA integrity_check").fetchall()
    db.close()
    return said


def test_many_may_open_a_new_store_and_write_to_it_at_once(tmp_path):
    barrier, faults = threading.Barrier(8), []

    def work(name: int) -> None:
        try:
            barrier.wait(30)
            store = Store(tmp_path / "new.sqlite", tmp_path)
            for n in range(10):
                store.put("verdicts", [(f"{name} {n}", verdict()), ("shared", verdict())])
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=[name]) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not faults
    keys = [f"{name} {n}" for name in range(8) for n in range(10)]
    found = Store(tmp_path / "new.sqlite", tmp_path).find("verdicts", [*keys, "shared"])
    assert len(found) == 81


FULL = """
import resource, sys
from byrote.store import Store
store = Store(sys.argv[1], sys.argv[2])
row = dict(outcome="passed", outcomes=".", error="x" * 9000, cpu_seconds=0.1)
row |= dict(isolation="limits", integrity="in-process")
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
count = 0
try:
    while count < 1000:
        store.put("verdicts", [(str(count), row)])
        count += 1
except OSError as error:
    print(error)
print(count, len(store.find("verdicts", map(str, range(1000)))))
"""


def test_a_full_disk_is_a_clear_error_and_all_that_was_stored_stays_readable(store):
    done = subprocess.run(
        [sys.executable, "-c", FULL, store.file, store.published],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    error, counts = done.stdout.splitlines()
    assert error.startswith(f"{store.file}: ")
    assert "free disk space" in error
    stored, found = map(int, counts.split())
    assert 0 < stored == found < 1000
    again = Store(store.file, store.published)
    assert len(again.find("verdicts", map(str, range(1000)))) == stored
    again.put("verdicts", [("new", verdict())])
    assert raw_check(store) == "ok"


def test_the_kinds_hold_what_the_rows_hold():
    assert set(answer()) == set(KINDS["generations"].columns)
    assert set(verdict()) == set(KINDS["verdicts"].columns)
