"""Workloads as AICB's generator writes them without a GPU: a calculation takes 1 ns (aliyun/aicb 23eec3c).

``python -m parity.aicb > gpt.txt`` writes an iteration of GPT-13B on 128 GPUs, ``--set layers=80`` changes a number of
the model, and ``--micro ALLREDUCE`` writes a micro test.

Rules and sizes are those of workload_generator/SimAI_training_workload_generator.py, parameters those of
workload_generator/mocked_model/training/MockedMegatron.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

NOTHING = ("NONE", 0)
"""No collective, of no bytes."""
Pass = tuple[str, int]
"""A collective and its bytes."""


@dataclass(frozen=True)
class Dense:
    """A GPT under Megatron with sequence parallelism, without experts."""

    world: int
    tp: int
    pp: int
    global_batch: int
    layers: int
    hidden: int
    sequence: int
    vocabulary: int
    micro_batch: int = 1

    @property
    def stage_layers(self) -> int:
        """Layers of a pipeline stage."""
        return self.layers // self.pp

    @property
    def activations(self) -> int:
        """Bytes of the activations of a micro-batch, two a value."""
        return 2 * self.micro_batch * self.sequence * self.hidden

    @property
    def parameters(self) -> int:
        """Parameters of a GPU; the embedding counts four times, a layer has one normalization."""
        multiple = 128 * self.tp
        rows = -(-self.vocabulary // multiple) * multiple // self.tp
        embedding = (4 * rows + self.sequence) * self.hidden
        layer = 12 * self.hidden * self.hidden // self.tp + 2 * self.hidden
        return embedding + self.stage_layers * layer + self.hidden * rows


def row(
    name: str,
    forward: Pass = NOTHING,
    inputs: Pass = NOTHING,
    weights: Pass = NOTHING,
    *,
    ns: int = 1,
    update: int = 100,
) -> str:
    """Return a row: calculations of ``ns`` with their collectives, and the time of the update in ns."""
    words = [name, "-1"]
    for word, size in (forward, inputs, weights):
        words += [str(ns), word, str(size)]
    return "\t".join([*words, str(update)]) + "\n"


def training(model: Dense) -> str:
    """Return an iteration of a model as text for SimAI."""
    size = model.activations
    gather, scatter, kept = ("ALLGATHER", size), ("REDUCESCATTER", size), ("NONE", size)
    layer = [
        row("attention_column", gather),
        row("attention_row", scatter, kept),
        row("mlp_column", gather),
        row("mlp_row", scatter, kept),
    ]
    batches = model.global_batch // (model.micro_batch * (model.world // (model.tp * model.pp)))
    batch = [
        row("embedding_layer", kept, kept),
        *(model.stage_layers * layer),
        row("final_column", gather),
        row("embedding_norm", ("ALLREDUCE", 2 * model.vocabulary * model.hidden)),
    ]
    rows = [
        row("grad_norm", ("ALLGATHER", 2 * model.parameters), weights=("REDUCESCATTER", 4 * model.parameters)),
        row("moe_grad_norm1", weights=("ALLGATHER_DP_EP", 0)),
        row("moe_grad_norm2", weights=("REDUCESCATTER_DP_EP", 0)),
        *(batches * batch),
        *(row(f"cross_entropy{i}", ("ALLREDUCE", 4 * model.sequence * model.micro_batch), ns=0) for i in (1, 2, 3)),
        *(row(f"optimizer{i}", ("ALLREDUCE", 4), ns=0) for i in (1, 2, 3, 4)),
    ]
    stages = f"pp_comm: {size / model.tp}" if model.pp > 1 else "pp_comm: 0"
    head = (
        f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {model.tp} ep: 1 pp: {model.pp} "
        f"vpp: {model.stage_layers} ga: {batches} all_gpus: {model.world} checkpoints: 0 checkpoint_initiates: 0 "
    )
    return f"{head}{stages}\n{len(rows)}\n{''.join(rows)}"


def micro(collective: str, least: int = 4096, most: int = 1 << 30) -> str:
    """Return the micro test of a collective: sizes in bytes that double from ``least`` to ``most``."""
    sizes = [least]
    while sizes[-1] * 2 <= most:
        sizes.append(sizes[-1] * 2)
    rows = [row("micro_test", weights=(collective, size), update=1) for size in sizes]
    return f"MICRO\n{len(rows)}\n{''.join(rows)}"


GPT_13B = Dense(world=128, tp=8, pp=2, global_batch=8, layers=40, hidden=5120, sequence=4096, vocabulary=50257)
"""The oracle of several simulators: GPT-13B on 16 servers of 8 GPUs (b4-gpt13b-w128-tp8-pp2-gbs8)."""
SERVER = Dense(world=8, tp=8, pp=1, global_batch=1, layers=20, hidden=5120, sequence=4096, vocabulary=50257)
"""A server of it by itself: the same rows, and no gradients to reduce."""


def main(words: Sequence[str] | None = None) -> int:
    """Write the workload that was asked for; return the exit status."""
    parser = argparse.ArgumentParser("python -m parity.aicb", description=__doc__)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=NUMBER", help="a number of the model; repeats"
    )
    parser.add_argument("--micro", metavar="COLLECTIVE", help="a micro test of this collective instead")
    options = parser.parse_args(words)
    known = [field.name for field in fields(Dense)]
    numbers: dict[str, int] = {}
    for pair in options.set:
        key, _, value = pair.partition("=")
        if key not in known or not (value.isascii() and value.isdigit()):
            print(f"--set {pair}: expected KEY=NUMBER with one of {', '.join(known)}", file=sys.stderr)
            return 2
        numbers[key] = int(value)
    sys.stdout.write(micro(options.micro) if options.micro else training(replace(GPT_13B, **numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
