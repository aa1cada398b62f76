"""What `model.fit` trained is published with its recipe absent; without matplotlib the card has no picture."""

import importlib.util

import pytest

import kzoo
from kzoo.cli.main import main
from kzoo.errors import PresetError

pytestmark = pytest.mark.once


def test_what_fit_trained_can_be_published(make_model, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    model, folder = make_model(), tmp_path / "fitted"
    model.fit(kzoo.tasks.get("copy").dataset("train", 8), verbose=0)
    model.save_to_preset(folder)
    with pytest.raises(PresetError, match=r"results.json is missing, .*: kzoo evaluate .*fitted --write"):
        kzoo.upload_preset("hf://me/fitted", folder, dry_run=True)
    assert main(["evaluate", str(folder), "--lengths", "3", "--examples", "4", "--write"]) == 0
    plan = kzoo.upload_preset("hf://me/fitted", folder, dry_run=True)
    assert "recipe.json" not in plan.files and {"README.md", "results.json", "fitted.svg"} <= set(plan.files)
    capsys.readouterr()
    assert main(["card", str(folder)]) == 0
    card = capsys.readouterr().out
    assert "Task `copy`, trained on lengths that no recipe states." in card and "The recipe is absent" in card
    assert main(["info", str(folder)]) == 0 and "recipe: absent" in capsys.readouterr().out


def test_without_matplotlib_the_card_has_no_picture(make_model, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    folder = tmp_path / "fitted"
    make_model().save_to_preset(folder)
    main(["evaluate", str(folder), "--lengths", "3", "--examples", "4", "--write"])
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "matplotlib" else find(name, *more)
    )
    plan = kzoo.upload_preset("hf://me/fitted", folder, dry_run=True)
    assert not any(name.endswith(".svg") for name in plan.files) and "needs matplotlib" in capsys.readouterr().err
