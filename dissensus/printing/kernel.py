"""Output about kernel matrices and kernel machines."""

from __future__ import annotations

import shlex

from rich.markup import escape
from rich.table import Table

from dissensus.printing.console import document, say, say_next, show_rows, show_table
from dissensus.records.kernels import HEADS, GramEstimate, GramResult, KernelFit, KernelList, time_words
from dissensus.report.wording import counted


def show_estimate(estimate: GramEstimate, as_json: bool, is_all: bool) -> None:
    """What it will cost, before it starts; in JSON only if nothing follows, since that would be a second document."""
    if is_all or not as_json:
        with document(as_json, estimate):
            say(estimate.words)


def show_gram(estimate: GramEstimate, result: GramResult, as_json: bool) -> None:
    """Where the matrix is, and how to read it."""
    with document(as_json, {"estimate": estimate.model_dump(mode="json")}, result):
        kept = result.tiles - result.computed
        rest = f", {counted(kept, 'tile')} from an earlier run" if kept else ""
        if result.computed:
            say(f"{counted(result.computed, 'tile')} in {time_words(result.seconds)}{rest}: {result.path}")
        else:
            say(f"Nothing was left to compute{rest}: {result.path}")
        say_next(f'np.load("{result.path}", mmap_mode="r")')


def show_kernel_fit(result: KernelFit, as_json: bool) -> None:
    """How good the machine is, class by class, and how it enters a study."""
    with document(as_json, result):
        for sentence in result.words:
            say(sentence)
        show_rows(HEADS, result.rows())
        if result.path is None:
            return
        name = result.path.stem
        say_next(f"dissensus predict STUDY {shlex.quote(f'{name}=kernel:{result.path}')}")


def show_kernels(found: KernelList, as_json: bool) -> None:
    """The named kernels, and what computes them."""
    with document(as_json, found):
        table = Table("kernel", "layers")
        for one in found.kernels:
            table.add_row(escape(one.name), escape(one.layers))
        show_table(table)
        say(f"CPU: {counted(found.threads, 'thread')}")
        say("CUDA: usable" if found.no_cuda is None else f"CUDA: not usable ({found.no_cuda})")
