# SPDX-License-Identifier: Apache-2.0
"""PyTorch's fetchers by name, for interpreters without PyTorch."""


class _BaseDatasetFetcher:
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.collate_fn = collate_fn


class _MapDatasetFetcher(_BaseDatasetFetcher):
    def fetch(self, possibly_batched_index):
        return self.collate_fn([self.dataset[i] for i in possibly_batched_index])
