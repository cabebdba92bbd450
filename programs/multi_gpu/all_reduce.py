"""The sum over all processes, by hand in a ring and by torch.distributed: NCCL on GPUs, gloo without them.

python all_reduce.py [PROCESSES [ELEMENTS]]
"""

import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def ring_all_reduce(x):
    """Every process ends with the sum of all: reduce-scatter, then all-gather, each n - 1 steps of 1/n of x.

    A process sends 2 (n - 1) / n of x in all, however many there are: that is why rings are used.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    padded = torch.nn.functional.pad(x, (0, -x.numel() % size))
    parts = list(padded.chunk(size))  # views: what is added to them is added to `padded`
    received = torch.empty_like(parts[0])

    def pass_on(part):
        """Send a part to the right, receive the one before it from the left."""
        requests = dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, part, right), dist.P2POp(dist.irecv, received, left)]
        )
        for request in requests:
            request.wait()

    for step in range(size - 1):  # part r gathers what all have of it, on its way around the ring
        pass_on(parts[(rank - step) % size])
        parts[(rank - step - 1) % size] += received
    for step in range(size - 1):  # and goes around once more, complete
        pass_on(parts[(rank + 1 - step) % size])
        parts[(rank - step) % size].copy_(received)
    return padded[: x.numel()]


def work(rank, size, port, elements, failures):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    uses_gpus = torch.cuda.device_count() >= size
    device = torch.device("cuda", rank) if uses_gpus else torch.device("cpu")
    if uses_gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if uses_gpus else "gloo", rank=rank, world_size=size)
    try:
        # Whole numbers, so that the order of the additions changes nothing.
        generator = torch.Generator().manual_seed(rank)
        x = torch.randint(-100, 100, (elements,), generator=generator).to(device, torch.float32)
        expected = sum(
            torch.randint(-100, 100, (elements,), generator=torch.Generator().manual_seed(each)).float()
            for each in range(size)
        ).to(device)
        for name, reduce in (("ring by hand", ring_all_reduce), ("torch.distributed", library_all_reduce)):
            reduce(x.clone())  # connects
            dist.barrier()
            start = time.perf_counter()
            result = reduce(x.clone())
            if uses_gpus:
                torch.cuda.synchronize()
            seconds = time.perf_counter() - start
            wrong = int((result != expected).sum())
            failures[rank] += wrong
            if rank == 0:
                gb_per_s = 2 * (size - 1) / size * x.nbytes / seconds / 1e9
                print(f"{name:18} {seconds * 1e3:8.3f} ms, {gb_per_s:6.2f} GB/s, {wrong} wrong")
    finally:
        dist.destroy_process_group()


def library_all_reduce(x):
    dist.all_reduce(x)
    return x


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    words = sys.argv[1:]
    if len(words) > 2 or not all(word.isdecimal() and int(word) for word in words):
        print("usage: all_reduce.py [PROCESSES [ELEMENTS]]", file=sys.stderr)
        return 2
    gpus = torch.cuda.device_count()
    size = int(words[0]) if words else max(2, gpus)
    elements = int(words[1]) if len(words) > 1 else 1_000_003
    where = f"{size} GPUs, by NCCL" if gpus >= size else f"{size} processes on the CPU, by gloo"
    print(f"the sum of {elements} floats over {where}", flush=True)
    failures = torch.zeros(size, dtype=torch.int64).share_memory_()
    processes.spawn(work, (size, free_port(), elements, failures), nprocs=size)
    print(f"{int(failures.sum())} elements are wrong")
    return int(failures.sum()) != 0


if __name__ == "__main__":
    sys.exit(main())
