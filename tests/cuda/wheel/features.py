# SPDX-License-Identifier: Apache-2.0
"""features.py [NAME]: trains ten steps with one feature of PyTorch on CUDA; else lists them."""

import os
import sys
import tempfile

import notes
import torch
from torch import nn
from torch.nn import functional

STEPS, BATCH, WIDTH, CLASSES = 10, 32, 64, 10
FEATURES = {}


def feature(function):
    FEATURES[function.__name__] = function
    return function


def mlp(**options):
    layers = [nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, CLASSES)]
    return nn.Sequential(*layers).to("cuda", **options)


def rows():
    return torch.randn(BATCH, WIDTH, device="cuda")


def labels():
    return torch.zeros(BATCH, dtype=torch.long, device="cuda")


def loss_of(model, x):
    return functional.cross_entropy(model(x), labels())


def train(model, optimizer, step=None):
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = step(model) if step else loss_of(model, rows())
        loss.backward()
        optimizer.step()


def with_optimizer(make):
    model = mlp()
    train(model, make(model.parameters()))


@feature
def sgd():
    with_optimizer(lambda p: torch.optim.SGD(p, 0.1))


@feature
def sgd_momentum():
    with_optimizer(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True))


@feature
def adamw():
    with_optimizer(torch.optim.AdamW)


@feature
def adamw_foreach():
    with_optimizer(lambda p: torch.optim.AdamW(p, foreach=True))


@feature
def adamw_fused():
    with_optimizer(lambda p: torch.optim.AdamW(p, fused=True))


@feature
def adam_capturable():
    with_optimizer(lambda p: torch.optim.Adam(p, capturable=True))


@feature
def rmsprop():
    with_optimizer(torch.optim.RMSprop)


@feature
def adagrad():
    with_optimizer(torch.optim.Adagrad)


@feature
def clipping():
    model = mlp()

    def step(model):
        loss = loss_of(model, rows())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def accumulation():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for _ in range(3):
            loss_of(model, rows()).backward()
        optimizer.step()


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, i):
        return torch.full((WIDTH,), float(i)), 0


def train_from(loader, to):
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in loader:
        optimizer.zero_grad()
        functional.cross_entropy(model(to(x)), to(y)).backward()
        optimizer.step()


@feature
def pinned_loader():
    loader = torch.utils.data.DataLoader(Rows(), BATCH, num_workers=2, pin_memory=True)
    train_from(loader, lambda tensor: tensor.to("cuda", non_blocking=True))


@feature
def pageable_loader():
    train_from(torch.utils.data.DataLoader(Rows(), BATCH), lambda tensor: tensor.to("cuda"))


@feature
def prefetch_stream():
    side, model = torch.cuda.Stream(), mlp()
    host = torch.randn(BATCH, WIDTH).pin_memory()

    def step(model):
        with torch.cuda.stream(side):
            x = host.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        x.record_stream(torch.cuda.current_stream())
        return loss_of(model, x)

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def amp_bfloat16():
    def step(model):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return loss_of(model, rows())

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def amp_scaler():
    model, scaler = mlp(), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = loss_of(model, rows())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


@feature
def item_each_step():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, rows())
        loss.backward()
        optimizer.step()
        loss.item()


@feature
def synchronize_each_step():
    def step(model):
        torch.cuda.synchronize()
        return loss_of(model, rows())

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def nonzero():
    def step(model):
        x = rows()
        torch.nonzero(x > 0)
        return loss_of(model, x)

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def embedding():
    layers = [nn.Embedding(100, WIDTH), nn.Flatten(), nn.Linear(8 * WIDTH, CLASSES)]
    model = nn.Sequential(*layers).cuda()

    def step(model):
        tokens = torch.zeros(BATCH, 8, dtype=torch.long, device="cuda")
        return functional.cross_entropy(model(tokens), labels())

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def layer_norm_gelu():
    model = nn.Sequential(nn.LayerNorm(WIDTH), nn.GELU(), nn.Linear(WIDTH, CLASSES)).cuda()
    train(model, torch.optim.SGD(model.parameters(), 0.1))


@feature
def dropout():
    model = nn.Sequential(nn.Linear(WIDTH, 64), nn.Dropout(0.5), nn.Linear(64, CLASSES)).cuda()
    train(model, torch.optim.SGD(model.parameters(), 0.1))


@feature
def attention():
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 128, batch_first=True).cuda()
    head = nn.Linear(WIDTH, CLASSES).cuda()
    model = nn.Sequential(layer, head)

    def step(model):
        x = torch.randn(BATCH, 8, WIDTH, device="cuda")
        return functional.cross_entropy(model(x).mean(1), labels())

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


