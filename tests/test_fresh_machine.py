"""What the measurement on a machine without a compiler and without Java hides."""

import os
from pathlib import Path

import pytest
from tools.live.fresh_machine import environment, is_hidden, programs


@pytest.mark.parametrize(
    "name",
    ["gcc", "x86_64-linux-gnu-gcc-12", "cc", "c++", "g++-12", "cc1plus", "clang-14", "clang++",
     "as", "llvm-as-14", "ld", "ld.bfd", "x86_64-linux-gnu-ld.gold", "ld.lld-14", "nvcc", "java",
     "javac", "rustc", "gfortran"],
)  # fmt: skip
def test_compilers_assemblers_linkers_and_java_are_hidden(name: str) -> None:
    assert is_hidden(name)


@pytest.mark.parametrize(
    "name",
    ["ld.so", "ldd", "ld-linux-x86-64.so.2", "python3.11", "git", "javascript", "asd"],
)
def test_other_programs_are_not_hidden(name: str) -> None:
    assert not is_hidden(name)


def test_programs_are_found_behind_links_and_in_further_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, other = tmp_path / "jvm" / "real-java", tmp_path / "deep" / "bin" / "java"
    for file in (real, other, tmp_path / "deep" / "java"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o755)
    (tmp_path / "deep" / "java").chmod(0o644)  # cannot run
    shell = tmp_path / "shell"
    shell.mkdir()
    (shell / "java").symlink_to(real)
    monkeypatch.setenv("PATH", str(shell))
    found = programs(tmp_path / "deep")
    assert {path for path in found if path.is_relative_to(tmp_path)} == {real, other}


def test_no_variable_names_a_compiler_or_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JAVA_HOME", "CC", "CXXFLAGS", "PYTHONPATH", "SPARK_HOME", "MY_JAVA_OPTS"):
        monkeypatch.setenv(name, "x")
    made = environment(tmp_path, XDG_CACHE_HOME="y")
    assert not {"JAVA_HOME", "CC", "CXXFLAGS", "PYTHONPATH", "SPARK_HOME", "MY_JAVA_OPTS"} & {*made}
    assert (made["XDG_CACHE_HOME"], made["HOME"], made["PATH"]) == (
        "y", str(tmp_path), os.environ["PATH"],
    )  # fmt: skip
