# SPDX-License-Identifier: Apache-2.0
"""The time of Keras' own loop."""

import keras


def between_updates(own, model, optimizer):
    """Keras' own loop lasts from an update to the next call of the model. The other backends
    compile both, and call them once, while they do."""
    if keras.backend.backend() != "torch":
        return optimizer
    apply, call = optimizer.apply, model.call

    def applied(*args, **names):
        apply(*args, **names)
        own.leave()

    def called(*args, **names):
        own.enter()
        return call(*args, **names)

    optimizer.apply, model.call = applied, called
    return optimizer
