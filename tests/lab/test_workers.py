"""Processes that answer: in time, or not at all, and then another one does."""

import asyncio

import pytest

from maxmargin.lab.examples import example
from maxmargin.lab.rooms import RequestError
from maxmargin.lab.workers import Workers

SHORT = {**example("xor"), "action": "solve"}
LONG = {**example("chess", 300), "C": 1e4, "racers": [{"selection": "random"}] * 4}


def run(dialogue, **options):
    """Let a dialogue with fresh workers take place."""

    async def whole():
        workers = Workers(**options)
        try:
            return await dialogue(workers)
        finally:
            workers.close()

    return asyncio.run(whole())


def test_a_run_that_takes_too_long_is_stopped_and_the_next_one_answered():
    async def dialogue(workers):
        await workers.ask("race", {**LONG, **example("xor")})
        workers.seconds = 0.05
        with pytest.raises(RequestError, match=r"took longer than 0.05 s.*fewer points"):
            await workers.ask("race", LONG)
        workers.seconds = 60.0
        found = await workers.ask("smo", SHORT)
        return found["machines"][0]["status"]

    assert run(dialogue, most=1) == "converged"


def test_a_process_that_dies_is_told_and_replaced():
    async def dialogue(workers):
        await workers.ask("smo", SHORT)
        workers.idle[-1].process.kill()
        workers.idle[-1].process.join()
        with pytest.raises(RequestError, match="process computing this ended"):
            await workers.ask("smo", SHORT)
        return (await workers.ask("smo", SHORT))["machines"][0]["status"]

    assert run(dialogue, most=1) == "converged"


def test_a_visitor_who_leaves_frees_the_process():
    async def dialogue(workers):
        await workers.ask("smo", SHORT)
        task = asyncio.create_task(workers.ask("race", LONG))
        await asyncio.sleep(0.2)
        (busy,) = workers.busy
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not busy.process.is_alive()
        return (await workers.ask("smo", SHORT))["machines"][0]["status"]

    assert run(dialogue, most=1) == "converged"
