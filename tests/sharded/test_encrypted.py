"""A lookup on a cluster whose every connection is encrypted."""

import shutil
import subprocess

import numpy as np
import pytest
from clusters import cluster, random
from distributed import Client
from distributed.security import Security

import softlookup as sl

pytestmark = [
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def security(tmp_path):
    """A certificate that is its own authority, as docs/dask.md makes one."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=softlookup test"],
        cwd=tmp_path, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    return Security(
        require_encryption=True, tls_ca_file=cert,
        tls_scheduler_cert=cert, tls_scheduler_key=key,
        tls_worker_cert=cert, tls_worker_key=key,
        tls_client_cert=cert, tls_client_key=key,
    )  # fmt: skip


def test_a_lookup_over_tls(security):
    query = random((2, 40, 8), (1, 20, 8), 0)
    key, value = (random((2, 600, 8), (1, 200, 8), seed) for seed in (1, 2))
    lazy = sl.attend(query, key, value)
    with cluster(2, security=security, protocol="tls://") as client:
        assert client.scheduler.address.startswith("tls://")
        addresses = client.scheduler_info()["workers"]
        assert all(address.startswith("tls://") for address in addresses)
        found = client.compute(lazy).result(timeout=60)
        with pytest.raises((OSError, RuntimeError, ValueError, TypeError)):  # without certificates
            Client(client.scheduler.address, timeout=3, set_as_default=False)
    np.testing.assert_array_equal(found, lazy.compute(scheduler="synchronous"))
