"""Plain English sentences with parts of speech: noun, verb, prepositional and adverb phrases."""

from streamlearn.samples.grammar import Grammar

GRAMMAR = Grammar(
    columns=("w", "pos"),
    spans={"NP": "NP", "NPS": "NP", "VP": "VP", "VPS": "VP", "PP": "PP", "ADVP": "ADVP"},
    patterns=[
        "{NP} {VP} {NP} ./.",
        "{NP} {VP} {NP} {PP} {NP} ./.",
        "{NPS} {VPS} {NP} {ADVP} ./.",
        "{ADVP} ,/, {NP} {VP} {NP} ./.",
        "{PP} {NP} ,/, {NP} {VP} {NPS} ./.",
        "{NP} {VP} {NP} and/CC {NP} ./.",
        "{NP} ,/, {NP} ,/, {VP} {NPS} {PP} {NP} ./.",
        "{NPS} {ADVP} {VPS} {PP} {NP} {PP} {NPS} ./.",
    ],
    fillers={
        "NP": [
            *("{det} {noun}", "{det} {adj} {noun}", "{det} {noun} {noun}", "{name}", "{name} {name}"),
            *("he/PRP", "she/PRP", "it/PRP", "{num} {nouns}"),
        ],
        "NPS": ["{nouns}", "{adj} {nouns}", "the/DT {nouns}", "they/PRP", "all/DT {adj} {nouns}"],
        "VP": ["{verb}", "will/MD {base}", "has/VBZ {part}", "did/VBD n't/RB {base}", "was/VBD {adv} {part}"],
        "VPS": ["{verb}", "have/VBP {part}", "may/MD {base}", "were/VBD {part}"],
        "PP": ["in/IN", "of/IN", "for/IN", "with/IN", "after/IN", "because/RB of/IN"],
        "ADVP": ["{adv}", "very/RB {adv}", "soon/RB", "again/RB"],
        "det": ["the/DT", "a/DT", "this/DT", "its/PRP$", "every/DT"],
        "adj": [f"{word}/JJ" for word in ("new", "small", "federal", "strong", "quiet", "foreign", "early")],
        "noun": [
            f"{word}/NN"
            for word in ("company", "plan", "market", "report", "letter", "river", "engine", "offer", "trade")
        ],
        "nouns": [
            f"{word}/NNS"
            for word in ("shares", "workers", "prices", "banks", "students", "reports", "letters", "plans")
        ],
        "name": [f"{word}/NNP" for word in ("Brown", "Paris", "Miller", "Osaka", "Lopez", "Norden", "Hale")],
        "num": ["two/CD", "10/CD", "300/CD", "several/JJ"],
        "verb": [f"{word}/VBD" for word in ("sold", "built", "found", "left", "raised", "wrote", "plans")],
        "base": [f"{word}/VB" for word in ("sell", "build", "find", "leave", "raise", "write", "plan")],
        "part": [
            f"{word}/VBN" for word in ("sold", "built", "found", "left", "raised", "written", "planned")
        ],
        "adv": [f"{word}/RB" for word in ("quickly", "often", "hardly", "clearly", "early")],
    },
)

CONFIG = """\
# Phrases of English, from words and parts of speech. Every key: streamlearn's configs/README.md.
model: chunking
source: {topics: [chunking]}
kafka: {bootstrap_servers: "localhost:9092"}
features:
  columns: [w, pos]
  # One feature a line. *: also with the label before. B: which label follows which.
  templates: |
    U00:%x[0,w]
    U01:%x[-1,w]
    U02:%x[1,w]
    *10:%x[0,pos]
    U11:%x[-1,pos]/%x[0,pos]
    U12:%x[0,pos]/%x[1,pos]
    U13:%x[-2,pos]/%x[-1,pos]/%x[0,pos]
    B
learner: {kind: adagrad}
checkpoint: {directory: state/chunking}
"""
