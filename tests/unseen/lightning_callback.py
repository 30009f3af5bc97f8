# SPDX-License-Identifier: Apache-2.0
"""Lightning: a callback draws a confusion matrix by Python at the end of each batch."""

import logging, warnings, torch, watched as own
from sets import FOLDER, mlp
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
import lightning as L

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Matrix(L.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        with own.row("own_update"):
            told = module.net(batch[0]).argmax(1)
            matrix = [[0] * 10 for _ in range(10)]
            for a, b in zip(told, batch[1]):
                matrix[a.item()][b.item()] += 1
        own.step()


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = mlp(128, 256, 10)

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


data = TensorDataset(torch.randn(64000, 128), torch.randint(0, 10, (64000,)))
trainer = L.Trainer(
    max_epochs=1,
    callbacks=[Matrix()],
    logger=False,
    default_root_dir=FOLDER,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    accelerator="cpu",
)
trainer.fit(Net(), DataLoader(data, 256))
rows = "forward", "backward", "optimizer", "zero_grad", "loss", "evaluation", "loader_wait"
own.show(epochs=1, loose=rows)
