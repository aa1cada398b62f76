"""How a program that has an exported file, and not kzoo, turns a text into ids and what is written into a text.

`about` is the description in the file. The README shows these two functions, which are the same for every model.
"""


def to_ids(text, about):  # type: ignore[no-untyped-def]
    rule, number = about["text"], about["text"]["number"]
    words = list("".join(text.split())) if rule["characters"] else text.split()
    if number:  # zeros stand before each number; the digits of two may alternate
        turn = -1 if number["lowest_first"] else 1
        first, *others = (part[::turn] for part in "".join(words).split(number["operator"]))
        width = max(number["digits"], number["zeros"] + max(map(len, [first, *others])))
        filled = {"zeros": [part.rjust(width, "0") for part in others], "itself": [part * width for part in others]}
        parts = [first.rjust(width, "0"), *filled.get(number["second"], others)]
        pairs = [number["operator"], *(digit for pair in zip(*parts, strict=False) for digit in pair)]
        words = pairs if number["aligned"] else list((number["operator"] or "").join(parts))
    ids = [about["start_id"] if word == rule["delimiter"] else about["tokens"].index(word) for word in words]
    if "behind" in rule:  # columns behind the source, into which the answer is written
        factor, more = rule["behind"]
        columns = min(10_000, max(1, round(factor * len(ids)) + more))
        return ids + [about["start_id"]] + [about["end_id"]] * columns
    return rule["prefix"] + ids + ([] if rule["delimiter"] in words else rule["suffix"])


def to_text(answer, about):  # type: ignore[no-untyped-def]
    rule = about["text"]
    if rule["labels"]:
        return rule["labels"][answer]
    ids = answer[: answer.index(about["end_id"])] if about["end_id"] in answer else answer
    words = [about["tokens"][i] for i in ids if i < about["start_id"]]
    text = ("" if rule["characters"] else " ").join(words[::-1] if rule["reversed_target"] else words)
    if rule["number"] and text:
        text = text.split("+")[0] if rule["number"].get("running") else text  # the sums so far stand behind the last
        return (text.rstrip("0") if rule["number"]["lowest_first"] else text.lstrip("0")) or "0"
    return text