def images(model):
    x = torch.randn(BATCH, 3, 16, 16, device="cuda")
    return functional.cross_entropy(model(x).flatten(1)[:, :CLASSES], labels())


@feature
def convolution():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3)).cuda()
    train(model, torch.optim.SGD(model.parameters(), 0.1), images)


@feature
def batch_norm():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).cuda()
    with torch.backends.cudnn.flags(enabled=False):
        train(model, torch.optim.SGD(model.parameters(), 0.1), images)


@feature
def lstm():
    def step(model):
        out, _ = model(torch.randn(BATCH, 8, WIDTH, device="cuda"))
        return out.sum()

    with torch.backends.cudnn.flags(enabled=False):
        model = nn.LSTM(WIDTH, WIDTH, batch_first=True).cuda()
        train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def checkpointing():
    from torch.utils.checkpoint import checkpoint

    model = mlp()

    def step(model):
        return functional.cross_entropy(checkpoint(model, rows(), use_reentrant=False), labels())

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def events():
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def step(model):
        begin.record()
        loss = loss_of(model, rows())
        end.record()
        end.synchronize()
        begin.elapsed_time(end)
        return loss

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def evaluation():
    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1))
    model.eval()
    with torch.no_grad():
        for _ in range(STEPS):
            model(rows())


@feature
def empty_cache():
    def step(model):
        torch.cuda.empty_cache()
        return loss_of(model, rows())

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def save_each_step():
    def step(model):
        torch.save(model.state_dict(), os.path.join(tempfile.gettempdir(), "features.pt"))
        return loss_of(model, rows())

    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def set_to_zeros():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=False)
        loss_of(model, rows()).backward()
        optimizer.step()


@feature
def double_precision():
    model = mlp(dtype=torch.float64)

    def step(model):
        return functional.cross_entropy(model(rows().double()), labels())

    train(model, torch.optim.SGD(model.parameters(), 0.1), step)


@feature
def cuda_graph():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = rows()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(model, x).backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad()
    target = labels()
    with torch.cuda.graph(graph):
        functional.cross_entropy(model(x), target).backward()
        optimizer.step()
    for _ in range(STEPS):
        x.copy_(torch.randn(BATCH, WIDTH))
        graph.replay()


@feature
def data_parallel():
    import torch.distributed as dist

    folder = tempfile.mkdtemp()
    dist.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)
    model = nn.parallel.DistributedDataParallel(mlp(), device_ids=[0])
    train(model, torch.optim.SGD(model.parameters(), 0.1))
    dist.destroy_process_group()


def with_square(step):
    """step: a loss of one square matrix, the parameter that trains."""
    matrix = nn.Parameter(torch.randn(8, 8, device="cuda"))
    optimizer = torch.optim.SGD([matrix], 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        step(matrix).backward()
        optimizer.step()


@feature
def fourier():
    """cuFFT."""
    window = torch.ones(16, device="cuda")

    def step(x):
        spectrum = torch.stft(x.flatten(), 16, window=window, return_complex=True)
        return torch.fft.irfft(torch.fft.rfft(x)).sum() + spectrum.abs().sum()

    with_square(step)


@feature
def sparse_products():
    """cuSPARSE."""
    ones, index = torch.ones(8), torch.arange(9)
    by_rows = torch.sparse_csr_tensor(index, index[:8], ones).cuda()
    by_place = torch.sparse_coo_tensor(torch.stack([index[:8]] * 2), ones, is_coalesced=True).cuda()
    with_square(lambda x: (by_rows @ x).sum() + torch.sparse.mm(by_place, x).sum())


@feature
def solutions():
    """cuSOLVER, and cuBLAS's triangular solver."""
    one = torch.eye(8, device="cuda")

    def step(x):
        by_factors = torch.cholesky_solve(x, torch.linalg.cholesky(x @ x.T + one))
        return torch.linalg.solve(x, one).sum() + torch.linalg.det(x) + by_factors.sum()

    with_square(step)


@feature
def decompositions():
    """cuSOLVER."""
    with_square(
        lambda x: torch.linalg.svdvals(x).sum()
        + torch.linalg.qr(x)[1].sum()
        + torch.linalg.eigvalsh(x + x.T).sum()
    )


@feature
def compiled_at_run_time():
    """NVRTC: kernels that PyTorch compiles when they are first used, and one of the program."""
    own = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x * x; }")

    def step(x):
        constant = torch.special.airy_ai(x.detach()) + own(x.detach())
        return (torch.complex(x, x).prod().abs() + torch.lgamma(x) * constant).sum()

    with_square(step)


def main():
    if len(sys.argv) < 2:
        print("\n".join(FEATURES))
        return
    notes.begin()
    FEATURES[sys.argv[1]]()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
