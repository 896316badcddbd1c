"""A real browser for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_NAMES = ("chromium-headless-shell", "chromium-shell", "chromium")
_FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium from the system, driven by playwright."""
    program = next((p for p in map(shutil.which, _NAMES) if p), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture
def sheet(browser: Any) -> Iterator[Any]:
    """An empty page without a network; what its scripts complain about fails the test."""
    complaints: list[str] = []
    context = browser.new_context(offline=True, viewport={"width": 1100, "height": 800}, color_scheme="light")
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert not complaints
