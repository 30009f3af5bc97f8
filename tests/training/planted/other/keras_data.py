# SPDX-License-Identifier: Apache-2.0
"""Keras on TensorFlow, fed by tf.data, whose functions run in TensorFlow's threads."""

import os

import keras
import samples
import tensorflow as tf


class Epochs(keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1


def row_of(data, index):
    row = tf.numpy_function(lambda index: data[index], [index], tf.float32)
    return tf.ensure_shape(row, [samples.FLOATS])


def stored_row(folder, index):
    name = tf.strings.join([folder, "/", tf.strings.as_string(index % samples.COUNT), ".npy"])
    return tf.io.decode_raw(tf.io.read_file(name), tf.float32)[-samples.FLOATS :]


def loader_of(folder, fault):
    data = samples.Samples(folder, fault)

    def sample(index):
        stored = fault == "slow_storage"
        row = stored_row(folder, index) if stored else row_of(data, index)
        return tf.ensure_shape(row, [samples.FLOATS]), tf.reduce_mean(row)

    calls = samples.workers(fault) or None
    rows = tf.data.Dataset.range(samples.count(fault)).map(sample, num_parallel_calls=calls)
    return rows.batch(samples.BATCH).prefetch(2)


def train(folder, fault):
    width = 2048 if fault == "healthy" else 64
    layers = [keras.layers.Input((samples.FLOATS,))]
    layers += [keras.layers.Dense(width, "relu") for _ in range(6)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    counted = Epochs()
    callbacks = [counted]
    if fault == "checkpoint_each_step":
        name = os.path.join(folder, "model.keras")
        callbacks.append(keras.callbacks.ModelCheckpoint(name, save_freq=1))
    for _ in range(samples.epochs(fault)):
        model.fit(loader_of(folder, fault), verbose=0, callbacks=callbacks)
    return counted.steps, 0, 0


if __name__ == "__main__":
    samples.main(train)
