"""The compiled core inside a process: Ctrl-C, forks, threads at the end, memory."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from patience import PATIENCE
from softlookup.backends import cpu

pytestmark = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
BEGIN = """
    import os, signal, threading, time
    import numpy as np
    import softlookup as sl

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    rng = np.random.default_rng(3)

    def long_lookup():  # hours of work, and few bytes
        one = rng.standard_normal((1, 64)).astype(np.float32)
        many = np.broadcast_to(one, (1_000_000, 64))
        return sl.Lookup(many, many, many[:, :1], backend="cpu")

    def assert_right():  # three heads and 2,000 keys: enough for several threads
        query, key, value = rng.standard_normal((3, 3, 2000, 16))
        own = sl.attend(query, key, value, causal=True, backend="cpu")
        other = sl.attend(query, key, value, causal=True, backend="blocked")
        np.testing.assert_allclose(own, other, atol=1e-12)
"""


def start(*script, threads):
    code = "".join(map(textwrap.dedent, (BEGIN, *script)))
    environment = os.environ | {"SOFTLOOKUP_THREADS": str(threads)}
    command = [sys.executable, "-W", "ignore", "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, **pipes)


def words_of(*script, threads=2):
    with start(*script, threads=threads) as child:
        out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, err
    return out.split()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["look.attend()", "look.inspect(received=True, entropy=True)"])
def test_ctrl_c_ends_a_long_call_and_the_next_one_is_right(call, threads):
    script = f"""
        look = long_lookup()
        print("begun", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            assert_right()
            print("interrupted")
    """
    with start(script, threads=threads) as child:
        assert child.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):  # it is in the midst of it
            child.wait(timeout=0.5)
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        finally:
            child.kill()  # without the signal it would go on for hours
    assert child.returncode == 0, err
    assert out == "interrupted\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_daemon_thread_inside_the_core_does_not_spoil_the_end(threads):
    script = """
        threading.Thread(target=long_lookup().attend, daemon=True).start()
        time.sleep(0.5)
        assert_right()
    """
    words_of(script, threads=threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="hardware: this system does not fork")
def test_a_forked_child_computes_with_threads_of_its_own():
    script = """
        before = assert_right()
        for n in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # no child waits for ever
                assert_right()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            assert_right()
    """
    words_of(script)


def test_threads_of_python_compute_at_the_same_time():
    script = """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda n: assert_right(), range(24)))
    """
    words_of(script)


MEMORY = """
    def kib(word):
        with open("/proc/self/status") as file:
            return int(next(line for line in file if line.startswith(word)).split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="hardware: memory is read in /proc"
)
def test_ten_thousand_calls_leave_memory_at_its_level():
    script = """
        query, key, value = rng.standard_normal((3, 2, 4, 70, 16)).astype(np.float32)
        mask = rng.random((70, 70)) < 0.7
        look = sl.Lookup(query, key, value, mask=mask, backend="cpu")
        value[0, 0, 3, 3] = np.nan
        groups = np.arange(70) % 3
        def calls(count):
            for _ in range(count):
                look.inspect(entropy=True, top=3, received=True, groups=groups, distance=True)
            return kib("VmRSS")
        print(calls(1000), calls(10_000))
    """
    first, last = map(int, words_of(MEMORY, script))
    assert last - first < 4 * 1024


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="hardware: memory is read in /proc"
)
def test_all_facts_of_100_000_tokens_need_64_mib_beside_inputs_and_answers():
    script = """
        n = 100_000
        query, key, value = rng.standard_normal((3, 1, n, 8), dtype=np.float32)
        look = sl.Lookup(query, key, value, causal=True, backend="cpu")
        assert_right()
        before = kib("VmRSS")
        groups = np.arange(n) % 7
        found = look.inspect(
            entropy=True, max_score=True, top=8, received=True, groups=groups, distance=True
        )
        answers = [found.out, found.lse, found.entropy, found.max_score, found.top.keys,
                   found.top.weights, found.received, found.groups, found.distance]
        print(kib("VmHWM") - before, sum(a.nbytes for a in answers) // 1024)
    """
    peak, answers = map(int, words_of(MEMORY, script))
    assert peak - answers < 64 * 1024
