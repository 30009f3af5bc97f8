# SPDX-License-Identifier: Apache-2.0
"""Makes this a regular package: a namespace package loses to an installed PyTorch on any path."""
