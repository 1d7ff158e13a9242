"""The runner of the notebooks, on tiny notebooks made here. Names N01 … are public bug reports."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from byrote import paths
from byrote.notebooks import __main__ as command
from byrote.notebooks import check, items, outputs, parameters, run, running, selected
from byrote.notebooks.terminal import Terminal


def notebook(*cells: str, defaults: str = "LIMIT = 0", kernel: str = "python3"):
    """A notebook of code cells below a parameters cell."""
    first = new_code_cell(defaults, metadata={"tags": ["parameters"]})
    made = new_notebook(cells=[first, *map(new_code_cell, cells)])
    made.metadata["kernelspec"] = {"name": kernel, "display_name": kernel}
    return made


def written(made, file: Path) -> Path:
    """The notebook in a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, file)
    return file


def text(cell) -> str:
    """All that a cell printed."""
    return "".join(output.get("text", "") for output in cell.outputs)


# what runs for real: every execution costs seconds, so one notebook shows several things

RICH = (
    "import os, sys; print(os.path.basename(os.getcwd()), sys.executable)",
    "from tqdm.auto import tqdm\nprint(sum(tqdm(range(4))))",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]); _ = plt.title('a\\tb')",
    "import warnings\nwarnings.warn('mind the gap')\nobject()",
    "with open(os.environ['BYROTE_TERMINAL'], 'a') as f:\n    print('19 of 20 identical', file=f)",
)
DEAD = (
    "import pathlib; _ = pathlib.Path('kept').write_text('an answer')",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Three notebooks run at once, in an unkind environment; the last two fail."""
    folder = tmp_path_factory.mktemp("executed")
    liar = folder / "jupyter" / "kernels" / "python3"
    liar.mkdir(parents=True)
    spec = {"argv": ["/bin/false"], "display_name": "liar", "language": "python"}
    (liar / "kernel.json").write_text(json.dumps(spec))
    files = [
        written(notebook(*RICH, kernel="conda-env-zz-py"), folder / "d0" / "1_rich.ipynb"),
        written(notebook(*DEAD), folder / "d1" / "2_dead.ipynb"),
        written(notebook(RICH[0], "1 / 0"), folder / "d2" / "3_fails.ipynb"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "EXECUTED", folder / "scratch")
        patch.setenv("MPLBACKEND", "TkAgg")
        patch.setenv("JUPYTER_DATA_DIR", str(folder / "jupyter"))
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
        patch.setenv("PATH", "/usr/bin:/bin")
        cwd = os.getcwd()
        results = run(files)
        assert os.getcwd() == cwd
    return results


@pytest.fixture(scope="module")
def rich(executed):
    """The executed rich notebook."""
    return nbformat.read(executed[0].written, 4)


def test_a_notebook_of_another_kernel_runs_with_the_callers_python(executed, rich):  # N05
    assert executed[0].fault == ""
    assert sys.executable.endswith(text(rich.cells[1]).split()[1])  # may be shown from the root
    assert rich.metadata.kernelspec.name == "python3"


def test_each_notebook_runs_in_its_own_folder(executed, rich):  # N08
    other = [c for c in nbformat.read(executed[2].written, 4).cells if c.source == RICH[0]][0]
    assert [text(cell).split()[0] for cell in (rich.cells[1], other)] == ["d0", "d2"]


def test_progress_bars_leave_only_the_result(rich):  # N10
    assert text(rich.cells[2]) == "6\n"


def test_a_window_backend_of_the_caller_does_not_take_the_figure_away(rich):  # N11
    kinds = [kind for output in rich.cells[3].outputs for kind in output.get("data", {})]
    assert "image/png" in kinds


def test_a_dead_kernel_is_named_soon_and_the_others_still_run(executed):  # N07
    good, dead, after = executed
    assert not good.fault and after.fault == "cell 3: ZeroDivisionError: division by zero"
    assert "DeadKernelError" in dead.fault and dead.seconds < 30
    assert dead.written.parent.name == "scratch" and dead.written.exists()
    assert (dead.notebook.parent / "kept").read_text() == "an answer"
    assert not nbformat.read(dead.notebook, 4).cells[1].execution_count  # the original is untouched


def test_an_executed_notebook_holds_nothing_of_its_run(executed, rich):
    assert executed[0].written == executed[0].notebook  # in place
    assert [cell.execution_count for cell in rich.cells] == [1, 2, 3, 4, 5, 6]
    assert rich.cells[4].outputs[0].data["text/plain"] == "<object at 0x…>"
    assert len(rich.cells[4].outputs) == 1  # the warning went to the terminal
    assert set(rich.metadata) == {"kernelspec", "language_info"}
    assert {key for cell in rich.cells for key in cell.metadata} == {"tags"}
    assert rich.cells[0].metadata.tags == ["parameters"]


def test_a_second_run_writes_the_same_bytes_and_tells_the_terminal(executed, capfd, monkeypatch):
    rich = executed[0].notebook
    before = rich.read_bytes()
    monkeypatch.setattr(running, "EXECUTED", rich.parent / "scratch")
    assert command.main([str(rich)]) == 0
    assert rich.read_bytes() == before
    assert list((rich.parent / "scratch").iterdir()) == []
    said = capfd.readouterr().out
    assert said.startswith("[1/1] 1_rich …")
    assert "      19 of 20 identical\n" in said and "      warned: UserWarning: mind" in said
    assert "executed into" in said.splitlines()[-1]


ODD = "sep = 'k=v'\nk = 1\na = 1\nb = ''\nc = [0]\nd = {'x': 1}\ne = None\nf = 0.5\nOUT = ''"


def test_parameters_arrive_as_they_were_given(tmp_path):  # N01, N04
    made = notebook("print([sep, k, a, b, c, d, e, f])\nprint(OUT)", defaults=ODD)
    made.cells.insert(1, new_code_cell("k = 99", metadata={"tags": ["injected-parameters"]}))
    file = written(made, tmp_path / "1_odd.ipynb")
    before = file.read_bytes()
    passed = {"sep": "c=d", "k": "5", "a": np.int64(3), "b": Path("/data/x"), "c": (1, 2)}
    passed |= {"d": {"1": 'a"\\'}, "e": None, "f": "nan"}
    [result] = run([file], passed, out=tmp_path / "out")
    assert (result.fault, result.written) == ("", tmp_path / "out" / "1_odd.ipynb")
    cells = nbformat.read(result.written, 4).cells
    assert text(cells[2]) == "['c=d', 5, 3, '/data/x', [1, 2], {'1': 'a\"\\\\'}, None, nan]\n\n"
    assert [cell.id for cell in cells][1] == "cell-1" and len(cells) == 3
    assert file.read_bytes() == before


def test_the_end_tells_what_was_written_and_what_failed(executed, capsys):
    command._tell(executed, {Path("f/a.pdf"): 1}, {Path("f/a.pdf"): 2, Path("f/b.pdf"): 1})
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("executed into /") and said[0].endswith("/d0: 1_rich")
    assert said[1] == "written into f: 2 files"
    assert said[2].startswith("FAILED 2_dead: DeadKernelError: Kernel died")
    assert said[3].startswith("FAILED 3_fails: cell 3: ZeroDivisionError: division by zero; see /")
    copy = nbformat.read(executed[2].written, 4)
    assert any(o.output_type == "error" for c in copy.cells for o in c.get("outputs", []))


# what is refused before anything runs


def refused(capsys, *arguments: object) -> str:
    """What the command says when it refuses: status 2, and nothing started."""
    assert command.main([str(argument) for argument in arguments]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    return said


def test_an_untagged_notebook_is_refused(tmp_path, capsys):  # N02
    made = new_notebook(cells=[new_code_cell("k = 1\nprint(k)")])
    file = written(made, tmp_path / "1_untagged.ipynb")
    assert refused(capsys, file, "-p", "k", "5") == (
        "1_untagged: no cell is tagged 'parameters'; exactly one must be\n"
    )


def refusal(passed: dict, defaults: str = ODD) -> str:
    with pytest.raises(ValueError) as caught:
        parameters.checked(passed, parameters.declared(notebook(defaults=defaults), "n"), "n")
    return str(caught.value)


def test_two_tagged_cells_are_refused():
    made = notebook()
    made.cells.append(made.cells[0])
    with pytest.raises(ValueError, match="2 cells are tagged"):
        parameters.declared(made, "n")


@pytest.mark.parametrize(
    "line", ["A = B", "A = f()", "A, B = 1, 2", "A.b = 1", "A: int", "%x", "A"]
)
def test_a_parameters_cell_holds_only_literals(line):
    with pytest.raises(ValueError, match="n: the parameters cell may hold only NAME = literal"):
        parameters.declared(notebook(defaults=line), "n")


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    said = refusal({"LIMT": "5"}, "LIMIT = 0\nMODELS = ['a']")
    assert "'LIMT'" in said and "did you mean 'LIMIT'" in said and "LIMIT, MODELS" in said


@pytest.mark.parametrize(
    "name, value",
    [
        ("k", "abc"),
        ("k", "1.5"),
        ("k", 1.5),
        ("k", True),
        ("k", None),
        ("f", "fast"),
        ("sep", 3),
        ("c", "1,x"),
        ("c", {"x": 1}),
        ("d", "3"),
        ("d", {1: "a"}),
        ("d", "{1: 'a'}"),
        ("e", object()),
    ],
)
def test_a_value_of_another_type_is_refused(name, value):
    assert f"n: {name} is of type" in refusal({name: value})


@pytest.mark.parametrize(
    "value, default, right",
    [
        ("5", 1, 5),
        ("-94", 1, -94),
        ("1e-3", 0.5, 0.001),
        ("2", 0.5, 2.0),
        (2, 0.5, 2.0),
        ("True", False, True),
        ("false", True, False),
        ("0", "x", "0"),
        ("", "x", ""),
        ("a, b", ["x"], ["a", "b"]),
        ("a", ["x"], ["a"]),
        ("['a,b', 'c=d']", ["x"], ["a,b", "c=d"]),
        ("coin(0.3),replay:/a/b.jsonl", ["x"], ["coin(0.3)", "replay:/a/b.jsonl"]),
        ("0.2,1", [0.5], [0.2, 1.0]),
        ("[1, 'a']", [0, "x"], [1, "a"]),
        ("", ["x"], []),
        ((1, 2), [], [1, 2]),
        (np.array([1, 2]), [0], [1, 2]),
        (np.float64(0.25), 0.5, 0.25),
        (np.bool_(True), False, True),
        ("{'a': (1, 2)}", {}, {"a": [1, 2]}),
        ("None", None, None),
        ("3", None, 3),
        ("text", None, "text"),
    ],
)
def test_a_value_takes_the_type_of_its_default(value, default, right):
    got = parameters.convert(value, default)
    assert got == right and type(got) is type(right)


def test_items_makes_a_list_of_whatever_papermill_passes():
    assert items("a, b") == items(["a", "b"]) == items(("a", "b")) == items("['a', 'b']")
    assert items("0.2,0.4", float) == [0.2, 0.4]
    assert (items(""), items("a"), items(3)) == ([], ["a"], [3])


def test_a_parameter_that_no_notebook_knows_is_refused_and_one_that_some_know_is_told(
    tmp_path, capsys
):
    a = written(notebook(defaults="A = 1"), tmp_path / "1_a.ipynb")
    b = written(notebook(defaults="B = 1"), tmp_path / "2_b.ipynb")
    orders = running._orders([a, b], {"A": "2"})
    assert list(orders.values()) == [{"A": 2}, {}]
    assert capsys.readouterr().out == "2_b has no parameter A and runs without\n"
    with pytest.raises(ValueError, match="unknown parameter of 1_a, 2_b 'C'"):
        running._orders([a, b], {"C": "2"})


def test_a_command_that_makes_no_sense_is_refused(tmp_path, capsys):
    file = written(notebook(), tmp_path / "1_a.ipynb")
    assert "takes a name and a value" in refused(capsys, file, "-p", "LIMIT")
    assert "need another folder" in refused(capsys, file, "--out", tmp_path)
    (tmp_path / "2_torn.ipynb").write_text('{"cells": [')
    assert "2_torn.ipynb is no notebook" in refused(capsys, tmp_path / "2_torn.ipynb")


def test_notebooks_are_found_by_their_number(tmp_path):
    for name in ("00_overview", "03_isomorphisms", "explore"):
        written(notebook(), tmp_path / f"{name}.ipynb")
    names = [[file.stem for file in selected(p, tmp_path)] for p in ([], ["03"], ["explore", "0"])]
    assert names[0] == ["00_overview", "03_isomorphisms"] and names[1] == names[0][1:]
    assert names[2] == ["explore", *names[0]]
    with pytest.raises(ValueError, match="no notebook called 07….*00_overview, 03_iso"):
        selected(["07"], tmp_path)


def test_values_that_begin_with_a_minus_reach_the_notebook():
    assert command._parameters(["03", "-p", "SHIFT", "-94,2", "--out", "x"]) == (
        ["03", "--out", "x"],
        {"SHIFT": "-94,2"},
    )


# how an executed notebook is made steady


def test_streams_are_joined_and_overwritten_lines_gone():
    cell = new_code_cell("f()", execution_count=7)
    parts = [("stdout", "a\n 10%\r"), ("stderr", "warned"), ("stdout", " 99%\rdone\nb\r\n")]
    cell.outputs = [new_output("stream", name=name, text=said) for name, said in parts]
    steady = outputs.normalised(new_notebook(cells=[cell])).cells[0]
    assert [o.text for o in steady.outputs] == ["a\ndone\nb\n"] and steady.execution_count == 1


def test_folders_addresses_widgets_and_random_table_names_are_gone():
    cell = new_code_cell("f()")
    html = '<style>#T_0a1b2_row0</style><table id="T_0a1b2">T_0a1b2c</table><i id="T_99999">'
    cell.outputs = [
        new_output("display_data", {"text/html": html, "text/plain": "<X at 0x7f00ab>"}),
        new_output("display_data", {"application/vnd.jupyter.widget-view+json": {}}),
        new_output("stream", name="stdout", text=f"{paths.ROOT}/figures/a.pdf 0x7f00"),
    ]
    shown, said = outputs.normalised(new_notebook(cells=[cell])).cells[0].outputs
    assert shown.data["text/plain"] == "<X at 0x…>"
    assert shown.data["text/html"] == (
        '<style>#T_00000_row0</style><table id="T_00000">T_0a1b2c</table><i id="T_00001">'
    )
    assert said.text == "figures/a.pdf 0x7f00"


def test_a_notebook_too_large_is_a_failure_and_the_original_stays(tmp_path):
    cell = new_code_cell("f()")
    cell.outputs = [new_output("stream", name="stdout", text="x" * outputs.MAX_BYTES)]
    copy = written(new_notebook(cells=[cell]), tmp_path / "copy.ipynb")
    original = written(notebook(), tmp_path / "1_large.ipynb")
    before = original.read_bytes()
    (tmp_path / "lines").touch()
    with Terminal("", tmp_path / "lines") as terminal:
        assert running._settled(copy, original, terminal).startswith("300 KB with its outputs")
    assert original.read_bytes() == before and copy.exists()


# the shape of the numbered notebooks


def shaped():
    """The smallest notebook of the right shape."""
    made = new_notebook(cells=[new_markdown_cell("# Is it so?\n\nYes.")])
    for section in ("Parameters", "Setup", "Data", "Method", "Results", "Checks", "Takeaway"):
        made.cells += [new_markdown_cell(f"## {section}"), new_code_cell(f"print('{section}')")]
    made.cells[
        2
    ].source = "LIMIT = 0  # tasks\nOUT = ''  # folder\nMODELS = [  # names\n    'a',\n]"
    made.cells[2].metadata["tags"] = ["parameters"]
    return outputs.normalised(made)


def test_the_right_shape_has_no_fault(tmp_path):
    assert check(written(shaped(), tmp_path / "1_a.ipynb")) == []


FAULTS = {
    "the first cell": lambda n: n.cells[0].update(source="Is it so?"),
    "its ## sections are": lambda n: n.cells[3].update(source="### Setup"),
    "cell 5: 16 lines": lambda n: n.cells[4].update(source="x = 1\n" * 16),
    "31 cells": lambda n: n.cells.extend(new_markdown_cell("") for _ in range(16)),
    "defines a function": lambda n: n.cells[4].update(source="if 1:\n    def f(): pass"),
    "or a class": lambda n: n.cells[4].update(source="class A: pass"),
    "it is no Python": lambda n: n.cells[4].update(source="x ="),
    "execution count is 9, not 2": lambda n: n.cells[4].update(execution_count=9),
    "carries an error": lambda n: n.cells[4].update(outputs=[new_output("error", ename="E")]),
    "was injected": lambda n: n.cells[4].metadata.update(tags=["injected-parameters"]),
    "no parameter OUT": lambda n: n.cells[2].update(source="LIMIT = 0  # tasks"),
    "limit is not upper-case": lambda n: n.cells[2].update(source="OUT = ''  # a\nlimit = 0  # b"),
    "SEED has no type": lambda n: n.cells[2].update(source="OUT = ''  # a\nSEED = None  # b"),
    "without a trailing comment: SEED = 1": lambda n: n.cells[2].update(
        source="# a\nOUT = ''  # b\nSEED = 1"
    ),
    "only NAME = literal": lambda n: n.cells[2].update(source="import os  # a"),
    "no cell is tagged": lambda n: n.cells[2].metadata.clear(),
    "does not follow the heading": lambda n: n.cells.insert(2, new_markdown_cell("More.")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_shape_is_named(tmp_path, fault):
    made = shaped()
    FAULTS[fault](made)
    found = check(written(made, tmp_path / "1_a.ipynb"))
    assert any(fault in line for line in found), found


NUMBERED = sorted(running.FOLDER.glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("file", NUMBERED, ids=lambda file: file.stem)
def test_every_numbered_notebook_has_the_shape(file):
    assert check(file) == []


@pytest.mark.parametrize("file", sorted(running.FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
def test_every_notebook_is_committed_clean(file):
    assert file.read_text(encoding="utf-8") == outputs.text(
        outputs.normalised(outputs.read(file))
    ), f"run it again: ./run_all.sh {file.stem}"


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize("words", ["paper", "unknown", "--unknown", "--light --fresh"])
def test_run_all_says_what_it_can_do_and_ends_with_2(words):
    done = subprocess.run(
        [paths.ROOT / "run_all.sh", *words.split()], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr) > 40


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_run_all_uses_an_environment_that_has_everything():
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [paths.ROOT / "run_all.sh", "--light", "99"],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no notebook called 99…" in done.stderr
