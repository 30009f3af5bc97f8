/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a picture that is passed to a decoder for any kind: by the bytes or the name; no
 * file is opened.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_IMAGE_H
#define STAGEPROF_PRELOAD_PYTHON_IMAGE_H

#include <stdbool.h>

#include "preload/interpreter/python_api.h"

/*
 * given: a path, or an object with bytes (a NumPy array); other objects are no PNG. Needs the GIL
 * and no pending exception; leaves none.
 */
bool sp_python_image_is_png(struct sp_py_object *given);

/* False where a Pillow image has no tile left: it is decoded, and load() returns at once. */
bool sp_python_image_has_tiles(struct sp_py_object *image);

#endif
