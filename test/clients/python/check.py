"""The official Python client against `qa serve`, unchanged: answers, models, every error class, retries, timeouts.

Starts the built service itself, over the checkpoints that ship with it:

    npm run build
    python3 -m venv /tmp/qa-client && /tmp/qa-client/bin/pip install -r test/clients/python/requirements.txt
    /tmp/qa-client/bin/python test/clients/python/check.py
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import typesafe_sdk as sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, RetryPolicy, Score, TypeSafeClient

QA = ["node", str(Path(__file__).parents[3] / "bin" / "qa.js")]
NO_RETRY = RetryPolicy(max_retries=0)
STATE = "I was charged twice for the same order, please refund one of them."
QUESTIONS = {
    "refund": Noul(instructions="Is a refund requested?", criteria={"true": "asks for money back", "false": None}),
    "team": Choice(instructions="Which team?", criteria={"billing": "payments", "technical": None, "10": None}),
    "mood": Score(instructions="How upset?", criteria=["calm", "annoyed", "furious"]),
}
ONE = {"refund": QUESTIONS["refund"]}
checks = 0


def check(claim, holds):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {claim}")
    print(f"ok  {claim}")


@contextmanager
def service(*flags):
    """A service of its own; yields its URL and a function that makes a key with limits."""
    with tempfile.TemporaryDirectory() as data:
        command = [*QA, "serve", "--port", "0", "--workers", "1", "--data", data, "--log-level", "error", *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            lines = []
            while not any("TYPESAFE_DEFAULT_MODEL" in line for line in lines):
                lines.append(process.stdout.readline())
            printed = dict(re.findall(r"export (\w+)=(\S+)", "".join(lines)))

            def key(*limits):
                made = subprocess.run([*QA, "keys", "create", "--data", data, *limits], capture_output=True, text=True, check=True)
                return made.stdout.strip()

            # the client's own retries wait while the checkpoints are loaded (529 worker_starting)
            os.environ.update(printed)
            with TypeSafeClient(retry=RetryPolicy(max_retries=20, timeout=None)) as client:
                client.models.list()
            yield printed["TYPESAFE_BASE_URL"], key
        finally:
            process.terminate()
            check("the service exits 0 when it is told to end", process.wait() == 0)


def error_of(call):
    try:
        call()
    except sdk.TypeSafeError as error:
        return error
    sys.exit("the call did not fail")


def answers():
    with TypeSafeClient() as client:
        result = client.system_one(STATE, QUESTIONS)
        check("all three types are answered", list(result.answers) == list(QUESTIONS))
        check("a noul is a probability", 0 <= result.nouls["refund"].noul <= 1)
        team = result.choices["team"]
        check("labels keep their order, integer-like ones too", list(team.probabilities) == ["billing", "technical", "10"])
        check("the choice is the most probable label", team.choice == max(team.probabilities, key=team.probabilities.get))
        check("a score has its legend by level", result.scores["mood"].legend == {0: "calm", 1: "annoyed", 2: "furious"})
        check("the model is a checkpoint", re.fullmatch(r"core-(multilingual-)?[\d.]+", result.model) is not None)
        check("usage counts tokens", result.usage.input_tokens > 0 and result.usage.output_tokens == 0)
        check("the request id is there", result.request_id.startswith("req_"))
        structured = client.system_one({"subject": "Refund", "lines": [STATE, 2, None]}, ONE)
        check("a state may be an object", 0 <= structured.nouls["refund"].noul <= 1)
        names = [model.name for model in client.models.list().models]
        check("models lists what the client sends by default", "jev-latest" in names)
        for name in names:
            check(f"{name} may be asked for", client.system_one("Hello", ONE, model=name).model.startswith("core-"))

    async def concurrently():
        async with AsyncTypeSafeClient(retry=NO_RETRY, timeout=60) as client:
            return await asyncio.gather(*(client.system_one(STATE, QUESTIONS) for _ in range(16)))

    alike = [result.answers for result in asyncio.run(concurrently())]
    check("concurrent calls are answered alike", all(each == alike[0] for each in alike))


def errors(base_url, key):
    with TypeSafeClient(retry=NO_RETRY) as client:
        unknown = error_of(lambda: client.system_one(STATE, ONE, model="gpt"))
        check("400 is a TypeSafeBadRequestError", isinstance(unknown, sdk.TypeSafeBadRequestError))
        check("its code is in body and header", unknown.body["error"]["code"] == unknown.headers["x-service-error-code"] == "unknown_model")
        check("its request id is there", unknown.request_id.startswith("req_"))
        invalid = error_of(lambda: client.system_one(STATE, {"a": Noul(), "b": Choice(criteria={})}))
        check("422 is a TypeSafeUnprocessableEntityError", isinstance(invalid, sdk.TypeSafeUnprocessableEntityError))
        check("it lists every issue", [issue["path"] for issue in invalid.body["error"]["issues"]] == ["questions.a", "questions.b.criteria"])
        large = error_of(lambda: client.system_one("x" * 2**20, ONE))
        check("413 is a TypeSafeAPIError", type(large) is sdk.TypeSafeAPIError and large.status == 413)
        long = error_of(lambda: client.system_one("word " * 5000, ONE))
        check("a long state is a state_too_long", long.body["error"]["code"] == "state_too_long")
        elsewhere = error_of(lambda: client.system_one(STATE, ONE, extra_headers={"Origin": "https://elsewhere.example"}))
        check("403 is a TypeSafePermissionDeniedError", isinstance(elsewhere, sdk.TypeSafePermissionDeniedError))
    with TypeSafeClient(api_key="nonsense") as client:
        check("401 is a TypeSafeAuthenticationError", isinstance(error_of(client.models.list), sdk.TypeSafeAuthenticationError))
    with TypeSafeClient(base_url=f"{base_url}/v2") as client:
        check("404 is a TypeSafeNotFoundError", isinstance(error_of(client.models.list), sdk.TypeSafeNotFoundError))
    with TypeSafeClient(base_url="http://127.0.0.1:9", retry=NO_RETRY) as client:
        check("nobody there is a TypeSafeAPIConnectionError", isinstance(error_of(client.models.list), sdk.TypeSafeAPIConnectionError))
    # a state that fills the window takes longer than the client waits
    with TypeSafeClient(retry=NO_RETRY, timeout=0.01) as client:
        slow = error_of(lambda: client.system_one("word " * 1500, ONE, model="core-multilingual"))
        check("a timeout is a TypeSafeAPITimeoutError", isinstance(slow, sdk.TypeSafeAPITimeoutError))
    with TypeSafeClient(api_key=key("--account", "poor", "--allowance", "1")) as client:
        spent = error_of(lambda: client.system_one(STATE, ONE))
        check("402 is a TypeSafeAPIError", type(spent) is sdk.TypeSafeAPIError and spent.status == 402)
        check("it tells when the allowance resets", re.fullmatch(r"\d{4}-\d\d-01T00:00:00Z", spent.body["error"]["resets_at"]))


def retries(key):
    # 30 a minute: the bucket refills every two seconds
    with TypeSafeClient(api_key=key("--account", "slow", "--requests-per-minute", "30"), retry=NO_RETRY, timeout=60) as client:
        refused = None
        while refused is None:
            try:
                client.system_one("Hello", ONE)
            except sdk.TypeSafeRateLimitError as error:
                refused = error
        check("429 is a TypeSafeRateLimitError with the wait", 1000 <= refused.retry_after_ms <= 2000)
        started = time.monotonic()
        client.system_one("Hello", ONE, retry=RetryPolicy())
        waited = time.monotonic() - started
        check(f"the client waits what we say after a 429, and is let in ({waited:.1f} s)", waited >= 0.9)


def overload():
    results = []

    def call(retry):
        try:
            with TypeSafeClient(retry=retry, timeout=60) as client:
                results.append(client.system_one(STATE, QUESTIONS))
        except sdk.TypeSafeError as error:
            results.append(error)

    def flood(retry):
        results.clear()
        threads = [threading.Thread(target=call, args=(retry,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [result for result in results if isinstance(result, sdk.TypeSafeError)]

    busy = []
    while not busy:
        busy = flood(NO_RETRY)
    check("529 is a TypeSafeInternalServerError", all(isinstance(each, sdk.TypeSafeInternalServerError) for each in busy))
    check("its code is worker_busy", {each.body["error"]["code"] for each in busy} == {"worker_busy"})
    check("it has both retry headers", {each.headers["retry-after-ms"] for each in busy} <= {f"{int(each.headers['retry-after']) * 1000}" for each in busy})
    check("with retries all are answered", flood(RetryPolicy(max_retries=30, timeout=None)) == [])


if __name__ == "__main__":
    with service() as (url, make_key):
        answers()
        errors(url, make_key)
        retries(make_key)
    with service("--max-in-hand", "1"):
        overload()
    print(f"{checks} checks hold with typesafe-sdk {sdk.__version__}")
