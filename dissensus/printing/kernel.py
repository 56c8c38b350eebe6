"""Output about kernel matrices and kernel machines."""

from __future__ import annotations

import shlex

from rich.markup import escape
from rich.table import Table

from dissensus.printing.console import out, say, show_json, show_rows
from dissensus.records.kernels import HEADS, GramEstimate, GramResult, KernelFit, KernelList, time_words
from dissensus.report.wording import counted


def show_estimate(estimate: GramEstimate, as_json: bool, is_all: bool) -> None:
    """What it will cost, before it starts; in JSON only if nothing follows, since that would be a second document."""
    if as_json:
        return show_json(estimate.model_dump(mode="json")) if is_all else None
    return say(estimate.words)


def show_gram(estimate: GramEstimate, result: GramResult, as_json: bool) -> None:
    """Where the matrix is, and how to read it."""
    if as_json:
        return show_json({"estimate": estimate.model_dump(mode="json")} | result.model_dump(mode="json"))
    kept = result.tiles - result.computed
    rest = f", {counted(kept, 'tile')} from an earlier run" if kept else ""
    if result.computed:
        say(f"{counted(result.computed, 'tile')} in {time_words(result.seconds)}{rest}: {result.path}")
    else:
        say(f"Nothing was left to compute{rest}: {result.path}")
    return say(f'Next: np.load("{result.path}", mmap_mode="r")')


def show_kernel_fit(result: KernelFit, as_json: bool) -> None:
    """How good the machine is, class by class, and how it enters a study."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    for sentence in result.words:
        say(sentence)
    show_rows(HEADS, result.rows())
    if result.path is None:
        return None
    name = result.path.stem
    return say(f"Next: dissensus predict STUDY {shlex.quote(f'{name}=kernel:{result.path}')}")


def show_kernels(found: KernelList, as_json: bool) -> None:
    """The named kernels, and what computes them."""
    if as_json:
        return show_json(found.model_dump(mode="json"))
    table = Table("kernel", "layers")
    for one in found.kernels:
        table.add_row(escape(one.name), escape(one.layers))
    out.print(table)
    say(f"CPU: {counted(found.threads, 'thread')}")
    return say("CUDA: usable" if found.no_cuda is None else f"CUDA: not usable ({found.no_cuda})")
