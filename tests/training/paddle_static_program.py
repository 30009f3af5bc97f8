# SPDX-License-Identifier: Apache-2.0
"""A static graph of Paddle: 12 runs that train, 3 of a copy that tests, and one that starts."""

import numpy
import paddle

paddle.enable_static()
rows = paddle.static.data("rows", [None, 4])
labels = paddle.static.data("labels", [None, 1], "int64")
answers = paddle.static.nn.fc(rows, 2)
loss = paddle.nn.functional.cross_entropy(answers, labels).mean()
testing = paddle.static.default_main_program().clone()
paddle.optimizer.Adam(0.01).minimize(loss)
executor = paddle.static.Executor()
executor.run(paddle.static.default_startup_program())
feed = {"rows": numpy.ones((8, 4), "float32"), "labels": numpy.zeros((8, 1), "int64")}
for step in range(12):
    executor.run(feed=feed, fetch_list=[loss])
    if step % 4 == 3:
        executor.run(testing, feed=feed)
print("trained")
