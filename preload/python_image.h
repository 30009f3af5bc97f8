/*
 * Of what kind an image is that a decoder for any kind was given: by the bytes or the name, no file is opened.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_IMAGE_H
#define STAGEPROF_PRELOAD_PYTHON_IMAGE_H

#include <stdbool.h>

#include "preload/python_api.h"

/*
 * given: a path, or an object with bytes (a NumPy array); anything else is no PNG. Needs the GIL, and no exception
 * may be pending; leaves none.
 */
bool sp_python_image_is_png(struct sp_py_object *given);

#endif
