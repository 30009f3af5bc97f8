# SPDX-License-Identifier: Apache-2.0
"""Lets torchvision's Python part be imported where its compiled operators do not fit PyTorch."""

import sys

import torch
from torch import library

NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
QNMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def nms(boxes, scores, threshold):
    order, kept = scores.argsort(descending=True), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        low = torch.max(boxes[best, :2], boxes[order, :2])
        high = torch.min(boxes[best, 2:], boxes[order, 2:])
        both = (high - low).clamp(min=0).prod(1)
        order = order[both / (area[best] + area[order] - both) <= threshold]
    return torch.stack(kept) if kept else torch.zeros(0, dtype=torch.long)


try:
    import torchvision  # noqa: F401
except RuntimeError:
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    library.define("torchvision::nms", NMS)
    library.define("torchvision::qnms", QNMS)
    library.impl("torchvision::nms", "CPU", nms)
