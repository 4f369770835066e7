"""What a file of a golden case may say, and what is said of one that is wrong."""

from __future__ import annotations

import pytest

from review_advisor.lab.golden_cases import (
    CommitsChange,
    FilesChange,
    GoldenFile,
    GoldenSetError,
    NamedChange,
    PatchChange,
    read_case,
)

HEAD = 'kind = "faulty"\n'
FILES = '[[files]]\npath = "a.py"\nbefore = "one\\ntwo\\n"\nafter = "one\\nthree\\n"\n'
LABEL = '[[labels]]\nfile = "a.py"\nfirst_line = 2\nseverity = "high"\ncategory = "logic"\ntext = "It is three."\n'
COMMIT = "a" * 40


def refusal(text: str) -> str:
    with pytest.raises(GoldenSetError) as refused:
        read_case("python/three", text, "golden/three.toml")
    return str(refused.value)


def test_a_case_is_what_its_file_says() -> None:
    case = read_case("python/three", HEAD + 'title = "T"\nspec = "S"\n' + FILES + LABEL, "x")
    assert (case.id, case.group, case.title, case.spec) == ("python/three", "python/three", "T", "S")
    assert case.change == FilesChange((GoldenFile("a.py", "one\ntwo\n", "one\nthree\n"),))
    (label,) = case.labels
    assert (label.file, label.first_line, label.last_line, label.severity) == ("a.py", 2, 2, "high")


def test_a_change_may_be_a_patch_or_commits_or_only_a_name() -> None:
    label = '[[labels]]\ntext = "wrong"\n'
    patch = read_case("a", HEAD + 'patch = "--- a/x"\n[[files]]\npath = "x"\nbefore = "y"\n' + label, "x").change
    assert patch == PatchChange("--- a/x", (GoldenFile("x", "y", None),))
    commits = HEAD + f'repository = "o/r"\nbase = "{COMMIT}"\nhead = "{COMMIT}"\n'
    assert read_case("a", commits + label, "x").change == CommitsChange("o/r", COMMIT, COMMIT)
    assert read_case("a", HEAD + 'url = "https://x/pull/1"\n' + label, "x").change == NamedChange("https://x/pull/1")


@pytest.mark.parametrize(
    "text, said",
    [
        ("kind = ", "golden/three.toml is not valid TOML: Invalid value (at end of document)."),
        (FILES + LABEL, "golden/three.toml: kind: is missing."),
        ('kind = "clear"\n' + FILES, "golden/three.toml: kind: unknown word 'clear'; did you mean 'clean'?"),
        (
            HEAD + 'langage = "Go"\n' + FILES + LABEL,
            "golden/three.toml: unknown key 'langage'; did you mean 'language'?",
        ),
        (
            HEAD + FILES + LABEL.replace("severity", "sverity"),
            "golden/three.toml: unknown key 'labels.1.sverity'; did you mean 'severity'?",
        ),
        (
            HEAD + FILES + LABEL.replace('"high"', '"hgh"'),
            "golden/three.toml: labels.1.severity: unknown word 'hgh'; did you mean 'high'?",
        ),
        (
            HEAD + 'id = "a"\n' + FILES + LABEL,
            "golden/three.toml: a file's path is the id of its case, so it has no id of its own.",
        ),
        (HEAD + FILES, "golden/three.toml: a faulty case has labels."),
        ('kind = "clean"\n' + FILES + LABEL, "golden/three.toml: a clean case has no labels."),
        (HEAD + 'canaries = ["LGTM"]\n' + FILES + LABEL, "golden/three.toml: only a hostile case has canaries."),
        (HEAD + FILES.replace("three", "two") + LABEL, "golden/three.toml: the files do not change."),
        (HEAD + FILES + FILES + LABEL, "golden/three.toml: two files have one path."),
        (
            HEAD + 'url = "u"\n' + FILES + LABEL,
            (
                "golden/three.toml: the change is told once: by files, by a patch, by repository, base and head, "
                "or by url."
            ),
        ),
        (HEAD + 'repository = "r"\n' + LABEL, "golden/three.toml: repository, base and head belong together."),
        (
            HEAD + f'repository = "r"\nbase = "HEAD"\nhead = "{COMMIT}"\n' + LABEL,
            "golden/three.toml: base: should be a whole commit, with 40 or 64",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(text: str, said: str) -> None:
    assert refusal(text).startswith(said)
    assert "\n" not in refusal(text)


@pytest.mark.parametrize(
    "path",
    [
        "../a.py",
        "/etc/passwd",
        "a/../../b",
        "a//b",
        "./a",
        "",
        "C:/x",
        "a\\\\b",
        ".git/config",
        "x/.GIT/hooks/a",
        "a\\u0007",
        "a" * 301,
    ],
)
def test_a_path_stays_inside_the_repository(path: str) -> None:
    assert "files.1.path: a path " in refusal(HEAD + FILES.replace("a.py", path) + LABEL)


@pytest.mark.parametrize("name", ["../three", "a/.b", "", "a b", "a//b"])
def test_a_name_is_no_path_to_elsewhere(name: str) -> None:
    with pytest.raises(GoldenSetError, match="a case's name has letters"):
        read_case(name, HEAD + FILES + LABEL, "x")


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("first_line = 2", "first_line = 1", "do not change"),
        ("first_line = 2", "first_line = 3", "which has fewer lines"),
        ("first_line = 2", "first_line = 2\nunchanged = true", "says unchanged"),
        ("first_line = 2", "first_line = 2\nlast_line = 1", "last_line is before first_line"),
        ("first_line = 2", "first_line = 0", "should be at least 1"),
        ("first_line = 2", 'first_line = "2"', "should be a whole number"),
        ("first_line = 2", "last_line = 2", "first_line is missing"),
        ('file = "a.py"\n', "", "file is missing"),
        ('file = "a.py"', 'file = "b.py"', "which is not there after the change"),
        ('text = "It is three."', 'text = ""', "should not be empty"),
    ],
)
def test_a_label_is_about_lines_that_change(old: str, new: str, said: str) -> None:
    assert said in refusal(HEAD + FILES + LABEL.replace(old, new))


def test_a_label_may_stand_where_something_was_taken_away() -> None:
    case = read_case("a", HEAD + FILES + LABEL.replace("first_line = 2", "first_line = 1\nunchanged = true"), "x")
    assert case.labels[0].first_line == 1


def test_a_text_that_is_too_large_is_refused() -> None:
    assert "should have at most 200,000 characters" in refusal(HEAD + f'body = "{"x" * 200_001}"\n' + FILES + LABEL)
    long_file = FILES.replace("one\\ntwo\\n", "\\n" * 3_001)
    assert "3,000 lines at most" in refusal(HEAD + long_file + LABEL)
