# SPDX-License-Identifier: Apache-2.0
"""Lightning with a validation loop, a checkpoint each epoch and a metric in training_step."""

import logging, warnings, lightning as L, torch, watched as own
from sets import FOLDER, mlp
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = mlp(128, 512, 512, 10)

    def training_step(self, batch, i):
        x, y = batch
        out = self.net(x)
        self.log("acc", (out.argmax(1) == y).float().mean())
        own.step()
        return torch.nn.functional.cross_entropy(out, y)

    def validation_step(self, batch, i):
        x, y = batch
        self.log("val", torch.nn.functional.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


make = lambda n: TensorDataset(torch.randn(n, 128), torch.randint(0, 10, (n,)))
L.Trainer(
    max_epochs=2,
    logger=False,
    default_root_dir=FOLDER,
    accelerator="cpu",
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Lit(), DataLoader(make(6400), 32, shuffle=True), DataLoader(make(1600), 32))
own.show(
    epochs=2,
    loose=[
        "forward",
        "backward",
        "optimizer",
        "zero_grad",
        "validation",
        "loader_wait",
        "loss",
        "checkpoint",
    ],
    why=["compute-bound", "loop-bound"],
)
