"""What a message is: the root of all that can be said on the wire, and how its fields are declared."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "Message", "wire"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def wire(kind: str, meaning: str) -> Any:
    """Declare a field of a message: its kind on the wire (see `codec.KINDS`) and what it means."""
    return field(metadata={"kind": kind, "meaning": meaning})


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """The root of all messages: what the wire and the log call it, who sends it to whom, and what answers it."""

    name: ClassVar[str]
    sender: ClassVar[str]
    recipient: ClassVar[str]
    answer: ClassVar[str]
