"""Kernels in a real browser: what Chromium's WebGPU makes of our WGSL, bit for bit.

SwiftShader computes on the processor and comes with Chromium; without a browser, or where it has no
adapter, the test is skipped and says so.
"""

import base64
from pathlib import Path

import numpy as np
import pytest

from cubepy.codegen.wgsl.verifier import verify_wgsl
from examples.browser import CASES, UNITS, page
from tests import browser

WEBGPU = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan")


@pytest.mark.parametrize("name", CASES)
def test_text_of_the_page_is_what_browsers_take(name: str) -> None:
    kernel, arrays, count = CASES[name]
    text = kernel.launcher(count, UNITS).inspect(*arrays, target="wgsl").text
    assert verify_wgsl(text) == []


def test_kernels_of_the_page_give_the_bits_of_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(), encoding="utf-8")
    with browser.browser(*WEBGPU) as started, browser.opened(started, path.as_uri()) as opened:
        found = opened.evaluate("finished")
        shown = opened.text_content("body") or ""
    if "reason" in found:
        pytest.skip(found["reason"])
    for name, (kernel, arrays, count) in CASES.items():
        *inputs, out = (array.copy() for array in arrays)
        kernel.launcher(count, UNITS, device="reference")(*inputs, out)
        octets = base64.b64decode(found["results"][name])
        np.testing.assert_array_equal(np.frombuffer(octets, np.uint8), out.view(np.uint8), name)
        assert out.any()
        assert f"{name}: " in shown
