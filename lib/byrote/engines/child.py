"""A model in a process of its own: its memory is really released, and its crash is an error.

Parent and child speak lines of JSON over pipes. The child is `python -m byrote.engines.worker`.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator


class EngineError(RuntimeError):
    """The process that holds a model ended or refused; the message says what to do next."""


class Child:
    """One process that holds one model."""

    def __init__(self, options: dict):
        threads = str(os.cpu_count() or 1)
        environment = os.environ | {
            # waiting threads that spin cost ten times the CPU on a shared machine
            "OMP_WAIT_POLICY": "passive",
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads),
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        self._batch = options.get("batch")
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "byrote.engines.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            errors="surrogatepass",
            env=environment,
        )
        try:
            [self.opened] = self.ask(options)
        except BaseException:
            self.close()
            raise

    def ask(self, message: dict) -> Iterator[dict]:
        """Send one message and yield the replies up to the one that says `done`."""
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._ended() from None
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise self._ended()
            reply = json.loads(line)
            if "error" in reply:
                raise EngineError(reply["error"])
            if reply.get("done"):
                return
            yield reply

    def _ended(self) -> EngineError:
        code = self._process.wait()
        self._log.seek(0)
        last = "\n".join(self._log.read().splitlines()[-5:])
        if code == -signal.SIGKILL:
            how = (
                "was killed: most likely out of memory; "
                f"try a smaller BYROTE_BATCH (now {self._batch})"
            )
        else:
            how = f"ended with status {code}"
        return EngineError(f"the model's process {how}. What it finished is stored.\n{last}")

    def close(self) -> None:
        """End the process and give back its memory."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            stream.close()
