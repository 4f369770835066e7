import pytest

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.risky_code import RISKY_CODE, risky_code

EXAMPLES = {
    "runs a process": """
        subprocess.run(command)
        os.system(f"tar {name}")
        exec("ls " + name, done)
        system("ipmitool " + options)
        Runtime.getRuntime().exec(line)
    """,
    "evaluates code": """
        eval(text)
        return new Function("x", body)
        klass = name.constantize
        base.instance_eval(block)
    """,
    "builds SQL": """
        query = f"SELECT id FROM users WHERE name = '{name}'"
        cursor.execute(text)
        scope.order(Arel.sql(params[:by]))
        DELETE FROM orders;
    """,
    "deserialises": """
        return pickle.loads(data)
        yaml.load(text)
        Marshal.load(cookie)
        $user = unserialize($cookie);
    """,
    "uses cryptography or secrets": """
        if hmac.compare_digest(mine, theirs):
        digest = OpenSSL::Digest.new
        def verify(password)
        signature == expected
    """,
    "checks permissions or identity": """
        @login_required
        return forbidden() unless current_user
        authorize! :read, order
        if (!isAllowed(request)) { return deny(); } // permission
        headers["Access-Control"] = cors
    """,
    "parses or escapes untrusted text": """
        return html_safe(name)
        path = os.path.realpath(path)
        archive = tarfile.open(name)
        response.redirect(next)
        if name.startswith("../"):
        length = headers["Content-Length"]
    """,
}


def change(line: str, path: str = "src/app.py") -> FileChange:
    hunk = Hunk(1, 1, 1, 1, "", (f"{line[0]}{line[1:]}",))
    return FileChange(Status.MODIFIED, path, added=int(line[0] == "+"), removed=int(line[0] == "-"), hunks=(hunk,))


@pytest.mark.parametrize("subject", RISKY_CODE)
def test_each_subject_is_known_by_its_words_on_added_and_on_removed_lines(subject: str) -> None:
    for line in filter(None, map(str.strip, EXAMPLES[subject].splitlines())):
        for mark in "+-":
            assert f"src/app.py: {subject}" in risky_code([change(mark + line)]), line


def test_an_unchanged_line_and_what_is_no_code_say_nothing() -> None:
    assert risky_code([change(" os.system(name)")]) == ()
    assert risky_code([change("+os.system(name)", "docs/guide.md"), change("+os.system(name)", "test_a.py")]) == ()


@pytest.mark.parametrize(
    "line",
    ["+total = price * count", "+for author in authors:", "+self.tokenizer = Tokenizer()", "+def executive(name):"],
)
def test_ordinary_code_deals_with_nothing_risky(line: str) -> None:
    assert risky_code([change(line)]) == ()
