"""The common base of all sections: unknown keys are errors, numbers are finite, values never change."""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

AnyPath = TypeVar("AnyPath", Path, str)


def _all_different(names: list[str]) -> list[str]:
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise ValueError(f"{twice[0]!r} occurs twice; remove one")
    return names


def _possible(path: AnyPath) -> AnyPath:
    if "\0" in str(path):
        raise ValueError("the path contains a NUL character")
    return path


# What may be counted or reserved in memory.
Count = Annotated[int, Field(ge=1, le=1 << 30)]
Names = Annotated[list[str], AfterValidator(_all_different)]
FilePath = Annotated[Path, AfterValidator(_possible)]
# A directory or a URL.
Location = Annotated[str, AfterValidator(_possible)]


class Section(BaseModel):
    """A section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
