# SPDX-License-Identifier: Apache-2.0
"""trainers.py [NAME]: trains a tiny model on random data by a package of PyPI, as it is; without a
name it prints each trainer, its steps, and the ranks that it needs. The last step's gradients are
of no use: kernels of the bed compute nothing."""

import os
import sys
import tempfile

import notes
import torch
from torch import nn
from torch.nn import functional

STEPS, BATCH, CLASSES = 8, 4, 10
TRAINERS = {}  # name: (function, steps, ranks)


def trainer(steps=STEPS, ranks=1):
    def keep(function):
        TRAINERS[function.__name__] = (function, steps, ranks)
        return function

    return keep


class Rows(torch.utils.data.Dataset):
    """Rows of make(index)."""

    def __init__(self, make, count=STEPS * BATCH):
        self.make, self.count = make, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.make(i)


def image_and_class(i, size=32):
    return torch.randn(3, size, size), i % CLASSES


def tokens(i):
    row = torch.randint(0, 100, (16,))
    return {"input_ids": row, "labels": row}


def loader(make, **options):
    return torch.utils.data.DataLoader(Rows(make), BATCH, **options)


def read_zeros():
    """For a trainer that takes sizes from the device, or whether a gradient is infinite."""
    os.environ["SIM_ZERO_SCALARS"] = "1"


@trainer()
def timm():
    """Model, optimizer, scaler, schedule, average, and a loader that copies ahead on a stream."""
    from timm import create_model
    from timm.data import create_loader
    from timm.optim import create_optimizer_v2
    from timm.scheduler import CosineLRScheduler
    from timm.utils import ModelEmaV3, NativeScaler

    def picture(i):
        return torch.randint(0, 255, (3, 32, 32), dtype=torch.uint8).numpy(), i % CLASSES

    class Images(Rows):
        transform = None

        def __getitem__(self, i):
            image, label = picture(i)
            return (self.transform and image) if self.transform else image, label

    model = create_model("resnet10t", num_classes=CLASSES).cuda()
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3)
    schedule, average = CosineLRScheduler(optimizer, t_initial=2), ModelEmaV3(model)
    data = create_loader(
        Images(picture),
        input_size=(3, 32, 32),
        batch_size=BATCH,
        is_training=True,
        no_aug=True,
        num_workers=2,
        device=torch.device("cuda"),
    )
    read_zeros()
    scaler = NativeScaler()
    for images, classes in data:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = functional.cross_entropy(model(images), classes)
        scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
        average.update(model)
    schedule.step(1)


@trainer()
def transformers():
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            model=GPT2LMHeadModel(
                GPT2Config(vocab_size=100, n_positions=16, n_embd=32, n_layer=2, n_head=2)
            ),
            args=TrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=BATCH,
                gradient_accumulation_steps=2,
                max_steps=STEPS,
                bf16=True,
                logging_steps=4,
                save_steps=4,
                report_to=[],
                disable_tqdm=True,
            ),
            train_dataset=Rows(tokens, 2 * STEPS * BATCH),
        ).train()


@trainer()
def lightning():
    from lightning.pytorch import LightningModule, Trainer

    class Module(LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, CLASSES))

        def training_step(self, batch, _):
            loss = functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch, _):
            self.log("accuracy", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    read_zeros()
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            accelerator="gpu",
            devices=1,
            max_epochs=1,
            precision="16-mixed",
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
        ).fit(Module(), loader(image_and_class, pin_memory=True), loader(image_and_class))


@trainer(ranks=2)
def accelerate():
    """Each rank on a device of its own, steps of two batches, metrics of both ranks."""
    from accelerate import Accelerator

    accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
    net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, CLASSES))
    rows = Rows(image_and_class, 4 * STEPS * BATCH)
    net, optimizer, train = accelerator.prepare(
        net, torch.optim.AdamW(net.parameters()), torch.utils.data.DataLoader(rows, BATCH)
    )
    for images, classes in train:
        with accelerator.accumulate(net):
            loss = functional.cross_entropy(net(images), classes)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    accelerator.gather_for_metrics(loss)
    accelerator.end_training()


