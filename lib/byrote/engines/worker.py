"""The process that holds a model: reads requests as JSON lines, writes answers as JSON lines."""

import json
import os
import sys
import traceback


def main() -> None:
    """Serve until the parent closes the pipe."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogatepass")
    os.dup2(2, 1)  # what libraries print must not mix with the replies

    def reply(message: dict) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    model = None
    for line in sys.stdin:
        message = json.loads(line)
        try:
            if model is None:
                from byrote.engines.local import Encoder, Local

                kinds = {"model": Local, "encoder": Encoder}
                model = kinds[message.pop("kind", "model")](**message)
                reply(model.described())
            else:
                for answers in model.generate(message["requests"]):
                    reply({"answers": answers})
            reply({"done": True})
        except Exception as error:
            traceback.print_exc()
            reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
