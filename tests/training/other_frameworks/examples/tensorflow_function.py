# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's loop for experts: tf.function around a tape, a second one for tests."""

import tensorflow as tf
from own import Own, digits


def main():
    own = Own()
    made = tf.data.Dataset.from_tensor_slices(digits(1600)).shuffle(512)
    train = made.batch(32).prefetch(tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(digits(320, seed=1)).batch(32)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((28, 28, 1)),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer, seen = tf.keras.optimizers.Adam(), tf.keras.metrics.Mean()

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        seen(loss)

    @tf.function
    def test_step(images, labels):
        seen(loss_of(labels, model(images, training=False)))

    for _ in range(2):
        seen.reset_state()
        for images, labels in own.batches(train):
            train_step(images, labels)
            own.step()
        for images, labels in test:
            test_step(images, labels)
        print(float(seen.result()))
    own.tell()


main()
