"""A survey on a cluster whose every connection is encrypted, and without its certificates."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup.errors import BackendError
from softlookup.surveys.processes import processes

distributed = pytest.importorskip("distributed", reason="models (make models installs it)")
import dask  # noqa: E402 (which comes with it)

from sharded.clusters import certified, within  # noqa: E402 (which needs it)

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NEEDED = "scheduler: must be shown a certificate where it speaks TLS; Dask is told of none"
NAMES = [
    f"DASK_DISTRIBUTED__COMM__TLS__{one}" for one in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
]


@pytest.fixture(autouse=True)
def _in_time():
    with within(2 * PATIENCE, "a survey"):
        yield


@pytest.fixture
def security(tmp_path):
    return certified(tmp_path)


@pytest.fixture
def there(security):
    """A cluster that speaks TLS."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0",
        security=security, protocol="tls://",
    ) as made:  # fmt: skip
        yield made


@pytest.mark.slow
def test_a_survey_over_tls(tiny_model, corpus, tmp_path, there, assert_same):
    """In a process of its own, told of its certificates as docs/survey.md says."""
    security, address = there.security, there.scheduler_address
    assert address.startswith("tls://")
    whole, out = tmp_path / "whole", tmp_path / "out"
    sl.survey(tiny_model, corpus, whole, workers=0, lines=2)
    words = ["survey", "--model", tiny_model, "--texts", corpus, "-o", out, "--lines", "2",
             "--scheduler", address]  # fmt: skip

    def run(**more):
        return subprocess.run(
            [sys.executable, "-m", "softlookup", *map(str, words)], env={**os.environ, **more},
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    without = run()
    assert (without.returncode, without.stdout) == (2, "")
    assert without.stderr == f"{NEEDED}. Set {', '.join(NAMES)} to files.\n"
    assert not out.exists()
    files = security.tls_ca_file, security.tls_client_cert, security.tls_client_key
    done = run(**dict(zip(NAMES, files, strict=True)))
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(whole, out)


@pytest.mark.parametrize("what", ["ca-file", "client.cert", "client.key", "another's key"])
def test_certificates_that_are_no_use_are_one_sentence(tiny_model, corpus, tmp_path, there, what):
    cert, key = there.security.tls_client_cert, there.security.tls_client_key
    files = {"ca-file": cert, "client.cert": cert, "client.key": key}
    if what == "another's key":
        (tmp_path / "other").mkdir()
        files["client.key"] = certified(tmp_path / "other").tls_client_key
    else:
        files[what] = str(tmp_path / "none.pem")
    told = {f"distributed.comm.tls.{name}": file for name, file in files.items()}
    with dask.config.set(told), pytest.raises(BackendError, match=f"{NEEDED} that can be read: "):
        sl.survey(tiny_model, corpus, tmp_path / "out", scheduler=there.scheduler_address)


def installed(monkeypatch, name, there):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda one: there if one == name else find(one)
    )


def test_processes_here_speak_tls_where_cryptography_is(monkeypatch, security):
    """Which makes the keys; here openssl did."""
    installed(monkeypatch, "cryptography", True)
    monkeypatch.setattr(distributed.Security, "temporary", lambda: security)
    with processes(1) as there, distributed.Client(there) as client:
        assert client.scheduler.address.startswith("tls://127.0.0.1:")
        client.wait_for_workers(1, timeout=PATIENCE)
        (address,) = client.scheduler_info()["workers"]
        assert address.startswith("tls://127.0.0.1:")
        assert client.submit(abs, -7).result(timeout=PATIENCE) == 7


def test_processes_here_that_must_speak_tls_and_cannot_are_one_sentence(
    monkeypatch, tiny_model, corpus, tmp_path
):
    installed(monkeypatch, "cryptography", None)
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(BackendError, match="workers: must start; they cannot: TLS expects"),
    ):
        sl.survey(tiny_model, corpus, tmp_path / "out", workers=1)
