/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/python_image.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define PNG_BYTES "\x89PNG" /* PNG specification, 5.2 */
#define PNG_SUFFIX ".png"

/* Include/pybuffer.h: part of the stable ABI since 3.11, and the same since 3.0. */
struct view {
	const void *bytes;
	struct sp_py_object *owner;
	ptrdiff_t count, item_bytes;
	int is_readonly, dimensions;
	char *format;
	ptrdiff_t *shape, *strides, *suboffsets;
	void *internal;
};
enum { VIEW_SIMPLE = 0 };

static bool has_bytes_of_png(struct sp_py_object *given, bool *ret)
{
	struct view view;

	if (sp_python.PyObject_GetBuffer(given, &view, VIEW_SIMPLE) < 0) {
		sp_python.PyErr_Clear();
		return false;
	}
	*ret = view.count >= (ptrdiff_t)strlen(PNG_BYTES) &&
	       memcmp(view.bytes, PNG_BYTES, strlen(PNG_BYTES)) == 0;
	sp_python.PyBuffer_Release(&view);
	return true;
}

bool sp_python_image_is_png(struct sp_py_object *given)
{
	ptrdiff_t bytes;
	const char *text;
	bool is_png;

	if (has_bytes_of_png(given, &is_png))
		return is_png;
	text = sp_python.PyUnicode_AsUTF8AndSize(given, &bytes);
	if (!text) {
		sp_python.PyErr_Clear();
		return false;
	}
	return bytes >= (ptrdiff_t)strlen(PNG_SUFFIX) &&
	       strcasecmp(text + bytes - strlen(PNG_SUFFIX), PNG_SUFFIX) == 0;
}

bool sp_python_image_has_tiles(struct sp_py_object *image)
{
	struct sp_py_object *tiles = sp_python.PyObject_GetAttrString(image, "tile");
	int has = tiles ? sp_python.PyObject_IsTrue(tiles) : -1;

	sp_python_release(tiles);
	if (has < 0)
		sp_python.PyErr_Clear();
	return has != 0;
}
