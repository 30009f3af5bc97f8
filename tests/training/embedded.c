/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with Python inside, which it ends and begins again: embedded ROUNDS SCRIPT. Each round
 * runs the script in its main interpreter, and in one more beside it. Prototypes of CPython are our
 * own: no headers needed.
 */
#include <stdio.h>
#include <stdlib.h>

extern void Py_Initialize(void);
extern int Py_FinalizeEx(void);
extern int PyRun_SimpleString(const char *text);
extern void *Py_NewInterpreter(void);
extern void Py_EndInterpreter(void *state);
extern void *PyThreadState_Swap(void *state);

static char script[65536];

static int run_round(void)
{
	void *first, *second;
	int error;

	Py_Initialize();
	error = PyRun_SimpleString(script);
	first = PyThreadState_Swap(NULL);
	PyThreadState_Swap(first);
	second = Py_NewInterpreter();
	if (!second)
		return -1;
	error |= PyRun_SimpleString(script);
	Py_EndInterpreter(second);
	PyThreadState_Swap(first);
	error |= PyRun_SimpleString(script);
	return Py_FinalizeEx() || error ? -1 : 0;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
	size_t n = file ? fread(script, 1, sizeof(script) - 1, file) : 0;

	if (!n)
		return 2;
	fclose(file);
	for (int i = 0; i < atoi(argv[1]); i++)
		if (run_round() < 0)
			return 1;
	return 0;
}
