/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for a library that asks the kernel by instructions of its own. */
int stub_unseen(void);

int stub_unseen(void)
{
	return 0;
}
