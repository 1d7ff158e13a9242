"""The process of one notebook: `python -m byrote.notebooks.execute`, started by `running` alone.

papermill changes the working directory of the whole process, so notebooks never share one. The
order comes as a line of JSON on stdin; when stdin closes, whoever gave the order is gone and this
process ends, and with it the kernel. The fault, if any, is written to stdout.
"""

import json
import os
import sys
import threading


def main() -> None:
    """Execute one notebook as ordered."""
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_caller, daemon=True).start()
    fault = execute(order["input"], order["output"], order["parameters"])
    if fault:
        print(fault)
        sys.exit(1)


def _end_with_caller() -> None:
    os.read(sys.stdin.fileno(), 1)  # not sys.stdin.read: its lock would break the normal end
    os._exit(1)


def execute(input_file: str, output_file: str, parameters: dict) -> str:
    """Execute a notebook into another file, in its own folder; gives the fault, "" when none."""
    import papermill
    from nbclient.exceptions import DeadKernelError

    from byrote.notebooks import outputs

    try:
        papermill.execute_notebook(
            outputs.prepared(outputs.read(input_file)),
            output_file,
            parameters,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            start_timeout=300,
            iopub_timeout=300,  # the default of 4 s is too short on a busy machine
            cwd=os.path.dirname(input_file),
        )
    except papermill.PapermillExecutionError as error:
        return f"cell {error.cell_index + 1}: {error.ename}: {error.evalue}"
    except DeadKernelError as error:
        return f"DeadKernelError: {error}: its process was ended, perhaps for want of memory"
    except Exception as error:  # whatever Jupyter raises is this notebook's fault
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
