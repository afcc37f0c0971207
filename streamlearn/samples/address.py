"""Postal addresses in one line each: house number, street, unit, town, state and postal code."""

from streamlearn.samples.grammar import Grammar

GRAMMAR = Grammar(
    columns=("w",),
    spans={
        "NO": "number",
        "STREET": "street",
        "UNIT": "unit",
        "TOWN": "town",
        "STATE": "state",
        "ZIP": "code",
    },
    patterns=[
        "{NO} {STREET} , {TOWN} {STATE} {ZIP}",
        "{NO} {STREET} {UNIT} , {TOWN} , {STATE} {ZIP}",
        "{NO} {STREET} {TOWN} {STATE}",
        "{STREET} {NO} , {ZIP} {TOWN}",
        "{UNIT} , {NO} {STREET} , {TOWN} {STATE} {ZIP}",
        "attn {STREET} {NO} {TOWN}",
    ],
    fillers={
        "NO": ["{digit}{digit}", "{digit}{digit}{digit}", "{digit}{digit}{letter}", "{digit}"],
        "STREET": ["{name} {way}", "{side} {name} {way}", "{nth} {way}", "{name} {name} {way}"],
        "UNIT": ["{room} {digit}{digit}", "{room} {letter}", "# {digit}{digit}"],
        "TOWN": ["{town}", "{town}", "{new} {town}", "{town} {end}"],
        "STATE": ["IL", "CA", "TX", "OH", "WA", "NY", "FL", "GA"],
        "ZIP": [
            "{digit}{digit}{digit}{digit}{digit}",
            "{digit}{digit}{digit}{digit}{digit}-{digit}{digit}{digit}{digit}",
        ],
        "digit": list("123456789"),
        "letter": list("ABCDEF"),
        "name": ["Oak", "Maple", "Lincoln", "Park", "Lake", "Hill", "Cedar", "River", "Grant", "Mill", "Elm"],
        "way": ["St", "Street", "Ave", "Rd", "Blvd", "Ln", "Dr", "Way"],
        "nth": ["1st", "2nd", "3rd", "12th", "42nd"],
        "side": ["N", "S", "East", "West"],
        "room": ["Apt", "Unit", "Suite", "Rm"],
        "town": ["Salem", "Aurora", "Dover", "Milton", "Troy", "Clinton", "Ashland", "Hudson", "Lakewood"],
        "new": ["New", "Fort", "Mount", "Saint"],
        "end": ["Heights", "Falls", "City"],
    },
)

CONFIG = """\
# The parts of postal addresses. Every key: streamlearn's configs/README.md.
model: address
source: {topics: [address]}
kafka: {bootstrap_servers: "localhost:9092"}
labels: {constrain: bio}
features:
  columns: [w]
  # One feature a line: the word at an offset, and views of it. B: which label follows which.
  templates: |
    U00:%x[0,w.lower]
    U01:%x[-1,w.lower]
    U02:%x[1,w.lower]
    U03:%x[0,w.shape]
    U04:%x[-1,w.short_shape]/%x[0,w.short_shape]
    U05:%x[0,w.short_shape]/%x[1,w.short_shape]
    U06:%x[-1,w.lower]/%x[0,w.lower]
    B
learner: {kind: adagrad}
checkpoint: {directory: state/address}
"""
