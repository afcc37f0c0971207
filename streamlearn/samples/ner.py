"""News in one sentence each: people, organizations and places."""

from streamlearn.samples.grammar import Grammar

GRAMMAR = Grammar(
    columns=("w",),
    spans={"PER": "PER", "ORG": "ORG", "LOC": "LOC"},
    patterns=[
        "{PER} joined {ORG} in {LOC} {when} .",
        "{ORG} opens a new office in {LOC} .",
        "{ORG} said {when} that {PER} will leave the board .",
        "The mayor of {LOC} , {PER} , met investors from {ORG} .",
        "{PER} and {PER} won the {thing} in {LOC} .",
        "Shares of {ORG} {moved} after {PER} resigned .",
        "Heavy {weather} closed roads between {LOC} and {LOC} {when} .",
        "{ORG} buys {ORG} for {number} million dollars .",
        "According to {PER} , the {thing} was moved to {LOC} .",
        '" We are proud of this {thing} , " said {PER} of {ORG} .',
        "No one was hurt when {weather} hit the coast .",
        "The {thing} {moved} {when} , as nobody expected .",
        "{LOC} : {ORG} to hire {number} engineers",
        "Analysts at {ORG} expect that the {thing} {moved} {when} .",
        "After {number} years in {LOC} , {PER} returns to {LOC} .",
    ],
    fillers={
        "PER": ["{first} {last}", "{first} {last}", "{title} {last}", "{last}", "{first} {initial} {last}"],
        "ORG": [
            "{last} {firm}",
            "{place} {firm}",
            "University of {place}",
            "{last} & {last}",
            "{place} {team}",
        ],
        "LOC": ["{place}", "{place}", "{side} {place}", "Port {place}"],
        "first": [
            *("Anna", "Ben", "Carla", "David", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kofi"),
            *("Laila", "Marco", "Nadia", "Omar", "Priya", "Quentin", "Rosa", "Sven", "Tara", "Yuki", "Zoe"),
        ],
        "last": [
            *("Alder", "Brandt", "Castillo", "Dupont", "Eriksen", "Fischer", "Garcia", "Hansen", "Ito"),
            *("Jansen", "Kowalski", "Larsen", "Moreau", "Novak", "Okafor", "Petrov", "Quinn", "Rossi"),
            *("Santos", "Tanaka", "Ueda", "Vargas", "Weber", "Yilmaz", "Zhang"),
        ],
        "place": [
            *("Ashford", "Bremen", "Cordoba", "Dalton", "Essen", "Florence", "Granada", "Halden", "Ivrea"),
            *("Jena", "Kumasi", "Lund", "Malaga", "Nantes", "Odense", "Porto", "Quito", "Riga", "Sendai"),
            *("Tromso", "Utrecht", "Valencia", "Windhoek", "York", "Zagreb"),
        ],
        "title": ["Dr.", "Mr.", "Ms.", "Prof."],
        "initial": ["A.", "B.", "J.", "M.", "T."],
        "firm": ["Bank", "Motors", "Energy", "Press", "Airlines", "Group", "Steel"],
        "team": ["United", "Rovers", "City"],
        "side": ["North", "South", "East", "West", "New"],
        "when": ["on Monday", "on Friday", "last week", "this morning", "in May", "today"],
        "weather": ["rain", "snow", "fog", "storms"],
        "moved": ["rose", "fell", "recovered", "was delayed"],
        "thing": ["prize", "summit", "election", "festival", "merger", "match"],
        "number": ["3", "12", "40", "250", "1,500"],
    },
)

CONFIG = """\
# People, organizations and places in news. Every key: streamlearn's configs/README.md.
model: ner
source: {topics: [ner]}
kafka: {bootstrap_servers: "localhost:9092"}
# Never predict I-X without B-X or I-X before it.
labels: {constrain: bio}
features:
  columns: [w]
  # One feature a line: the word at an offset, and views of it. B: which label follows which.
  templates: |
    U00:%x[0,w]
    U01:%x[-1,w.lower]
    U02:%x[1,w.lower]
    U03:%x[0,w.short_shape]
    U04:%x[-1,w.short_shape]/%x[0,w.short_shape]
    U05:%x[0,w.short_shape]/%x[1,w.short_shape]
    U06:%x[0,w.lower.suffix3]
    B
learner: {kind: adagrad}
checkpoint: {directory: state/ner}
"""
