"""Holds the dependencies of Rust and of the page against audit/policy.toml.

Licences are read from the packages themselves. Advisories come from cargo-deny and npm audit where they are there and
their databases can be reached; elsewhere the last answer counts, which stands in audit/answer.json with its date and the
packages that it is about, beside the last attempt and what came in its way. A package that it is not about may have been
looked up by hand, which stands there too (`by_hand`): when, what was found, and which advisories are open. What could not be
looked up stands beside it with the date and the reason (`not_looked_up`). Both are about exact versions, and a pattern such as
`@esbuild/* 0.25.10` is about all that it fits. Packages that none of these is about are named.

    python3 audit/audit.py            exit code 1 if something is not as the policy says
    python3 audit/audit.py --strict   also if neither a database nor a person has looked at a package
"""

import datetime
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLICY = tomllib.loads((ROOT / "audit/policy.toml").read_text())
ANSWER = ROOT / "audit/answer.json"


def is_allowed(expression, allowed):
    """Whether a licence expression (SPDX, or the old form with a slash) can be met with allowed licences."""
    tokens = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    tokens = ["OR" if token == "/" else token for token in tokens]

    def any_of():
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token == "(":
            met = any_of()
            tokens.pop(0)
            return met
        met = token in allowed
        if tokens and tokens[0] == "WITH":
            # An exception permits more, never less.
            del tokens[:2]
        return met

    return bool(expression) and any_of() and not tokens


def rust_packages():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    packages = json.loads(found.stdout)["packages"]
    return {f"{p['name']} {p['version']}": p.get("license") or "" for p in packages if p["source"]}


def npm_packages():
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    name = lambda place: place.split("node_modules/")[-1]
    return {f"{name(k)} {v['version']}": v.get("license", "") for k, v in packages.items() if k}


def ask_cargo_deny():
    """Open advisories by cargo-deny; nothing and the reason where it cannot tell."""
    if not shutil.which("cargo-deny"):
        return None, "cargo-deny is not installed"
    command = ["cargo", "deny", "--format", "json", "check", "advisories"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found, is_over = [], False
    for line in told.stderr.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        is_over |= entry.get("type") == "summary"
        advisory = entry.get("fields", {}).get("advisory")
        if advisory:
            kind = advisory.get("informational") or "vulnerability"
            found.append({"advisory": advisory["id"], "package": advisory["package"], "kind": str(kind)})
    return (found, None) if is_over else (None, "cargo-deny ends without an answer")


def ask_npm():
    """The same for the page."""
    if not shutil.which("npm"):
        return None, "npm is not installed"
    told = subprocess.run(["npm", "audit", "--json"], cwd=ROOT / "web", capture_output=True, text=True)
    try:
        answer = json.loads(told.stdout)
    except ValueError:
        return None, "npm audit ends without an answer"
    if "vulnerabilities" not in answer:
        # The status without the address that it came from.
        status = str(answer.get("message", "npm audit ends with an error")).split(" - ")[0]
        return None, f"npm audit: {status}"
    return npm_advisories(answer), None


def npm_advisories(answer):
    """Each advisory once: a package that is affected through another one only names it."""
    found = {}
    for package in answer["vulnerabilities"].values():
        for via in package["via"]:
            if isinstance(via, dict):
                name = via["url"].rsplit("/", 1)[-1]
                found[name] = {"advisory": name, "package": via["name"], "kind": via["severity"]}
    return [found[name] for name in sorted(found)]


def fitting(entries, packages):
    """The entries that are about a package that is there."""
    return {pattern: told for pattern, told in entries.items() if fnmatch.filter(packages, pattern)}


def of_patterns(entries, packages):
    return {package for pattern in entries for package in fnmatch.filter(packages, pattern)}


def audit():
    problems, unseen, unexplained = [], [], []
    last = json.loads(ANSWER.read_text())
    today = datetime.date.today().isoformat()
    for kind, packages, ask in [("rust", rust_packages(), ask_cargo_deny), ("npm", npm_packages(), ask_npm)]:
        refused = [(p, licence) for p, licence in packages.items() if not is_allowed(licence, POLICY["licences"])]
        problems += [f"{p}: licence `{licence}` is not in the policy" for p, licence in refused]
        print(f"{kind}: {len(packages)} packages, {len(packages) - len(refused)} with a licence of the policy")
        answer = last[kind]
        found, obstacle = ask()
        answer["attempt"] = {"date": today, "obstacle": obstacle}
        if found is not None:
            answer.update(date=today, open=found, packages=sorted(packages))
            answer.pop("by_hand", None)
            answer.pop("not_looked_up", None)
            print(f"{kind}: advisories of today, {len(found)} open")
        elif answer["date"]:
            print(f"{kind}: {answer['database']} gave no answer ({obstacle}); last answer of {answer['date']}, {len(answer['open'])} open")
        else:
            print(f"{kind}: {answer['database']} gave no answer ({obstacle}), and never before")
        by_hand = fitting(answer.get("by_hand", {}), packages)
        accepted = {entry["advisory"]: entry for entry in POLICY["accepted"]}
        for advisory in answer["open"] + [advisory for told in by_hand.values() for advisory in told.get("open", [])]:
            entry = accepted.get(advisory["advisory"])
            if entry is None:
                problems.append(f"{advisory['package']}: {advisory['advisory']} ({advisory['kind']}) is open")
            else:
                print(f"{kind}: {advisory['advisory']} of {entry['package']} is accepted: {entry['reason']}")
        not_looked_up = fitting(answer.get("not_looked_up", {}), packages)
        for pattern, told in by_hand.items():
            print(f"{kind}: {pattern}, looked up by hand on {told['date']}: {told['found']}")
        for pattern, told in not_looked_up.items():
            print(f"{kind}: {pattern}, not looked up on {told['date']}: {told['reason']}")
        seen = set(answer["packages"]) | of_patterns(by_hand, packages)
        unexplained += sorted(set(packages) - seen - of_patterns(not_looked_up, packages))
        unseen += sorted(set(packages) - seen)
    ANSWER.write_text(json.dumps(last, indent=1) + "\n")
    if unexplained:
        print(f"nothing says whether advisories are open for {len(unexplained)} packages: {', '.join(unexplained)}")
    for problem in problems:
        print(f"problem: {problem}", file=sys.stderr)
    return 1 if problems or (unseen and "--strict" in sys.argv) else 0


def test():
    allowed = ["MIT", "Zlib"]
    for expression, wanted in [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("MIT/Apache-2.0", True),
        ("MIT AND GPL-3.0", False),
        ("(GPL-3.0 OR MIT) AND Zlib", True),
        ("(GPL-3.0 OR MIT) AND Apache-2.0", False),
        ("MIT WITH some-exception OR GPL-3.0", True),
        ("", False),
    ]:
        assert is_allowed(expression, allowed) == wanted, expression
    packages = {"@a/x 1.0": "MIT", "@a/y 1.0": "MIT", "b 2.0": "MIT"}
    entries = {"@a/* 1.0": {}, "b 1.9": {}}
    assert list(fitting(entries, packages)) == ["@a/* 1.0"], "another version is another package"
    assert of_patterns(entries, packages) == {"@a/x 1.0", "@a/y 1.0"}
    via = {"name": "b", "url": "https://github.com/advisories/GHSA-1", "severity": "low"}
    answer = {"vulnerabilities": {"a": {"via": ["b"]}, "b": {"via": [via]}}}
    assert npm_advisories(answer) == [{"advisory": "GHSA-1", "package": "b", "kind": "low"}]


if __name__ == "__main__":
    test()
    sys.exit(audit())
