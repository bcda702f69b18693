"""Install this checkout into the environment of this Python, and say how far the compiler is.

install.py                                  the package itself, with its C++ core
install.py --extras test,docs [PACKAGE]...  what these extras need: nothing is compiled
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
LOG = HERE / "build" / "install.log"
PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
# As Ninja counts what it has done, "[3/12] Building ...", and make, "[ 25%] Building ...".
STEP = re.compile(r"\s*\[\s*(?:(\d+)/(\d+)|(\d+%))\] ")


def follow(lines, out):
    """Show each step while it comes, all on one line; return what came."""
    kept, told = [], False
    for line in lines:
        kept.append(line)
        if step := STEP.match(line):
            done, of, share = step.groups()
            if not told:
                print(f"  compiled{f', of {of}' if of else ''}:", end="", file=out)
            print(f" {done or share}", end="", file=out, flush=True)
            told = True
    if told:
        print(file=out)
    return "".join(kept)


def install(out=sys.stdout):
    """Install the package; what pip says is shown where it fails, and kept in a file."""
    command = [*PIP, "--verbose", "--editable", str(HERE)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        said = follow(pip.stdout, out)
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text(said, encoding="utf-8")
    if pip.returncode:
        print(said, file=out)
    elif not is_compiled():
        print(f"The core could not be compiled, so NumPy computes, slower: see {LOG}.", file=out)
    return pip.returncode


def is_compiled():
    """Say whether there is a core, as a new process sees it."""
    ask = "import sys; from softlookup import machine; sys.exit(not machine.compiled())"
    return subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0


def requirements(project, extras):
    """Return what the package and some of its extras need; extras may name one another."""
    own = re.compile(rf"{project['name']}\[(.+)\]")
    needed = list(project["dependencies"])
    known, waiting = project["optional-dependencies"], list(extras)
    for extra in waiting:  # which grows
        if extra not in known:
            sys.exit(f"extras: must be some of {', '.join(known)}; got {extra!r}.")
        for one in known[extra]:
            if named := own.fullmatch(one):
                waiting += [name for name in named[1].split(",") if name not in waiting]
            else:
                needed.append(one)
    return needed


def main(words):
    """Do as the command line says."""
    if not words:
        return install()
    if words[0] != "--extras":
        sys.exit(__doc__)
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = requirements(project, words[1].split(","))
    return subprocess.run([*PIP, "-qq", *needed, *words[2:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
