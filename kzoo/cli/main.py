"""The command `kzoo`.

Results go to stdout, as tables or with --json as JSON; progress and messages go to stderr. The exit code is 0 when all
went well, 1 when something failed on the way, 2 when what was asked for cannot be done.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

import kzoo
from kzoo.cli import doctor, evaluation, plots, presets, training
from kzoo.errors import KzooError, UnreachableError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes are no message of ours
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch: the models are small, and threads wait for each other
    try:
        return int(options.run(options) or 0)
    except KzooError as error:
        print(f"kzoo: {error}", file=sys.stderr)
        return 1 if isinstance(error, UnreachableError) else 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"kzoo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kzoo: interrupted", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("kzoo", description="A Keras model zoo for length generalisation.")
    parser.add_argument("--version", action="version", version=f"kzoo {kzoo.__version__}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(
        name: str,
        run: Callable[[argparse.Namespace], int | None],
        about: str,
        arguments: Callable[[argparse.ArgumentParser], None] = lambda sub: None,
        *,
        has_json: bool = True,
    ) -> None:
        sub = verbs.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        arguments(sub)
        sub.set_defaults(run=run)
        if has_json:
            sub.add_argument("--json", action="store_true", help="print JSON")

    verb("list", presets.list_, "list the presets", presets.list_parser)
    verb("info", presets.info, "tell what is known of a preset", presets.info_parser)
    verb("generate", evaluation.generate, "write a preset's output for texts", evaluation.generate_parser)
    verb("evaluate", evaluation.evaluate, "measure a preset's accuracy by length", evaluation.evaluate_parser)
    verb("train", training.train, "train a preset from a recipe, or many from a grid of them", training.train_parser)
    verb("export", presets.export, "write a preset as a file that runs without kzoo", presets.export_parser)
    verb("card", presets.card, "write a preset's card and picture", presets.card_parser, has_json=False)
    verb("download", presets.download, "fetch a preset from the Hub into the cache", presets.download_parser)
    verb("publish", presets.publish, "put a preset on the Hub", presets.publish_parser)
    verb("results", training.results, "show our results beside the papers'", training.results_parser)
    plots.plot_parsers(verbs.add_parser("plot", help="draw attention or accuracy by length"))
    verb("doctor", doctor.doctor, "tell about backends, versions, devices and the cache")
    return parser


if __name__ == "__main__":
    sys.exit(main())
