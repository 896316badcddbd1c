"""`khz library` as a user types it, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from forge import COMMIT, PARTS, Forge, pack

from kilohertz.cli import main as khz

Capture = pytest.CaptureFixture[str]


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def failure(capsys: Capture, *words: str) -> str:
    """The message of a command that fails."""
    assert khz(["library", *words]) == 1
    return capsys.readouterr().err


def test_installs_with_what_it_uses_and_simulates(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert khz(["library", "install", "Plant@1.2"]) == 0
    assert names(home) == ["Parts 2.0.0+x", "Plant 1.2.0"]
    assert not (home / "Plant 1.2.0" / "README").exists()
    assert khz(["simulate", "Plant.Tank", "--stop", "1", "-o", str(tmp_path / "t.csv"), "--quiet"]) == 0
    last = (tmp_path / "t.csv").read_text().splitlines()[-1].split(",")
    assert abs(float(last[1]) - 0.1353) < 1e-3  # exp(-2): Parts 2.0.0, not 3.0.0
    capsys.readouterr()
    assert khz(["library", "install", "Plant"]) == 0
    assert "all there" in capsys.readouterr().out


def test_version_that_a_model_uses_is_taken(home: Path, tmp_path: Path) -> None:
    assert khz(["library", "install", "Plant", "--again"]) == 0
    assert khz(["library", "install", "Parts@3.0.0"]) == 0
    assert khz(["simulate", "Plant.Tank", "--stop", "1", "-o", str(tmp_path / "t.csv"), "--quiet"]) == 0
    assert abs(float((tmp_path / "t.csv").read_text().splitlines()[-1].split(",")[1]) - 0.1353) < 1e-3


def test_list_search_remove(home: Path, capsys: Capture) -> None:
    assert khz(["library", "list"]) == 0
    assert khz(["library", "search", "par", "--all"]) == 0
    assert khz(["library", "install", "Plant", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "nothing is installed" in said
    assert "Parts 3.0.0\nParts 2.0.0+x" in said
    assert "Plant 1.2.0 uses Parts 2.0.0" in said
    assert not home.exists()
    assert khz(["library", "install", "Plant"]) == 0
    assert khz(["library", "remove", "Parts@2.0.0"]) == 0
    assert "Plant 1.2.0 uses Parts 2.0.0, which is not installed now" in capsys.readouterr().err
    assert names(home) == ["Plant 1.2.0"]
    said = failure(capsys, "remove", "Plnt")
    assert "L326" in said
    assert "did you mean `Plant`" in said
    assert khz(["library", "search", "nowhere"]) == 1


def test_lock_brings_the_same_files_again(home: Path, forge: Forge, tmp_path: Path, capsys: Capture) -> None:
    lock = tmp_path / "project.lock"
    assert khz(["library", "install", "Plant"]) == 0
    assert khz(["library", "lock", "Plant", "-o", str(lock)]) == 0
    before = {p.relative_to(home): p.read_bytes() for p in home.rglob("*.mo")}
    shutil.rmtree(home)
    (forge.folder / "index.json").unlink()  # a lock needs none
    assert khz(["library", "install", "--locked", str(lock)]) == 0
    assert {p.relative_to(home): p.read_bytes() for p in home.rglob("*.mo")} == before
    shutil.rmtree(home)
    pack(forge.folder / "parts2.zip", {"parts-b/Parts.mo": PARTS.format("2.0.0", 99)}, COMMIT["Parts2"])
    said = failure(capsys, "install", "--locked", str(lock))
    assert "L331" in said
    assert "SHA-256" in said
    assert "Parts 2.0.0+x" not in names(home)
    lock.write_text("[[library]]\nname = 3")
    assert "L332" in failure(capsys, "install", "--locked", str(lock))
    assert "L332" in failure(capsys, "install", "--locked", str(tmp_path / "none.lock"))


def test_a_lock_mends_changed_files_and_keeps_versions_apart(home: Path, tmp_path: Path) -> None:
    lock = tmp_path / "project.lock"
    assert khz(["library", "install", "Parts@2.0.0"]) == khz(["library", "install", "Parts@3.0.0"]) == 0
    assert khz(["library", "lock", "-o", str(lock)]) == 0
    file = home / "Parts 3.0.0" / "package.mo"
    before = file.read_text()
    file.write_text("package Parts end Parts;")
    assert khz(["library", "install", "--locked", str(lock)]) == 0
    assert file.read_text() == before
    assert names(home) == ["Parts 2.0.0+x", "Parts 3.0.0"]


def test_mirror_stands_in(home: Path, forge: Forge, tmp_path: Path, capsys: Capture) -> None:
    below = forge.address.partition("://")[2]
    mirror = tmp_path / "mirror" / below
    mirror.mkdir(parents=True)
    for name in ("plant.zip", "parts2.zip"):
        (forge.folder / name).rename(mirror / name)
    said = failure(capsys, "install", "Plant")
    assert "L330" in said
    assert "404" in said
    assert khz(["library", "install", "Plant", "--mirror", str(tmp_path / "mirror")]) == 0
    assert names(home) == ["Parts 2.0.0+x", "Plant 1.2.0"]


def test_folder_zip_and_clone_need_no_index(home: Path, tmp_path: Path, capsys: Capture) -> None:
    source = tmp_path / "work"
    (source / "Own").mkdir(parents=True)
    (source / "Own" / "package.mo").write_text('package Own annotation(version="0.1");\nend Own;\n')
    (source / "Loose.mo").write_text("package Loose\nend Loose;\n")
    assert khz(["library", "install", str(source), "--index", "nowhere.json"]) == 0
    assert names(home) == ["Loose unversioned", "Own 0.1"]
    shutil.rmtree(home)
    pack(tmp_path / "own.zip", {"Own/package.mo": 'package Own annotation(version="0.2");\nend Own;\n'})
    assert khz(["library", "install", str(tmp_path / "own.zip")]) == 0
    assert names(home) == ["Own 0.2"]
    assert "L328" in failure(capsys, "install", str(tmp_path / "nothing" / "here"))
    (tmp_path / "empty").mkdir()
    assert "L328" in failure(capsys, "install", str(tmp_path / "empty"))
    if shutil.which("git") is None:
        pytest.skip("no git: the part about clones is not run")
    git = ["git", "-C", str(source), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"], ["tag", "v9"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (source / "Own" / "package.mo").write_text("broken")
    assert khz(["library", "install", f"{source}@v9"]) == 0
    assert "Own 0.1" in names(home)
    head = subprocess.run([*git, "rev-parse", "v9"], check=True, capture_output=True, text=True).stdout.strip()
    assert head in (home / "Own 0.1" / ".kilohertz.json").read_text()
    assert "L333" in failure(capsys, "install", f"{source}@v9", "--dry-run")
    assert "L328" in failure(capsys, "install", f"{source}@v10")


def test_release_of_the_index_from_a_clone(home: Path, forge: Forge, tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git")
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "Parts.mo").write_text(PARTS.format("3.0.0", 3))
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    forge.change("Parts", "3.0.0", sha=head, zipfile="http://127.0.0.1:1/gone.zip")
    assert khz(["library", "install", "Parts", "--clone", str(clone)]) == 0
    assert names(home) == ["Parts 3.0.0"]


def test_what_cannot_be_resolved_is_explained(home: Path, forge: Forge, capsys: Capture) -> None:
    said = failure(capsys, "install", "Plan")
    assert "L322" in said
    assert "did you mean `Plant`" in said
    said = failure(capsys, "install", "Parts@7")
    assert "L323" in said
    assert "the index has 3.0.0, 2.0.0+x" in said
    said = failure(capsys, "install", "Parts@3.0.0", "Plant")
    assert "L324" in said
    assert "Parts 3.0.0 is asked for, and Plant 1.2.0 uses Parts 2.0.0" in said
    forge.change("Plant", "1.2.0", uses={"Parts": "2.0.0", "Commercial": "1.0"})
    said = failure(capsys, "install", "Plant")
    assert "L322" in said
    assert "Plant 1.2.0 uses Commercial 1.0" in said
    assert khz(["library", "install", "Plant", "--skip-missing"]) == 0
    assert "left out: Plant 1.2.0 uses Commercial 1.0" in capsys.readouterr().err
    assert "L333" in failure(capsys, "install")


def test_later_version_serves_where_it_says_so(home: Path, forge: Forge) -> None:
    forge.change("Parts", "3.0.0", provides=["2.0.0"])
    assert khz(["library", "install", "Parts@3.0.0", "Plant"]) == 0
    assert names(home) == ["Parts 3.0.0", "Plant 1.2.0"]


def test_hostile_and_broken_archives_are_refused(home: Path, forge: Forge, capsys: Capture) -> None:
    archive = forge.folder / "parts3.zip"
    outside = home.parent / "evil.mo"
    pack(archive, {"../../../evil.mo": "x", "p/Parts.mo": "x"})
    said = failure(capsys, "install", "Parts")
    assert "L327" in said
    assert "outside" in said
    assert not outside.exists()
    with zipfile.ZipFile(archive, "w") as packed:
        link = zipfile.ZipInfo("p/Parts.mo")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
    said = failure(capsys, "install", "Parts")
    assert "L327" in said
    assert "is a link" in said
    pack(archive, {"p/Parts.mo": PARTS.format("3.0.0", 3)}, "d" * 40)
    said = failure(capsys, "install", "Parts")
    assert "L329" in said
    assert "d" * 40 in said
    archive.write_bytes(b"PK no zip")
    said = failure(capsys, "install", "Parts")
    assert "L327" in said
    assert "http://" in said and "parts3.zip` cannot be used" in said
    pack(archive, {"p/Other.mo": "package Other end Other;"})
    said = failure(capsys, "install", "Parts")
    assert "L328" in said
    assert "there is Other.mo" in said
    forge.change("Parts", "3.0.0", path="../../..")
    assert "L328" in failure(capsys, "install", "Parts")
    assert not [name for name in names(home) if not name.startswith(".")]


def test_bad_index_is_said(home: Path, forge: Forge, capsys: Capture) -> None:
    index = forge.folder / "index.json"
    said = failure(capsys, "install", "Parts", "--index", f"{forge.address}/none.json")
    assert "L320" in said
    assert "404" in said
    assert "L320" in failure(capsys, "search", "--index", "ftp://example.invalid/index.json")
    for text in ("{", "[]", '{"libs": {"A": 3}}', '{"libs": {"A": {"versions": {"1": {"path": 3}}}}}'):
        index.write_text(text)
        assert "L321" in failure(capsys, "install", "Parts")


def test_folder_that_cannot_be_written(home: Path, capsys: Capture) -> None:
    home.write_text("a file where the folder should be")
    assert "L325" in failure(capsys, "install", "Plant")


def test_left_over_of_a_killed_installation_goes(home: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    ours = home / f".installing-{os.getpid()}-x"
    theirs = home / f".installing-{gone.pid}-x"
    for folder in (ours, theirs):
        (folder / "files").mkdir(parents=True)
    assert khz(["library", "install", "Parts"]) == 0
    assert ours.exists()
    assert not theirs.exists()