@trainer()
def open_clip():
    from open_clip import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    net = CLIP(
        64,
        CLIPVisionCfg(layers=2, width=64, head_width=32, patch_size=8, image_size=32),
        CLIPTextCfg(context_length=16, vocab_size=64, width=64, heads=2, layers=2),
    ).cuda()
    loss_of, optimizer = ClipLoss(), torch.optim.AdamW(net.parameters(), foreach=True)
    for images, texts in loader(lambda i: (torch.randn(3, 32, 32), torch.full((16,), 1))):
        images, texts = images.cuda(non_blocking=True), texts.cuda(non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(*net(images, texts))
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            net.logit_scale.clamp_(0, 4.6)


@trainer()
def detection():
    """A detector of torchvision, which takes sizes from the device."""
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large

    read_zeros()
    net = ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=CLASSES
    ).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    data = torch.utils.data.DataLoader(
        Rows(lambda i: torch.rand(3, 64, 64), 2 * STEPS), 2, collate_fn=list, pin_memory=True
    )
    for images in data:
        images = [image.to("cuda", non_blocking=True) for image in images]
        targets = [
            {
                "boxes": torch.tensor([[4.0, 4.0, 40.0, 40.0]], device="cuda"),
                "labels": torch.ones(1, dtype=torch.long, device="cuda"),
            }
            for _ in images
        ]
        loss = sum(net(images, targets).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@trainer()
def diffusers():
    from diffusers import DDPMScheduler, UNet2DModel
    from diffusers.training_utils import EMAModel

    net = UNet2DModel(
        sample_size=16,
        block_out_channels=(32, 32),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
    ).cuda()
    noises, average = DDPMScheduler(num_train_timesteps=100), EMAModel(net.parameters())
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)
    for images in loader(lambda i: torch.randn(3, 16, 16), pin_memory=True, num_workers=1):
        images = images.to("cuda", non_blocking=True)
        noise = torch.randn_like(images)
        times = torch.randint(0, 100, (len(images),), device="cuda")
        out = net(noises.add_noise(images, noise, times), times).sample
        functional.mse_loss(out, noise).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        average.step(net.parameters())


def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def train(model, batches, forward=None):
    optimizer = torch.optim.AdamW(model.parameters())
    for x in batches:
        optimizer.zero_grad()
        (forward or model)(x).sum().backward()
        optimizer.step()


def on_device(shape, count=STEPS):
    for _ in range(count):
        yield torch.randn(*shape).to("cuda")


def begin_ranks():
    import torch.distributed as dist

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    return dist


@trainer(ranks=4)
def ddp():
    dist = begin_ranks()
    model = nn.parallel.DistributedDataParallel(transformer().cuda(), gradient_as_bucket_view=True)
    train(model, on_device((BATCH, 8, 32)))
    dist.destroy_process_group()


@trainer(ranks=2)
def fsdp2():
    """Each layer a unit, in bfloat16."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    dist = begin_ranks()
    model, policy = transformer().cuda(), MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    train(model, on_device((BATCH, 8, 32)))
    dist.destroy_process_group()


@trainer(ranks=4)
def fsdp2_four():
    from torch.distributed.fsdp import fully_shard

    dist = begin_ranks()
    model = transformer().cuda()
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    train(model, on_device((BATCH, 8, 32)))
    dist.destroy_process_group()


@trainer(ranks=4)
def tensor_parallel():
    """Columns of the first product, rows of the second."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    dist = begin_ranks()
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)).cuda()
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    train(model, on_device((BATCH, 32)))
    dist.destroy_process_group()


@trainer()
def graphed_callables():
    """Forward and backward are graphs; the optimizer is not."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, CLASSES)).cuda()
    graphed = torch.cuda.make_graphed_callables(model, (torch.randn(BATCH, 32, device="cuda"),))
    notes.phases.clear()  # the warm-up is set-up
    train(model, on_device((BATCH, 32)), graphed)


@trainer()
def compiled():
    """torch.compile: Triton compiles kernels, which the bed's driver loads."""
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10)).cuda()
    notes.note_compiling()
    train(model, on_device((BATCH, 32)), torch.compile(model))


@trainer()
def compiled_with_graphs():
    """Inductor's own graphs."""
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10)).cuda()
    notes.note_compiling()
    train(model, on_device((BATCH, 32)), torch.compile(model, mode="reduce-overhead"))


def main():
    if len(sys.argv) < 2:
        for name, (_, steps, ranks) in TRAINERS.items():
            print(name, steps, ranks)
        return
    notes.begin()
    TRAINERS[sys.argv[1]][0]()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
