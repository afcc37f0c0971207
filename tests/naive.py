"""Plain restatements of what the kernels do, to test against; imports nothing of ours."""

# --- Spans: conlleval.pl (Tjong Kim Sang, 2004-01-26), line by line. ---
#
# As there: L and U are E and S, M is I; S and the pair E, B are what its ports with IOBES add.

_PREFIXES = {"L": "E", "U": "S", "M": "I"}


def _split(label):
    prefix, _, kind = label.partition("-")
    return _PREFIXES.get(prefix, prefix), kind


def _end_of_chunk(prev_tag, tag, prev_type, kind):
    end = False
    if (prev_tag, tag) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}:
        end = True
    if (prev_tag, tag) in {("E", "E"), ("E", "I"), ("E", "O"), ("E", "B"), ("E", "S")}:
        end = True
    if prev_tag == "S" or (prev_tag, tag) in {("B", "S"), ("I", "S")}:
        end = True
    if prev_tag != "O" and prev_type != kind:
        end = True
    return end


def _start_of_chunk(prev_tag, tag, prev_type, kind):
    start = False
    if (prev_tag, tag) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}:
        start = True
    if (prev_tag, tag) in {("E", "E"), ("E", "I"), ("O", "E"), ("E", "B")}:
        start = True
    if tag == "S" or (prev_tag == "S" and tag != "O"):
        start = True
    if tag != "O" and prev_type != kind:
        start = True
    return start


def conlleval(sequences):
    """Give {type: [gold, predicted, right]} of [(gold labels, predicted labels)]; one text, as its input."""
    found = {}
    in_correct = False
    last_correct, last_correct_type, last_guessed, last_guessed_type = "O", "", "O", ""
    lines = []
    for gold, predicted in sequences:
        lines += [*zip(gold, predicted, strict=True), ("O", "O")]
    for gold, predicted in lines:
        correct, correct_type = _split(gold)
        guessed, guessed_type = _split(predicted)
        correct_end = _end_of_chunk(last_correct, correct, last_correct_type, correct_type)
        guessed_end = _end_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
        correct_start = _start_of_chunk(last_correct, correct, last_correct_type, correct_type)
        guessed_start = _start_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
        if in_correct:
            if correct_end and guessed_end and last_guessed_type == last_correct_type:
                in_correct = False
                found[last_correct_type][2] += 1
            elif correct_end != guessed_end or guessed_type != correct_type:
                in_correct = False
        if correct_start and guessed_start and guessed_type == correct_type:
            in_correct = True
        if correct_start:
            found.setdefault(correct_type, [0, 0, 0])[0] += 1
        if guessed_start:
            found.setdefault(guessed_type, [0, 0, 0])[1] += 1
        last_correct, last_correct_type = correct, correct_type
        last_guessed, last_guessed_type = guessed, guessed_type
    return found
