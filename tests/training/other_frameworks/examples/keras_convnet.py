# SPDX-License-Identifier: Apache-2.0
"""A convolutional net of Keras, trained by fit on arrays, with a part kept for validation."""

import keras
from keras import layers
from keras_loop import between_updates
from own import Own, digits


class Counted(keras.callbacks.Callback):
    def __init__(self, own):
        super().__init__()
        self.own = own

    def on_train_batch_begin(self, batch, logs=None):
        self.own.begin()

    def on_train_batch_end(self, batch, logs=None):
        self.own.step()


def main():
    own = Own()
    (x, y), (test_x, test_y) = digits(1280), digits(320, seed=1)
    y, test_y = (keras.utils.to_categorical(each, 10) for each in (y, test_y))
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    descent = between_updates(own, model, keras.optimizers.Adam())
    model.compile(loss="categorical_crossentropy", optimizer=descent, metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(patience=9)
    how = {"batch_size": 32, "epochs": 2, "validation_split": 0.1, "verbose": 0}
    model.fit(x, y, callbacks=[Counted(own), stop], **how)
    print(model.evaluate(test_x, test_y, verbose=0))
    own.tell()


main()
