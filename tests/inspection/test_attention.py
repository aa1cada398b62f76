"""Pictures of attention and of accuracy by length."""

import io

import keras
import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import kzoo
from kzoo.errors import InputError
from kzoo.inspection import animate_writing, plot_attention, plot_lengths, plot_writing

TEXTS = {
    "RecurrentSeq2Seq": ("recopy", "4 7 9", "4 4 4"),
    "TransformerSeq2Seq": ("addition", "12+9", "21"),
    "TransformerDecoder": ("sorter", "5 3 1", "1 3 5"),
}


@pytest.fixture(scope="module")
def model():
    return kzoo.models.RecurrentSeq2Seq.from_task("recopy", attention="mix_onestep", encoder_units=4)


@pytest.fixture(scope="module", params=TEXTS)
def writer(request):
    """A model that writes, with a text and an output."""
    cls, (task, text, output) = getattr(kzoo.models, request.param), TEXTS[request.param]
    sizes = {"encoder_units": 4} if task == "recopy" else {"units": 8, "heads": 2}
    return cls.from_task(task, **sizes), text, output


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plot_attention(model, tmp_path, suffix):
    path = tmp_path / f"attention.{suffix}"
    plot_attention(model, "4 7 9", path, output="4 4 4")
    content = path.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    if suffix == "svg":
        words = ("&lt;end&gt;", "attention weight", "share of", "location", "4 7 9", "token read", "token written")
        assert all(word in content.decode() for word in words)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("digits", [3, 20, 60])
@pytest.mark.once
def test_nothing_is_cut_off(model, digits):
    figure = plot_attention(model, " ".join("4" * digits), output=" ".join("4" * 3 * digits))
    width, height = figure.get_size_inches()
    inked = figure.get_tightbbox()
    assert 0 <= inked.x0 and inked.x1 <= width and 0 <= inked.y0 and inked.y1 <= height


@pytest.mark.once
def test_every_writer_has_pictures(writer, tmp_path):
    model, text, output = writer
    for plot in (plot_attention, plot_writing):
        plot(model, text, tmp_path / "a.svg", output=output)
        assert f"{text}  \u2192  {output}" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "step 1 of" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.once
def test_animation(tmp_path):
    from PIL import Image

    model = kzoo.models.construct_sorter(largest=9, longest=10)
    animate_writing(model, "3 1", tmp_path / "sorter.gif")
    assert [path.name for path in tmp_path.iterdir()] == ["sorter.gif"]
    with Image.open(tmp_path / "sorter.gif") as image:
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append((image.info["duration"], np.array(image.convert("L"))))
    assert len(frames) >= 2 and sum(duration for duration, _ in frames) == 5000  # two numbers, and a rest of three
    assert (frames[0][1] != frames[1][1]).any()
    with pytest.raises(InputError, match=r"written as \.gif, not '\.png'"):
        animate_writing(model, "3 1", tmp_path / "sorter.png")


def test_what_answers_at_once_is_not_animated():
    model = kzoo.models.TransformerClassifier.from_task("ctl_forward", units=8, steps=2)
    with pytest.raises(InputError, match="answers at once"):
        plot_writing(model, "101 d")
    reader = kzoo.models.RecurrentClassifier.from_task("ctl_forward", units=4)
    text = plot_attention(reader, "101 d")
    assert "its answer at each token" in text.get_suptitle()


def test_of_many_answers_the_likeliest_are_shown():
    keras.utils.set_random_seed(0)
    tagger = kzoo.models.SequenceTagger.from_task("a5", units=4)
    source = "g1 g2 g3"
    trace, axes = tagger.trace(source), plot_attention(tagger, source).axes[0]
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert axes.get_images()[0].get_array().shape == (40, 3)
    assert {trace.labels["label"][k] for k in trace["answers"].argmax(axis=1)} <= set(shown)


def test_a_session_of_matplotlib_stays_as_it_is(model, tmp_path):
    ours = {"font.size": 23.0, "text.usetex": True, "svg.fonttype": "path", "savefig.bbox": "tight"}
    with matplotlib.rc_context(ours):
        before = dict(matplotlib.rcParams)
        figure = plot_attention(model, "4 7", output="4 4")
        assert isinstance(figure, Figure) and dict(matplotlib.rcParams) == before
        figure.savefig(tmp_path / "a.svg")
        assert figure._repr_png_().startswith(b"\x89PNG")
        assert dict(matplotlib.rcParams) == before
    written = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "token written, from the top down</text>" in written and "23px" not in written


def test_dollars_stay_dollars():
    figure = plot_lengths({"$a$": [{"metric": "sequence_accuracy", "length": 5, "value": 1, "low": 1, "high": 1}]})
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert ">$a$<" in buffer.getvalue().decode()


def test_unknown_format(model, tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf, not '\.doc'"):
        plot_attention(model, "4 7", tmp_path / "picture.doc", output="4")


def test_an_argument_that_does_not_apply(model):
    with pytest.raises(InputError, match="steps does not apply: a RecurrentSeq2Seq has none to choose"):
        plot_attention(model, "4 7", steps=3)


def test_plot_lengths_is_reproducible(tmp_path):
    row = {"metric": "sequence_accuracy", "low": 0.4, "high": 0.6, "paper": 1.0}
    rows = [{**row, "length": length, "value": 0.5} for length in (5, 1000)]
    for name in ("a.svg", "b.svg"):
        plot_lengths({"one": rows, "two": rows}, tmp_path / name, trained=(5, 10), note="the note", unit="digits")
    a, b = (tmp_path / name for name in ("a.svg", "b.svg"))
    assert a.read_bytes() == b.read_bytes()
    words = ("the note", "length (digits, logarithmic)", "trained on 5 to 10", "two", "the paper", "1,000", "interval")
    assert all(word in a.read_text(encoding="utf-8") for word in words)


def test_few_lengths_are_on_a_linear_axis():
    rows = [{"metric": "sequence_accuracy", "low": 0, "high": 1, "length": k, "value": 0.5} for k in (2, 8)]
    axes = plot_lengths({"one": rows}, unit="levels").axes[0]
    assert axes.get_xscale() == "linear" and axes.get_xlabel() == "length (levels)"


@pytest.mark.once
def test_a_picture_has_room_for_so_many_tokens(make_model, tmp_path):
    with pytest.raises(InputError, match="a picture has room for 200 tokens, not for 3,000"):
        plot_attention(make_model(), " ".join("4" * 3000), tmp_path / "a.png")
    with pytest.raises(InputError, match="a picture has room for 200 written tokens, not for 20"):
        plot_attention(make_model(), "4 7", tmp_path / "a.png", " ".join("4" * 201))
    assert list(tmp_path.iterdir()) == []
