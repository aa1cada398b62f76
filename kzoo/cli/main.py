"""The command `kzoo`.

Results go to stdout, as tables or with --json as JSON, errors too; progress and messages go to stderr. The exit code is
0 when all went well, 1 when something failed on the way, 2 when what was asked for cannot be done.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import kzoo
from kzoo.backend import spare
from kzoo.cli import compare, data, doctor, evaluation, gallery, lists, plots, presets, results, training
from kzoo.cli.arguments import import_argument
from kzoo.cli.completion import complete
from kzoo.cli.output import print_json
from kzoo.cli.quiet import quiet_tensorflow
from kzoo.discovery import import_file, of_own
from kzoo.errors import KzooError, OutputError, UnreachableError, did_you_mean, of_kzoo


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    parser, verbs = _parser()
    complete(parser)
    given = sys.argv[1:] if arguments is None else [str(argument) for argument in arguments]
    if given and not given[0].startswith("-") and given[0] not in verbs:
        parser.given = given
        parser.error(did_you_mean("verb", given[0], verbs))
    options = parser.parse_args(given)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes are no message of ours
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch: the models are small, and threads wait for each other
    spare("matplotlib", "pandas")  # a third of what it takes to import Keras
    quiet_tensorflow()
    try:
        for path in getattr(options, "imports", None) or []:
            import_file(path)
        return int(options.run(options) or 0)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("kzoo: interrupted", file=sys.stderr)
        return 1
    except Exception as error:
        found: Exception | None = of_kzoo(error) if isinstance(error, (KzooError, RuntimeError)) else None
        found = found or of_own(error) or (error if isinstance(error, OSError) else None)
        if found is None:
            raise
        _tell(found, options)
        failed = isinstance(found, (OutputError, UnreachableError)) or not isinstance(found, KzooError)
        return 1 if failed else 2


def _tell(error: Exception, options: argparse.Namespace) -> None:
    """Prints an error to stderr, and with --json to stdout too."""
    print(f"kzoo: {error}", file=sys.stderr)
    if getattr(options, "json", False):
        print_json({"error": {"type": type(error).__name__, "message": str(error)}})


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are JSON too, where that is asked for."""

    given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        if "--json" in self.given:
            print_json({"error": {"type": "UsageError", "message": message}})
        super().error(message)


def _parser() -> tuple[_Parser, list[str]]:
    """Returns the parser of the command, and its verbs."""
    parser = _Parser("kzoo", description="A Keras model zoo for length generalisation.")
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
        import_argument(sub)

    verb("list", lists.list_, "list the presets, tasks, mechanisms or recipes", lists.list_parser)
    verb("info", presets.info, "tell what is known of a preset", presets.info_parser)
    verb("generate", evaluation.generate, "write a preset's output for texts", evaluation.generate_parser)
    verb("evaluate", evaluation.evaluate, "measure a preset's accuracy by length", evaluation.evaluate_parser)
    verb("compare", compare.compare, "show presets side by side", compare.compare_parser)
    verb("train", training.train, "train a preset from a recipe, or many from a grid of them", training.train_parser)
    verb(
        "gallery",
        gallery.gallery,
        "serve a page where presets run step by step in the browser, or write it as a folder",
        gallery.gallery_parser,
        has_json=False,
    )
    verb("export", presets.export, "write a preset as a file that runs without kzoo", presets.export_parser)
    verb("card", presets.card, "write a preset's card and picture", presets.card_parser, has_json=False)
    verb("download", presets.download, "fetch a preset from the Hub into the cache", presets.download_parser)
    verb("publish", presets.publish, "put a preset on the Hub", presets.publish_parser)
    verb("data", data.data, "write examples of a task as JSON lines", data.data_parser, has_json=False)
    verb("results", results.results, "show our results beside the papers'", results.results_parser)
    plots.plot_parsers(verbs.add_parser("plot", help="draw attention or accuracy by length"))
    verb("doctor", doctor.doctor, "tell about backends, versions, devices and the cache")
    return parser, list(verbs.choices)


if __name__ == "__main__":
    sys.exit(main())
