"""What stands in a Markdown file: code blocks, links, headings."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A code block: the file it stands in, the line it begins at, its language and its text."""

    path: Path
    line: int
    language: str
    text: str


def blocks(path: Path) -> Iterator[Block]:
    """Yield the code blocks of a file."""
    text = path.read_text()
    for match in _BLOCK.finditer(text):
        yield Block(path, text[: match.start()].count("\n") + 1, match[1], match[2])


def prose(path: Path) -> str:
    """Return the text of a file without its code blocks."""
    return _BLOCK.sub("", path.read_text())


def links(path: Path) -> list[str]:
    """Return the targets of all links and pictures."""
    return _LINK.findall(prose(path))


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the commands of a shell block as words, without the variables that are set before them."""
    for line in block.text.splitlines():
        for command in line.split(" && "):
            words = shlex.split(command, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words.pop(0)
            if words:
                yield words
