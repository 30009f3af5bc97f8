# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's first walk through training: variables, a tape, and no compiled function."""

import tensorflow as tf
from own import Own, table


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        draw = tf.random.Generator.from_seed(0)
        self.w1 = tf.Variable(0.1 * draw.normal((20, 256)))
        self.w2 = tf.Variable(0.1 * draw.normal((256, 1)))
        self.b = tf.Variable(tf.zeros(1))

    def __call__(self, x):
        return tf.nn.relu(x @ self.w1) @ self.w2 + self.b


def main():
    own, model = Own(), Net()
    x, y = (tf.constant(each, tf.float32) for each in table(3200))
    rows = tf.data.Dataset.from_tensor_slices((x, y[:, None])).shuffle(1024).batch(64)
    for _ in range(2):
        for features, wanted in own.batches(rows):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(features) - wanted) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            own.leave()
            for gradient, variable in zip(gradients, model.trainable_variables):
                variable.assign_sub(0.05 * gradient)
            own.enter()
            own.step()
        print(float(loss))
    own.tell()


main()
