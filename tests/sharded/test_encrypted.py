"""A lookup on a cluster whose every connection is encrypted."""

import shutil

import numpy as np
import pytest
from clusters import certified, cluster, random
from distributed import Client

import softlookup as sl
from patience import PATIENCE

pytestmark = [
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_a_lookup_over_tls(tmp_path):
    query = random((2, 40, 8), (1, 20, 8), 0)
    key, value = (random((2, 600, 8), (1, 200, 8), seed) for seed in (1, 2))
    lazy = sl.attend(query, key, value)
    with cluster(2, security=certified(tmp_path), protocol="tls://") as client:
        assert client.scheduler.address.startswith("tls://")
        addresses = client.scheduler_info()["workers"]
        assert all(address.startswith("tls://") for address in addresses)
        found = client.compute(lazy).result(timeout=PATIENCE)
        with pytest.raises((OSError, RuntimeError, ValueError, TypeError)):  # without certificates
            Client(client.scheduler.address, timeout=3, set_as_default=False)
    np.testing.assert_array_equal(found, lazy.compute(scheduler="synchronous"))
